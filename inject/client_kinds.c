#include "inject/client_kinds.h"

#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "inject/client_clock.h"

#define WINDOWS    16u   /* per kind; all but one are kept, because records arrive late */
#define BOUNDARIES 1024u /* between calls; several windows may share one */

/* From one boundary to another, in calls and in time; 0 = none yet. */
struct window {
	uint64_t since_ns, until_ns;
	uint32_t first, end;
};

static struct {
	bool numbered;
	uint32_t boundary_count;
	uint32_t pending; /* the boundary before the next call, 0 = none */
	/* KNOWN | highest correlation id of a call so far; 0 = no call seen yet */
	uint64_t highest;
	uint64_t boundaries
		[BOUNDARIES]; /* its number << 32 | id of the first call after it, once known */
	uint32_t ours[GP_CLIENT_KINDS];
	struct {
		uint32_t enabled;
		uint32_t count; /* number of windows so far, including the latest */
		struct window windows[WINDOWS];
	} client[GP_CLIENT_KINDS];
} kinds;

void gp_client_kinds_init(bool numbered)
{
	kinds.numbered = numbered;
}

static bool is_known(CUpti_ActivityKind kind)
{
	return (uint32_t)kind < GP_CLIENT_KINDS;
}

void gp_client_kinds_set_ours(CUpti_ActivityKind kind, bool ours)
{
	if (is_known(kind))
		gp_store32(&kinds.ours[kind], ours);
}

bool gp_client_kinds_is_ours(CUpti_ActivityKind kind)
{
	return is_known(kind) && gp_load32(&kinds.ours[kind]) != 0;
}

bool gp_client_kinds_is_client_only(CUpti_ActivityKind kind)
{
	return is_known(kind) && gp_load32(&kinds.ours[kind]) == 0 &&
	       gp_load32(&kinds.client[kind].count) != 0;
}

/* ---- boundaries ---- */

#define NUMBER(slot) ((uint32_t)((slot) >> 32))
#define CALL(slot)   ((uint32_t)(slot))
#define KNOWN        ((uint64_t)1 << 32)

static bool is_before(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) < 0; /* correlation ids wrap around */
}

static void place(uint32_t boundary, uint32_t first_call)
{
	gp_store64(&kinds.boundaries[boundary % BOUNDARIES], (uint64_t)boundary << 32 | first_call);
}

static bool is_placed_before(uint32_t boundary, uint32_t first_call)
{
	return gp_load64(&kinds.boundaries[boundary % BOUNDARIES]) ==
	       ((uint64_t)boundary << 32 | first_call);
}

/*
 * A boundary lies behind the highest correlation id seen so far.  A call seen later with a lower id
 * got its id, and so was made, before the boundary.  If no call has been seen yet, the next one
 * determines the boundary.
 */
static uint32_t make_boundary(void)
{
	uint64_t highest = gp_load64(&kinds.highest);
	uint32_t latest = kinds.boundary_count;

	if (highest == 0) {
		if (gp_load32(&kinds.pending) == 0)
			gp_swap32(&kinds.pending, ++kinds.boundary_count);
	} else if (latest == 0 || !is_placed_before(latest, (uint32_t)highest + 1)) {
		place(++kinds.boundary_count, (uint32_t)highest + 1);
	}
	return kinds.boundary_count;
}

void gp_client_kinds_note_call(uint32_t correlation_id)
{
	uint64_t highest = gp_load64(&kinds.highest);
	uint32_t pending = gp_load32(&kinds.pending);

	if (pending != 0 && gp_replace32(&kinds.pending, pending, 0))
		place(pending, correlation_id);
	while (highest == 0 || is_before((uint32_t)highest, correlation_id)) {
		if (gp_replace64(&kinds.highest, highest, KNOWN | correlation_id))
			return;
		highest = gp_load64(&kinds.highest);
	}
}

void gp_client_kinds_forget_calls(void)
{
	gp_store64(&kinds.highest, 0);
}

/* A boundary whose slot was reused is older than any record. */
static bool is_behind(uint32_t correlation_id, uint32_t boundary)
{
	uint64_t slot = gp_load64(&kinds.boundaries[boundary % BOUNDARIES]);

	return NUMBER(slot) == boundary ? !is_before(correlation_id, CALL(slot))
					: NUMBER(slot) > boundary;
}

