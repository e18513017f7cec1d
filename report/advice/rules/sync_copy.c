#include "report/advice/rules/rules.h"

#include "report/analysis/idle/call_cause.h"
#include "report/advice/rules/copies.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(FEW_PERCENT, 10, PERCENT, "of the recorded time: enough for a few copies ...")       \
	LIMIT(FEW_NS, 100000000, NS, "... with this much time")                                    \
	LIMIT(LOCK_NS_PER_KIB, 512, NS, "to page-lock 1 KiB, unless the trace shows it")           \
	LIMIT(ALIKE_PERCENT, 90, PERCENT,                                                          \
	      "of the copies: at least so many go the other way if data goes both ways")           \
	LIMIT(LEAST_LOCKED_BYTES, 33554432, BYTES,                                                 \
	      "an allocation that shows how long locking takes")
GP_LIMITS(LIMITS);

static bool is_synchronous(const struct gp_op *op)
{
	return !(op->flags & GP_COPY_ASYNC);
}

struct locking {
	double ns_per_byte;
	bool is_own; /* measured in this program */
};

static struct locking locking_of(const struct gp_model *model)
{
	uint64_t ns = 0, bytes = 0;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->call == GP_NONE ||
		    event->bytes < LEAST_LOCKED_BYTES ||
		    (event->memory_kind != GP_MEMORY_PINNED &&
		     event->memory_kind != GP_MEMORY_REGISTERED))
			continue;
		ns += gp_call_without_context_ns(model, event->call);
		bytes += event->bytes;
	}
	if (bytes == 0)
		return (struct locking){LOCK_NS_PER_KIB / 1024.0, false};
	return (struct locking){(double)ns / (double)bytes, true};
}

static void judge_few(const struct gp_advisor *advisor, struct gp_case *found)
{
	const struct gp_copies *own = found->own;
	uint64_t needed_ns = own->peak_ns + (uint64_t)((double)found->bytes *
						       locking_of(advisor->model).ns_per_byte);

	if (own->pageable < found->count || own->without_peak > 0 || found->saves_ns <= needed_ns)
		return;
	found->is_grave = found->saves_ns - needed_ns >= FEW_NS &&
			  found->saves_ns - needed_ns >= advisor->span_ns / (100 / FEW_PERCENT);
	if (found->is_grave)
		found->saves_ns -= needed_ns;
}

/*
 * Copies can only overlap with as much other work as there is from the first to the last one: the
 * rest of their time from page-locked memory stays.  Unknown peaks: nothing is subtracted.
 */
static void judge_many(struct gp_case *found)
{
	const struct gp_copies *own = found->own;
	uint64_t needed_ns = own->pageable > 0 ? own->peak_ns : own->copied_ns;
	uint64_t span_ns = own->last_ns - own->first_ns, beside_ns, stays_ns;

	if (own->pageable > 0 && own->without_peak > 0)
		return;
	/* after the last copy, as much other work as after each of the others */
	beside_ns = span_ns > found->saves_ns
			    ? (span_ns - found->saves_ns) / (found->count - 1) * found->count
			    : 0;
	stays_ns = needed_ns > beside_ns ? needed_ns - beside_ns : 0;
	if (stays_ns == 0)
		return;
	if (stays_ns > found->saves_ns)
		stays_ns = found->saves_ns;
	found->saves_in_loop_ns -= (uint64_t)((double)found->saves_in_loop_ns * (double)stays_ns /
					      (double)found->saves_ns);
	found->saves_ns -= stays_ns;
}

static bool is_alike(uint64_t count, uint64_t other)
{
	return count * 100 >= other * ALIKE_PERCENT && other * 100 >= count * ALIKE_PERCENT;
}

/* Whether other is the way back, or there, of the data: as many copies of the same size. */
static bool is_other_way(const struct gp_case *found, const struct gp_case *other)
{
	return found->detail != other->detail && !gp_copies_are_results(found) &&
	       found->bytes / found->count == other->bytes / other->count &&
	       is_alike(found->count, other->count);
}

