/*
 * background_writer: a thread that writes full buffers to a stream, in their order, while the
 * caller fills the next one.
 *
 * Nothing is copied: the caller exchanges a full buffer for an empty one. The writer has
 * GP_BACKGROUND_WRITER_BUFFERS buffers besides the caller's. If all of them are full, the caller
 * waits, so that memory stays constant.
 */
#ifndef REPORT_BASE_BACKGROUND_WRITER_H
#define REPORT_BASE_BACKGROUND_WRITER_H

#include <stddef.h>
#include <stdio.h>

#define GP_BACKGROUND_WRITER_BUFFERS 3u

struct gp_background_writer;

/*
 * Starts the thread. It owns `to` until gp_background_writer_end(). All buffers, the caller's too,
 * have buffer_bytes and come from malloc(). Returns NULL if the caller has to write by itself:
 * there is only one core, `to` is not a regular file, or there is no memory or thread.
 */
struct gp_background_writer *gp_background_writer_begin(FILE *to, size_t buffer_bytes);

/* Takes a buffer with `used` bytes, and returns an empty one. */
char *gp_background_writer_give(struct gp_background_writer *writer, char *buffer, size_t used);

/*
 * 0, or the errno value of the first failed write. After a failure the thread writes nothing more.
 */
int gp_background_writer_error(struct gp_background_writer *writer);

/*
 * Waits until all buffers are written or a write has failed. Returns as
 * gp_background_writer_error().
 */
int gp_background_writer_end(struct gp_background_writer *writer);

#endif
