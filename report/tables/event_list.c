#include "report/tables/event_list.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/trace/cuda_names.h"
#include "report/base/kway_merge.h"
#include "report/base/spill_memory.h"

/* ---- GPU operations ---- */

static const struct gp_table_column gpu_columns[] = {
	{"Start", GP_UNIT_MOMENT},   {"Duration", GP_UNIT_NS},     {"CorrID", GP_UNIT_NUMBER},
	{"GrdX", GP_UNIT_NUMBER},    {"GrdY", GP_UNIT_NUMBER},     {"GrdZ", GP_UNIT_NUMBER},
	{"BlkX", GP_UNIT_NUMBER},    {"BlkY", GP_UNIT_NUMBER},     {"BlkZ", GP_UNIT_NUMBER},
	{"Reg/Trd", GP_UNIT_COUNT},  {"StcSMem", GP_UNIT_BYTES},   {"DymSMem", GP_UNIT_BYTES},
	{"Size", GP_UNIT_BYTES},     {"GB/s", GP_UNIT_GB_PER_S},   {"SrcMemKd", GP_UNIT_TEXT},
	{"DstMemKd", GP_UNIT_TEXT},  {"PID", GP_UNIT_NUMBER},      {"Device", GP_UNIT_NUMBER},
	{"Context", GP_UNIT_NUMBER}, {"GreenCtx", GP_UNIT_NUMBER}, {"Stream", GP_UNIT_NUMBER},
	{"Name", GP_UNIT_TEXT},
};

/* The first column of each group: launch shape, copy, and place (which all operations have). */
enum { SHAPE = 3, COPY = 12, PLACE = 16 };

static uint32_t count_ops(const struct gp_model *model)
{
	return model->op_count;
}

static uint64_t start_of_op(const struct gp_model *model, uint32_t index)
{
	return model->ops[index].start_ns;
}

#define STATIC_SHARED 7 /* index in the columns of the shape */

static void put_shape(struct gp_value *values, const struct gp_model *model,
		      const struct gp_record_shape *shape)
{
	const uint64_t numbers[] = {
		shape->grid[0],
		shape->grid[1],
		shape->grid[2],
		shape->block[0],
		shape->block[1],
		shape->block[2],
		shape->registers,
		shape->static_shared_bytes,
		shape->dynamic_shared_bytes,
	};

	for (size_t i = 0; i < COUNT(numbers); i++)
		values[i] = gp_value_whole(numbers[i]);
	if ((model->unknown & GP_UNKNOWN_SHARED_PARTS) != 0)
		values[STATIC_SHARED] = gp_value_none();
}

static void put_copy(struct gp_value *values, const struct gp_op *op)
{
	values[0] = gp_value_whole(op->bytes);
	values[1] = gp_value_rate(op->bytes, op->end_ns - op->start_ns);
	if (op->kind == GP_OP_COPY)
		values[2] = gp_value_text(gp_memory_name(op->source_kind));
	values[3] = gp_value_text(gp_memory_name(op->destination_kind));
}

static const char *name_of(struct gp_scope *scope, const struct gp_model *model,
			   const struct gp_op *op, char label[GP_ACTIVITY_LABEL_BYTES])
{
	const char *mangled = gp_model_kernel_name(model, op);

	gp_activity_label(label, op);
	if (op->kind != GP_OP_KERNEL)
		return label;
	return scope->full_names ? gp_names_full(scope->names, mangled)
				 : gp_names_short(scope->names, mangled);
}

static void write_op(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		     int64_t start_ns, struct gp_table_writer *writer)
{
	const struct gp_op *op = &model->ops[index];
	struct gp_value values[COUNT(gpu_columns)] = {{0}}, *place = values + PLACE;
	char label[GP_ACTIVITY_LABEL_BYTES];

	values[0] = gp_value_moment(start_ns);
	if (!op->untimed)
		values[1] = gp_value_whole(op->end_ns - op->start_ns);
	values[2] = gp_value_whole(op->correlation_id);
	if (op->kind == GP_OP_KERNEL && op->shape < model->shape_count)
		put_shape(values + SHAPE, model, &model->shapes[op->shape]);
	if (op->kind == GP_OP_COPY || op->kind == GP_OP_SET)
		put_copy(values + COPY, op);
	place[0] = gp_scope_process(scope, model);
	place[1] = gp_value_whole(gp_scope_device(scope, model, op->device_id));
	place[2] = gp_value_whole(op->context_id);
	if (gp_model_context_is_green(model, op->context_id))
		place[3] = gp_value_whole(op->context_id);
	place[4] = gp_value_whole(op->stream_id);
	place[5] = gp_value_text(name_of(scope, model, op, label));
	gp_table_writer_row(writer, values);
}

