#include "report/advice/rules/rules.h"

#include <errno.h>
#include <stdlib.h>

#include "report/advice/rules/advisor.h"
#include "report/base/array.h"
#include "report/base/interval.h"
#include "report/base/spill_memory.h"
#include "report/model/recorded.h"
#include "report/tables/by/collective_ranks.h"

struct own {
	uint64_t exposed_ns;
	uint64_t in_stream; /* operations in a stream that computes */
	uint64_t unmatched; /* operations whose waits for late ranks are not known */
};

/* A collective operation, and when its last rank came. */
struct talk {
	struct gp_collective_part part;
	uint64_t from_ns;
};

GP_COMPARE_BY_TWO(compare_starts, struct talk, part.start_ns, part.op)
GP_COMPARE_BY_TWO(compare_froms, struct talk, from_ns, part.op)

/* The operations of one GPU of the present process, from ops[first] to ops[end - 1]. */
struct gpu {
	uint32_t first, end;
	const uint8_t *kinds;
	/* of the process, by operation: what is known of collectives */
	const struct gp_collective_part *parts;
	uint32_t part_count;
	struct gp_interval *others; /* a union: all else that it does */
	uint32_t other_count;
	struct talk *talks; /* that count */
	uint32_t talk_count;
};

static bool talks(const struct gpu *gpu, const struct gp_model *model, uint32_t op)
{
	return gp_kinds_of_op(gpu->kinds, model, &model->ops[op]) == GP_KIND_COMMUNICATION;
}

static void gather_others(const struct gp_model *model, struct gpu *gpu)
{
	for (uint32_t i = gpu->first; i < gpu->end; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!op->untimed && !talks(gpu, model, i))
			gpu->others[gpu->other_count++] =
				(struct gp_interval){op->start_ns, op->end_ns};
	}
	gpu->other_count = (uint32_t)gp_interval_join(gpu->others, gpu->other_count);
}

static bool is_of_earlier(const void *element, const void *key)
{
	return ((const struct gp_collective_part *)element)->op < *(const uint32_t *)key;
}

/* Of a kernel whose name tells no collective, times alone are known. */
static struct gp_collective_part part_of(const struct gpu *gpu, const struct gp_model *model,
					 uint32_t op)
{
	uint32_t at = gp_array_lower_bound(gpu->parts, gpu->part_count, sizeof(*gpu->parts),
					   is_of_earlier, &op);

	if (at < gpu->part_count && gpu->parts[at].op == op)
		return gpu->parts[at];
	return (struct gp_collective_part){.start_ns = model->ops[op].start_ns,
					   .duration_ns =
						   model->ops[op].end_ns - model->ops[op].start_ns,
					   .op = op,
					   .kind = GP_COLLECTIVE_KINDS};
}

static bool ends_by(const void *element, const void *key)
{
	return ((const struct gp_interval *)element)->end_ns <= *(const uint64_t *)key;
}

static uint64_t end_of(const struct gp_collective_part *part)
{
	return part->start_ns + part->duration_ns;
}

/* The time of an operation from then on, in which the GPU does nothing else. */
static uint64_t add_exposed(struct gp_advisor *advisor, const struct gp_case *found,
			    const struct gpu *gpu, uint64_t from_ns, uint64_t end_ns)
{
	uint64_t sum_ns = 0;
	uint32_t at = gp_array_lower_bound(gpu->others, gpu->other_count, sizeof(*gpu->others),
					   ends_by, &from_ns);

	for (; from_ns < end_ns; at++) {
		bool is_last = at >= gpu->other_count || gpu->others[at].start_ns >= end_ns;
		uint64_t until_ns = is_last ? end_ns : gpu->others[at].start_ns;

		if (until_ns > from_ns) {
			gp_advisor_stretch(advisor, found, from_ns, until_ns, 1);
			sum_ns += until_ns - from_ns;
		}
		if (is_last)
			break;
		from_ns = gpu->others[at].end_ns;
	}
	return sum_ns;
}

