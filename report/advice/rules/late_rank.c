#include "report/advice/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_samples.h"
#include "report/advice/rules/late_cause.h"
#include "report/base/array.h"
#include "report/base/interval.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/model/process_name.h"
#include "report/tables/by/collective_ranks.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_OPERATIONS, 16, COUNT, "operations of all ranks: fewer are startup")           \
	LIMIT(LEAST_WAITS, 8, COUNT, "equally long waits: fewer do not recur")                     \
	LIMIT(LATE_PERCENT, 150, PERCENT,                                                          \
	      "of its share: a late rank is last in this many operations with a wait")             \
	LIMIT(WAIT_PART, 2, COUNT,                                                                 \
	      "of its usual wait: operations with a shorter one do not count")                     \
	LIMIT(IDLE_PART, 2, COUNT, "of the others' wait: this much more idle time is the host's")  \
	LIMIT(GAP_PART, 8, COUNT, "of the others' wait: a longer idle gap is a part of the cause")
GP_LIMITS(LIMITS);

#define MOST_HOSTS 3 /* findings: the latest ranks, one for each host */

struct own {
	uint64_t ranks, operations, late; /* late: operations in which it was the last */
	bool has_more_ranks;              /* perhaps, in these: ranks is the least number */
	uint64_t by_host, by_gpu; /* of these: its host launched late, its GPU had more work */
	uint64_t held_up_ns;
	uint64_t others; /* late ranks of the same host */
	struct gp_late_cause cause;
	/* Unix times before the operations that its host launched late, in order */
	const struct gp_interval *late_times;
	uint32_t late_time_count;
	bool has_samples;
};

/* Of a process. */
struct rank {
	uint64_t *waits_ns; /* of the others for it, by operation */
	uint32_t wait_count, wait_capacity;
	uint64_t wait_ns;      /* its usual wait: */
	uint64_t recurring_ns; /* wait_ns times the number of its waits that are as long */
	uint64_t operations;   /* that it takes part in */
	uint64_t ranks;        /* of the largest of the late operations ... */
	bool has_more_ranks;   /* ... or perhaps more: only these are known */
	double share;          /* of the late operations, if all ranks were last equally often */
	uint64_t late, by_host, by_gpu, held_up_ns;
	struct gp_peers peers; /* that wait for it */
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
	bool has_all_ranks;
	uint64_t operations;
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

/* The time since the previous operation of its GPU, in which the GPU was idle or busy. */
struct before {
	uint64_t idle_ns, busy_ns;
};

static struct before time_before(struct count *count, const struct gp_collective_part *part)
{
	const struct gp_model *model = count->advisor->scope.models[part->process];
	const struct gp_idle_gaps *idle_gaps = &count->advisor->basis->idle_gaps;
	size_t device = device_of(count, part);
	uint64_t busy_ns, wall_ns = gp_collective_own_ns(part);

