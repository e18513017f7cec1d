#include "report/advice/rules/rules.h"

#include <errno.h>
#include <stdlib.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_samples.h"
#include "report/base/array.h"
#include "report/base/interval.h"
#include "report/base/spill_memory.h"
#include "report/tables/by/collective_ranks.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_OPERATIONS, 16, COUNT, "operations of all ranks: fewer are startup")           \
	LIMIT(LATE_PERCENT, 150, PERCENT,                                                          \
	      "of its share: a late rank is last in this many operations")                         \
	LIMIT(IDLE_PART, 2, COUNT, "of the others' wait: this much more idle time is the host's")  \
	LIMIT(GAP_PART, 8, COUNT, "of the others' wait: a longer idle gap is a part of the cause")
GP_LIMITS(LIMITS);

struct own {
	uint64_t ranks, operations, late; /* it was the last in so many of the operations */
	uint64_t by_host, by_gpu; /* in so many its host launched late, or its GPU had more work */
	uint64_t held_up_ns;
	/* Unix times before the operations that its host launched late, in order */
	const struct gp_interval *late_times;
	uint32_t late_time_count;
	bool has_samples;
};

/* Of a process. */
struct rank {
	uint64_t late, by_host, by_gpu, held_up_ns;
	struct gp_interval
		*late_times; /* Unix times before operations that its host launched late */
	uint32_t late_time_count, late_time_capacity;
	size_t device; /* in the list, of the GPU of that number, which it was asked for last */
	uint16_t device_id;
	bool has_device;
};

struct count {
	struct gp_advisor *advisor;
	struct rank *ranks; /* by process */
	uint64_t operations, gpus;
};

static size_t device_of(struct count *count, const struct gp_collective_part *part)
{
	struct gp_scope *scope = &count->advisor->scope;
	struct rank *rank = &count->ranks[part->process];

	if (!rank->has_device || rank->device_id != part->device_id)
		rank->device = gp_device_list_find(&scope->devices, scope->models[part->process],
						   part->device_id);
	rank->device_id = part->device_id;
	rank->has_device = true;
	return rank->device;
}

/* The time since the previous operation, in which the GPU was idle or busy. */
struct before {
	uint64_t idle_ns, busy_ns;
};

static struct before time_before(struct count *count, const struct gp_collective_part *part)
{
	const struct gp_model *model = count->advisor->scope.models[part->process];
	const struct gp_idle_gaps *idle_gaps = &count->advisor->basis->idle_gaps;
	size_t device = device_of(count, part);
	uint64_t busy_ns, wall_ns = part->start_ns - part->before_ns;

	if (part->before_ns == 0 || part->start_ns <= part->before_ns ||
	    device >= idle_gaps->device_count)
		return (struct before){0};
	busy_ns = gp_idle_gaps_busy_ns(idle_gaps, device, model->base_unix_ns + part->before_ns,
				       model->base_unix_ns + part->start_ns);
	return (struct before){wall_ns > busy_ns ? wall_ns - busy_ns : 0, busy_ns};
}

static void add_late_time(struct count *count, const struct gp_collective_part *part)
{
	uint64_t base_ns = count->advisor->scope.models[part->process]->base_unix_ns;
	struct rank *rank = &count->ranks[part->process];
	int result = gp_array_grow_spill(&rank->late_times, &rank->late_time_capacity,
					 rank->late_time_count, sizeof(*rank->late_times));

	if (result != 0)
		count->advisor->error = result;
	else
		rank->late_times[rank->late_time_count++] =
			(struct gp_interval){base_ns + part->before_ns, base_ns + part->start_ns};
}

static bool explains(uint64_t own_ns, uint64_t others_ns, uint64_t held_up_ns)
{
	return own_ns > others_ns && (own_ns - others_ns) * IDLE_PART >= held_up_ns;
}

/*
 * Whether the GPU of the last rank was idle for longer than those of the others, so that its host was
 * late, or busy for longer.
 */
