/*
 * pile: the processes of several trace files and folders as the source of an export: one at a time
 * is loaded, with the clocks of the hosts aligned.
 */
#ifndef REPORT_CLI_PILE_H
#define REPORT_CLI_PILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/export/export.h"
#include "report/load/trace_files.h"
#include "report/tables/by/host_clocks.h"

/* Zeroed = empty. */
struct gp_pile {
	struct gp_trace_files files;
	struct gp_pile_process *processes;
	uint32_t count, capacity;
	size_t at; /* index of the loaded one */
	struct gp_model *model;
	struct gp_clock_fit fit;
	const struct gp_host_clocks *clocks; /* aligned; NULL until they are known */
	bool any_failed;                     /* and was reported */
};

/*
 * Drops repeated paths.  A file that cannot be read gets a line on stderr.  If the files are of
 * several hosts, all are loaded once to align the clocks. Call gp_pile_close().
 */
void gp_pile_open(struct gp_pile *pile, char **paths, size_t count);

struct gp_export_source gp_pile_source(struct gp_pile *pile);
void gp_pile_close(struct gp_pile *pile);

#endif
