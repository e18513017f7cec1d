/* Launches of kernels, one by one: the call, the queue, the kernel. */
#include "report/tables/event_list.h"

#include <string.h>

#include "gpuprof/count.h"

static const struct gp_table_column columns[] = {
	{"Start", GP_UNIT_MOMENT},
	{"API Dur", GP_UNIT_NS},
	{"Queue Start", GP_UNIT_MOMENT},
	{"Queue Dur", GP_UNIT_NS},
	{"Kernel Start", GP_UNIT_MOMENT},
	{"Kernel Dur", GP_UNIT_NS},
	{"Total Dur", GP_UNIT_NS},
	{"CorrID", GP_UNIT_NUMBER},
	{"GrdX", GP_UNIT_NUMBER},
	{"GrdY", GP_UNIT_NUMBER},
	{"GrdZ", GP_UNIT_NUMBER},
	{"BlkX", GP_UNIT_NUMBER},
	{"BlkY", GP_UNIT_NUMBER},
	{"BlkZ", GP_UNIT_NUMBER},
	{"PID", GP_UNIT_NUMBER},
	{"TID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},
	{"Stream", GP_UNIT_NUMBER},
	{"API", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

/* The first column of the launch shape, and of the place. */
enum { SHAPE = 8, PLACE = 14 };

/* Indices: the operations, then launches whose kernels have no record. */
static uint32_t count(const struct gp_model *model)
{
	return model->op_count + model->in_flight_count;
}

static const struct gp_in_flight *in_flight_of(const struct gp_model *model, uint32_t index)
{
	return index < model->op_count ? NULL : &model->in_flight[index - model->op_count];
}

/* Kernels of graphs are left out: one graph launch has many kernels. */
static bool has(const struct gp_model *model, uint32_t index)
{
	const struct gp_op *op;

	if (in_flight_of(model, index))
		return true;
	op = &model->ops[index];
	return op->kind == GP_OP_KERNEL && !op->untimed && op->call != GP_NONE &&
	       gp_model_api_class(model, model->calls[op->call].api) == GP_API_LAUNCH;
}

static uint64_t start(const struct gp_model *model, uint32_t index)
{
	const struct gp_in_flight *in_flight = in_flight_of(model, index);

	return model->calls[in_flight ? in_flight->call : model->ops[index].call].start_ns;
}

static void put_stages(struct gp_value *values, const struct gp_call *call, const struct gp_op *op,
		       int64_t start_ns)
{
	uint64_t call_end_ns = call->start_ns + call->duration_ns;
	uint64_t end_ns = op->end_ns > call_end_ns ? op->end_ns : call_end_ns;

	if (op->start_ns >= call_end_ns) {
		values[2] = gp_value_moment(start_ns + (int64_t)call->duration_ns);
		values[3] = gp_value_whole(op->start_ns - call_end_ns);
	}
	values[4] = gp_value_moment(start_ns + (int64_t)(op->start_ns - call->start_ns));
	values[5] = gp_value_whole(op->end_ns - op->start_ns);
	values[6] = gp_value_whole(end_ns - call->start_ns);
}

static void put_shape(struct gp_value *values, const struct gp_record_shape *shape)
{
	for (size_t i = 0; i < 3; i++) {
		values[i] = gp_value_whole(shape->grid[i]);
		values[3 + i] = gp_value_whole(shape->block[i]);
	}
}

static void put_call(struct gp_scope *scope, const struct gp_model *model,
		     const struct gp_call *call, const char *mangled, struct gp_value *values)
{
	struct gp_value *place = values + PLACE;

	values[1] = gp_value_whole(call->duration_ns);
	values[7] = gp_value_whole(call->correlation_id);
	place[0] = gp_scope_process(scope, model);
	place[1] = gp_value_whole(call->thread_id);
	place[4] = gp_value_text(gp_model_api(model, call->api).name);
	place[5] = gp_value_text(scope->full_names ? gp_names_full(scope->names, mangled)
						   : gp_names_short(scope->names, mangled));
}

static void put_op(struct gp_scope *scope, const struct gp_model *model, const struct gp_op *op,
		   int64_t start_ns, struct gp_value *values)
{
	const struct gp_call *call = &model->calls[op->call];

	put_stages(values, call, op, start_ns);
	if (op->shape < model->shape_count)
		put_shape(values + SHAPE, &model->shapes[op->shape]);
	put_call(scope, model, call, gp_model_kernel_name(model, op), values);
	values[PLACE + 2] = gp_value_whole(gp_scope_device(scope, model, op->device_id));
	values[PLACE + 3] = gp_value_whole(op->stream_id);
}

static void write(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		  int64_t start_ns, struct gp_table_writer *writer)
{
	const struct gp_in_flight *in_flight = in_flight_of(model, index);
	struct gp_value values[COUNT(columns)] = {{0}};

	values[0] = gp_value_moment(start_ns);
	if (in_flight)
		put_call(scope, model, &model->calls[in_flight->call],
			 model->names[in_flight->name], values);
	else
		put_op(scope, model, &model->ops[index], start_ns, values);
	gp_table_writer_row(writer, values);
}

const struct gp_event_list gp_event_list_exec = {
	.word = "exec",
	.help = "launches: the call, the queue, the kernel",
	.things =
		"kernel with times and a recorded launch outside graphs, or known to be in flight",
	.head = {"trace-exec", "Launches of kernels", columns, COUNT(columns)},
	.count = count,
	.has = has,
	.start = start,
	.write = write,
};
