#include "report/codec/gzip.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "report/base/parallel.h"

#define LEVEL        1
#define RAW_WINDOW   (-15) /* zlib's value for "no header" */
#define MEMORY_LEVEL 8
#define BLOCK_BYTES  (1u << 20)
/* more than a flush adds to the size that zlib gives as a block's largest */
#define FLUSH_BYTES 64u
#define MOST_BLOCKS 16

static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255};
static const uint8_t empty_last_block[] = {3, 0};

/* Who owns the block, and what happens to it next. */
enum turn { TO_FILL, TO_COMPRESS, TO_WRITE, TO_END };

/* Passes between the stream and the block's thread. */
struct block {
	pthread_t thread;
	bool has_thread; /* else the thread that fills the block compresses it */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum turn turn; /* guarded by the lock; the owner accesses the rest without it */
	z_stream zip;
	uint8_t *text, *packed;
	size_t text_bytes, packed_bytes, packed_room;
	uLong crc;
};

struct gzip {
	FILE *to;
	struct block blocks[MOST_BLOCKS];
	uint32_t block_count;
	uint32_t at; /* the block being filled */
	uLong crc;
	uint64_t bytes;
	int error; /* errno of the first failed write */
};

bool gp_gzip_is_meant(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/* ---- compressing ---- */

static void set_turn(struct block *block, enum turn turn)
{
	pthread_mutex_lock(&block->lock);
	block->turn = turn;
	pthread_cond_broadcast(&block->changed);
	pthread_mutex_unlock(&block->lock);
}

/* Waits until the block leaves both states. */
static enum turn wait_while(struct block *block, enum turn turn, enum turn other)
{
	enum turn now;

	pthread_mutex_lock(&block->lock);
	while (block->turn == turn || block->turn == other)
		pthread_cond_wait(&block->changed, &block->lock);
	now = block->turn;
	pthread_mutex_unlock(&block->lock);
	return now;
}

/* The output ends at a byte and refers to no earlier data, so that blocks can be concatenated. */
static void compress_block(struct block *block)
{
	deflateReset(&block->zip);
	block->zip.next_in = block->text;
	block->zip.avail_in = (uInt)block->text_bytes;
	block->zip.next_out = block->packed;
	block->zip.avail_out = (uInt)block->packed_room;
	deflate(&block->zip, Z_SYNC_FLUSH);
	block->packed_bytes = block->packed_room - block->zip.avail_out;
	block->crc = crc32(0, block->text, (uInt)block->text_bytes);
}

static void *work(void *argument)
{
	struct block *block = argument;

	while (wait_while(block, TO_FILL, TO_WRITE) == TO_COMPRESS) {
		compress_block(block);
		set_turn(block, TO_WRITE);
	}
	return NULL;
}

/* ---- the writing thread ---- */

static void put(struct gzip *gzip, const void *bytes, size_t length)
{
	if (gzip->error == 0 && fwrite(bytes, 1, length, gzip->to) != length)
		gzip->error = errno != 0 ? errno : EIO;
}

static void hand_over(struct block *block)
{
	if (block->has_thread) {
		set_turn(block, TO_COMPRESS);
		return;
	}
	compress_block(block);
	block->turn = TO_WRITE;
}

/* Writes out the compressed block and empties it. */
static void take_back(struct gzip *gzip, struct block *block)
{
	if (wait_while(block, TO_COMPRESS, TO_COMPRESS) == TO_FILL)
		return;
	put(gzip, block->packed, block->packed_bytes);
	gzip->crc = crc32_combine(gzip->crc, block->crc, (z_off_t)block->text_bytes);
	gzip->bytes += block->text_bytes;
	block->text_bytes = 0;
	set_turn(block, TO_FILL);
}

static void next_block(struct gzip *gzip)
{
	hand_over(&gzip->blocks[gzip->at]);
	gzip->at = (gzip->at + 1) % gzip->block_count;
	take_back(gzip, &gzip->blocks[gzip->at]);
}

static ssize_t write_text(void *cookie, const char *text, size_t length)
{
	struct gzip *gzip = cookie;

	for (size_t done = 0; done < length;) {
		struct block *block = &gzip->blocks[gzip->at];
		size_t room = BLOCK_BYTES - block->text_bytes;
		size_t part = length - done < room ? length - done : room;

		memcpy(block->text + block->text_bytes, text + done, part);
		block->text_bytes += part;
		done += part;
		if (block->text_bytes == BLOCK_BYTES)
			next_block(gzip);
	}
	errno = gzip->error;
	return gzip->error == 0 ? (ssize_t)length : 0;
}

static void put_number(struct gzip *gzip, uint32_t number)
{
	uint8_t bytes[] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
			   (uint8_t)(number >> 24)};

	put(gzip, bytes, sizeof(bytes));
}

/* ---- open and close ---- */

static void free_block(struct block *block)
{
	if (block->has_thread) {
		set_turn(block, TO_END);
		pthread_join(block->thread, NULL);
	}
	pthread_mutex_destroy(&block->lock);
	pthread_cond_destroy(&block->changed);
	deflateEnd(&block->zip);
	free(block->text);
	free(block->packed);
}

static void free_all(struct gzip *gzip)
{
	while (gzip->block_count > 0)
		free_block(&gzip->blocks[--gzip->block_count]);
	free(gzip);
}

static int close_gzip(void *cookie)
{
	struct gzip *gzip = cookie;
	int error;

	hand_over(&gzip->blocks[gzip->at]);
	for (uint32_t i = 1; i <= gzip->block_count; i++)
		take_back(gzip, &gzip->blocks[(gzip->at + i) % gzip->block_count]);
	put(gzip, empty_last_block, sizeof(empty_last_block));
	put_number(gzip, (uint32_t)gzip->crc);
	put_number(gzip, (uint32_t)gzip->bytes);
	error = gzip->error;
	free_all(gzip);
	errno = error;
	return error == 0 ? 0 : -1;
}

/* Counts the block first, so that free_all() frees it after a failure. */
static bool add_block(struct gzip *gzip)
{
	struct block *block = &gzip->blocks[gzip->block_count++];

	*block = (struct block){.turn = TO_FILL, .text = malloc(BLOCK_BYTES)};
	pthread_mutex_init(&block->lock, NULL);
	pthread_cond_init(&block->changed, NULL);
	if (deflateInit2(&block->zip, LEVEL, Z_DEFLATED, RAW_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	block->packed_room = deflateBound(&block->zip, BLOCK_BYTES) + FLUSH_BYTES;
	block->packed = malloc(block->packed_room);
	if (!block->text || !block->packed)
		return false;
	block->has_thread = pthread_create(&block->thread, NULL, work, block) == 0;
	return true;
}

FILE *gp_gzip_open(FILE *to)
{
	static const cookie_io_functions_t functions = {.write = write_text, .close = close_gzip};
	struct gzip *gzip = calloc(1, sizeof(*gzip));
	uint32_t cores = gp_core_count();
	uint32_t wanted = cores < 2 ? 2 : cores < MOST_BLOCKS ? cores : MOST_BLOCKS;
	bool complete = gzip != NULL;
	FILE *stream;

	while (complete && gzip->block_count < wanted)
		complete = add_block(gzip);
	stream = complete ? fopencookie(gzip, "w", functions) : NULL;
	if (!stream) {
		if (gzip)
			free_all(gzip);
		return NULL;
	}
	gzip->to = to;
	put(gzip, header, sizeof(header));
	return stream;
}