static const struct gp_event_list list_gpu = {
	.word = "gpu",
	.help = "kernels, copies and memsets",
	.things = "GPU operation",
	.head = {"trace-gpu", "GPU operations", gpu_columns, COUNT(gpu_columns)},
	.count = count_ops,
	.start = start_of_op,
	.write = write_op,
};

/* ---- API calls ---- */

static const struct gp_table_column api_columns[] = {
	{"Start", GP_UNIT_MOMENT},  {"Duration", GP_UNIT_NS}, {"Result", GP_UNIT_NUMBER},
	{"CorrID", GP_UNIT_NUMBER}, {"PID", GP_UNIT_NUMBER},  {"TID", GP_UNIT_NUMBER},
	{"Thread", GP_UNIT_TEXT},   {"Error", GP_UNIT_TEXT},  {"Asked", GP_UNIT_BYTES},
	{"Name", GP_UNIT_TEXT},
};

static uint32_t count_calls(const struct gp_model *model)
{
	return model->call_count;
}

static uint64_t start_of_call(const struct gp_model *model, uint32_t index)
{
	return model->calls[index].start_ns;
}

static void write_call(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		       int64_t start_ns, struct gp_table_writer *writer)
{
	const struct gp_call *call = &model->calls[index];
	bool is_told = (model->unknown & GP_UNKNOWN_STATUS) == 0;
	uint64_t asked_bytes;
	bool has_asked = call->status != 0 && gp_model_asked_bytes(model, call, &asked_bytes);
	const struct gp_value values[COUNT(api_columns)] = {
		gp_value_moment(start_ns),
		gp_value_whole(call->duration_ns),
		is_told ? gp_value_whole(call->status) : gp_value_none(),
		gp_value_whole(call->correlation_id),
		gp_scope_process(scope, model),
		gp_value_whole(call->thread_id),
		gp_value_text_or_none(gp_model_thread_name(model, call->thread_id)),
		gp_value_text_or_none(gp_status_name(call->status)),
		has_asked ? gp_value_whole(asked_bytes) : gp_value_none(),
		gp_value_text(gp_model_api(model, call->api).name),
	};

	(void)scope;
	gp_table_writer_row(writer, values);
}

static const struct gp_event_list list_api = {
	.word = "api",
	.help = "API calls",
	.things = "API call",
	.head = {"trace-api", "API calls", api_columns, COUNT(api_columns)},
	.count = count_calls,
	.start = start_of_call,
	.write = write_call,
};

const struct gp_event_list *const gp_event_lists[] = {
	&list_gpu,
	&list_api,
	&gp_event_list_exec,
	&gp_event_list_nvtx,
	&gp_event_list_host,
	&gp_event_list_queue,
	&gp_event_list_bandwidth,
	&gp_event_list_path,
	NULL,
};

const struct gp_event_list *gp_event_list_find(const char *word)
{
	for (const struct gp_event_list *const *at = gp_event_lists; *at; at++)
		if (strcmp((*at)->word, word) == 0)
			return *at;
	return NULL;
}

/* ---- the order of the rows ---- */

/* The rows of one model that are not written yet. */
struct cursor {
	uint32_t *order;
	struct gp_curve made; /* instead of order, for computed rows */
	uint32_t at, count;
};

struct walk {
	const struct gp_event_list *list;
	struct gp_scope *scope;
	struct cursor *cursors; /* one for each model */
	/* merges the models by the starts of their next rows: */
	struct gp_kway_merge merge;
	uint64_t start_unix_ns; /* of the scope, or of the first row if that is earlier */
};

struct sorting {
	const struct gp_event_list *list;
	const struct gp_model *model;
};

static int compare_starts(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t left_ns = sorting->list->start(sorting->model, left);
	uint64_t right_ns = sorting->list->start(sorting->model, right);

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left > right) - (left < right);
}

/* The start of the model's next row; UINT64_MAX: none. */
static uint64_t next_unix_ns(const struct walk *walk, size_t model)
{
	const struct gp_model *m = walk->scope->models[model];
	const struct cursor *cursor = &walk->cursors[model];

	if (cursor->at == cursor->count)
		return UINT64_MAX;
	return m->base_unix_ns + (walk->list->make
					  ? cursor->made.points[cursor->at].time_ns
					  : walk->list->start(m, cursor->order[cursor->at]));
}