static bool computes_beside(const struct gpu *gpu, const struct gp_model *model, uint32_t op,
			    uint32_t other)
{
	const struct gp_op *ops = model->ops;

	return other >= gpu->first && other < gpu->end && ops[other].kind == GP_OP_KERNEL &&
	       ops[other].context_id == ops[op].context_id &&
	       ops[other].stream_id == ops[op].stream_id && !talks(gpu, model, other);
}

static struct gp_case *case_of(struct gp_advisor *advisor, const struct talk *talk)
{
	return gp_advisor_case(advisor, GP_NO_SITE, talk->part.kind, 0);
}

/* Operations of several streams overlap: a moment is of the one that began first. */
static void add_times(struct gp_advisor *advisor, const struct gpu *gpu)
{
	uint64_t reached_ns = 0;

	for (uint32_t i = 0; i < gpu->talk_count && advisor->error == 0; i++) {
		const struct gp_collective_part *part = &gpu->talks[i].part;
		struct gp_case *found = case_of(advisor, &gpu->talks[i]);
		uint64_t from_ns = part->start_ns > reached_ns ? part->start_ns : reached_ns;

		gp_advisor_count(advisor, found, part->start_ns,
				 end_of(part) > from_ns ? end_of(part) - from_ns : 0);
		gp_advisor_show_time(advisor, found, part->start_ns, part->duration_ns);
		found->bytes += part->bytes;
		reached_ns = end_of(part) > reached_ns ? end_of(part) : reached_ns;
	}
}

static void add_exposed_time(struct gp_advisor *advisor, const struct gpu *gpu,
			     const struct talk *talk, uint64_t from_ns)
{
	const struct gp_model *model = advisor->model;
	const struct gp_collective_part *part = &talk->part;
	const struct gp_call *call = gp_model_op_cause(model, &model->ops[part->op]);
	uint32_t site = call ? gp_call_sites_find(advisor->sites, model, call) : GP_NO_SITE;
	struct gp_case *found = case_of(advisor, talk);
	struct own *own = found->own;
	uint64_t exposed_ns = add_exposed(advisor, found, gpu, from_ns, end_of(part));

	gp_advisor_vote(found, site, exposed_ns);
	own->exposed_ns += exposed_ns;
	own->unmatched += !part->is_matched;
	own->in_stream += computes_beside(gpu, model, part->op, part->op - 1) ||
			  computes_beside(gpu, model, part->op, part->op + 1);
}

/* The same from the arrival of the last ranks. */
static void add_exposed_times(struct gp_advisor *advisor, const struct gpu *gpu)
{
	uint64_t reached_ns = 0;

	for (uint32_t i = 0; i < gpu->talk_count && advisor->error == 0; i++) {
		const struct talk *talk = &gpu->talks[i];
		uint64_t end_ns = end_of(&talk->part);

		add_exposed_time(advisor, gpu, talk,
				 talk->from_ns > reached_ns ? talk->from_ns : reached_ns);
		reached_ns = end_ns > reached_ns ? end_ns : reached_ns;
	}
}

/* The first operation of a GPU waits until every rank has started. */
static uint64_t first_ns(const struct gpu *gpu, const struct gp_model *model)
{
	uint64_t first_ns = UINT64_MAX;

	for (uint32_t i = gpu->first; i < gpu->end; i++)
		if (!model->ops[i].untimed && talks(gpu, model, i) &&
		    model->ops[i].start_ns < first_ns)
			first_ns = model->ops[i].start_ns;
	return first_ns;
}

/* In the loop what recurs; without one all but the first. */
static bool counts(const struct gp_advisor *advisor, const struct gp_op *op, uint64_t first_ns)
{
	const struct gp_steps *loop = advisor->loops[advisor->process];

	return loop ? loop->recurs[gp_steps_part_at(loop, op->start_ns)] : op->start_ns > first_ns;
}

static bool is_counted(const struct gp_advisor *advisor, const struct gpu *gpu, uint32_t op,
		       uint64_t since_ns)
{
	const struct gp_model *model = advisor->model;

	return !model->ops[op].untimed && talks(gpu, model, op) &&
	       counts(advisor, &model->ops[op], since_ns);
}

