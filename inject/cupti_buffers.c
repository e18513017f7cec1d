#include "inject/cupti_buffers.h"

#include <errno.h>
#include <sys/mman.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"

/* In steady state CUPTI holds two or three; a burst between two decodings takes more. */
#define FIRST_BUFFERS 4u
#define MOST_BUFFERS  16384u

#define FIRST_SLEEP_NS   100000u
#define LONGEST_SLEEP_NS 1600000u

enum state { ABSENT, MAKING, FREE, TAKEN, FILLED };

struct buffer {
	uint8_t *memory;
	size_t valid_bytes;
	uint32_t order; /* when it was filled, among all */
	uint32_t state; /* enum state */
};

static struct buffer buffers[MOST_BUFFERS];
static uint32_t buffer_count; /* entries from here on are ABSENT, and always were */
static uint32_t fill_order;

static uint32_t buffer_bytes = GP_CUPTI_BUFFER_BYTES;
static uint32_t buffer_limit = MOST_BUFFERS;
static bool waits_for_decoder;
static void (*wake_decoder)(void);
static uint32_t requests;
static uint32_t releases; /* how many buffers the decoder has emptied */
static uint32_t
	gave_up_after; /* 1 + releases when a wait was in vain: no further one until there are more */

static __thread bool never_waits; /* this thread */

/* Where all are out, records go here.  In turn, for CUPTI must not have the same one twice at a time. */
#define DISCARD_PAGES 64u
static uint8_t discards[DISCARD_PAGES][4096] __attribute__((aligned(64)));
static uint32_t next_discard;
static uint32_t
	discards_out; /* how many CUPTI has: where a kernel lasts, one for as long as any other buffer */

/* In the middle of the program's launch: errno is kept. */
static uint8_t *map_buffer(void)
{
	void *memory;

	if (gp_sys_map(-1, 0, buffer_bytes, &memory) != 0)
		return NULL;
	gp_count(GP_COUNTER_BUFFER_BYTES, buffer_bytes);
	return memory;
}

/* The first entry that nobody has; NULL = all are taken. */
static struct buffer *claim_entry(void)
{
	for (uint32_t i = 0; i < buffer_limit; i++) {
		uint32_t count = gp_load32(&buffer_count);

		if (i >= count)
			gp_replace32(&buffer_count, count, i + 1);
		if (gp_load32(&buffers[i].state) == ABSENT &&
		    gp_replace32(&buffers[i].state, ABSENT, MAKING))
			return &buffers[i];
	}
	return NULL;
}

/* Make one more buffer, in the given state.  Where there is no memory the entry is free for the next try: there may be some later. */
static uint8_t *add_buffer(enum state state)
{
	struct buffer *buffer = claim_entry();
	uint8_t *memory;

	if (buffer == NULL)
		return NULL;
	memory = map_buffer();
	buffer->memory = memory;
	/* pairs with the acquire of whoever looks for a buffer in this state: memory is set */
	gp_store32_release(&buffer->state, memory != NULL ? state : ABSENT);
	return memory;
}

void gp_buffers_be_small(void)
{
	buffer_bytes = GP_CUPTI_SMALL_BUFFER_BYTES;
}

int gp_buffers_init(uint64_t most_bytes, bool waits, void (*wake)(void))
{
	uint64_t most = most_bytes / buffer_bytes;

	buffer_limit = most < MOST_BUFFERS ? (uint32_t)most : MOST_BUFFERS;
	waits_for_decoder = waits;
	wake_decoder = wake;
	for (uint32_t i = 0; i < FIRST_BUFFERS; i++)
		if (add_buffer(FREE) == NULL)
			return -ENOMEM;
	return 0;
}

static uint8_t *take_free(void)
{
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_load32(&buffers[i].state) == FREE &&
		    gp_replace32(&buffers[i].state, FREE, TAKEN))
			return buffers[i].memory;
	return NULL;
}

