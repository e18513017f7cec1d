/*
 * trace_files: the trace files that paths name, some of which may be folders.
 *
 * The traces of a folder are its .gpuprof files. If there are none, they are the .gpuprof files of
 * its subfolders; else all files whose names may be those of another profiler's traces. Some of
 * these may be no traces, but settings and the like.
 */
#ifndef REPORT_LOAD_TRACE_FILES_H
#define REPORT_LOAD_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_trace_files {
	struct gp_trace_file {
		char *path;
		bool may_be_none;
	} * files;
	uint32_t count, capacity;
};

bool gp_trace_files_is_folder(const char *path);

/*
 * Adds a file, or the files of a folder. Returns 0, or a negative errno value with a line for the
 * user; -ENODATA: the folder has none. Call gp_trace_files_free() in either case.
 */
int gp_trace_files_add(struct gp_trace_files *files, const char *path, char *message,
		       size_t message_bytes);
void gp_trace_files_free(struct gp_trace_files *files);

/* The line for a folder without a trace; returns -ENODATA. */
int gp_trace_files_explain_none(const char *folder, char *message, size_t message_bytes);

#endif
