/*
 * Streams that the default stream keeps apart.  Speaks where operations of the legacy default
 * stream stand between those of other blocking streams of a context at least 16 times, these
 * streams overlap for less than a tenth of their work, and 10 % of the recorded time and 1 ms could
 * be saved, if all of it overlapped.
 */
#include "report/rules/rules.h"

#include <errno.h>
#include <stdlib.h>

#include "report/array.h"
#include "report/busy.h"
#include "report/format.h"
#include "report/rules/advisor.h"

#define NON_BLOCKING 2u /* CUPTI's flag of streams that the default stream does not wait for */

/*
 * The operations of a context that the default stream orders: its own, and those of blocking
 * streams.
 */
struct ordered {
	uint32_t *ops;
	uint32_t count;
	struct gp_interval *intervals; /* of blocking streams */
	uint32_t interval_count;
};

static bool is_ordered(const struct gp_model *model, const struct gp_op *op, uint32_t context_id)
{
	const struct gp_record_stream *stream;

	if (op->context_id != context_id || op->untimed)
		return false;
	stream = gp_model_stream(model, context_id, op->stream_id);
	return stream && stream->flags != NON_BLOCKING;
}

static int compare_ops(const void *a, const void *b, const void *context)
{
	const struct gp_op *ops = context;
	uint64_t left = ops[*(const uint32_t *)a].start_ns,
		 right = ops[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

static int gather(const struct gp_model *model, uint32_t context_id, struct ordered *ordered)
{
	ordered->ops = malloc(((size_t)model->op_count + 1) * sizeof(*ordered->ops));
	ordered->intervals = malloc(((size_t)model->op_count + 1) * sizeof(*ordered->intervals));
	if (!ordered->ops || !ordered->intervals)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!is_ordered(model, op, context_id))
			continue;
		ordered->ops[ordered->count++] = i;
		if (!gp_model_is_null_stream(model, context_id, op->stream_id))
			ordered->intervals[ordered->interval_count++] =
				(struct gp_interval){op->start_ns, op->end_ns};
	}
	return gp_array_sort(ordered->ops, ordered->count, sizeof(*ordered->ops), compare_ops,
			     model->ops);
}

/*
 * Where an operation of the default stream stands between those of two other streams: they did not
 * overlap for its sake.
 */
struct barriers {
	uint64_t count;
	const struct gp_op *last; /* of the default stream between them, longest first */
};

static struct barriers find_barriers(const struct gp_model *model, const struct ordered *ordered)
{
	struct barriers barriers = {0};
	const struct gp_op *between = NULL, *other = NULL;

	for (uint32_t i = 0; i < ordered->count; i++) {
		const struct gp_op *op = &model->ops[ordered->ops[i]];

		if (gp_model_is_null_stream(model, op->context_id, op->stream_id)) {
			between = other ? op : NULL;
			continue;
		}
		if (between && other->stream_id != op->stream_id) {
			barriers.count++;
			barriers.last = between;
		}
		other = op;
		between = NULL;
	}
	return barriers;
}

/* The work of the streams, and that of the one with most: all together could have taken no less. */
static uint64_t could_overlap_ns(const struct gp_model *model, const struct ordered *ordered,
				 uint64_t *work_ns)
{
	uint64_t most_ns = 0, stream_ns = 0;
	uint32_t stream_id = UINT32_MAX;

	*work_ns = 0;
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!is_ordered(model, op, model->ops[ordered->ops[0]].context_id) ||
		    gp_model_is_null_stream(model, op->context_id, op->stream_id))
			continue;
		stream_ns = op->stream_id == stream_id ? stream_ns : 0;
		stream_id = op->stream_id;
		stream_ns += op->end_ns - op->start_ns;
		*work_ns += op->end_ns - op->start_ns;
		most_ns = stream_ns > most_ns ? stream_ns : most_ns;
	}
	return *work_ns - most_ns;
}

static void judge(struct gp_advisor *advisor, const struct ordered *ordered)
{
	const struct gp_model *model = advisor->model;
	struct barriers barriers = find_barriers(model, ordered);
	uint64_t work_ns, saves_ns, union_ns;
	const struct gp_call *call;
	struct gp_case *found;

	if (barriers.count == 0)
		return;
	saves_ns = could_overlap_ns(model, ordered, &work_ns);
	union_ns = gp_busy_union(ordered->intervals, ordered->interval_count);
	if ((work_ns - union_ns) * 10 >= work_ns)
		return;
	call = gp_model_op_cause(model, barriers.last);
	found = gp_advisor_case(advisor, call ? gp_advisor_site(advisor, call) : GP_NO_SITE, 0, 0);
	gp_advisor_add(advisor, found, work_ns, saves_ns, NULL);
	found->count += barriers.count - 1;
}

static void look(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->model->context_count && advisor->error == 0; i++) {
		struct ordered ordered = {0};

		advisor->error = gather(advisor->model, advisor->model->contexts[i].id, &ordered);
		if (advisor->error == 0 && ordered.interval_count > 0)
			judge(advisor, &ordered);
		free(ordered.ops);
		free(ordered.intervals);
	}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out,
		"%s times something in the default stream stands between other streams, whose %s "
		"of work hardly overlap",
		gp_format_count(found->count).text, gp_format_ns(found->time_ns).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("give this a stream of its own; or make the others with cudaStreamNonBlocking, or "
	      "compile with --default-stream per-thread",
	      out);
}

const struct gp_rule gp_rule_default_stream = {
	.id = "default-stream",
	.title = "the default stream keeps other streams from running side by side",
	.meaning = "The legacy default stream waits for all other streams, and they for it: each "
		   "operation "
		   "without a stream is a barrier. The work of the other streams ran one after the "
		   "other. "
		   "What can be saved is that of all of them but the one with most, if they "
		   "overlapped "
		   "wholly: kernels that fill the GPU alone do not.",
	.change = "Name a stream in every launch, copy and set; make streams with "
		  "cudaStreamCreateWithFlags(cudaStreamNonBlocking), which the default stream does "
		  "not "
		  "order; or compile with nvcc --default-stream per-thread.",
	.ignore = "The streams depend on each other there, or each kernel fills the GPU.",
	.threshold = {.saves_percent = 10, .saves_ns = 1000000, .count = 16},
	.is_of_gpu = true,
	.look = look,
	.tell = tell,
	.advise = advise,
};
