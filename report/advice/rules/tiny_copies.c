#include "report/advice/rules/rules.h"

#include "report/advice/rules/copies.h"
#include "report/trace/cuda_names.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(TINY_BYTES, 65536, BYTES, "a larger copy takes longer than its overhead")            \
	LIMIT(ROW_COPIES, 8, COUNT, "in a row: fewer are the arguments of one launch")
GP_LIMITS(LIMITS);

/* Copies of one site and direction without another call of their thread in between. */
struct row {
	uint32_t site;
	uint8_t copy_kind;
	uint32_t thread_id;
	uint64_t count, bytes;
	const struct gp_call *first;
	uint64_t call_start_ns, call_end_ns; /* of all calls on the host ... */
	uint64_t op_start_ns, op_end_ns;     /* ... and of all copies on the GPU */
};

struct own {
	uint64_t rows;
};

static void end_row(struct gp_advisor *advisor, struct row *row)
{
	uint64_t call_ns = row->call_end_ns - row->call_start_ns;
	uint64_t op_ns = row->op_end_ns - row->op_start_ns;
	bool is_on_host = call_ns > op_ns;
	struct gp_case *found;
	struct own *own;

	if (row->count >= ROW_COPIES) {
		found = gp_advisor_case(advisor, row->site, row->copy_kind, 0);
		gp_advisor_add(advisor, found, row->call_start_ns, is_on_host ? call_ns : op_ns, 0,
			       NULL);
		gp_advisor_stretch(
			advisor, found, is_on_host ? row->call_start_ns : row->op_start_ns,
			is_on_host ? row->call_end_ns : row->op_end_ns, 1 - 1 / (double)row->count);
		gp_advisor_look_at(advisor, found, row->first, row->call_end_ns);
		found->count += row->count - 1;
		found->bytes += row->bytes;
		own = found->own;
		own->rows++;
	}
	row->count = 0;
}

static bool goes_on(const struct row *row, const struct gp_call *call, const struct gp_op *op,
		    uint32_t site)
{
	return row->count > 0 && row->site == site && row->copy_kind == op->copy_kind &&
	       row->thread_id == call->thread_id;
}

static void take_copy(struct gp_advisor *advisor, struct row *row, const struct gp_call *call,
		      const struct gp_op *op)
{
	uint32_t site = gp_advisor_site(advisor, call);

	if (!goes_on(row, call, op, site)) {
		end_row(advisor, row);
		*row = (struct row){.site = site,
				    .copy_kind = op->copy_kind,
				    .thread_id = call->thread_id,
				    .first = call,
				    .call_start_ns = call->start_ns,
				    .op_start_ns = op->start_ns};
	}
	row->count++;
	row->bytes += op->bytes;
	row->call_end_ns = gp_call_end_ns(call);
	if (op->end_ns > row->op_end_ns)
		row->op_end_ns = op->end_ns;
	if (op->start_ns < row->op_start_ns)
		row->op_start_ns = op->start_ns;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_call_list *copies = gp_advisor_calls(advisor, GP_API_COPY);
	struct row row = {0};

	for (uint32_t i = 0; i < copies->count; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, copies, i);
		const struct gp_op *op = gp_host_copy(advisor, call);

		if (i > 0 && copies->indices[i] != copies->indices[i - 1] + 1)
			end_row(advisor, &row); /* there is another call in between */
		if (op && op->bytes <= TINY_BYTES)
			take_copy(advisor, &row, call, op);
		else
			end_row(advisor, &row);
	}
	end_row(advisor, &row);
	gp_advisor_save_once(advisor);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	uint64_t row_count = found->count / ((const struct own *)found->own)->rows;

	(void)advisor;
	gp_document_add_text(values, "copy_kind", gp_copy_kind_name((uint8_t)found->detail));
	gp_document_add_number(values, "mean_bytes", GP_UNIT_BYTES, found->bytes / found->count);
	if (row_count < found->count)
		gp_document_add_number(values, "row_count", GP_UNIT_COUNT, row_count);
}

const struct gp_rule gp_rule_tiny_copies = {
	.id = "tiny-copies",
	.title = "many small copies in a row",
	.found =
		"{count} {copy_kind} copies of {mean_bytes} on average,[ {row_count} at a time,] directly after each other, took {time_ns}, including the time between them",
	.change =
		"gather the pieces in one buffer and copy it with one call; use cudaMemcpy2DAsync for rows of a matrix",
	.meaning =
		"A copy takes some microseconds whatever its size. Up to about {TINY_BYTES} this is most of its time, so N small copies take nearly N times as long as one large copy. The saving is the time of each series of copies, without the time of one copy.",
	.remedy =
		"Gather the pieces in a page-locked buffer and copy it once. Pass small structures as kernel arguments (4 KiB; 32,764 bytes from CUDA 12.1). Use cudaMemcpy2DAsync for rows of a matrix, and cudaMemcpyBatchAsync for scattered pieces.",
	.ignore = "The pieces are not available at the same time.",
	.threshold = {.saves_percent = 2,
		      .saves_ns = 100000,
		      .count = 64,
		      .reason = "Fewer copies are setup"},
	.limits = limits,
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
