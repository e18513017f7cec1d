#include "report/tables/breakdown_scope.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/analysis.h"
#include "report/analysis/idle/activity.h"
#include "report/symbols/unique_names.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/model/sums/sampled_totals.h"
#include "report/symbols/call_site.h"
#include "report/base/stats.h"
#include "report/tables/by/job.h"

#define API_IDS 65536u
#define GAPS    1000 /* kept for each device */

static void start_at(struct gp_scope *scope, const struct gp_model *model, uint64_t start_ns)
{
	if (model->base_unix_ns + start_ns < scope->start_unix_ns)
		scope->start_unix_ns = model->base_unix_ns + start_ns;
}

static void find_start(struct gp_scope *scope)
{
	bool any = false;

	scope->start_unix_ns = UINT64_MAX;
	for (size_t i = 0; i < scope->model_count; i++) {
		const struct gp_model *model = scope->models[i];

		/* a shrunk model has its times only */
		if (model->call_count + model->op_count + model->last_ns == 0)
			continue;
		start_at(scope, model, model->first_ns);
		any = true;
	}
	for (size_t i = 0; !any && i < scope->model_count; i++)
		for (uint32_t j = 0; j < scope->models[i]->range_count; j++)
			start_at(scope, scope->models[i], scope->models[i]->ranges[j].start_ns);
}

static enum gp_scope_naming naming_of(struct gp_model *const *models, size_t count)
{
	size_t with_rank = 0, shared = 0;

	for (size_t i = 0; i < count; i++) {
		with_rank += gp_model_rank(models[i]) != GP_NONE;
		shared += models[i]->shares_rank;
	}
	if (with_rank == 0)
		return GP_SCOPE_PIDS;
	return with_rank == count && shared == 0 ? GP_SCOPE_RANKS : GP_SCOPE_NAMES;
}

int gp_scope_open(struct gp_scope *scope, struct gp_model *const *models, size_t model_count,
		  bool full_names)
{
	struct gp_names *names = gp_names_new();

	*scope = (struct gp_scope){
		.models = models,
		.model_count = model_count,
		.naming = naming_of(models, model_count),
		.full_names = full_names,
		.names = names,
		.own_names = names,
	};
	find_start(scope);
	if (!scope->names ||
	    gp_kernels_tell_apart(scope->names, (const struct gp_model *const *)models,
				  model_count) < 0)
		return -ENOMEM;
	return gp_device_list_all(&scope->devices, models, model_count);
}

static void number_devices(struct gp_scope *scope, const struct gp_scope *all)
{
	for (size_t i = 0; i < scope->devices.count; i++) {
		struct gp_device_entry *entry = &scope->devices.entries[i];
		size_t known =
			gp_device_list_known(&all->devices, scope->models[0], entry->device_id);

		if (known != SIZE_MAX)
			entry->number = all->devices.entries[known].number;
	}
}

int gp_scope_open_one(struct gp_scope *scope, const struct gp_scope *all,
		      struct gp_model *const *model)
{
	*scope = (struct gp_scope){
		.models = model,
		.model_count = 1,
		.naming = all->naming,
		.full_names = all->full_names,
		.every_row = all->every_row,
		.start_unix_ns = all->start_unix_ns,
		.names = all->names,
		.kinds = all->kinds,
	};
	if (gp_device_list_all(&scope->devices, model, 1) != 0)
		return -ENOMEM;
	number_devices(scope, all);
	return 0;
}

void gp_scope_set_job(struct gp_scope *scope, const struct gp_job *job)
{
	scope->job = job;
	scope->naming = naming_of(job->models, job->count);
}

void gp_scope_close(struct gp_scope *scope)
{
	if (scope->memory)
		scope->free_memory(scope->memory);
	if (scope->stacks)
		scope->free_stacks(scope->stacks);
	if (scope->host_places)
		scope->free_host_places(scope->host_places);
	if (scope->analysis)
		gp_analysis_free(scope->analysis);
	free(scope->analysis);
	gp_sampled_rows_free(scope->sampled);
	gp_kinds_free(scope->own_kinds);
	gp_names_free(scope->own_names);
	gp_groups_free(&scope->texts);
	gp_device_list_free(&scope->devices);
}