static void put_next(struct walk *walk, size_t model)
{
	uint64_t unix_ns = next_unix_ns(walk, model);

	if (unix_ns != UINT64_MAX)
		gp_kway_merge_put(&walk->merge, model, unix_ns - walk->start_unix_ns);
}

static int choose_rows(struct cursor *cursor, struct sorting *sorting)
{
	const struct gp_event_list *list = sorting->list;
	uint32_t count = list->count(sorting->model);

	cursor->order = gp_spill_take(((size_t)count + 1) * sizeof(*cursor->order));
	for (uint32_t i = 0; i < count; i++)
		if (!list->has || list->has(sorting->model, i))
			cursor->order[cursor->count++] = i;
	qsort_r(cursor->order, cursor->count, sizeof(*cursor->order), compare_starts, sorting);
	return 0;
}

static int make_rows(struct cursor *cursor, const struct sorting *sorting)
{
	int result = sorting->list->make(&cursor->made, sorting->model);

	cursor->count = cursor->made.count;
	return result;
}

static int begin(struct walk *walk)
{
	size_t count = walk->scope->model_count;

	walk->cursors = calloc(count + 1, sizeof(*walk->cursors));
	gp_kway_merge_open(&walk->merge, count);
	for (size_t i = 0; i < count; i++) {
		struct sorting sorting = {walk->list, walk->scope->models[i]};
		struct cursor *cursor = &walk->cursors[i];

		int result = walk->list->make ? make_rows(cursor, &sorting)
					      : choose_rows(cursor, &sorting);

		if (result < 0)
			return result;
		if (next_unix_ns(walk, i) < walk->start_unix_ns)
			walk->start_unix_ns = next_unix_ns(walk, i);
	}
	for (size_t i = 0; i < count; i++)
		put_next(walk, i);
	return 0;
}

static void end(struct walk *walk)
{
	for (size_t i = 0; walk->cursors && i < walk->scope->model_count; i++) {
		gp_spill_free(walk->cursors[i].order);
		gp_curve_free(&walk->cursors[i].made);
	}
	free(walk->cursors);
	gp_kway_merge_close(&walk->merge);
}

static void write_row(struct walk *walk, size_t model, int64_t start_ns,
		      struct gp_table_writer *writer)
{
	const struct gp_event_list *list = walk->list;
	const struct gp_model *m = walk->scope->models[model];
	const struct cursor *cursor = &walk->cursors[model];

	if (list->make)
		list->write_point(walk->scope, m, &cursor->made.points[cursor->at], start_ns,
				  writer);
	else
		list->write(walk->scope, m, cursor->order[cursor->at], start_ns, writer);
}

static bool is_before(int64_t start_ns, uint64_t ns)
{
	return start_ns < 0 || (uint64_t)start_ns < ns;
}

static uint64_t write_part(struct walk *walk, const struct gp_event_list_part *part,
			   struct gp_table_writer *writer)
{
	struct gp_kway_merge_head head;
	uint64_t rows = 0;
	int64_t start_ns;

	while ((part->limit == 0 || rows < part->limit) &&
	       gp_kway_merge_take(&walk->merge, &head)) {
		struct cursor *cursor = &walk->cursors[head.sequence];

		start_ns =
			(int64_t)(walk->start_unix_ns + head.number - walk->scope->start_unix_ns);
		if (!is_before(start_ns, part->to_ns) || writer->error < 0)
			break;
		if (part->from_ns == 0 || !is_before(start_ns, part->from_ns)) {
			write_row(walk, head.sequence, start_ns, writer);
			rows++;
		}
		cursor->at++;
		put_next(walk, head.sequence);
	}
	return rows;
}

int gp_event_list_write(const struct gp_event_list *list, struct gp_scope *scope,
			const struct gp_event_list_part *part, struct gp_table_writer *writer,
			uint64_t *rows)
{
	struct walk walk = {.list = list, .scope = scope, .start_unix_ns = scope->start_unix_ns};
	struct gp_table_column *columns = calloc(list->head.column_count, sizeof(*columns));
	struct gp_table_head head = list->head;
	int result = begin(&walk);

	*rows = 0;
	if (result == 0) {
		memcpy(columns, head.columns, head.column_count * sizeof(*columns));
		for (size_t i = 0; i < head.column_count; i++)
			gp_scope_name_column(scope, &columns[i]);
		head.columns = columns;
		gp_table_writer_begin(writer, &head);
		*rows = write_part(&walk, part, writer);
		gp_table_writer_end(writer);
	}
	end(&walk);
	free(columns);
	return result;
}
