/*
 * Many small copies.  Speaks where a call site made copies of at most 64 KiB between host and
 * device one right after the other, 8 and more in a row and 64 in all, that would save 2 % of the
 * recorded time and 100 us as one copy for each row.
 */
#include "report/advice/rules/rules.h"

#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"

#define TINY_BYTES 65536u
#define ROW_COPIES 8u

/* Copies of one site and direction with no other call of their thread between them. */
struct row {
	uint32_t site;
	uint8_t copy_kind;
	uint32_t thread_id;
	uint64_t count, bytes;
	const struct gp_call *first;
	uint64_t call_start_ns, call_end_ns; /* on the host: from the first call to the last ... */
	uint64_t op_start_ns, op_end_ns;     /* ... and on the GPU, if that takes longer */
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
			end_row(advisor, &row); /* another call is between them */
		if (op && op->bytes <= TINY_BYTES)
			take_copy(advisor, &row, call, op);
		else
			end_row(advisor, &row);
	}
	end_row(advisor, &row);
	gp_advisor_save_once(advisor);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	uint64_t in_a_row = found->count / own->rows;

	(void)advisor;
	fprintf(out, "%s %s copies of %s on average, ", gp_format_count(found->count).text,
		gp_copy_kind_name((uint8_t)found->detail),
		gp_format_bytes(found->bytes / found->count).text);
	if (in_a_row < found->count)
		fprintf(out, "%s at a time, ", gp_format_count(in_a_row).text);
	fprintf(out, "one right after the other, took %s with the time between them",
		gp_format_ns(found->time_ns).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("gather the pieces in one buffer and copy that in one call; rows of a matrix with cudaMemcpy2DAsync",
	      out);
}

const struct gp_rule gp_rule_tiny_copies = {
	.id = "tiny-copies",
	.title = "many small copies in a row",
	.meaning =
		"A copy takes some microseconds whatever its size. Up to about 64 KiB this is most of its time, so many small copies take nearly as many times as long as one large copy. The saving is the time of each row of copies, without the time of one copy.",
	.change =
		"Gather the pieces in a page-locked buffer and copy it once. Pass small structures as kernel arguments (4 KiB; 32,764 bytes from CUDA 12.1). Use cudaMemcpy2DAsync for rows of a matrix, and cudaMemcpyBatchAsync for scattered pieces.",
	.ignore = "The pieces are not available at the same time.",
	.threshold = {.saves_percent = 2, .saves_ns = 100000, .count = 64},
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