static void find_cause(struct count *count, const struct gp_collective_part *parts, uint32_t gpus,
		       uint32_t last)
{
	uint64_t held_up_ns = gp_collective_held_up_ns(parts, gpus);
	struct rank *rank = &count->ranks[parts[last].process];
	struct before own = {0}, others = {0};

	for (uint32_t i = 0; i < gpus; i++) {
		struct before one = time_before(count, &parts[i]);

		if (i == last)
			own = one;
		others.idle_ns += i == last ? 0 : one.idle_ns / (gpus - 1);
		others.busy_ns += i == last ? 0 : one.busy_ns / (gpus - 1);
	}
	if (explains(own.idle_ns, others.idle_ns, held_up_ns)) {
		rank->by_host++;
		add_late_time(count, &parts[last]);
	}
	rank->by_gpu += explains(own.busy_ns, others.busy_ns, held_up_ns);
}

/* The first operation is left out: it waits until every rank has started. */
static void count_operation(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct count *count = context;

	if (parts->before_ns == 0 || !gp_collective_is_of_all(parts))
		return;
	count->operations++;
	if (gpus > count->gpus)
		count->gpus = gpus;
	for (uint32_t i = 0; i < gpus; i++) {
		struct rank *rank = &count->ranks[parts[i].process];

		if (!parts[i].is_last)
			continue;
		rank->late++;
		rank->held_up_ns += gp_collective_held_up_ns(parts, gpus);
		find_cause(count, parts, gpus, i);
	}
}

/*
 * The time that others held up on average, which is noise. A rank that held up for longer, but less
 * often, is left out.
 */
static uint64_t usual_ns(const struct count *count, size_t processes, size_t latest)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < processes; i++)
		if (i != latest && count->ranks[i].held_up_ns < count->ranks[latest].held_up_ns)
			sum_ns += count->ranks[i].held_up_ns;
	return processes > 1 ? sum_ns / (processes - 1) : 0;
}

static bool ends_before(const void *element, const void *key)
{
	const struct gp_interval *time = element;
	const uint64_t *start_ns = key;

	return time->end_ns <= *start_ns;
}

/* In other gaps the other ranks waited as well, or for something else. */
static bool is_before_late_operation(const struct own *own, const struct gp_idle_gap *gap)
{
	uint32_t i = gp_array_lower_bound(own->late_times, own->late_time_count,
					  sizeof(*own->late_times), ends_before, &gap->start_ns);

	return i < own->late_time_count && own->late_times[i].start_ns <= gap->start_ns;
}

static void take_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	struct gp_case *found = advisor->state;
	struct own *own = found->own;

	if (!is_before_late_operation(own, at->idle_gap))
		return;
	own->has_samples |= gp_host_samples_add(advisor, found, at, at->idle_gap->end_ns);
	gp_advisor_show_idle_gap(advisor, found, at->idle_gap);
	gp_advisor_tell(advisor, found, at->idle_gap);
	gp_advisor_vote(found, gp_advisor_site(advisor, at->call_after),
			gp_idle_gap_ns(at->idle_gap));
}

/* The host's work in the idle gaps before late operations that are long enough to delay the rank so. */
static void look_at_gaps(struct gp_advisor *advisor, struct gp_case *found)
{
	const struct own *own = found->own;

	advisor->model = advisor->scope.models[advisor->process];
	advisor->tuning = &advisor->basis->tunings[advisor->process];
	advisor->state = found;
	gp_advisor_idle_gaps(advisor, own->held_up_ns / own->late / GAP_PART,
			     gp_advisor_waits_for_host, take_gap);
}

/* A rank that is late often comes before one that was late once for long. */
static bool is_later(const struct rank *a, const struct rank *b)
{
	return a->late != b->late ? a->late > b->late : a->held_up_ns > b->held_up_ns;
}