/* ---- windows ---- */

void gp_client_kinds_enable(CUpti_ActivityKind kind, uint64_t now_ns)
{
	uint32_t count;

	if (!is_known(kind) || gp_load32(&kinds.client[kind].enabled))
		return;
	count = kinds.client[kind].count;
	kinds.client[kind].windows[count % WINDOWS] = (struct window){
		.since_ns = now_ns,
		.first = make_boundary(),
	};
	/* pairs with the acquire in gp_client_kinds_wants(): the window is there */
	gp_store32_release(&kinds.client[kind].count, count + 1);
	gp_store32(&kinds.client[kind].enabled, 1);
}

void gp_client_kinds_disable(CUpti_ActivityKind kind, uint64_t now_ns)
{
	struct window *window;

	if (!is_known(kind) || !gp_load32(&kinds.client[kind].enabled))
		return;
	window = &kinds.client[kind].windows[(kinds.client[kind].count - 1) % WINDOWS];
	gp_store64(&window->until_ns, now_ns);
	gp_store32(&window->end, make_boundary());
	gp_store32(&kinds.client[kind].enabled, 0);
}

bool gp_client_kinds_is_enabled(CUpti_ActivityKind kind)
{
	return is_known(kind) && gp_load32(&kinds.client[kind].enabled) != 0;
}

bool gp_client_kinds_wants_ours(void)
{
	for (uint32_t kind = 0; kind < GP_CLIENT_KINDS; kind++)
		if (gp_load32(&kinds.client[kind].enabled) && gp_load32(&kinds.ours[kind]))
			return true;
	return false;
}

bool gp_client_kinds_wants_any(void)
{
	for (uint32_t kind = 0; kind < GP_CLIENT_KINDS; kind++)
		if (gp_load32(&kinds.client[kind].enabled))
			return true;
	return false;
}

/* ---- records ---- */

/* The offset of the correlation id in records of GPU activity; 0: another kind. */
static const uint8_t call_offset[GP_CLIENT_KINDS] = {
	[CUPTI_ACTIVITY_KIND_MEMCPY] = offsetof(CUpti_ActivityMemcpy5, correlationId),
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = offsetof(CUpti_ActivityMemcpyPtoP4, correlationId),
	[CUPTI_ACTIVITY_KIND_MEMSET] = offsetof(CUpti_ActivityMemset4, correlationId),
	[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = offsetof(CUpti_ActivityKernel8, correlationId),
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = offsetof(CUpti_ActivityGraphTrace, correlationId),
};

static bool holds_call(const struct window *window, uint32_t correlation_id)
{
	uint32_t end = gp_load32(&window->end);

	return is_behind(correlation_id, window->first) &&
	       (end == 0 || !is_behind(correlation_id, end));
}

/* A record without a time counts at its arrival. */
static bool holds_time(const struct window *window, uint64_t time_ns)
{
	uint64_t until_ns = gp_load64(&window->until_ns);

	if (time_ns == 0)
		return until_ns == 0;
	return time_ns >= window->since_ns && (until_ns == 0 || time_ns <= until_ns);
}

static bool holds(const struct window *window, const CUpti_Activity *record, size_t bytes)
{
	uint32_t correlation_id;

	if (!kinds.numbered || call_offset[record->kind] == 0)
		return holds_time(window, gp_client_clock_time_of(record, bytes));
	memcpy(&correlation_id, (const uint8_t *)record + call_offset[record->kind],
	       sizeof(correlation_id));
	return holds_call(window, correlation_id);
}

bool gp_client_kinds_wants(const CUpti_Activity *record, size_t bytes)
{
	uint32_t count;

	if (!gp_client_kinds_is_ours(record->kind))
		return gp_client_kinds_is_client_only(record->kind);
	count = gp_load32_acquire(&kinds.client[record->kind].count);
	/* the slot of the oldest window is where the next one is being made */
	for (uint32_t i = 0; i < count && i < WINDOWS - 1; i++)
		if (holds(&kinds.client[record->kind].windows[(count - 1 - i) % WINDOWS], record,
			  bytes))
			return true;
	return false;
}
