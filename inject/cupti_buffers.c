#include "inject/cupti_buffers.h"

#include <errno.h>
#include <sys/mman.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"

/* In steady state CUPTI holds two or three; a burst between two decodings takes more. */
#define FIRST_BUFFERS 4u
#define MOST_BUFFERS  1024u

enum state { ABSENT, FREE, TAKEN, FILLED };

struct buffer {
	uint8_t *memory;
	size_t valid_bytes;
	uint32_t order; /* when it was filled, among all */
	uint32_t state; /* enum state */
};

static struct buffer buffers[MOST_BUFFERS];
static uint32_t buffer_count; /* entries that are not ABSENT, or soon will not be */
static uint32_t fill_order;

/* Where even the table is full, records go here and are not read: counted as lost, like CUPTI's own
 * drops. */
static uint8_t discard[4096] __attribute__((aligned(64)));

static uint8_t *map_buffer(void)
{
	void *memory = mmap(NULL, GP_CUPTI_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* a forked child has no use for them, and copying their page tables would slow the fork */
	madvise(memory, GP_CUPTI_BUFFER_BYTES, MADV_DONTFORK);
	gp_count(GP_COUNTER_BUFFER_BYTES, GP_CUPTI_BUFFER_BYTES);
	return memory;
}

/* Make one more entry, in the given state. */
static uint8_t *add_buffer(enum state state)
{
	uint32_t at = gp_add32(&buffer_count, 1);

	if (at >= MOST_BUFFERS) {
		gp_store32(&buffer_count, MOST_BUFFERS);
		return NULL;
	}
	buffers[at].memory = map_buffer();
	if (buffers[at].memory == NULL)
		return NULL; /* the entry stays ABSENT */
	/* pairs with the acquire of whoever looks for a buffer in this state: memory is set */
	gp_store32_release(&buffers[at].state, state);
	return buffers[at].memory;
}

int gp_buffers_init(void)
{
	for (uint32_t i = 0; i < FIRST_BUFFERS; i++)
		if (add_buffer(FREE) == NULL)
			return -ENOMEM;
	return 0;
}

static uint32_t known_buffers(void)
{
	uint32_t count = gp_load32(&buffer_count);

	return count < MOST_BUFFERS ? count : MOST_BUFFERS;
}

uint8_t *gp_buffers_take(size_t *bytes)
{
	uint32_t count = known_buffers();

	*bytes = GP_CUPTI_BUFFER_BYTES;
	for (uint32_t i = 0; i < count; i++)
		if (gp_load32(&buffers[i].state) == FREE &&
		    gp_replace32(&buffers[i].state, FREE, TAKEN))
			return buffers[i].memory;
	gp_count(GP_COUNTER_BUFFERS_EXTRA, 1);
	uint8_t *memory = add_buffer(TAKEN);

	if (memory == NULL) {
		*bytes = sizeof(discard);
		return discard;
	}
	return memory;
}

static struct buffer *find(const uint8_t *memory)
{
	uint32_t count = known_buffers();

	for (uint32_t i = 0; i < count; i++)
		if (gp_load32_acquire(&buffers[i].state) != ABSENT && buffers[i].memory == memory)
			return &buffers[i];
	return NULL;
}

void gp_buffers_give(uint8_t *memory, size_t valid_bytes)
{
	struct buffer *buffer = find(memory);

	if (buffer == NULL) {
		/* the discard page: how many records it held cannot be told */
		gp_count(GP_COUNTER_LOST_CUPTI, valid_bytes > 0);
		return;
	}
	buffer->valid_bytes = valid_bytes;
	buffer->order = gp_add32(&fill_order, 1);
	/* pairs with the acquire in gp_buffers_next(): the records and the fields above are
	 * complete */
	gp_store32_release(&buffer->state, valid_bytes > 0 ? FILLED : FREE);
}

uint8_t *gp_buffers_next(size_t *valid_bytes)
{
	struct buffer *first = NULL;
	uint32_t count = known_buffers();

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

	/* pairs with the acquire in gp_buffers_take(): the decoder no longer reads */
	if (buffer != NULL)
		gp_store32_release(&buffer->state, FREE);
}