uint64_t gp_scope_text(struct gp_scope *scope, const char *text)
{
	return gp_groups_find(&scope->texts, text);
}

const char *gp_scope_text_of(const struct gp_scope *scope, uint64_t number)
{
	return scope->texts.rows[number].key;
}

const char *gp_scope_kernel_of(const struct gp_scope *scope, uint64_t number)
{
	const char *mangled = gp_scope_text_of(scope, number);

	return scope->full_names ? gp_names_full(scope->names, mangled)
				 : gp_names_short(scope->names, mangled);
}

const struct gp_kinds *gp_scope_kinds(struct gp_scope *scope)
{
	char message[64];

	if (!scope->kinds)
		scope->kinds = scope->own_kinds = gp_kinds_new(NULL, message, sizeof(message));
	return scope->kinds;
}

struct gp_analysis *gp_scope_analysis(struct gp_scope *scope)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	struct gp_analysis *analysis = scope->analysis;

	if (analysis || !kinds)
		return analysis;
	analysis = calloc(1, sizeof(*analysis));
	if (analysis && gp_analysis_of(analysis, scope->models, scope->model_count, &scope->devices,
				       kinds, GAPS) < 0) {
		gp_analysis_free(analysis);
		free(analysis);
		return NULL;
	}
	return scope->analysis = analysis;
}

struct gp_call_sites *gp_scope_new_sites(struct gp_scope *scope)
{
	const struct gp_analysis *analysis = gp_scope_analysis(scope);
	struct gp_call_sites *sites = analysis ? gp_call_sites_new() : NULL;

	for (size_t i = 0; sites && i < scope->model_count; i++)
		gp_call_sites_use_stacks(sites, scope->models[i], analysis->backward[i].stacks);
	return sites;
	gp_call_sites_free(sites);
	return NULL;
}

bool gp_scope_has_gpu(const struct gp_scope *scope)
{
	for (size_t i = 0; i < scope->model_count; i++)
		if (gp_recorded_kind(scope->models[i], "gpu"))
			return true;
	return false;
}

uint32_t gp_scope_device(struct gp_scope *scope, const struct gp_model *model, uint16_t device_id)
{
	size_t index = gp_device_list_find(&scope->devices, model, device_id);

	return index < scope->devices.count ? scope->devices.entries[index].number : device_id;
}

/* ---- gathering ---- */

static uint64_t *new_numbers(size_t count)
{
	uint64_t *numbers = malloc(count * sizeof(*numbers));

	for (size_t i = 0; i < count; i++)
		numbers[i] = GP_SCOPE_NO_TEXT;
	return numbers;
}

/* One more than the names of the model: the last is for kernels without a name. */
uint64_t *gp_scope_names(const struct gp_model *model)
{
	return new_numbers((size_t)model->name_count + 1);
}

uint64_t gp_scope_name(struct gp_scope *scope, const struct gp_model *model, const struct gp_op *op,
		       uint64_t *names)
{
	uint64_t *number = &names[op->name < model->name_count ? op->name : model->name_count];

	if (*number == GP_SCOPE_NO_TEXT)
		*number = gp_scope_text(scope, gp_model_kernel_name(model, op));
	return *number;
}

static void take_ops(struct gp_scope *scope, size_t process, struct gp_tally *tally,
		     void (*take)(struct gp_tally *tally, const struct gp_scope_op *at))
{
	const struct gp_model *model = scope->models[process];
	uint64_t *names = gp_scope_names(model);
	struct gp_slice_filter filter = gp_slice_filter_of_part(model);
	struct gp_scope_op at = {.scope = scope, .model = model, .process = process};

	for (uint32_t i = 0; i < model->op_count; i++) {
		at.op = &model->ops[i];
		if (!gp_slice_filter_has(&filter, at.op->start_ns, at.op->end_ns))
			continue;
		at.name = at.op->kind == GP_OP_KERNEL ? gp_scope_name(scope, model, at.op, names)
						      : GP_SCOPE_NO_TEXT;
		take(tally, &at);
	}
	free(names);
}

