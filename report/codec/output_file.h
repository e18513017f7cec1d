/*
 * output_file: a file that is there as a whole or not at all.  As traces are, it is for its owner
 * alone: names of programs, their arguments and folders are in it.
 */
#ifndef REPORT_CODEC_OUTPUT_FILE_H
#define REPORT_CODEC_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gp_output_file {
	FILE *stream;
	FILE *packed; /* where what is written to stream goes compressed; NULL where it is not */
	char *path;
	char *temporary; /* path.tmp until the file is complete; NULL where path is no plain file */
};

/*
 * Open PATH.tmp for writing; "-" is stdout, and what is there and no plain file (a pipe, /dev/null,
 * a link) is written directly. A trace is never written over: -EEXIST.  Returns 0, or a negative
 * errno value with one line for the user in message.
 */
int gp_output_file_open(struct gp_output_file *file, const char *path, char *message,
			size_t message_bytes);

/*
 * To be called next where the path ends in ".gz" and what comes is not compressed yet.  0, or
 * -ENOMEM and then it is not.
 */
int gp_output_file_compress(struct gp_output_file *file);

/*
 * Close it, and give it its name if result is 0, else remove it.  Returns result, or a negative
 * errno value where something could not be written; then, and where result was -EIO, the line for
 * the user is in message.
 */
int gp_output_file_close(struct gp_output_file *file, int result, char *message,
			 size_t message_bytes);

/* Remove what is left of PATH.tmp where whoever wrote it was ended. */
void gp_output_file_clean(const char *path);

/*
 * Whether a trace is there, at the end of a link too: "merge -o *.gpuprof" names one, to be written
 * over.
 */
bool gp_output_is_trace(const char *path);

/* Whether two names are those of one file that is there. */
bool gp_output_is_same(const char *left, const char *right);

/* The path of a trace with another suffix in place of its own, to be freed; NULL: no memory. */
char *gp_output_path(const char *trace_path, const char *suffix);

#endif
