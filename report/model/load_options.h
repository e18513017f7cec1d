/* load_options: how a trace becomes a model (report/load/load_model.h). */
#ifndef REPORT_MODEL_LOAD_OPTIONS_H
#define REPORT_MODEL_LOAD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct gp_host_clocks;
struct gp_chunk_index;

struct gp_load_options {
	void (*progress)(void *context); /* called now and then; NULL = none */
	void *progress_context;
	/*
	 * The trace, open for appending and locked by the caller: it is read from there, records in
	 * the ring file of a dead process are saved there, and the ring file is removed, if
	 * possible. -1 = the trace is opened by its path, and nothing is changed.
	 */
	int save_to;
	/*
	 * a trace of gpuprof's: make totals of calls and operations; memory does not grow with them
	 */
	bool in_one_pass;
	/*
	 * of a file of nsys with several processes: which one, the busiest GPU first
	 * (gp_import_process_count())
	 */
	uint32_t process;
	/*
	 * NULL = all; else its choice (report/model/chunk_index.h). Records that are not loaded
	 * have no halves: losses by joining are 0.
	 */
	const struct gp_chunk_index *chosen;
	const struct gp_host_clocks *clocks; /* the times are aligned by these; NULL = by none */
};

#endif
