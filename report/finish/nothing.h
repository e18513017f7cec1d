/*
 * nothing: explains why a run left no trace, or no GPU activity.
 */
#ifndef REPORT_FINISH_NOTHING_H
#define REPORT_FINISH_NOTHING_H

#include <stdbool.h>
#include <stdio.h>

#include "report/finish/session.h"

struct gp_nothing {
	bool has_driver; /* a process initialized the driver, or this machine has one */
	bool was_initialized;
	bool is_left_out;
	bool is_of_other; /* another gpuprof-run has the traces */
	bool is_said;     /* a printed line says why */
};

/*
 * None of these proves that the program did not use the GPU: a process may have used it without
 * gpuprof-run learning of it.
 */

/*
 * Call it after the program has ended, before the session is closed. Loads the driver to find it,
 * if no process has.
 */
void gp_nothing_read(struct gp_nothing *nothing, const struct gp_session *session);

/* Prints the reason, as far as it is known, and the command to run. program: its name. */
void gp_nothing_print(const struct gp_nothing *nothing, const char *program);

/* Explains that the file of a trace is not there, which a process announced to gpuprof-run. */
void gp_nothing_explain_vanished(const char *trace, char *message, size_t message_bytes);

/* Whether the loader finds a driver on this machine. Loads it. */
bool gp_nothing_finds_driver(void);

/* Prints the line for traces with ranges only, without a driver. */
void gp_nothing_print_driver(FILE *out);

#endif
