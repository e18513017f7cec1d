#include "report/model/sums/live_memory.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/trace/memory_rules.h"

/*
 * A call, or the end of a context, at the time of its effect (report/model/model.h,
 * gp_memory_event).
 */
struct gp_live_memory_event {
	uint64_t ticks;
	uint64_t address, bytes, handle;
	uint32_t context_id;
	uint16_t device;
	uint8_t op; /* enum gp_memory_op, or CONTEXT_END */
	uint8_t kind;
	bool is_late; /* a free that has waited for its allocation */
};
#define CONTEXT_END 0

struct block {
	uint64_t address;
	uint64_t bytes;
	uint64_t ticks;              /* of its allocation */
	uint32_t context;            /* number in contexts; NO_CONTEXT = none */
	struct block *before, *next; /* in the list of the context */
	size_t device;               /* id, or GP_MEMORY_OF_HOST */
	uint8_t kind;
};

#define NO_CONTEXT GP_HASH_NONE

struct gp_live_context {
	uint32_t id;
	struct block *first;
};

static int compare_blocks(const void *a, const void *b)
{
	const struct block *left = a, *right = b;
	uint8_t left_family = gp_memory_family(left->kind);
	uint8_t right_family = gp_memory_family(right->kind);

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left_family > right_family) - (left_family < right_family);
}

void gp_live_memory_free(struct gp_live_memory *m)
{
	tdestroy(m->blocks, free);
	gp_handles_free(&m->handles);
	gp_memory_ledger_clear(&m->ledger);
	gp_hash_free(&m->context_index);
	free(m->contexts);
	free(m->events);
	*m = (struct gp_live_memory){0};
}

/* ---- events ---- */

static int add_event(struct gp_live_memory *m, const struct gp_live_memory_event *event)
{
	int result =
		gp_array_grow(&m->events, &m->event_capacity, m->event_count, sizeof(*m->events));

	if (result == 0)
		m->events[m->event_count++] = *event;
	return result;
}

int gp_live_memory_take(struct gp_live_memory *m, const struct gp_record_memory *r)
{
	struct gp_live_memory_event event = {
		.ticks = r->call.start_ticks,
		.address = r->address,
		.bytes = r->bytes,
		.handle = r->pool,
		.context_id = r->call.context_id,
		.device = r->device_id,
		.op = r->op,
		.kind = r->memory_kind,
	};
	bool ends_something = r->op == GP_MEMORY_FREE || r->op == GP_MEMORY_UNMAP;

	if (!gp_memory_took_effect(r) || (!gp_memory_is_event(r) && !gp_memory_is_about_handle(r)))
		return 0;
	if (!ends_something)
		event.ticks +=
			r->call.duration_low_ticks + ((uint64_t)r->call.duration_high_ticks << 32);
	return add_event(m, &event);
}

int gp_live_memory_end_context(struct gp_live_memory *m, const struct gp_record_context_end *r)
{
	return add_event(m, &(struct gp_live_memory_event){
				    .ticks = r->ticks, .context_id = r->id, .op = CONTEXT_END});
}

static bool has_id(const void *contexts, uint32_t number, const void *id)
{
	return ((const struct gp_live_context *)contexts)[number].id == *(const uint32_t *)id;
}

static uint32_t find_context(const struct gp_live_memory *m, uint32_t id)
{
	return gp_hash_find(&m->context_index, gp_hash_bytes(&id, sizeof(id)), has_id, m->contexts,
			    &id);
}

static int make_context(struct gp_live_memory *m, uint32_t id, uint32_t *number)
{
	int result = 0;

	*number = find_context(m, id);
	if (*number != NO_CONTEXT)
		return 0;
	result = gp_array_grow(&m->contexts, &m->context_capacity, m->context_count,
			       sizeof(*m->contexts));
	if (result == 0)
		result = gp_hash_add(&m->context_index, gp_hash_bytes(&id, sizeof(id)),
				     m->context_count);
	if (result != 0)
		return result;
	*number = m->context_count++;
	m->contexts[*number] = (struct gp_live_context){.id = id};
	return 0;
}

static void link_block(struct gp_live_memory *m, struct block *block)
{
	struct block **first;

	if (block->context == NO_CONTEXT)
		return;
	first = &m->contexts[block->context].first;
	block->next = *first;
	if (*first)
		(*first)->before = block;
	*first = block;
}

static void unlink_block(struct gp_live_memory *m, struct block *block)
{
	if (block->before)
		block->before->next = block->next;
	else if (block->context != NO_CONTEXT)
		m->contexts[block->context].first = block->next;
	if (block->next)
		block->next->before = block->before;
}

