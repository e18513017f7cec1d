#include "report/analysis/idle/activity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/peak_bandwidth.h"
#include "report/trace/cuda_names.h"
#include "report/model/sums/totals.h"

#define STATUS_NOT_READY 600
#define API_IDS          65536u

/* It returns the error of an earlier call, which is counted there. */
static bool reports_another(const char *api)
{
	return strcmp(api, "cudaGetLastError") == 0 || strcmp(api, "cudaPeekAtLastError") == 0;
}

bool gp_activity_is_failure(const struct gp_model *model, const struct gp_call *call)
{
	return call->status != 0 && call->status != STATUS_NOT_READY &&
	       !reports_another(gp_model_api(model, call->api).name);
}

bool gp_activity_is_in_window(const struct gp_model *model, const struct gp_call *call)
{
	return call->first_op != GP_NONE && gp_op_is_in_window(&model->ops[call->first_op]);
}

void gp_activity_free(struct gp_activity *activity)
{
	gp_groups_free(&activity->operations);
	gp_groups_free(&activity->calls);
	*activity = (struct gp_activity){0};
}

/* " pageable to device", " pinned" or nothing: the kinds that the copy's direction does not say. */
static void name_ends(char *out, size_t size, const struct gp_op *op)
{
	const char *kind = gp_copy_kind_name(op->copy_kind);
	const char *source = gp_memory_name(op->source_kind);
	const char *destination = gp_memory_name(op->destination_kind);

	if (kind[0] == 'H' && kind[3] != 'H')
		snprintf(out, size, " %s", source);
	else if (kind[0] != 'H' && kind[3] == 'H')
		snprintf(out, size, " %s", destination);
	else if (op->source_kind != GP_COPY_DEVICE || op->destination_kind != GP_COPY_DEVICE)
		snprintf(out, size, " %s to %s", source, destination);
	else
		out[0] = '\0';
}

