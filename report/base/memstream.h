/* memstream: closes a stream of open_memstream() and tells whether the text is complete. */
#ifndef REPORT_BASE_MEMSTREAM_H
#define REPORT_BASE_MEMSTREAM_H

#include <stdio.h>

/*
 * Closes the stream. Returns 0 if *text holds all that was printed, else -ENOMEM; *text may be NULL
 * then. Free *text in both cases.
 *
 * fclose() alone succeeds even if there was no memory for the last block.
 */
int gp_memstream_close(FILE *stream, char *const *text);

#endif
