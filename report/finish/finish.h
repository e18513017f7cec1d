/*
 * finish: the outputs after a program has ended: a Chrome trace for each trace, one summary, and an
 * HTML page if wanted.
 *
 * `gpuprof finish`, which the library starts at the end of a program, and `gpuprof run` use it.
 */
#ifndef REPORT_FINISH_FINISH_H
#define REPORT_FINISH_FINISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/finish/keep_energy.h"

struct gp_finish_options {
	/* "stderr", "none" or a file name (report/finish/output_name.h) */
	const char *summary;
	const char *chrome;    /* "json" or "none" */
	uint64_t chrome_limit; /* most slices in a Chrome trace, 0 = all */
	bool html;             /* write a page of all traces beside the first one */
	bool quiet;            /* print nothing, not even the summary */
	bool names_no_files;   /* the caller names the files */
	bool ended_only;       /* skip processes that still run, with a line for each */
	bool at_exit;          /* called by a program without gpuprof-run, on the same machine */
	uint32_t ended_pid;    /* a process that the caller waited for; 0 = none */
	int ended_status;      /* its status, as from waitpid() */
	struct gp_energy_entries energies; /* the caller's samples; zeroed = none */
	int progress_fd;                   /* descriptor for bytes that show progress; -1 = none */
};

/*
 * Finishes the traces: writes NAME.json, or NAME.json.gz if it is large, beside each NAME.gpuprof, prints the summary and the lines
 * that name the files. Moves the records in the ring file of a dead process into its trace if the
 * trace is writable. Prints a line for a trace that another process is finishing, or that is
 * unreadable, and skips it. Returns 0, or the negative errno value of the first failure; each
 * failure has printed a line on stderr.
 */
int gp_finish(char *const *traces, size_t trace_count, const struct gp_finish_options *options);

#endif
