#include "report/analysis/idle/toplevel_calls.h"

#include <string.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

/* ---- lists ---- */

static void add_thread(struct gp_toplevel_calls *outer, const struct gp_call *call)
{
	gp_array_grow_spill(&outer->threads, &outer->thread_capacity, outer->thread_count,
			    sizeof(*outer->threads));
	outer->threads[outer->thread_count++] =
		(struct gp_outer_thread){.start_ns = call->start_ns, .id = call->thread_id};
}

static void list_calls(struct gp_toplevel_calls *outer, uint32_t call_count)
{
	struct gp_outer_thread *thread = NULL;

	for (uint32_t i = 0; i < call_count; i++) {
		const struct gp_call *call = &outer->calls[i];

		if (!thread || call->thread_id != thread->id) {

			add_thread(outer, call);
			thread = &outer->threads[outer->thread_count - 1];
		}
		if (call->start_ns < thread->end_ns)
			continue;
		outer->by_thread[outer->count++] = i;
		thread->last = i;
		thread->end_ns = gp_call_end_ns(call);
	}
}

/*
 * Of threads whose calls began at the same time, the one with the lowest number is the last; so it
 * is of ends.
 */
static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	const struct gp_call *left = &calls[*(const uint32_t *)a];
	const struct gp_call *right = &calls[*(const uint32_t *)b];

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->thread_id < right->thread_id) - (left->thread_id > right->thread_id);
}

static int compare_ends(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	uint64_t left = gp_call_end_ns(&calls[*(const uint32_t *)a]);
	uint64_t right = gp_call_end_ns(&calls[*(const uint32_t *)b]);

	return (left > right) - (left < right);
}

GP_COMPARE_BY_AND_DOWN(compare_threads, struct gp_outer_thread, end_ns, id)

static void order(struct gp_toplevel_calls *outer)
{
	size_t bytes = outer->count * sizeof(*outer->by_thread);

	outer->by_start = gp_spill_take(bytes);
	outer->by_end = gp_spill_take(bytes);
	outer->threads_by_end = gp_array_order(outer->threads, outer->thread_count,
					       sizeof(*outer->threads), compare_threads, NULL);
	memcpy(outer->by_start, outer->by_thread, bytes);
	gp_array_sort(outer->by_start, outer->count, sizeof(*outer->by_start), compare_starts,
		      outer->calls);
	memcpy(outer->by_end, outer->by_start, bytes);
	gp_array_sort(outer->by_end, outer->count, sizeof(*outer->by_end), compare_ends,
		      outer->calls);
}

void gp_toplevel_calls_of(struct gp_toplevel_calls *outer, const struct gp_model *model)
{
	*outer = (struct gp_toplevel_calls){
		.calls = model->calls,
		.by_thread = gp_spill_take(model->call_count * sizeof(*outer->by_thread)),
		.later_started_ns = UINT64_MAX,
	};
	list_calls(outer, model->call_count);
	order(outer);
	outer->asked = outer->count;
}

void gp_toplevel_calls_free(struct gp_toplevel_calls *outer)
{
	gp_spill_free(outer->by_thread);
	gp_spill_free(outer->by_start);
	gp_spill_free(outer->by_end);
	gp_spill_free(outer->threads);
	gp_spill_free(outer->threads_by_end);
	*outer = (struct gp_toplevel_calls){0};
}

/* ---- earlier calls ---- */

struct moment {
	const struct gp_toplevel_calls *outer;
	uint32_t thread_id;
	uint64_t time_ns;
};

static bool is_before_of_thread(const void *element, const void *key)
{
	const struct moment *moment = key;
	const struct gp_call *call = &moment->outer->calls[*(const uint32_t *)element];

	return call->thread_id < moment->thread_id ||
	       (call->thread_id == moment->thread_id && call->start_ns < moment->time_ns);
}

uint32_t gp_outer_before(const struct gp_toplevel_calls *outer, uint32_t thread_id,
			 uint64_t time_ns)
{
	const struct moment moment = {outer, thread_id, time_ns};

	return gp_array_lower_bound(outer->by_thread, outer->count, sizeof(*outer->by_thread),
				    is_before_of_thread, &moment);
}

const struct gp_call *gp_outer_last_of(const struct gp_toplevel_calls *outer, uint32_t thread_id,
				       uint64_t time_ns)
{
	uint32_t at = gp_outer_before(outer, thread_id, time_ns);
	const struct gp_call *call = at > 0 ? &outer->calls[outer->by_thread[at - 1]] : NULL;

	return call && call->thread_id == thread_id ? call : NULL;
}