void gp_scope_ops(struct gp_scope *scope, struct gp_tally *tally, gp_scope_take_op *take)
{
	for (size_t i = 0; i < scope->model_count; i++)
		take_ops(scope, i, tally, take);
}

static void take_calls(struct gp_scope *scope, size_t process, struct gp_tally *tally,
		       void (*take)(struct gp_tally *tally, const struct gp_scope_call *at))
{
	const struct gp_model *model = scope->models[process];
	uint64_t *names = new_numbers(API_IDS);
	struct gp_slice_filter filter = gp_slice_filter_of_part(model);
	struct gp_scope_call at = {.scope = scope, .model = model, .process = process};

	for (uint32_t i = 0; i < model->call_count; i++) {
		uint16_t api = model->calls[i].api;
		uint64_t *name = &names[api];

		at.call = &model->calls[i];
		if (!gp_slice_filter_has(&filter, at.call->start_ns,
					 at.call->start_ns + at.call->duration_ns))
			continue;
		if (*name == GP_SCOPE_NO_TEXT)
			*name = gp_scope_text(scope, gp_model_api(model, api).name);
		at.name = *name;
		at.class = gp_model_api_class(model, api);
		take(tally, &at);
	}
	free(names);
}

void gp_scope_calls(struct gp_scope *scope, struct gp_tally *tally,
		    void (*take)(struct gp_tally *tally, const struct gp_scope_call *at))
{
	for (size_t i = 0; i < scope->model_count; i++)
		take_calls(scope, i, tally, take);
}

void gp_scope_count_op(struct gp_tally *tally, struct gp_tally_row *row, const struct gp_op *op)
{
	row->count++;
	if (op->untimed)
		row->sums[GP_SCOPE_UNTIMED]++;
	else if (gp_op_is_in_window(op))
		gp_tally_add(row, 0, op->end_ns - op->start_ns);
	else
		gp_tally_value(tally, row, 0, op->end_ns - op->start_ns);
}

void gp_scope_count_call(struct gp_tally *tally, struct gp_tally_row *row,
			 const struct gp_scope_call *at)
{
	row->count++;
	if (gp_activity_is_in_window(at->model, at->call))
		gp_tally_add(row, 0, at->call->duration_ns);
	else
		gp_tally_value(tally, row, 0, at->call->duration_ns);
}

void gp_scope_count_gpu_op(struct gp_tally *tally, struct gp_tally_row *row, const struct gp_op *op)
{
	if (gp_op_is_on_host(op))
		row->count++;
	else
		gp_scope_count_op(tally, row, op);
}

/* ---- the rows ---- */

int gp_scope_rows(struct gp_scope *scope, struct gp_table *table, struct gp_tally *tally,
		  int result, gp_scope_put_row *put)
{
	double total = gp_tally_total(tally, 0);

	if (result == 0)
		result = tally->error;
	scope->first_row = tally->rows;
	for (uint32_t i = 0; result == 0 && i < tally->count; i++)
		put(scope, table, &tally->rows[i], total);
	gp_sampled_rows_free(scope->sampled);
	scope->sampled = NULL;
	gp_tally_free(tally);
	return result;
}

int gp_scope_table_of_ops(struct gp_scope *scope, struct gp_table *table, gp_scope_take_op *take,
			  gp_scope_put_row *put)
{
	struct gp_tally tally = {0};

	gp_scope_ops(scope, &tally, take);
	return gp_scope_rows(scope, table, &tally, 0, put);
}

