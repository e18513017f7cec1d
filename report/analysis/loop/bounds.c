#include "report/analysis/loop/bounds.h"

#include "report/analysis/loop/stretches.h"
#include "report/base/spill_memory.h"

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

uint32_t gp_bounds_call(const struct gp_model *model, const struct gp_iteration *row)
{
	return row->first_op != GP_NONE ? model->ops[row->first_op].call : GP_NONE;
}

uint64_t gp_bounds_begun_ns(const struct gp_model *model, const struct gp_iteration *row)
{
	uint32_t call = gp_bounds_call(model, row);

	if (row->range != GP_NONE)
		return model->ranges[row->range].start_ns;
	return call != GP_NONE ? model->calls[call].start_ns : row->start_ns;
}

/* By row: until when operations ran that had begun before it; those of a stream are in order. */
static void find_done(const struct gp_iterations *iterations, const struct gp_model *model,
		      uint64_t *done_ns)
{
	const struct gp_iteration *rows = iterations->rows;
	uint32_t next = 0;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (i == 0 || !gp_ops_share_stream(op, op - 1))
			next = 0;
		if (op->untimed)
			continue;
		while (next < iterations->count && rows[next].start_ns <= op->start_ns)
			next++;
		if (next < iterations->count)
			done_ns[next] = later(done_ns[next], op->end_ns);
	}
	for (uint32_t i = 1; i < iterations->count; i++)
		done_ns[i] = later(done_ns[i], done_ns[i - 1]);
}

/* Since when it was recorded without a pause; 0 = always. */
static uint64_t recorded_since_ns(const struct gp_model *model, uint64_t time_ns)
{
	uint32_t gates = gp_model_gates_until(model, time_ns);

	return gates > 0 ? model->gates[gates - 1].time_ns : 0;
}

/* Until when it was, from that time on. */
static uint64_t recorded_until_ns(const struct gp_model *model, uint64_t time_ns)
{
	uint32_t gates = gp_model_gates_until(model, time_ns);

	return gates < model->gate_count ? model->gates[gates].time_ns : UINT64_MAX;
}

/* By its stream, which is later than its first operation was. */
static bool has_start(const struct gp_iteration *row, const struct gp_model *model)
{
	return row->first_op != GP_NONE && row->start_ns > model->ops[row->first_op].start_ns;
}

/* When the host began it; earlier times of the range, before the recording, are in no report. */
static uint64_t host_start_ns(const struct gp_iteration *row, const struct gp_model *model)
{
	uint64_t start_ns =
		later(gp_bounds_begun_ns(model, row), recorded_since_ns(model, row->start_ns));

	start_ns = later(start_ns, model->call_count > 0 ? model->first_call_ns : 0);
	return start_ns < row->start_ns ? start_ns : row->start_ns;
}

static void set_start(struct gp_iteration *row, const struct gp_model *model, uint64_t done_ns)
{
	uint64_t from_ns = later(host_start_ns(row, model), done_ns);

	if (!has_start(row, model) && from_ns < row->start_ns)
		row->start_ns = from_ns;
}

/* The end of the range of an iteration. */
static uint64_t range_end_ns(const struct gp_iteration *row, const struct gp_model *model)
{
	uint64_t end_ns = model->ranges[row->range].end_ns;
	uint64_t until_ns = recorded_until_ns(model, gp_bounds_begun_ns(model, row));

	return end_ns < until_ns ? end_ns : until_ns;
}

static void set_end(struct gp_iteration *row, const struct gp_model *model)
{
	if (row->range != GP_NONE)
		row->end_ns = later(row->end_ns, range_end_ns(row, model));
}

void gp_bounds_set(struct gp_iterations *iterations, const struct gp_model *model)
{
	uint64_t *done_ns = gp_spill_take_zeroed((size_t)iterations->count + 1, sizeof(*done_ns));

	find_done(iterations, model, done_ns);
	for (uint32_t i = 0; i < iterations->count; i++) {
		if (i > 0)
			done_ns[i] = later(done_ns[i], iterations->rows[i - 1].start_ns);
		set_start(&iterations->rows[i], model, done_ns[i]);
		set_end(&iterations->rows[i], model);
	}
	gp_spill_free(done_ns);
}

/* ---- on the host ---- */

static uint64_t host_end_ns(const struct gp_iteration *row, const struct gp_iteration *next,
			    const struct gp_iteration *on_gpu, const struct gp_model *model)
{
	uint64_t end_ns = on_gpu->range != GP_NONE ? range_end_ns(on_gpu, model) : on_gpu->end_ns;

	if (next && on_gpu->end_ns == on_gpu[1].start_ns) /* it lasts to the next one */
		return next->start_ns;
	if (next && end_ns > next->start_ns)
		end_ns = next->start_ns;
	return later(end_ns, row->start_ns);
}

void gp_bounds_on_host(struct gp_iterations *host, const struct gp_iterations *iterations,
		       const struct gp_model *model)
{
	uint32_t count = iterations->count;

	*host = (struct gp_iterations){.count = count, .by_range = iterations->by_range};
	host->rows = gp_spill_take(((size_t)count + 1) * sizeof(*host->rows));
	for (uint32_t i = 0; i < count; i++) {
		host->rows[i] = iterations->rows[i];
		host->rows[i].start_ns = host_start_ns(&iterations->rows[i], model);
		if (i > 0)
			host->rows[i].start_ns =
				later(host->rows[i].start_ns, host->rows[i - 1].start_ns);
	}
	for (uint32_t i = 0; i < count; i++)
		host->rows[i].end_ns =
			host_end_ns(&host->rows[i], i + 1 < count ? &host->rows[i + 1] : NULL,
				    &iterations->rows[i], model);
	gp_stretches_gather(host);
}
