/*
 * options: the recording options of gpuprof/option.def from this process's environment.
 *
 * The constructor reads them once, on one thread; they are read-only after that.
 */
#ifndef INJECT_OPTIONS_H
#define INJECT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/option.h"

/* Copy the environment's values; defaults for the others. */
void gp_options_read(char *const *environment);

/* The text of an option: from the environment if valid, else the default; never NULL. */
const char *gp_option_text(enum gp_option option);

/* "GPUPROF_NAME=VALUE" from the environment at the start; NULL = unset. */
const char *gp_option_variable(enum gp_option option);

/*
 * For options of type NUMBER, SECONDS, INTERVAL, EXPONENT, SHARE, SIZE; the default if the value is
 * invalid or out of bounds.
 */
uint64_t gp_option_number(enum gp_option option);
uint64_t gp_option_ns(enum gp_option option);
uint64_t gp_option_interval_ns(enum gp_option option);
uint64_t gp_option_exponent(enum gp_option option);
uint64_t gp_option_share_millionths(enum gp_option option);
uint64_t gp_option_bytes(enum gp_option option);

bool gp_option_flag(enum gp_option option);

/* Whether the text of an option equals this one. */
bool gp_option_is(enum gp_option option, const char *text);

/* gpuprof-run's session folder, "" = none. */
const char *gp_option_session(void);

/* Log a line for each GPUPROF_ variable that is unknown or has an invalid value. */
void gp_options_log_problems(char *const *environment);

/*
 * NAME=VALUE lines of every option that differs from its default, for the trace.  Returns the
 * length without NUL.
 */
size_t gp_options_describe(char *text, size_t text_bytes);

#endif
