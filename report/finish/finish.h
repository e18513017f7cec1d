/*
 * finish: what is made of traces when their program has ended: a Chrome trace for each, one
 * summary, and one HTML page where that is wanted.
 *
 * Used by `gpuprof finish`, which the library starts at the end of a program, and by `gpuprof run`.
 */
#ifndef REPORT_FINISH_FINISH_H
#define REPORT_FINISH_FINISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_finish_options {
	/* "stderr", "none" or a file, as report/finish/output_name.h has it of the first trace */
	const char *summary;
	const char *chrome;    /* "json" or "none" */
	uint64_t chrome_limit; /* most slices in a Chrome trace, 0 = all */
	bool html;             /* write a page of all of them beside the first one */
	bool quiet;            /* print nothing, not even the summary */
	bool names_no_files;   /* whoever runs us says where they are */
	bool ended_only;       /* processes that still run get a line and are left out */
	bool at_exit;          /* of a program that runs without gpuprof-run, on this machine */
	uint32_t ended_pid;    /* of a process that was waited for; 0 = none */
	int ended_status;      /* its status, as waitpid() has it */
	int progress_fd;       /* gets a byte now and then while there is progress; -1 = none */
};

/*
 * Finish the traces: write NAME.json beside each NAME.gpuprof, print the summary and the lines that
 * name the files. What the ring file of a dead process still holds is moved into its trace where
 * that can be written. A trace that another process is finishing, or that cannot be read, gets a
 * line and is left out. Returns 0, or the negative errno value of the first failure; each failure
 * has printed its line on stderr.
 */
int gp_finish(char *const *traces, size_t trace_count, const struct gp_finish_options *options);

#endif
