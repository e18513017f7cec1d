/* Curves over time: queue lengths, bandwidth of copies and memsets; and the critical path. */
#include "report/tables/event_list.h"

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/analysis/idle/critical_path.h"
#include "report/analysis/loop/path_words.h"

static const struct gp_table_column queue_columns[] = {
	{"Start", GP_UNIT_MOMENT},  {"Length", GP_UNIT_COUNT},   {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER}, {"Context", GP_UNIT_NUMBER}, {"Stream", GP_UNIT_NUMBER},
};

static void write_length(struct gp_scope *scope, const struct gp_model *model,
			 const struct gp_curve_point *row, int64_t start_ns,
			 struct gp_table_writer *writer)
{
	const struct gp_op *op = &model->ops[row->index];
	const struct gp_value values[COUNT(queue_columns)] = {
		gp_value_moment(start_ns),
		gp_value_whole(row->value),
		gp_scope_process(scope, model),
		gp_value_whole(gp_scope_device(scope, model, op->device_id)),
		gp_value_whole(op->context_id),
		gp_value_whole(op->stream_id),
	};

	gp_table_writer_row(writer, values);
}

const struct gp_event_list gp_event_list_queue = {
	.word = "queue",
	.help = "how many operations each stream's queue holds, at each change",
	.things = "GPU operation whose launch is known",
	.head = {"trace-queue", "Queues over time", queue_columns, COUNT(queue_columns)},
	.make = gp_curve_queues,
	.write_point = write_length,
};

static const struct gp_table_column bandwidth_columns[] = {
	{"Start", GP_UNIT_MOMENT},  {"GB/s", GP_UNIT_GB_PER_S},  {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER}, {"Direction", GP_UNIT_TEXT},
};

static void write_bandwidth(struct gp_scope *scope, const struct gp_model *model,
			    const struct gp_curve_point *row, int64_t start_ns,
			    struct gp_table_writer *writer)
{
	const struct gp_op *op = &model->ops[row->index];
	const struct gp_value values[COUNT(bandwidth_columns)] = {
		gp_value_moment(start_ns),
		gp_value_rate(row->value, 1000000000),
		gp_scope_process(scope, model),
		gp_value_whole(gp_scope_device(scope, model, op->device_id)),
		gp_value_text(gp_curve_direction(op)),
	};

	gp_table_writer_row(writer, values);
}

const struct gp_event_list gp_event_list_bandwidth = {
	.word = "bandwidth",
	.help = "bytes a second of copies and memsets, at each change",
	.things = "copy or memset with times",
	.head = {"trace-bandwidth", "Bandwidth of copies and memsets over time", bandwidth_columns,
		 COUNT(bandwidth_columns)},
	.make = gp_curve_bandwidth,
	.write_point = write_bandwidth,
};

/* ---- the critical path ---- */

static const struct gp_table_column path_columns[] = {
	{"Start", GP_UNIT_MOMENT},  {"Duration", GP_UNIT_NS},   {"CorrID", GP_UNIT_NUMBER},
	{"PID", GP_UNIT_NUMBER},    {"TID", GP_UNIT_NUMBER},    {"Device", GP_UNIT_NUMBER},
	{"Stream", GP_UNIT_NUMBER}, {"Category", GP_UNIT_TEXT}, {"What", GP_UNIT_TEXT},
};

/* The steps from first to last. */
static int make_path(struct gp_curve *rows, const struct gp_model *model)
{
	struct gp_path path = {0};

	if (model->call_count > 0)
		gp_path_of(&path, model);
	*rows = (struct gp_curve){0};
	for (uint32_t i = path.count; i-- > 0;) {
		const struct gp_path_step *step = &path.steps[i];

		gp_curve_add(rows,
			     (struct gp_curve_point){step->start_ns, step->end_ns - step->start_ns,
						     step->index, step->kind});
	}
	gp_path_free(&path);
	return 0;
}

/* The thread, or the place of the operation. */
static void put_place(struct gp_value values[], struct gp_scope *scope,
		      const struct gp_model *model, const struct gp_path_step *step)
{
	if (step->index == GP_NONE)
		return;
	if (gp_path_is_of_op(step)) {
		const struct gp_op *op = &model->ops[step->index];

		values[2] = gp_value_whole(op->correlation_id);
		values[5] = gp_value_whole(gp_scope_device(scope, model, op->device_id));
		values[6] = gp_value_whole(op->stream_id);
		return;
	}
	values[2] = gp_value_whole(model->calls[step->index].correlation_id);
	values[4] = gp_value_whole(model->calls[step->index].thread_id);
}

static void write_step(struct gp_scope *scope, const struct gp_model *model,
		       const struct gp_curve_point *row, int64_t start_ns,
		       struct gp_table_writer *writer)
{
	const struct gp_path_step step = {row->time_ns, row->time_ns + row->value, row->index,
					  row->kind};
	struct gp_value values[COUNT(path_columns)] = {{0}};
	char words[GP_PATH_WORDS_BYTES];

	values[0] = gp_value_moment(start_ns);
	values[1] = gp_value_whole(row->value);
	values[3] = gp_scope_process(scope, model);
	put_place(values, scope, model, &step);
	values[7] = gp_value_text(gp_path_category(step.kind));
	values[8] =
		gp_value_text(gp_path_words(words, model, &step, scope->names, scope->full_names));
	gp_table_writer_row(writer, values);
}

const struct gp_event_list gp_event_list_path = {
	.word = "critical-path",
	.help = "the critical path, step by step",
	.things = "API call",
	.head = {"trace-critical-path", "Critical path", path_columns, COUNT(path_columns)},
	.make = make_path,
	.write_point = write_step,
};
