/*
 * gzip: a stream that compresses what is written to it, for outputs whose name ends in ".gz".
 *
 * What is written is cut into blocks, which threads compress at the same time, one for each core;
 * together they are one member of a gzip file, which every reader takes.  Fast rather than small:
 * the text of a Chrome trace becomes a twentieth all the same.
 */
#ifndef REPORT_CODEC_GZIP_H
#define REPORT_CODEC_GZIP_H

#include <stdbool.h>
#include <stdio.h>

bool gp_gzip_is_meant(const char *path);

/*
 * A stream that writes to `to`, compressed.  fclose() writes what is left, ends the threads, and
 * leaves `to` open; it fails, as writing does, with the errno of writing to `to`.  NULL: no memory.
 */
FILE *gp_gzip_open(FILE *to);

#endif
