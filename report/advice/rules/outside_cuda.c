#include "report/advice/rules/outside_cuda.h"

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/host_samples.h"

/* The time without any call of any thread, and its longest piece. */
struct pieces {
	uint64_t ns, longest_ns, pieces;
	const struct gp_call *before, *after; /* that piece; NULL: there is none */
};

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	uint64_t left = calls[*(const uint32_t *)a].start_ns,
		 right = calls[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

/* The calls that began by then, in the order of time; NULL: there is no memory. */
static uint32_t *list_until(const struct gp_model *model, uint64_t to_ns, uint32_t *count)
{
	uint32_t *list = gp_spill_take(((size_t)model->call_count + 1) * sizeof(*list));

	*count = 0;
	for (uint32_t i = 0; i < model->call_count; i++)
		if (model->calls[i].start_ns <= to_ns)
			list[(*count)++] = i;
	gp_array_sort(list, *count, sizeof(*list), compare_starts, model->calls);
	return list;
}

/* From then until the start of the last call that began by to_ns. */
static struct pieces find_pieces(struct gp_advisor *advisor, uint64_t from_ns, uint64_t to_ns)
{
	const struct gp_call *calls = advisor->model->calls, *last = NULL;
	struct pieces own = {0};
	uint32_t count;
	uint32_t *list = list_until(advisor->model, to_ns, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct gp_call *call = &calls[list[i]];
		uint64_t reached_ns = last ? gp_call_end_ns(last) : call->start_ns;
		uint64_t since_ns = reached_ns > from_ns ? reached_ns : from_ns;

		if (call->start_ns > since_ns) {
			own.ns += call->start_ns - since_ns;
			own.pieces++;
			if (call->start_ns - since_ns > own.longest_ns)
				own = (struct pieces){own.ns, call->start_ns - since_ns, own.pieces,
						      last, call};
		}
		if (!last || gp_call_end_ns(call) > reached_ns)
			last = call;
	}
	gp_spill_free(list);
	return own;
}

bool gp_outside_cuda_find(struct gp_advisor *advisor, const struct gp_end *end, uint64_t from_ns,
			  uint64_t to_ns, struct gp_outside_cuda *own)
{
	struct pieces pieces = find_pieces(advisor, from_ns, to_ns);
	uint64_t nccl_ns = end->part_ns[GP_END_NCCL];

	pieces.ns -= pieces.ns < nccl_ns ? pieces.ns : nccl_ns;
	if (pieces.ns < GP_OWN_TIME_NS || pieces.ns * GP_OWN_TIME_PART < end->ns)
		return false;
	*own = (struct gp_outside_cuda){
		.ns = pieces.ns,
		.whole_ns = end->ns,
		.longest_ns = pieces.longest_ns,
		.pieces = pieces.longest_ns * GP_OWN_PIECE_PART < pieces.ns ? pieces.pieces : 0,
		.from = gp_advisor_api(advisor, pieces.before),
		.to = gp_advisor_api(advisor, pieces.after),
		.from_site = gp_advisor_site(advisor, pieces.before),
		.to_site = gp_advisor_site(advisor, pieces.after)};
	return true;
}

void gp_outside_cuda_put(struct gp_advisor *advisor, struct gp_case *found,
			 const struct gp_end *end, uint32_t thread, struct gp_outside_cuda *own)
{
	gp_advisor_add(advisor, found, 0, own->ns, own->ns, NULL);
	gp_advisor_show_time(advisor, found, end->start_ns, end->ns);
	own->has_samples = gp_host_samples_add_time(advisor, found, thread, end->start_ns,
						    end->start_ns + end->ns);
}

void gp_outside_cuda_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				const struct gp_outside_cuda *own, struct gp_document *values)
{
	gp_document_add_number(values, "own_ns", GP_UNIT_NS, own->ns);
	gp_document_add_number(values, "whole_ns", GP_UNIT_NS, own->whole_ns);
	if (own->has_samples) {
		gp_host_samples_add_values(advisor, found, GP_SAMPLE_TIMES, values);
		return;
	}
	gp_document_add_number(values, "piece_count", GP_UNIT_COUNT, own->pieces);
	gp_document_add_number(values, "longest_ns", GP_UNIT_NS, own->longest_ns);
	gp_advisor_add_text(advisor, values, "from", own->from);
	gp_advisor_add_place(advisor, values, "from_place", own->from_site);
	gp_advisor_add_text(advisor, values, "to", own->to);
	gp_advisor_add_place(advisor, values, "to_place", own->to_site);
}
