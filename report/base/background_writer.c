#include "report/base/background_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "report/base/memory.h"
#include "report/base/parallel.h"

struct buffer {
	char *bytes;
	size_t used;
};

/*
 * The lock guards all members but `to`. While buffers are full, the writer thread reads the bytes
 * of the first one without the lock.
 */
struct gp_background_writer {
	FILE *to;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* a ring; the full buffers begin at `first` */
	struct buffer buffers[GP_BACKGROUND_WRITER_BUFFERS];
	uint32_t first, full;
	bool is_ending;
	int error;
};

/* ---- the writer thread ---- */

/* The next full buffer; NULL after the last one. */
static struct buffer *wait_for_full(struct gp_background_writer *b)
{
	while (b->full == 0 && !b->is_ending)
		pthread_cond_wait(&b->changed, &b->lock);
	return b->full > 0 ? &b->buffers[b->first] : NULL;
}

static int write_buffer(FILE *to, const struct buffer *buffer)
{
	errno = 0;
	if (fwrite(buffer->bytes, 1, buffer->used, to) == buffer->used)
		return 0;
	return errno != 0 ? errno : EIO;
}

static void *write_all(void *writer)
{
	struct gp_background_writer *b = writer;
	struct buffer *buffer;

	pthread_mutex_lock(&b->lock);
	while ((buffer = wait_for_full(b)) != NULL) {
		int error = b->error;

		pthread_mutex_unlock(&b->lock);
		if (error == 0)
			error = write_buffer(b->to, buffer);
		pthread_mutex_lock(&b->lock);
		b->error = error;
		b->first = (b->first + 1) % GP_BACKGROUND_WRITER_BUFFERS;
		b->full--;
		pthread_cond_signal(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* ---- the caller ---- */

static void free_all(struct gp_background_writer *b)
{
	for (uint32_t i = 0; i < GP_BACKGROUND_WRITER_BUFFERS; i++)
		free(b->buffers[i].bytes);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->changed);
	free(b);
}

static bool take_buffers(struct gp_background_writer *b, size_t bytes)
{
	for (uint32_t i = 0; i < GP_BACKGROUND_WRITER_BUFFERS; i++) {
		b->buffers[i].bytes = gp_memory_try_resize(NULL, bytes);
		if (!b->buffers[i].bytes)
			return false;
	}
	return true;
}

/*
 * Not for /dev/null, which takes no time, nor for a pipe, whose reader is a parallel process
 * already.
 */
static bool is_worth_it(FILE *to)
{
	struct stat status;

	return gp_core_count() > 1 && fstat(fileno(to), &status) == 0 && S_ISREG(status.st_mode);
}

struct gp_background_writer *gp_background_writer_begin(FILE *to, size_t buffer_bytes)
{
	struct gp_background_writer *b =
		is_worth_it(to) ? gp_memory_try_zeroed(1, sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	b->to = to;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	if (take_buffers(b, buffer_bytes) && pthread_create(&b->thread, NULL, write_all, b) == 0)
		return b;
	free_all(b);
	return NULL;
}

char *gp_background_writer_give(struct gp_background_writer *b, char *buffer, size_t used)
{
	struct buffer *next;
	char *empty;

	pthread_mutex_lock(&b->lock);
	while (b->full == GP_BACKGROUND_WRITER_BUFFERS)
		pthread_cond_wait(&b->changed, &b->lock);
	next = &b->buffers[(b->first + b->full) % GP_BACKGROUND_WRITER_BUFFERS];
	empty = next->bytes;
	*next = (struct buffer){buffer, used};
	b->full++;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return empty;
}

int gp_background_writer_error(struct gp_background_writer *b)
{
	int error;

	pthread_mutex_lock(&b->lock);
	error = b->error;
	pthread_mutex_unlock(&b->lock);
	return error;
}

int gp_background_writer_end(struct gp_background_writer *b)
{
	int error;

	pthread_mutex_lock(&b->lock);
	b->is_ending = true;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	error = b->error;
	free_all(b);
	return error;
}