static bool begins_before(const void *element, const void *key)
{
	const struct moment *moment = key;

	return moment->outer->calls[*(const uint32_t *)element].start_ns < moment->time_ns;
}

/* How many began before that time. */
static uint32_t begun_before(const struct gp_toplevel_calls *outer, uint64_t time_ns)
{
	const struct moment moment = {.outer = outer, .time_ns = time_ns};

	return gp_array_lower_bound(outer->by_start, outer->count, sizeof(*outer->by_start),
				    begins_before, &moment);
}

const struct gp_call *gp_outer_last(const struct gp_toplevel_calls *outer, uint64_t time_ns)
{
	uint32_t at = begun_before(outer, time_ns);

	return at > 0 ? &outer->calls[outer->by_start[at - 1]] : NULL;
}

/* ---- calls in a time ---- */

static bool is_done_by(const void *element, const void *key)
{
	const struct moment *moment = key;

	return moment->outer->threads[*(const uint32_t *)element].end_ns <= moment->time_ns;
}

const struct gp_call *gp_outer_last_within(const struct gp_toplevel_calls *outer, uint64_t from_ns,
					   uint64_t to_ns)
{
	const struct moment moment = {.outer = outer, .time_ns = to_ns};
	uint32_t at = gp_array_lower_bound(outer->threads_by_end, outer->thread_count,
					   sizeof(*outer->threads_by_end), is_done_by, &moment);

	for (; at > 0; at--) {
		const struct gp_outer_thread *thread =
			&outer->threads[outer->threads_by_end[at - 1]];
		const struct gp_call *last = &outer->calls[thread->last];

		if (thread->end_ns < from_ns)
			break;
		if (thread->start_ns >= from_ns && last->start_ns < to_ns)
			return last;
	}
	return NULL;
}

static bool has_lower_id(const void *element, const void *key)
{
	const struct gp_outer_thread *thread = element;

	return thread->id < *(const uint32_t *)key;
}

/*
 * Counts the call for its thread, which may have been counted; whether that made calls for so much
 * of the time by then.
 */
static bool is_busy_with(struct gp_toplevel_calls *outer, uint32_t number, uint64_t from_ns,
			 uint64_t to_ns, uint64_t least_ns)
{
	const struct gp_call *call = &outer->calls[number];
	uint64_t start_ns = call->start_ns > from_ns ? call->start_ns : from_ns;
	uint64_t end_ns = gp_call_end_ns(call) < to_ns ? gp_call_end_ns(call) : to_ns;
	struct gp_outer_thread *thread = &outer->threads[gp_array_lower_bound(
		outer->threads, outer->thread_count, sizeof(*outer->threads), has_lower_id,
		&call->thread_id)];

	if (thread->seen_ns != to_ns || start_ns < thread->first_ns)
		thread->first_ns = start_ns;
	if (thread->seen_ns != to_ns || end_ns > thread->until_ns)
		thread->until_ns = end_ns;
	thread->seen_ns = to_ns;
	return thread->until_ns - thread->first_ns >= least_ns;
}

/* Passes those that ended after that time: when the first of them began. */
static uint64_t pass_later(struct gp_toplevel_calls *outer, uint64_t to_ns)
{
	for (; outer->asked > 0; outer->asked--) {
		const struct gp_call *call = &outer->calls[outer->by_end[outer->asked - 1]];

		if (gp_call_end_ns(call) <= to_ns)
			break;
		if (call->start_ns < outer->later_started_ns)
			outer->later_started_ns = call->start_ns;
	}
	return outer->later_started_ns;
}

bool gp_outer_is_busy(struct gp_toplevel_calls *outer, uint64_t from_ns, uint64_t to_ns,
		      uint64_t least_ns)
{
	if (pass_later(outer, to_ns) < from_ns) /* one lasted for all of it */
		return true;
	for (uint32_t i = begun_before(outer, from_ns); i < outer->count; i++) {
		if (outer->calls[outer->by_start[i]].start_ns >= to_ns)
			break;
		if (is_busy_with(outer, outer->by_start[i], from_ns, to_ns, least_ns))
			return true;
	}
	for (uint32_t i = outer->asked; i > 0; i--) {
		const struct gp_call *call = &outer->calls[outer->by_end[i - 1]];

		if (gp_call_end_ns(call) <= from_ns)
			break;
		if (call->start_ns < from_ns &&
		    is_busy_with(outer, outer->by_end[i - 1], from_ns, to_ns, least_ns))
			return true;
	}
	return false;
}