static void gather_talks(const struct gp_advisor *advisor, struct gpu *gpu, uint64_t since_ns)
{
	for (uint32_t i = gpu->first; i < gpu->end; i++) {
		const struct gp_collective_part part = part_of(gpu, advisor->model, i);

		if (is_counted(advisor, gpu, i, since_ns))
			gpu->talks[gpu->talk_count++] =
				(struct talk){part, part.start_ns + part.waited_ns};
	}
}

static size_t count_talks(const struct gp_advisor *advisor, const struct gpu *gpu,
			  uint64_t since_ns)
{
	size_t count = 0;

	for (uint32_t i = gpu->first; i < gpu->end; i++)
		count += is_counted(advisor, gpu, i, since_ns);
	return count;
}

static int sort_talks(struct gpu *gpu,
		      int (*compare)(const void *a, const void *b, const void *context))
{
	return gp_array_sort(gpu->talks, gpu->talk_count, sizeof(*gpu->talks), compare, NULL);
}

static void look_at_gpu(struct gp_advisor *advisor, struct gpu *gpu)
{
	const struct gp_model *model = advisor->model;
	uint64_t since_ns = first_ns(gpu, model);

	if (since_ns == UINT64_MAX)
		return;
	gpu->others = gp_spill_take(((size_t)(gpu->end - gpu->first) + 1) * sizeof(*gpu->others));
	gpu->talks = gp_spill_take((count_talks(advisor, gpu, since_ns) + 1) * sizeof(*gpu->talks));
	if (gpu->others && gpu->talks) {
		gather_others(model, gpu);
		gather_talks(advisor, gpu, since_ns);
		advisor->error = sort_talks(gpu, compare_starts);
		add_times(advisor, gpu);
		if (advisor->error == 0)
			advisor->error = sort_talks(gpu, compare_froms);
		add_exposed_times(advisor, gpu);
	} else {
		advisor->error = -ENOMEM;
	}
	gp_spill_free(gpu->others);
	gp_spill_free(gpu->talks);
}

static bool has_communication(const uint8_t *kinds, const struct gp_model *model)
{
	uint32_t name = 0;

	while (name < model->name_count && kinds[name] != GP_KIND_COMMUNICATION)
		name++;
	return name < model->name_count;
}

static void look_at_gpus(struct gp_advisor *advisor, struct gpu *gpu)
{
	const struct gp_model *model = advisor->model;

	while (gpu->end < model->op_count && advisor->error == 0) {
		gpu->first = gpu->end++;
		while (gpu->end < model->op_count &&
		       model->ops[gpu->end].device_id == model->ops[gpu->first].device_id)
			gpu->end++;
		gpu->other_count = gpu->talk_count = 0;
		look_at_gpu(advisor, gpu);
	}
	gp_advisor_save_once(advisor);
}

/* Operations that are missing may have run beside them. */
static void look_at_process(struct gp_advisor *advisor, const struct gp_collective_part *parts,
			    uint32_t count)
{
	const struct gp_model *model = advisor->model;
	uint8_t *kinds;

	if (gp_recorded_why_not_all(model))
		return;
	kinds = gp_kinds_of_names(advisor->kinds, model);
	if (!kinds)
		advisor->error = -ENOMEM;
	else if (has_communication(kinds, model))
		look_at_gpus(advisor,
			     &(struct gpu){.kinds = kinds, .parts = parts, .part_count = count});
	free(kinds);
}

GP_COMPARE_BY_TWO(compare_parts, struct gp_collective_part, process, op)

static void look_at_all(struct gp_advisor *advisor)
{
	struct gp_collectives c = {0};
	uint32_t first = 0, end = 0;
	int result = gp_collectives_of(&advisor->scope, &c);

	if (result == 0)
		result = gp_collectives_each(&c, NULL, NULL);
	if (result == 0)
		result = gp_array_sort(c.parts, c.count, sizeof(*c.parts), compare_parts, NULL);
	if (result < 0)
		advisor->error = result;
	for (size_t i = 0; i < advisor->scope.model_count && advisor->error == 0; i++) {
		for (first = end; end < c.count && c.parts[end].process == i;)
			end++;
		advisor->process = i;
		advisor->model = advisor->scope.models[i];
		look_at_process(advisor, c.parts ? c.parts + first : NULL, end - first);
	}
	gp_collectives_free(&c);
}