static bool decoder_lags(void)
{
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_load32(&buffers[i].state) == FILLED)
			return true;
	return false;
}

static uint8_t *wait_for_free(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + GP_EMIT_WAIT_NS;
	uint64_t sleep_ns = FIRST_SLEEP_NS;
	uint8_t *memory = NULL;

	if (!waits_for_decoder || never_waits ||
	    gp_load32(&gave_up_after) == gp_load32(&releases) + 1 || !decoder_lags())
		return NULL;
	gp_count(GP_COUNTER_BUFFER_WAITS, 1);
	do {
		wake_decoder();
		gp_sys_sleep(sleep_ns);
		memory = take_free();
		if (sleep_ns < LONGEST_SLEEP_NS)
			sleep_ns *= 2;
	} while (memory == NULL && gp_sys_now_ns() < give_up_ns);
	if (memory == NULL)
		gp_store32(&gave_up_after, gp_load32(&releases) + 1);
	return memory;
}

void gp_buffers_never_wait_here(void)
{
	never_waits = true;
}

uint8_t *gp_buffers_take(size_t *bytes)
{
	uint8_t *memory = take_free();

	*bytes = buffer_bytes;
	gp_add32(&requests, 1);
	if (memory != NULL)
		return memory;
	memory = add_buffer(TAKEN);
	if (memory != NULL)
		gp_count(GP_COUNTER_BUFFERS_EXTRA, 1);
	else
		memory = wait_for_free();
	if (memory != NULL)
		return memory;
	*bytes = sizeof(discards[0]);
	gp_add32(&discards_out, 1);
	return discards[gp_add32(&next_discard, 1) % DISCARD_PAGES];
}

static struct buffer *find(const uint8_t *memory)
{
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_load32_acquire(&buffers[i].state) > MAKING && buffers[i].memory == memory)
			return &buffers[i];
	return NULL;
}

static bool is_discard(const uint8_t *memory)
{
	uintptr_t first = (uintptr_t)discards;

	return (uintptr_t)memory >= first && (uintptr_t)memory < first + sizeof(discards);
}

bool gp_buffers_give(uint8_t *memory, size_t valid_bytes)
{
	struct buffer *buffer = find(memory);

	if (buffer == NULL) {
		if (is_discard(memory))
			gp_add32(&discards_out, UINT32_MAX);
		return false;
	}
	buffer->valid_bytes = valid_bytes;
	buffer->order = gp_add32(&fill_order, 1);
	/* pairs with the acquire in gp_buffers_next(): the records and the fields above are
	 * complete */
	gp_store32_release(&buffer->state, valid_bytes > 0 ? FILLED : FREE);
	return true;
}

uint32_t gp_buffers_requests(void)
{
	return gp_load32(&requests);
}

bool gp_buffers_are_out(void)
{
	uint32_t count = gp_load32(&buffer_count);

	if (gp_load32(&discards_out) != 0)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (gp_load32(&buffers[i].state) == TAKEN)
			return true;
	return false;
}

uint8_t *gp_buffers_next(size_t *valid_bytes)
{
	struct buffer *first = NULL;
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_load32_acquire(&buffers[i].state) == FILLED &&
		    (first == NULL || (int32_t)(buffers[i].order - first->order) < 0))
			first = &buffers[i];
	if (first == NULL)
		return NULL;
	*valid_bytes = first->valid_bytes;
	return first->memory;
}

void gp_buffers_release(uint8_t *memory)
{
	struct buffer *buffer = find(memory);

	if (buffer == NULL)
		return;
	if (buffer - buffers >= (ptrdiff_t)GP_BUFFERS_KEPT)
		madvise(memory, buffer_bytes, MADV_DONTNEED);
	gp_add32(&releases, 1);
	/* pairs with the acquire in take_free(): the decoder no longer reads */
	gp_store32_release(&buffer->state, FREE);
}