static void forget_block(struct gp_live_memory *m, struct block *block)
{
	unlink_block(m, block);
	gp_memory_ledger_release(&m->ledger, block->device, block->kind, block->bytes, true);
	tdelete(block, &m->blocks, compare_blocks);
	free(block);
}

/* ---- effects of events ---- */

static struct block *find_block(const struct gp_live_memory *m, uint64_t address, uint8_t kind)
{
	const struct block key = {.address = address, .kind = kind};
	struct block **found = tfind(&key, (void *const *)&m->blocks, compare_blocks);

	return found ? *found : NULL;
}

/* An earlier block at that place is gone: its free is not in the trace, or comes later. */
static int allocate(struct gp_live_memory *m, const struct gp_live_memory_event *event)
{
	struct block *block = find_block(m, event->address, event->kind);
	uint32_t context = NO_CONTEXT;

	if (block)
		forget_block(m, block);
	if (event->kind != GP_MEMORY_PHYSICAL && /* which no context owns */
	    make_context(m, event->context_id, &context) != 0)
		return -ENOMEM;
	block = malloc(sizeof(*block));
	if (!block)
		return -ENOMEM;
	*block = (struct block){
		.address = event->address,
		.bytes = event->bytes,
		.ticks = event->ticks,
		.context = context,
		.device = gp_memory_is_of_host(event->kind) ? GP_MEMORY_OF_HOST : event->device,
		.kind = event->kind,
	};
	if (!tsearch(block, &m->blocks, compare_blocks)) {
		free(block);
		return -ENOMEM;
	}
	link_block(m, block);
	if (event->kind == GP_MEMORY_PHYSICAL &&
	    gp_handles_create(&m->handles, event->address) != 0)
		return -ENOMEM;
	return gp_memory_ledger_allocate(&m->ledger, block->device, block->kind, block->bytes,
					 block->ticks);
}

/* False: nothing is known to be there. */
static bool release(struct gp_live_memory *m, const struct gp_live_memory_event *event)
{
	struct block *block = find_block(m, event->address, event->kind);

	if (event->kind == GP_MEMORY_PHYSICAL && !gp_handles_release(&m->handles, event->address))
		return true;
	if (!block)
		return false;
	if (event->ticks >= block->ticks) /* else it ended the block before */
		forget_block(m, block);
	return true;
}

static void unmap(struct gp_live_memory *m, const struct gp_live_memory_event *event)
{
	uint64_t handle;

	while (gp_handles_unmap(&m->handles, event->address, event->bytes, &handle)) {
		struct block *block = find_block(m, handle, GP_MEMORY_PHYSICAL);

		if (block)
			forget_block(m, block);
	}
}

static void end_context(struct gp_live_memory *m, const struct gp_live_memory_event *event)
{
	uint32_t context = find_context(m, event->context_id);

	while (context != NO_CONTEXT && m->contexts[context].first)
		forget_block(m, m->contexts[context].first);
}

static void free_block(struct gp_live_memory *m, const struct gp_live_memory_event *event,
		       bool *waits)
{
	bool is_known = event->address == 0 || release(m, event);

	*waits = !is_known && !event->is_late;
	m->unknown_frees += !is_known && event->is_late;
}

static int apply(struct gp_live_memory *m, const struct gp_live_memory_event *event, bool *waits)
{
	*waits = false;
	if (event->op == GP_MEMORY_ALLOC)
		return allocate(m, event);
	if (event->op == GP_MEMORY_MAP)
		return gp_handles_map(&m->handles, event->address, event->handle);
	if (event->op == GP_MEMORY_FREE)
		free_block(m, event, waits);
	else if (event->op == GP_MEMORY_UNMAP)
		unmap(m, event);
	else if (event->op == GP_MEMORY_RETAIN)
		gp_handles_retain(&m->handles, event->address);
	else
		end_context(m, event);
	return 0;
}

GP_COMPARE_BY(compare_events, struct gp_live_memory_event, ticks)

int gp_live_memory_settle(struct gp_live_memory *m)
{
	uint32_t waiting = 0;
	int result =
		gp_array_sort(m->events, m->event_count, sizeof(*m->events), compare_events, NULL);

	for (uint32_t i = 0; i < m->event_count && result == 0; i++) {
		bool waits;

		result = apply(m, &m->events[i], &waits);
		if (!waits)
			continue;
		m->events[waiting] = m->events[i];
		m->events[waiting++].is_late = true;
	}
	m->event_count = waiting;
	return result;
}