void gp_activity_label(char label[], const struct gp_op *op)
{
	char ends[64] = "";

	if (op->kind == GP_OP_GRAPH) {
		snprintf(label, GP_ACTIVITY_LABEL_BYTES, "[graph %u]", op->graph_id);
		return;
	}
	if (op->kind == GP_OP_COPY)
		name_ends(ends, sizeof(ends), op);
	else if (op->destination_kind != GP_COPY_DEVICE &&
		 op->destination_kind != GP_ACTIVITY_UNTOLD)
		snprintf(ends, sizeof(ends), " %s", gp_memory_name(op->destination_kind));
	for (char *c = ends; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (op->kind == GP_OP_COPY)
		snprintf(label, GP_ACTIVITY_LABEL_BYTES, "[memcpy %s%s]",
			 gp_copy_kind_name(op->copy_kind), ends);
	else
		snprintf(label, GP_ACTIVITY_LABEL_BYTES, "[memset%s]", ends);
}

static uint32_t find_kernel(struct gp_groups *groups, const char *mangled)
{
	char *key = malloc(strlen(mangled) + 2);
	uint32_t row;

	key[0] = GP_ACTIVITY_KERNEL;
	strcpy(key + 1, mangled);
	row = gp_groups_find(groups, key);
	free(key);
	return row;
}

#define REMEMBERED 64u

/* Where groups were found before: looking one up by its key costs more than all the rest. */
struct lookup {
	/* by name; the last one is for kernels without a name; UINT32_MAX = not yet */
	uint32_t *kernels;
	struct {
		uint32_t kinds, row;
	} others[REMEMBERED];
};

static uint32_t find_other(struct gp_groups *groups, const struct gp_op *op, struct lookup *lookup)
{
	uint32_t kinds = (uint32_t)op->kind << 24 | (uint32_t)op->copy_kind << 16 |
			 (uint32_t)op->source_kind << 8 | op->destination_kind;
	uint32_t slot = (kinds * 2654435761u) >> 26;
	char key[1 + GP_ACTIVITY_LABEL_BYTES] = {GP_ACTIVITY_OTHER};

	if (op->kind == GP_OP_GRAPH) {
		key[0] = GP_ACTIVITY_GRAPH;
		gp_activity_label(key + 1, op);
		return gp_groups_find(groups, key);
	}
	if (lookup->others[slot].kinds == kinds)
		return lookup->others[slot].row;
	gp_activity_label(key + 1, op);
	lookup->others[slot].kinds = kinds;
	lookup->others[slot].row = gp_groups_find(groups, key);
	return lookup->others[slot].row;
}

static uint32_t find_operation(struct gp_groups *groups, const struct gp_model *model,
			       const struct gp_op *op, struct lookup *lookup)
{
	uint32_t *row =
		&lookup->kernels[op->name < model->name_count ? op->name : model->name_count];

	if (op->kind != GP_OP_KERNEL)
		return find_other(groups, op, lookup);
	if (*row == UINT32_MAX)
		*row = find_kernel(groups, gp_model_kernel_name(model, op));
	return *row;
}

static void add_bytes(struct gp_group *group, const struct gp_model *model, const struct gp_op *op)
{
	group->bytes += op->bytes;
	if (!op->untimed) {
		group->timed_bytes += op->bytes;
		gp_copy_peak_add(model, op, &group->peak_ns, &group->without_peak);
	}
	if (op->bytes < group->least_bytes)
		group->least_bytes = op->bytes;
	if (op->bytes > group->most_bytes)
		group->most_bytes = op->bytes;
}

static uint64_t *count_of(struct gp_activity *activity, const struct gp_op *op)
{
	uint64_t *count[] = {
		[GP_OP_KERNEL] = &activity->kernels,
		[GP_OP_COPY] = &activity->copies,
		[GP_OP_SET] = &activity->sets,
		[GP_OP_GRAPH] = &activity->graphs,
	};

	return count[op->kind];
}

static void add_operation(struct gp_activity *activity, uint32_t row, const struct gp_model *model,
			  const struct gp_op *op)
{
	++*count_of(activity, op);
	activity->copy_bytes += op->kind == GP_OP_COPY ? op->bytes : 0;
	activity->operations.rows[row].is_separate = gp_op_is_on_host(op);
	add_bytes(&activity->operations.rows[row], model, op);
	if (gp_op_is_in_window(op) && !op->untimed) {
		gp_groups_add_outside(&activity->operations, row, op->end_ns - op->start_ns);
		return;
	}
	if (!op->untimed) {
		gp_groups_add(&activity->operations, row, op->end_ns - op->start_ns);
		return;
	}
	gp_groups_add_untimed(&activity->operations, row);
}

static uint32_t *new_rows(uint32_t count)
{
	uint32_t *rows = malloc(count * sizeof(*rows));

	for (uint32_t i = 0; i < count; i++)
		rows[i] = UINT32_MAX;
	return rows;
}

static void gather_operations(struct gp_activity *activity, const struct gp_model *model)
{
	struct lookup lookup = {.kernels = new_rows(model->name_count + 1)};

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		add_operation(activity, find_operation(&activity->operations, model, op, &lookup),
			      model, op);
	}
	free(lookup.kernels);
}

int gp_activity_set_apart(struct gp_activity *activity, const struct gp_model *model,
			  const uint8_t *numbers)
{
	struct lookup lookup = {.kernels = new_rows(model->name_count + 1)};
	struct gp_groups *groups = &activity->operations;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];
		uint32_t row;

		if (numbers[i] == 0 || op->untimed)
			continue;
		row = find_operation(groups, model, op, &lookup);
		groups->rows[row].separate_ns += op->end_ns - op->start_ns;
	}
	free(lookup.kernels);
	return 0;
}

static void add_call(struct gp_activity *activity, const struct gp_model *model,
		     const struct gp_call *call, uint32_t *rows)
{
	uint8_t class = gp_model_api_class(model, call->api);
	uint32_t *row = &rows[call->api];

	if (*row == UINT32_MAX)
		*row = gp_groups_find(&activity->calls, gp_model_api(model, call->api).name);
	activity->launches += class == GP_API_LAUNCH;
	activity->graph_launches += class == GP_API_GRAPH_LAUNCH;
	if (gp_activity_is_failure(model, call)) {
		activity->calls.rows[*row].failed++;
		activity->failures++;
	}
	if (!gp_activity_is_in_window(model, call)) {
		gp_groups_add(&activity->calls, *row, call->duration_ns);
		return;
	}
	gp_groups_add_outside(&activity->calls, *row, call->duration_ns);
}

