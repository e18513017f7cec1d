/*
 * nothing: why a run left no trace, or nothing of the GPU.
 */
#ifndef REPORT_FINISH_NOTHING_H
#define REPORT_FINISH_NOTHING_H

#include <stdbool.h>
#include <stdio.h>

#include "report/finish/session.h"

struct gp_nothing {
	bool has_driver; /* some process initialized it, or this machine has one */
	bool was_initialized;
	bool is_left_out;
	bool is_said; /* a line has said why */
};

/*
 * After the program has ended, before the session is closed.  Looks for the driver by loading it,
 * where no process has.
 */
void gp_nothing_read(struct gp_nothing *nothing, const struct gp_session *session);

/* Print the line; program is its name. */
void gp_nothing_print(const struct gp_nothing *nothing, const char *program);

/* Whether this machine has a driver that the loader finds, for which it is loaded. */
bool gp_nothing_finds_driver(void);

/* The line on traces of ranges alone where there is no driver. */
void gp_nothing_print_driver(FILE *out);

#endif
