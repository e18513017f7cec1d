/*
 * output_file: a file that appears complete or not at all. Like traces, only its owner can read it:
 * it holds names of programs, their arguments and folders. But who may read the file of a typed
 * path may read the one that replaces it.
 */
#ifndef REPORT_CODEC_OUTPUT_FILE_H
#define REPORT_CODEC_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gp_output_file {
	FILE *stream;
	FILE *packed; /* the file's own stream if `stream` compresses; else NULL */
	char *path;
	/*
	 * PATH.tmp until the file is complete, and a descriptor of the folder of both: its name may
	 * lead elsewhere later; NULL and -1 if path is not a regular file
	 */
	char *temporary;
	int folder;
	struct gp_output_file *next; /* of the open files with a temporary one */
};

/*
 * Opens PATH.tmp for writing. trace: NULL if the user typed the path; else it is gp_output_path()
 * of that trace, which must be in the same folder: another user may have made links of the folder
 * or of the name since the trace was read. A typed path may be "-", which is stdout, or exist and
 * be no regular file: a pipe, /dev/null, and a link of the user's or root's are written directly.
 * At a derived path everything but a folder is replaced. Refuses to overwrite a trace: -EEXIST.
 * Returns 0, or a negative errno value with one line for the user in message.
 */
int gp_output_file_open(struct gp_output_file *file, const char *path, const char *trace,
			char *message, size_t message_bytes);

/*
 * Call it next if the path ends in ".gz" and the data is not compressed yet. Returns 0, or -ENOMEM
 * without compression.
 */
int gp_output_file_compress(struct gp_output_file *file);

/*
 * Closes the file; renames it to its path if result is 0, else removes it. Returns result, or a
 * negative errno value if a write failed. For a failed write, and for a result of -EIO, the line
 * for the user is in message.
 */
int gp_output_file_close(struct gp_output_file *file, int result, char *message,
			 size_t message_bytes);

/* Removes the PATH.tmp of a killed writer. trace: as for gp_output_file_open(). */
void gp_output_file_clean(const char *path, const char *trace);

/*
 * Whether the path, or the target of the link there, is a trace: "merge -o *.gpuprof" would
 * overwrite one.
 */
bool gp_output_is_trace(const char *path);

/* Whether two paths name the same existing file. */
bool gp_output_is_same(const char *left, const char *right);

/* The trace's path with another suffix. Free it. Returns NULL if there is no memory. */
char *gp_output_path(const char *trace_path, const char *suffix);

#endif
