#include "inject/cupti_buffers.h"

#include <errno.h>
#include <sys/mman.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"

/* In steady state CUPTI holds two or three; a burst between two decodings takes more. */
#define FIRST_BUFFERS 4u
#define MOST_BUFFERS  16384u

#define KEPT_BYTES ((uint64_t)GP_BUFFERS_KEPT * GP_CUPTI_BUFFER_BYTES)

/* A thread that asks sooner than this after it asked last has filled its buffer. */
#define SOON_PER_S 20u

#define FIRST_SLEEP_NS   100000u
#define LONGEST_SLEEP_NS 1600000u

enum state { ABSENT, MAKING, FREE, TAKEN, FILLED };

struct buffer {
	uint8_t *memory;
	uint32_t bytes;
	uint32_t valid_bytes;
	uint32_t order; /* when it was filled, among all */
	uint32_t state; /* enum state */
};

static struct buffer buffers[MOST_BUFFERS];
static uint32_t buffer_count; /* entries from here on are ABSENT, and always were */
static uint32_t fill_order;

static bool all_small, one_per_thread;
static uint64_t most_bytes, mapped_bytes;
static bool waits_for_decoder;
static void (*wake_decoder)(void);
static uint32_t requests;
static uint32_t releases; /* how many buffers the decoder has emptied */
static uint32_t
	gave_up_after; /* 1 + releases when a wait was in vain: no further one until there are more */

/* This thread. */
static __thread bool never_waits;
static __thread uint64_t asked_ticks; /* when it asked last */

/* Where all are out, records go here.  In turn, for CUPTI must not have the same one twice at a time. */
#define DISCARD_PAGES 64u
static uint8_t discards[DISCARD_PAGES][4096] __attribute__((aligned(64)));
static uint32_t next_discard;
static uint32_t
	discards_out; /* how many CUPTI has: where a kernel lasts, one for as long as any other buffer */

/* In the middle of the program's launch: errno is kept. */
static uint8_t *map_buffer(uint32_t bytes)
{
	void *memory;

	if (gp_sys_map(-1, 0, bytes, &memory) != 0)
		return NULL;
	gp_count(GP_COUNTER_BUFFER_BYTES, bytes);
	return memory;
}

/* The first entry that nobody has; NULL = all are taken. */
static struct buffer *claim_entry(void)
{
	for (uint32_t i = 0; i < MOST_BUFFERS; i++) {
		uint32_t count = gp_load32(&buffer_count);

		if (i >= count)
			gp_replace32(&buffer_count, count, i + 1);
		if (gp_load32(&buffers[i].state) == ABSENT &&
		    gp_replace32(&buffers[i].state, ABSENT, MAKING))
			return &buffers[i];
	}
	return NULL;
}

/* Where each thread has one, large ones leave half for the first ones of further threads. */
static uint64_t most_for(uint32_t bytes)
{
	return one_per_thread && !never_waits && bytes > GP_CUPTI_FIRST_BUFFER_BYTES
		       ? most_bytes / 2
		       : most_bytes;
}

static bool claim_bytes(uint32_t bytes)
{
	uint64_t mapped;

	do {
		mapped = gp_load64(&mapped_bytes);
		if (mapped + bytes > most_for(bytes))
			return false;
	} while (!gp_replace64(&mapped_bytes, mapped, mapped + bytes));
	return true;
}

/* Make one more buffer, in the given state.  Where there is no memory the entry is free for the next try: there may be some later. */
static struct buffer *add_buffer(uint32_t bytes, enum state state)
{
	struct buffer *buffer;

	if (!claim_bytes(bytes))
		return NULL;
	buffer = claim_entry();
	if (buffer == NULL) {
		gp_add64(&mapped_bytes, -(uint64_t)bytes);
		return NULL;
	}
	buffer->memory = map_buffer(bytes);
	buffer->bytes = bytes;
	if (buffer->memory == NULL) {
		gp_add64(&mapped_bytes, -(uint64_t)bytes);
		gp_store32_release(&buffer->state, ABSENT);
		return NULL;
	}
	/* pairs with the acquire of whoever looks for a buffer in this state: the fields above are set */
	gp_store32_release(&buffer->state, state);
	return buffer;
}