static void judge(struct gp_advisor *advisor, const struct count *count)
{
	size_t latest = 0, processes = advisor->scope.model_count;
	struct rank *rank;
	struct gp_case *found;
	uint64_t ns;
	struct own *own;

	for (size_t i = 1; i < processes; i++)
		if (is_later(&count->ranks[i], &count->ranks[latest]))
			latest = i;
	rank = &count->ranks[latest];
	rank->late_time_count = (uint32_t)gp_interval_join(rank->late_times, rank->late_time_count);
	ns = usual_ns(count, processes, latest);
	if (count->operations < LEAST_OPERATIONS || rank->held_up_ns <= ns ||
	    rank->late * count->gpus * 100 < count->operations * LATE_PERCENT)
		return;
	advisor->process = latest;
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	own = found->own;
	*own = (struct own){.ranks = count->gpus,
			    .operations = count->operations,
			    .late = rank->late,
			    .by_host = rank->by_host,
			    .by_gpu = rank->by_gpu,
			    .held_up_ns = rank->held_up_ns,
			    .late_times = rank->late_times,
			    .late_time_count = rank->late_time_count};
	gp_advisor_add(advisor, found, GP_ALL_THE_TIME, rank->held_up_ns, rank->held_up_ns - ns,
		       NULL);
	found->count = rank->late;
	if (advisor->error == 0 && own->by_host * 2 >= own->late)
		look_at_gaps(advisor, found);
	own->late_times = NULL; /* they live no longer than the count */
	own->late_time_count = 0;
}

static void look_at_all(struct gp_advisor *advisor)
{
	struct count count = {.advisor = advisor,
			      .ranks =
				      calloc(advisor->scope.model_count + 1, sizeof(*count.ranks))};

	if (!count.ranks)
		advisor->error = -ENOMEM;
	else if (advisor->scope.model_count > 1)
		advisor->error = gp_collective_each(&advisor->scope, count_operation, &count);
	advisor->matched_collectives = count.operations >= LEAST_OPERATIONS ? count.operations : 0;
	if (advisor->error == 0 && count.operations > 0)
		judge(advisor, &count);
	for (size_t i = 0; count.ranks && i < advisor->scope.model_count; i++)
		gp_spill_free(count.ranks[i].late_times);
	free(count.ranks);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct own *own = found->own;
	const char *rank = model->info[GP_INFO_RANK];

	if (rank)
		gp_document_add_text(values, "rank", rank);
	else
		gp_document_add_words(values, "rank", "of pid %u", model->pid);
	gp_document_add_number(values, "operations", GP_UNIT_COUNT, own->operations);
	gp_document_add_number(values, "rank_count", GP_UNIT_COUNT, own->ranks);
	gp_document_add_flag(values, "is_by_host", own->by_host * 2 >= own->late);
	gp_document_add_flag(values, "is_by_gpu", own->by_gpu * 2 >= own->late);
	gp_document_add_flag(values, "is_placed", gp_advisor_knows(advisor, found->site));
	gp_host_samples_add_values(advisor, found, GP_SAMPLE_TIMES, values);
}

static bool names_place(const struct gp_case *found)
{
	return ((const struct own *)found->own)->has_samples;
}

const struct gp_rule gp_rule_late_rank = {
	.id = "late-rank",
	.title = "one rank comes late to collective operations",
	.found =
		"rank {rank} is the last of {rank_count} in {count} of {operations} collective operations, and the others wait {mean_ns} for it on average: "
		"[{?is_by_host}its host launches late[{samples}|; {?is_placed}most of it before the call here]|{?is_by_gpu}its GPU takes longer for the work before them|the cause is unknown: its GPU is neither idle nor busy for longer than the others before them]",
	.change =
		"[{?is_by_host}find out why the host of this rank is slower: compare gpuprof summary --by phase,host of this rank and another|{?is_by_gpu}distribute the work evenly: samples by their length, layers by their time; or check whether the clock of this GPU is lower|check whether other programs or ranks use this GPU or the host, and check the network of this rank]",
	.meaning =
		"No rank leaves a collective operation before all have entered it. So its kernel is the shortest on the rank that came last, and the others wait in theirs. The finding names the rank that the others waited for longest. If the GPU of that rank was idle before the operation for much longer than the other GPUs, its host launched late; if it was busy for longer, it had more work. The rule leaves out the first operation, which waits until every rank has started. The saving is the time that the others wait for this rank, less the average of the times that ranks wait for each of the others. Operations are matched by name, communicator and number (`gpuprof summary --by collective-rank`).",
	.remedy =
		"If the host is late, look for work that only this rank does, such as logging or checkpoints, for a slower disk, and for other programs on its processors. If the GPU is late, look for unequal batches or layers, and for a lower clock.",
	.ignore = "The ranks do different work on purpose.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 1000000,
		      .count = 8,
		      .reason = "Less is the noise of hosts and clocks"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look_at_all = look_at_all,
	.add_values = add_values,
	.names_place = names_place,
};
