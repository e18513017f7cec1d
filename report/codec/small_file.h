/* small_file: a text file that somebody wrote by hand or keeps beside the code, read whole. */
#ifndef REPORT_CODEC_SMALL_FILE_H
#define REPORT_CODEC_SMALL_FILE_H

#include <stddef.h>

/*
 * *text is to be freed, NULL where it fails.  A file larger than that, or one that has a NUL, is
 * refused; so is a pipe that nobody writes to.  Returns 0 or a negative errno value, with one line
 * for the user in message, which ends in `origin`: what makes such a file.
 */
int gp_small_file_read(const char *path, size_t most_bytes, const char *origin, char **text,
		       char *message, size_t message_bytes);

#endif