static bool is_sharded(uint64_t kind)
{
	return kind == GP_ALL_GATHER || kind == GP_REDUCE_SCATTER;
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	if (found->detail < GP_COLLECTIVE_KINDS)
		gp_document_add_text(
			values, "collective",
			gp_collective_kind_name((enum gp_collective_kind)found->detail));
	if (found->bytes > 0)
		gp_document_add_number(values, "collective_bytes", GP_UNIT_BYTES, found->bytes);
	gp_document_add_number(values, "exposed_ns", GP_UNIT_NS, own->exposed_ns);
	gp_document_add_flag(values, "is_all", own->exposed_ns == found->time_ns);
	gp_document_add_flag(values, "is_in_stream", own->in_stream * 2 > found->count);
	gp_document_add_flag(values, "is_sharded", is_sharded(found->detail));
	gp_document_add_flag(values, "may_wait", own->unmatched > 0);
}

const struct gp_rule gp_rule_exposed_comm = {
	.id = "exposed-comm",
	.title = "the GPU waits for communication, and computes nothing meanwhile",
	.found =
		"{count} [{collective}|communication] operations[, {collective_bytes} in all,] take {time_ns}, [{?is_all}all|{exposed_ns}] of it while the GPU does nothing else"
		"[{?is_in_stream}; they are in the stream of the kernels before and after them]"
		"[{?may_wait}; this time may include waits for late ranks, whose traces are not compared here]",
	.change =
		"[{?is_in_stream}[{?language=torch}start them with async_op=True as soon as their data is ready, and wait() where the result is needed|launch them in a stream of their own as soon as their data is ready (cudaEventRecord, cudaStreamWaitEvent), and compute meanwhile]"
		"|{?language=torch}[{?collective=AllReduce}overlap them with the backward pass: other bucket sizes (DistributedDataParallel: bucket_cap_mb), static_graph=True; or communicate less: no_sync() while gradients are accumulated, larger batches, gradients in bfloat16 (bf16_compress_hook)"
		"|{?is_sharded}fetch the next parameters earlier (FSDP: forward_prefetch=True, backward_prefetch=BackwardPrefetch.BACKWARD_PRE), shard within a node only (HYBRID_SHARD), or use larger batches and no_sync() while gradients are accumulated"
		"|{?collective=SendRecv}start them earlier, asynchronously (batch_isend_irecv(), async_op=True), and wait() where the result is needed; between pipeline stages split the batch into more micro-batches"
		"|{?collective}start them with async_op=True as soon as their data is ready, and wait() where the result is needed"
		"|overlap them with other work: DistributedDataParallel with other bucket sizes (bucket_cap_mb), FSDP with forward_prefetch=True, others with async_op=True; or communicate less: no_sync() while gradients are accumulated, larger batches]"
		"|start them as soon as their data is ready, in parts, so that they run while the GPU computes; or communicate less often, with larger batches]",
	.meaning =
		"Kernels of collective operations (NCCL) ran while the GPU did nothing else: no kernel, copy or memset of the same process. If the traces of all ranks are read together, the time counts from the arrival of the last rank: the rule late-rank reports the wait before it. In the trace of a single rank, the wait cannot be told from the transfer. Operations that overlap share their time: it counts once. Only operations in steps after the warm-up count; without a loop, all but the first. The saving is all of the exposed time. This is an upper bound: work that runs beside communication becomes slower, as both use the same SMs and memory, and the last operation of a step often has no work to overlap with. The rule reports nothing if operations are missing from the trace.",
	.remedy =
		"Start an operation as soon as its data is ready, in a stream of its own. Compute meanwhile what does not depend on it. Frameworks do so in buckets or by layers: choose their sizes so that communication starts early. Communicate less: accumulate gradients without synchronization, use larger batches or a smaller data type, keep communication within a node.",
	.ignore = "The next work depends on the result, and nothing else is left to compute.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 1000000,
		      .count = 4,
		      .reason = "The last operation of a step often has no work to overlap with"},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look_at_all = look_at_all,
	.add_values = add_values,
};