int gp_scope_table_of_models(struct gp_scope *scope, struct gp_table *table,
			     gp_scope_take_model *take, gp_scope_put_row *put)
{
	struct gp_tally tally = {0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		result = take(scope, &tally, i);
	return gp_scope_rows(scope, table, &tally, result, put);
}

void gp_scope_take_kernel(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const uint64_t key[GP_TALLY_KEYS] = {at->name};
	struct gp_tally_row *row;

	if (at->op->kind != GP_OP_KERNEL)
		return;
	row = gp_tally_find(tally, key);
	gp_scope_count_op(tally, row, at->op);
	gp_scope_sample(at->scope, tally, row, at->process, at->op);
}

void gp_scope_sample(struct gp_scope *scope, struct gp_tally *tally, const struct gp_tally_row *row,
		     size_t process, const struct gp_op *op)
{
	int result = 0;

	if (tally->error != 0 || !scope->is_sampled)
		return;
	if (!scope->sampled)
		scope->sampled = gp_sampled_rows_new(scope->models, scope->model_count);
	result = scope->sampled ? gp_sampled_rows_add(scope->sampled, process, op,
						      (uint32_t)(row - tally->rows))
				: -ENOMEM;
	if (result != 0)
		tally->error = result;
}

void gp_scope_put_sampled(struct gp_scope *scope, struct gp_table *table,
			  const struct gp_tally_row *row)
{
	struct gp_estimate estimate = {(double)NAN, (double)NAN};

	if (!scope->is_sampled)
		return;
	if (scope->sampled)
		estimate = gp_sampled_rows_estimate(scope->sampled,
						    (uint32_t)(row - scope->first_row));
	gp_table_put_real(table, estimate.value);
	gp_table_put_real(table, estimate.error);
}

void gp_scope_put_share(struct gp_table *table, const struct gp_tally_row *row, double total)
{
	const struct gp_tally_series *times = &row->series[0];

	gp_table_cell(table, gp_value_percent((double)times->total, total));
	gp_table_cell(table, gp_value_whole(times->total));
}

void gp_scope_put_spread(struct gp_table *table, const struct gp_tally_series *series)
{
	struct gp_stats stats = gp_stats_of(series->values, series->count);
	const struct gp_value values[] = {
		gp_value_real(stats.mean),      gp_value_real(stats.median),
		gp_value_whole(stats.min),      gp_value_whole(stats.max),
		gp_value_real(stats.deviation),
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		gp_table_cell(table, series->count > 0 ? values[i] : gp_value_none());
}

void gp_scope_put_failed(const struct gp_scope *scope, struct gp_table *table, uint64_t failed)
{
	bool is_told = true;

	for (size_t i = 0; i < scope->model_count; i++)
		is_told &= (scope->models[i]->unknown & GP_UNKNOWN_STATUS) == 0;
	gp_table_cell(table, is_told ? gp_value_whole(failed) : gp_value_none());
}

struct gp_value gp_scope_process(struct gp_scope *scope, const struct gp_model *model)
{
	if (scope->naming == GP_SCOPE_PIDS)
		return gp_value_whole(model->pid);
	if (scope->naming == GP_SCOPE_RANKS)
		return gp_value_whole(gp_model_rank(model));
	return gp_value_text(
		gp_scope_text_of(scope, gp_scope_text(scope, gp_process_name(model).text)));
}

void gp_scope_put_process(struct gp_scope *scope, struct gp_table *table,
			  const struct gp_model *model)
{
	gp_table_cell(table, gp_scope_process(scope, model));
}

bool gp_scope_name_column(const struct gp_scope *scope, struct gp_table_column *column)
{
	if (scope->naming == GP_SCOPE_PIDS || strcmp(column->title, "PID") != 0)
		return false;
	*column = scope->naming == GP_SCOPE_RANKS
			  ? (struct gp_table_column){"Rank", GP_UNIT_NUMBER}
			  : (struct gp_table_column){"Process", GP_UNIT_TEXT};
	return true;
}