	if (wall_ns == 0 || device >= idle_gaps->device_count)
		return (struct before){0};
	busy_ns = gp_idle_gaps_busy_ns(idle_gaps, device, model->base_unix_ns + part->since_ns,
				       model->base_unix_ns + part->start_ns);
	return (struct before){wall_ns > busy_ns ? wall_ns - busy_ns : 0, busy_ns};
}

static void add_late_time(struct count *count, const struct gp_collective_part *part)
{
	uint64_t base_ns = count->advisor->scope.models[part->process]->base_unix_ns;
	struct rank *rank = &count->ranks[part->process];

	gp_array_grow_spill(&rank->late_times, &rank->late_time_capacity, rank->late_time_count,
			    sizeof(*rank->late_times));
	rank->late_times[rank->late_time_count++] =
		(struct gp_interval){base_ns + part->since_ns, base_ns + part->start_ns};
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

/* ---- the waits ---- */

/* The first operation is left out: it waits until every rank has started. */
static bool counts(const struct gp_collective_part *parts)
{
	return parts->before_ns > 0 && gp_collective_is_of_all(parts);
}

static void add_wait(struct count *count, const struct gp_collective_part *part, uint64_t ns)
{
	struct rank *rank = &count->ranks[part->process];

	gp_array_grow_spill(&rank->waits_ns, &rank->wait_capacity, rank->wait_count,
			    sizeof(*rank->waits_ns));
	rank->waits_ns[rank->wait_count++] = ns;
}

static void count_wait(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct count *count = context;
	uint64_t held_up_ns;

	if (!counts(parts))
		return;
	count->operations++;
	held_up_ns = gp_collective_held_up_ns(parts, gpus);
	for (uint32_t i = 0; i < gpus && held_up_ns > 0; i++)
		if (parts[i].is_last)
			add_wait(count, &parts[i], held_up_ns);
}

static int compare_waits(const void *a, const void *b, const void *context)
{
	const uint64_t *left = a, *right = b;

	(void)context;
	return (*left < *right) - (*left > *right);
}

/* A rank that is late often comes before one that was late once for long. */
static void find_recurring(struct rank *rank)
{
	gp_array_sort(rank->waits_ns, rank->wait_count, sizeof(*rank->waits_ns), compare_waits,
		      NULL);
	for (uint32_t i = LEAST_WAITS; i <= rank->wait_count; i++)
		if (i * rank->waits_ns[i - 1] > rank->recurring_ns) {
			rank->wait_ns = rank->waits_ns[i - 1];
			rank->recurring_ns = i * rank->wait_ns;
		}
}

/* ---- the late operations ---- */

static void add_peers(struct rank *rank, const struct gp_collective_part *parts, uint32_t gpus,
		      uint32_t last)
{
	for (uint32_t i = 0; i < gpus && rank->peers.count < GP_PEERS; i++)
		if (parts[i].process != parts[last].process)
			gp_peers_add(&rank->peers, parts[i].process);
}

/* Some ranks of an operation may have no trace, or not be loaded. */
static void note_ranks(const struct count *count, struct rank *rank,
		       const struct gp_collective_part *part, uint32_t gpus)
{
	uint32_t ranks = part->ranks > gpus ? part->ranks : gpus;

	if (ranks <= rank->ranks)
		return;
	rank->ranks = ranks;
	rank->has_more_ranks = part->ranks == 0 && !count->has_all_ranks;
}

static void count_late(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct count *count = context;
	uint64_t held_up_ns = counts(parts) ? gp_collective_held_up_ns(parts, gpus) : 0;

	for (uint32_t i = 0; i < gpus && counts(parts); i++) {
		struct rank *rank = &count->ranks[parts[i].process];

		if (rank->wait_ns == 0)
			continue;
		rank->operations++;
		if (held_up_ns * WAIT_PART < rank->wait_ns)
			continue;
		rank->share += 1.0 / gpus;
		if (!parts[i].is_last)
			continue;
		note_ranks(count, rank, &parts[i], gpus);
		rank->late++;
		rank->held_up_ns += held_up_ns;
		add_peers(rank, parts, gpus, i);
		find_cause(count, parts, gpus, i);
	}
}

/* The time that the median of the other ranks holds up, which is noise. */
static uint64_t usual_ns(const struct count *count, size_t processes, size_t latest)
{
	uint64_t *values = malloc(processes * sizeof(*values)), usual_ns;
	size_t others = 0;

	for (size_t i = 0; i < processes; i++)
		if (i != latest)
			values[others++] = count->ranks[i].recurring_ns;
	usual_ns = (uint64_t)gp_stats_of(values, others).median;
	free(values);
	return usual_ns;
}

/* ---- what the host did ---- */

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

/* ---- the findings ---- */

static bool is_late(const struct rank *rank)
{
	return rank->late >= LEAST_WAITS && (double)rank->late * 100 >= rank->share * LATE_PERCENT;
}

static void make_case(struct gp_advisor *advisor, const struct count *count, size_t process,
		      uint64_t others)
{
	struct rank *rank = &count->ranks[process];
	uint64_t ns = usual_ns(count, advisor->scope.model_count, process);
	struct gp_case *found;
	struct own *own;

	if (rank->held_up_ns <= ns)
		return;
	rank->late_time_count = (uint32_t)gp_interval_join(rank->late_times, rank->late_time_count);
	advisor->process = process;
	found = gp_advisor_case(advisor, GP_NO_SITE, process, 0);
	own = found->own;
	*own = (struct own){.ranks = rank->ranks,
			    .has_more_ranks = rank->has_more_ranks,
			    .operations = rank->operations,
			    .late = rank->late,
			    .by_host = rank->by_host,
			    .by_gpu = rank->by_gpu,
			    .held_up_ns = rank->held_up_ns,
			    .others = others,
			    .late_times = rank->late_times,
			    .late_time_count = rank->late_time_count};
	gp_advisor_add(advisor, found, GP_ALL_THE_TIME, rank->held_up_ns, rank->held_up_ns - ns,
		       NULL);
	found->count = rank->late;
	if (own->by_host * 2 >= own->late) {
		look_at_gaps(advisor, found);
		gp_late_cause_find_function(advisor, process, &rank->peers, &own->cause);
	} else if (own->by_gpu * 2 >= own->late) {
		gp_late_cause_find_kernel(advisor, process, &rank->peers, &own->cause);
	}
	own->late_times = NULL; /* they live no longer than the count */
	own->late_time_count = 0;
}

static const char *boot_of(const struct gp_advisor *advisor, size_t process)
{
	const char *boot = advisor->scope.models[process]->info[GP_INFO_BOOT_ID];

	return boot ? boot : "";
}

/* The latest rank on a host without a known process; the number of processes = none. */
static size_t find_latest(const struct gp_advisor *advisor, const struct count *count,
			  const size_t *known, size_t known_count)
{
	size_t latest = advisor->scope.model_count;

	for (size_t i = 0; i < advisor->scope.model_count; i++) {
		bool is_new = true;

		for (size_t k = 0; k < known_count; k++)
			is_new &= strcmp(boot_of(advisor, known[k]), boot_of(advisor, i)) != 0;
		if (is_new && is_late(&count->ranks[i]) &&
		    (latest == advisor->scope.model_count ||
		     count->ranks[i].held_up_ns > count->ranks[latest].held_up_ns))
			latest = i;
	}
	return latest;
}

static uint64_t count_others(const struct gp_advisor *advisor, const struct count *count,
			     size_t process)
{
	uint64_t others = 0;

	for (size_t i = 0; i < advisor->scope.model_count; i++)
		others += i != process && is_late(&count->ranks[i]) &&
			  strcmp(boot_of(advisor, process), boot_of(advisor, i)) == 0;
	return others;
}

static void judge(struct gp_advisor *advisor, const struct count *count)
{
	size_t known[MOST_HOSTS];

	for (size_t i = 0; i < MOST_HOSTS; i++) {
		known[i] = find_latest(advisor, count, known, i);
		if (known[i] == advisor->scope.model_count)
			break;
		make_case(advisor, count, known[i], count_others(advisor, count, known[i]));
	}
}

static void look_at_operations(struct gp_advisor *advisor, struct count *count)
{
	struct gp_collectives c = {0};

	gp_collectives_of(&advisor->scope, &c);
	gp_collectives_each(&c, count_wait, count);
	for (size_t i = 0; i < advisor->scope.model_count; i++)
		find_recurring(&count->ranks[i]);
	if (count->operations >= LEAST_OPERATIONS)
		gp_collectives_each(&c, count_late, count);
	gp_collectives_free(&c);
}

static void look_at_all(struct gp_advisor *advisor)
{
	const struct gp_scope *scope = &advisor->scope;
	struct count count = {.advisor = advisor,
			      .ranks = calloc(scope->model_count + 1, sizeof(*count.ranks)),
			      .has_all_ranks =
				      gp_models_have_all_ranks(scope->models, scope->model_count)};

	if (advisor->scope.model_count > 1)
		look_at_operations(advisor, &count);
	advisor->matched_collectives = count.operations >= LEAST_OPERATIONS ? count.operations : 0;
	if (count.operations >= LEAST_OPERATIONS)
		judge(advisor, &count);
	for (size_t i = 0; i < advisor->scope.model_count; i++) {
		gp_spill_free(count.ranks[i].waits_ns);
		gp_spill_free(count.ranks[i].late_times);
	}
	free(count.ranks);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_model *model = advisor->scope.models[found->process];
	const struct own *own = found->own;
	const char *rank = model->info[GP_INFO_RANK], *host = model->info[GP_INFO_HOST];

	if (rank)
		gp_document_add_text(values, "rank", rank);
	else
		gp_document_add_words(values, "rank", "of pid %u", model->pid);
	if (host)
		gp_document_add_text(values, "host", host);
	if (own->others > 0)
		gp_document_add_number(values, "others", GP_UNIT_COUNT, own->others);
	gp_document_add_number(values, "operations", GP_UNIT_COUNT, own->operations);
	gp_document_add_number(values, "rank_count", GP_UNIT_COUNT, own->ranks);
	gp_document_add_flag(values, "has_more_ranks", own->has_more_ranks);
	gp_document_add_flag(values, "is_by_host", own->by_host * 2 >= own->late);
	gp_document_add_flag(values, "is_by_gpu", own->by_gpu * 2 >= own->late);
	gp_document_add_flag(values, "is_placed", gp_advisor_knows(advisor, found->site));
	gp_host_samples_add_values(advisor, found, GP_SAMPLE_TIMES, values);
	gp_late_cause_add_values(advisor, &own->cause, values);
}

static bool names_place(const struct gp_case *found)
{
	return ((const struct own *)found->own)->has_samples;
}

const struct gp_rule gp_rule_late_rank = {
	.id = "late-rank",
	.title = "one rank comes late to collective operations",
	.found =
		"rank {rank}[ on {host}][, and {others} other rank[{!others=1}s] of this host,] [{?others}are|is] the last of [{?has_more_ranks}at least ]{rank_count} ranks in {count} of {operations} collective operations, and the others wait {mean_ns} for it on average: "
		"[{?is_by_host}its host launches late[{samples}|; {?is_placed}most of it before the call here][; in all it spent {function_ns} in {function}, the ranks that wait for it [{others_function_ns} on average|none]]|{?is_by_gpu}its GPU takes longer for the work before them[: {kernel} takes {kernel_ns} on average, on ranks that wait for it {others_kernel_ns}[{?are_all}, and so do nearly all kernels]|: {kernel} runs {kernel_count} times, on ranks that wait for it [{others_kernel_count} times|never]]|the cause is unknown: its GPU is neither idle nor busy for longer than the others before them]",
	.change =
		"[{?is_by_host}[{?is_alone}do this work on all ranks in equal parts, or outside of the loop|find out why the host of this rank is slower: other programs on its processors, a slower disk or data source]|{?is_by_gpu}[{?are_all}check the clock of this GPU (record with --energy), and whether other programs use it|distribute the work evenly: samples by their length, layers by their time; or check whether the clock of this GPU is lower]|check whether other programs or ranks use this GPU or the host, and check the network of this rank]",
	.meaning =
		"No rank leaves a collective operation before all have entered it. So its kernel is the shortest on the rank that came last, and the others wait in theirs. The finding names the rank that the others waited for longest; up to three findings name late ranks, one for each host. A rank that came last because it had waited for another one, in an operation of another communicator, is not late: only its own time since its previous operation counts. If the GPU of that rank was idle in this time for much longer than the other GPUs, its host launched late. If the GPU was busy for longer, it had more work, or was slower: then its kernels are compared with those of up to eight ranks that waited. The rule leaves out the first operation, which waits until every rank has started. Only waits that recur count: a rank that is often late comes before one that was late once for long. The saving is the time that the others wait for this rank, less the time that they wait for the median rank: what the job would gain if this rank were as fast as the others. The number of ranks is that of the communicator, from the NVTX ranges of NCCL 2.26 and later, or of the job; \"at least\" says that there may be more without a trace. Operations are matched by name, communicator and number (`gpuprof summary --by collective-rank`).",
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
