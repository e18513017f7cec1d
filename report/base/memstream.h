/* memory_stream: the end of a stream that open_memstream() began. */
#ifndef REPORT_BASE_MEMSTREAM_H
#define REPORT_BASE_MEMSTREAM_H

#include <stdio.h>

/*
 * Close it. 0: *text is all that was printed; -ENOMEM: it is not, and may be NULL. To be freed in
 * either case.
 *
 * Closing alone does not tell: without memory for the last block it succeeds, and there is no text.
 */
int gp_memory_stream_close(FILE *stream, char *const *text);

#endif
