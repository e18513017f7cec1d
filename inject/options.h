/*
 * options: the recording options of gpuprof/option.def as this process's environment has them.
 * Read once, by the constructor, on one thread; then read-only.
 */
#ifndef INJECT_OPTIONS_H
#define INJECT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/option.h"

/* Copy the environment's values; defaults for the rest. */
void gp_options_read(char *const *environment);

/* Text of an option: from the environment if it is one of the option's choices, else the default; never NULL. */
const char *gp_option_text(enum gp_option option);

/* "GPUPROF_NAME=VALUE" as the environment had it at the start; NULL = it had none. */
const char *gp_option_variable(enum gp_option option);

/* Of an option of type NUMBER, SECONDS, SIZE; the default stands for a value that is none, or out of bounds. */
uint64_t gp_option_number(enum gp_option option);
uint64_t gp_option_ns(enum gp_option option);
uint64_t gp_option_bytes(enum gp_option option);

bool gp_option_flag(enum gp_option option);

/* Whether the text of an option is this one. */
bool gp_option_is(enum gp_option option, const char *text);

/* Session folder of gpuprof-run, or "" without one. */
const char *gp_option_session(void);

/* Say one line for each GPUPROF_ variable that is unknown or has a value of the wrong kind. */
void gp_options_complain(char *const *environment);

/* NAME=VALUE lines of every option that is not at its default, for the trace. Returns the length
 * without NUL. */
size_t gp_options_describe(char *text, size_t text_bytes);

#endif