void gp_buffers_be_small(void)
{
	all_small = true;
}

void gp_buffers_be_per_thread(void)
{
	one_per_thread = true;
}

static uint32_t first_bytes(void)
{
	if (one_per_thread)
		return GP_CUPTI_FIRST_BUFFER_BYTES;
	return all_small ? GP_CUPTI_SMALL_BUFFER_BYTES : GP_CUPTI_BUFFER_BYTES;
}

/* What CUPTI asks for while it flushes is to take what has not ended, of any thread. */
static uint32_t wanted_bytes(void)
{
	uint64_t since_ticks, now_ticks;

	if (!one_per_thread)
		return first_bytes();
	if (never_waits)
		return GP_CUPTI_BUFFER_BYTES;
	now_ticks = gp_clock_ticks();
	since_ticks = now_ticks - asked_ticks;
	asked_ticks = now_ticks;
	return since_ticks < gp_clock_ticks_per_second() / SOON_PER_S ? GP_CUPTI_BUFFER_BYTES
								      : first_bytes();
}

int gp_buffers_init(uint64_t most, bool waits, void (*wake)(void))
{
	most_bytes = most;
	waits_for_decoder = waits;
	wake_decoder = wake;
	for (uint32_t i = 0; i < FIRST_BUFFERS; i++)
		if (add_buffer(first_bytes(), FREE) == NULL)
			return -ENOMEM;
	return 0;
}

/* A free one of that many bytes; 0 = of any. */
static struct buffer *take_free(uint32_t bytes)
{
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++) {
		struct buffer *buffer = &buffers[i];

		if (gp_load32_acquire(&buffer->state) == FREE &&
		    (bytes == 0 || buffer->bytes == bytes) &&
		    gp_replace32(&buffer->state, FREE, TAKEN))
			return buffer;
	}
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

static struct buffer *wait_for_free(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + GP_EMIT_WAIT_NS;
	uint64_t sleep_ns = FIRST_SLEEP_NS;
	struct buffer *buffer = NULL;

	if (!waits_for_decoder || never_waits ||
	    gp_load32(&gave_up_after) == gp_load32(&releases) + 1 || !decoder_lags())
		return NULL;
	gp_count(GP_COUNTER_BUFFER_WAITS, 1);
	do {
		wake_decoder();
		gp_sys_sleep(sleep_ns);
		buffer = take_free(0);
		if (sleep_ns < LONGEST_SLEEP_NS)
			sleep_ns *= 2;
	} while (buffer == NULL && gp_sys_now_ns() < give_up_ns);
	if (buffer == NULL)
		gp_store32(&gave_up_after, gp_load32(&releases) + 1);
	return buffer;
}

void gp_buffers_never_wait_here(void)
{
	never_waits = true;
}

static struct buffer *take_or_add(uint32_t bytes)
{
	struct buffer *buffer = take_free(bytes);

	if (buffer != NULL)
		return buffer;
	buffer = add_buffer(bytes, TAKEN);
	if (buffer != NULL && !one_per_thread)
		gp_count(GP_COUNTER_BUFFERS_EXTRA, 1);
	return buffer;
}

uint8_t *gp_buffers_take(size_t *bytes)
{
	struct buffer *buffer = take_or_add(wanted_bytes());

	gp_add32(&requests, 1);
	if (buffer == NULL && one_per_thread)
		buffer = take_or_add(first_bytes());
	if (buffer == NULL && one_per_thread)
		buffer = take_free(0);
	if (buffer == NULL)
		buffer = wait_for_free();
	if (buffer != NULL) {
		*bytes = buffer->bytes;
		return buffer->memory;
	}
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
	buffer->valid_bytes = (uint32_t)valid_bytes;
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
	if ((uint64_t)(buffer - buffers) * buffer->bytes >= KEPT_BYTES)
		madvise(memory, buffer->bytes, MADV_DONTNEED);
	gp_add32(&releases, 1);
	/* pairs with the acquire in take_free(): the decoder no longer reads */
	gp_store32_release(&buffer->state, FREE);
}
