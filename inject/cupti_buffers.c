#include "inject/cupti_buffers.h"

#include <errno.h>
#include <sys/mman.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"

/* In the steady state CUPTI holds two or three; a burst between two decodings takes more. */
#define FIRST_BUFFERS 4u
#define MOST_BUFFERS  16384u

#define KEPT_BYTES ((uint64_t)GP_BUFFERS_KEPT * GP_CUPTI_BUFFER_BYTES)

/* The unused rest of a full buffer: less than a record. */
#define RECORD_MOST_BYTES 512u

#define FIRST_SLEEP_NS   100000u
#define LONGEST_SLEEP_NS 1600000u

enum state { ABSENT, MAKING, FREE, TAKEN, FILLED };

struct buffer {
	uint8_t *memory;
	uint32_t bytes;
	uint32_t valid_bytes;
	uint32_t next;        /* 1 + index of the next buffer in a list; 0 = none */
	uint32_t taking;      /* number of times it was taken, times MOST_BUFFERS, plus its index */
	uint32_t full_taking; /* the last taking after which it came back full */
	uint32_t state;       /* enum state */
	bool is_resident;     /* used by the decoder: written since its memory was released */
};

static struct buffer buffers[MOST_BUFFERS];
static uint32_t buffer_count; /* entries from here on are ABSENT and have never been used */
static uint32_t
	filled; /* atomic; 1 + index of the latest filled buffer, linked to the earlier ones */
static uint32_t to_decode; /* used by the decoder: the same list after it took it, in order */
static uint32_t takings;
static uint64_t resident_bytes; /* used by the decoder: bytes of released buffers */

static bool one_per_thread;
static uint32_t all_small;
static uint64_t most_bytes, mapped_bytes;
static bool waits_for_decoder;
static void (*wake_decoder)(void);
static uint32_t requests;
static uint32_t releases; /* number of buffers that the decoder has emptied */
static uint32_t
	gave_up_after; /* 1 + releases when a wait timed out: no further wait until it changes */

/* Per thread. */
static __thread bool never_waits;
static __thread uint32_t
	own_taking; /* taking of the thread's latest buffer, while one_per_thread */

/*
 * If all buffers are in use, records go here to be counted.  If these are in use, too, they are
 * shared in turn, and their counts are inexact.
 */
#define DISCARD_PAGES 256u
static uint8_t discards[DISCARD_PAGES][4096] __attribute__((aligned(64)));
static uint32_t discard_holders[DISCARD_PAGES];
static uint32_t next_shared;
/* number that CUPTI holds: behind a long kernel it holds one as long as any other buffer */
static uint32_t discards_out;

/* Called in the middle of a launch: preserves errno. */
static uint8_t *map_buffer(uint32_t bytes)
{
	void *memory;

	if (gp_sys_map(-1, 0, bytes, &memory) != 0)
		return NULL;
	gp_count(GP_COUNTER_BUFFER_BYTES, bytes);
	return memory;
}

/* The first unused entry; NULL = all are in use. */
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

/*
 * With one buffer per thread, large buffers leave half of the memory for the first buffers of new
 * threads.
 */
static uint64_t most_for(uint32_t bytes)
{
	uint64_t most = gp_load64(&most_bytes);

	return one_per_thread && bytes > GP_CUPTI_FIRST_BUFFER_BYTES ? most / 2 : most;
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

/*
 * Make one more buffer in the given state.  If memory is unavailable, the entry stays free for a
 * later attempt.
 */
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
	/*
	 * pairs with the acquire of the thread that finds a buffer in this state: the fields above
	 * are set
	 */
	gp_store32_release(&buffer->state, state);
	return buffer;
}

void gp_buffers_use_small(void)
{
	gp_store32(&all_small, 1);
}

void gp_buffers_use_per_thread(void)
{
	one_per_thread = true;
}

static uint32_t usual_bytes(void)
{
	return gp_load32(&all_small) ? GP_CUPTI_SMALL_BUFFER_BYTES : GP_CUPTI_BUFFER_BYTES;
}

static uint32_t first_bytes(void)
{
	return one_per_thread ? GP_CUPTI_FIRST_BUFFER_BYTES : usual_bytes();
}

/* CUPTI still holds this thread's last buffer and asks for another, or returned it full. */
static bool has_filled_its_last(void)
{
	const struct buffer *last = &buffers[own_taking % MOST_BUFFERS];

	if (own_taking == 0)
		return false;
	return gp_load32(&last->full_taking) == own_taking ||
	       (gp_load32(&last->taking) == own_taking && gp_load32(&last->state) == TAKEN);
}

/* A buffer that CUPTI requests during a flush serves any thread. */
static uint32_t wanted_bytes(void)
{
	if (one_per_thread && !never_waits && has_filled_its_last())
		return usual_bytes();
	return first_bytes();
}

int gp_buffers_init(uint64_t most, bool waits, void (*wake)(void))
{
	most_bytes = most;
	waits_for_decoder = waits;
	wake_decoder = wake;
	for (uint32_t i = gp_load32(&buffer_count); i < FIRST_BUFFERS; i++)
		if (add_buffer(first_bytes(), FREE) == NULL)
			return -ENOMEM;
	return 0;
}