static void gather_calls(struct gp_activity *activity, const struct gp_model *model)
{
	uint32_t *rows = new_rows(API_IDS);

	for (uint32_t i = 0; i < model->call_count; i++)
		add_call(activity, model, &model->calls[i], rows);
	free(rows);
}

/* ---- of models that have totals alone ---- */

static uint32_t find_summed(struct gp_activity *activity, const struct gp_model *model,
			    const struct gp_op *op)
{
	char key[1 + GP_ACTIVITY_LABEL_BYTES] = {GP_ACTIVITY_OTHER};

	if (op->kind == GP_OP_KERNEL)
		return find_kernel(&activity->operations, gp_model_kernel_name(model, op));
	if (op->kind == GP_OP_GRAPH)
		key[0] = GP_ACTIVITY_GRAPH;
	gp_activity_label(key + 1, op);
	return gp_groups_find(&activity->operations, key);
}

static void add_summed_operations(struct gp_activity *activity, const struct gp_model *model,
				  const struct gp_sum *sum)
{
	struct gp_op op = gp_totals_op(sum);
	uint32_t row = find_summed(activity, model, &op);
	struct gp_group *group;

	group = &activity->operations.rows[row];
	group->is_separate = gp_op_is_on_host(&op);
	*count_of(activity, &op) += sum->histogram.count + sum->untimed;
	activity->copy_bytes += op.kind == GP_OP_COPY ? sum->bytes : 0;
	group->bytes += sum->bytes;
	group->timed_bytes += sum->timed_bytes;
	if (sum->histogram.count > 0)
		gp_copy_peak_add(model, &op, &group->peak_ns, &group->without_peak);
	if (sum->least_bytes < group->least_bytes)
		group->least_bytes = sum->least_bytes;
	if (sum->most_bytes > group->most_bytes)
		group->most_bytes = sum->most_bytes;
	gp_groups_add_histogram(&activity->operations, row, &sum->histogram, 1, sum->untimed);
}

static void add_summed_calls(struct gp_activity *activity, const struct gp_model *model,
			     const struct gp_sum *sum)
{
	struct gp_api api = gp_model_api(model, sum->first.call.api);
	bool is_known = sum->key != GP_SUM_OTHERS;
	uint32_t row = gp_groups_find(&activity->calls, is_known ? api.name : "(more functions)");

	if (is_known && api.class == GP_API_LAUNCH)
		activity->launches += sum->histogram.count;
	if (is_known && api.class == GP_API_GRAPH_LAUNCH)
		activity->graph_launches += sum->histogram.count;
	if (!is_known || !reports_another(api.name)) {
		activity->calls.rows[row].failed += sum->failed;
		activity->failures += sum->failed;
	}
	gp_groups_add_histogram(&activity->calls, row, &sum->histogram, model->ns_per_tick, 0);
}

static void add_sum(struct gp_activity *activity, const struct gp_model *model,
		    const struct gp_sum *sum)
{
	if (sum->kind == GP_SUM_CALL)
		add_summed_calls(activity, model, sum);
	else
		add_summed_operations(activity, model, sum);
}

static void gather_totals(struct gp_activity *activity, const struct gp_model *model)
{
	const struct gp_sums *sums = &gp_totals_of(model)->sums;

	for (uint32_t i = 0; i < sums->count; i++)
		add_sum(activity, model, sums->sums[i]);
	for (size_t i = 0; i < GP_SUM_KINDS; i++)
		if (sums->others[i])
			add_sum(activity, model, sums->others[i]);
}

static void gather_model(struct gp_activity *activity, const struct gp_model *model)
{
	gather_operations(activity, model);
	gather_calls(activity, model);
	gather_totals(activity, model);
}

int gp_activity_gather(struct gp_activity *activity, struct gp_model *const *models,
		       size_t model_count)
{
	*activity = (struct gp_activity){0};
	for (size_t i = 0; i < model_count; i++)
		gather_model(activity, models[i]);
	return 0;
}
