/*
 * behind: a thread that writes to a stream what it is given, in the order in which it is given,
 * while its giver makes more.
 *
 * Nothing is copied: a full buffer is exchanged for an empty one.  There are
 * GP_BACKGROUND_WRITER_BUFFERS of them besides the giver's; where all are full the giver waits, so
 * that memory is constant.
 */
#ifndef REPORT_BASE_BACKGROUND_WRITER_H
#define REPORT_BASE_BACKGROUND_WRITER_H

#include <stddef.h>
#include <stdio.h>

#define GP_BACKGROUND_WRITER_BUFFERS 3u

struct gp_background_writer;

/*
 * Until gp_background_writer_end() `to` is the thread's.  Buffers, the giver's too, have
 * buffer_bytes and are from malloc().  NULL: it is not worth it, with one core alone and where `to`
 * is no plain file, or there is no thread or memory: who has something writes it.
 */
struct gp_background_writer *gp_background_writer_begin(FILE *to, size_t buffer_bytes);

/* Takes a buffer with so many bytes, and returns an empty one in its place. */
char *gp_background_writer_give(struct gp_background_writer *behind, char *buffer, size_t used);

/* 0, or the errno value of the first write that failed, after which nothing is written any more. */
int gp_background_writer_error(struct gp_background_writer *behind);

/* Once all is written, or failed: returns as gp_background_writer_error(). */
int gp_background_writer_end(struct gp_background_writer *behind);

#endif
