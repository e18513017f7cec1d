/* small_file: reads a small text file, written by hand or kept beside the code. */
#ifndef REPORT_CODEC_SMALL_FILE_H
#define REPORT_CODEC_SMALL_FILE_H

#include <stddef.h>

/*
 * Reads the whole file into *text, to be freed; NULL on failure. Refuses a file larger than
 * most_bytes, a file with a NUL, and a pipe without a writer. Returns 0, or a negative errno value
 * with one line for the user in message. The line ends in `origin`, which says how to create such a
 * file.
 */
int gp_small_file_read(const char *path, size_t most_bytes, const char *origin, char **text,
		       char *message, size_t message_bytes);

#endif
