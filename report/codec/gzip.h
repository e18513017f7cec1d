/*
 * gzip: a stream that compresses its output, for files whose name ends in ".gz".
 *
 * The output is cut into blocks that threads compress in parallel, one per core. All blocks form
 * one gzip member, which every reader accepts. The level prefers speed: the text of a Chrome trace
 * still shrinks to a twentieth.
 */
#ifndef REPORT_CODEC_GZIP_H
#define REPORT_CODEC_GZIP_H

#include <stdbool.h>
#include <stdio.h>

bool gp_gzip_is_meant(const char *path);

/*
 * A stream that writes compressed data to `to`. fclose() writes the rest, ends the threads, and
 * leaves `to` open. Writing and fclose() fail with the errno of writing to `to`. Returns NULL if
 * there is no memory.
 */
FILE *gp_gzip_open(FILE *to);

#endif