void gp_buffers_empty(void)
{
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++) {
		struct buffer *buffer = &buffers[i];

		if (!gp_replace32(&buffer->state, FREE, TAKEN))
			continue;
		madvise(buffer->memory, buffer->bytes, MADV_DONTNEED);
		buffer->is_resident = false;
		gp_store32_release(&buffer->state, FREE);
	}
	resident_bytes = 0;
}

/* A free buffer of that size; 0 = any size. */
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

	if (!waits_for_decoder || never_waits || gp_load64(&most_bytes) == 0 ||
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

void gp_buffers_set_no_decoder(void)
{
	gp_store64(&most_bytes, 0);
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

static void note_taking(struct buffer *buffer)
{
	uint32_t count = gp_add32(&takings, 1) + 1;
	uint32_t taking = count * MOST_BUFFERS + (uint32_t)(buffer - buffers);

	gp_store32(&buffer->taking, taking);
	if (one_per_thread && !never_waits)
		own_taking = taking;
}

static uint8_t *take_discard(size_t *bytes)
{
	uint32_t page;

	*bytes = sizeof(discards[0]);
	gp_add32(&discards_out, 1);
	for (page = 0; page < DISCARD_PAGES; page++)
		if (gp_load32(&discard_holders[page]) == 0 &&
		    gp_replace32(&discard_holders[page], 0, 1))
			return discards[page];
	page = gp_add32(&next_shared, 1) % DISCARD_PAGES;
	gp_add32_ordered(&discard_holders[page], 1);
	return discards[page];
}

uint8_t *gp_buffers_take(size_t *bytes)
{
	struct buffer *buffer = take_or_add(wanted_bytes());

	gp_add32(&requests, 1);
	if (buffer == NULL && one_per_thread)
		buffer = take_or_add(first_bytes());
	if (buffer == NULL) /* one of another size is better than none */
		buffer = take_free(0);
	if (buffer == NULL)
		buffer = wait_for_free();
	if (buffer == NULL)
		return take_discard(bytes);
	note_taking(buffer);
	*bytes = buffer->bytes;
	return buffer->memory;
}

static struct buffer *find(const uint8_t *memory)
{
	uint32_t count = gp_load32(&buffer_count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_load32_acquire(&buffers[i].state) > MAKING && buffers[i].memory == memory)
			return &buffers[i];
	return NULL;
}

static void add_filled(struct buffer *buffer)
{
	do
		buffer->next = gp_load32(&filled);
	while (!gp_replace32(&filled, buffer->next, (uint32_t)(buffer - buffers) + 1));
}

bool gp_buffers_give(uint8_t *memory, size_t valid_bytes)
{
	struct buffer *buffer = find(memory);

	if (buffer == NULL)
		return false;
	buffer->valid_bytes = (uint32_t)valid_bytes;
	if (valid_bytes + RECORD_MOST_BYTES > buffer->bytes)
		gp_store32(&buffer->full_taking, gp_load32(&buffer->taking));
	/*
	 * pairs with the acquire of the next owner if the buffer is free: the fields above are
	 * complete
	 */
	gp_store32_release(&buffer->state, valid_bytes > 0 ? FILLED : FREE);
	if (valid_bytes > 0)
		add_filled(buffer);
	return true;
}

void gp_buffers_end_discard(uint8_t *memory)
{
	uintptr_t at = (uintptr_t)memory - (uintptr_t)discards;
	size_t page = at / sizeof(discards[0]);

	if (at >= sizeof(discards))
		return;
	gp_add32(&discards_out, UINT32_MAX);
	/* pairs with the next owner: the records were counted */
	gp_add32_ordered(&discard_holders[page], UINT32_MAX);
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

/* All buffers filled so far, in order. */
static uint32_t take_filled(void)
{
	uint32_t first = 0;

	for (uint32_t one = gp_swap32(&filled, 0), next; one != 0; one = next) {
		next = buffers[one - 1].next;
		buffers[one - 1].next = first;
		first = one;
	}
	return first;
}

uint8_t *gp_buffers_next(size_t *valid_bytes)
{
	if (to_decode == 0)
		to_decode = take_filled();
	if (to_decode == 0)
		return NULL;
	*valid_bytes = buffers[to_decode - 1].valid_bytes;
	return buffers[to_decode - 1].memory;
}

/* Memory of a burst is released; this much stays for the next burst. */
static void keep_or_give_back(struct buffer *buffer)
{
	if (!buffer->is_resident)
		resident_bytes += buffer->bytes;
	buffer->is_resident = resident_bytes <= KEPT_BYTES;
	if (buffer->is_resident)
		return;
	resident_bytes -= buffer->bytes;
	madvise(buffer->memory, buffer->bytes, MADV_DONTNEED);
}

void gp_buffers_release(void)
{
	struct buffer *buffer = &buffers[to_decode - 1];

	to_decode = buffer->next;
	keep_or_give_back(buffer);
	gp_add32(&releases, 1);
	/* pairs with the acquire in take_free(): the decoder no longer reads the buffer */
	gp_store32_release(&buffer->state, FREE);
}