static void find_other_way(const struct gp_advisor *advisor, struct gp_case *found)
{
	struct gp_copies *own = found->own;
	const struct gp_case *other;

	for (uint32_t i = 0; (other = gp_advisor_next_case(advisor, &i)) != NULL;)
		own->both_ways |= is_other_way(found, other);
}

static void look(struct gp_advisor *advisor)
{
	struct gp_case *found;

	gp_copies_look(advisor, is_synchronous);
	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;) {
		if (found->count < gp_rule_sync_copy.threshold.count)
			judge_few(advisor, found);
		else
			judge_many(found);
		if (found->count >= gp_rule_sync_copy.threshold.count)
			find_other_way(advisor, found);
	}
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	struct locking locking = locking_of(advisor->scope.models[found->process]);

	gp_copies_add_values(advisor, found, values);
	gp_document_add_flag(values, "is_both_ways",
			     ((const struct gp_copies *)found->own)->both_ways);
	if (found->count >= gp_rule_sync_copy.threshold.count)
		return;
	gp_document_add_words(values, "lock_s_per_gb", "%.2g", locking.ns_per_byte);
	gp_document_add_flag(values, "is_lock_measured", locking.is_own);
}

const struct gp_rule gp_rule_sync_copy = {
	.id = "sync-copy",
	.title = "synchronous copies",
	.found =
		"[{?step_count}synchronous {copy_kind} copies block the host for {step_time_ns} in each step ({step_count} time[{!step_count=1}s], {step_bytes})"
		"|{count} synchronous {copy_kind} copies, {bytes} in all, blocked the host for {time_ns}][; [{?is_all_pageable}all|{pageable_count}] of pageable memory{?pageable_count}]" GP_COPIES_RATE,
	.change =
		"[{?is_result}" GP_READ_LESS
		"|copy from and to page-locked memory ([{?language=torch}pin_memory=True|cudaMallocHost]), allocated once: {lock_s_per_gb} s for each GB of it[{?is_lock_measured}, as measured in this program,] are subtracted from the saving"
		"|{?is_both_ways}keep the data on the GPU between the steps, and do the host's work on it there; only for new data in each step copy with [{?language=torch}non_blocking=True|cudaMemcpyAsync][{?pageable_count} from and to page-locked memory ([{?language=torch}pin_memory=True|cudaMallocHost])]"
		"|copy with [{?language=torch}non_blocking=True|cudaMemcpyAsync in a stream][{?pageable_count}, from and to page-locked memory ([{?language=torch}pin_memory=True|cudaMallocHost])], and prepare the next copy meanwhile]",
	.meaning =
		"cudaMemcpy returns when the copy is done. The host launches nothing meanwhile, so GPU and host alternate if each iteration needs the copy. The saving is at most the time in the calls, without the work that the GPU had before the copy, and without the time of the copies that no other work can hide. Copies within a device, small copies to the device and copies that mostly waited (hidden-wait) do not count.",
	.remedy =
		"Use cudaMemcpyAsync with page-locked memory, in a stream. With two buffers the next copy overlaps the current kernels. Wait only before the host reads the result. Read results of a few bytes less often, or one iteration later. If data goes to the GPU and back in each iteration, keep it there: page-locked memory only shortens the copies, and the next one cannot start before the result of this one.",
	.ignore = "The program has no other work meanwhile, or needs each result immediately.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 100000,
		      .count = 8,
		      .reason = "Fewer copies are input and output of the program"},
	.exception =
		"one copy of pageable memory is enough if page-locked memory saves {FEW_PERCENT} % and {FEW_NS} beyond the time to lock it (measured in the program, else 0.5 s for each GB)",
	.limits = limits,
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct gp_copies),
	.look = look,
	.add_values = add_values,
};
