#include "report/diff/run_set.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "gpuprof/shell_word.h"
#include "report/load/command.h"
#include "report/base/array.h"
#include "report/diff/figures_sum.h"
#include "report/base/text/format.h"
#include "report/model/load_options.h"
#include "report/model/losses.h"
#include "report/model/recorded.h"
#include "report/load/trace_files.h"
#include "report/load/traces.h"

struct message {
	char *text;
	size_t bytes;
};

void gp_run_set_free(struct gp_run_set *set)
{
	for (uint32_t i = 0; i < set->count; i++) {
		free(set->runs[i].name);
		free(set->runs[i].partial);
		gp_figures_free(&set->runs[i].figures);
	}
	free(set->runs);
	gp_machine_free(&set->machine);
	*set = (struct gp_run_set){0};
}

/* ---- why a trace is partial ---- */

/* The first loss that matters for a comparison; GP_LOSSES: there is none. */
static unsigned first_loss(const struct gp_model *model)
{
	static const unsigned others[] = {GP_LOST_DAMAGED_BYTES, GP_LOST_UNREADABLE_RECORDS,
					  GP_LOST_LAUNCHES_WITHOUT_RECORD,
					  GP_LOST_OPERATIONS_UNTIMED};

	for (unsigned i = 0; i < GP_COUNTERS; i++)
		if (gp_loss_table[i].kind == GP_LOSS_LOSS && model->counters[i] > 0)
			return i;
	for (size_t i = 0; i < COUNT(others); i++)
		if (gp_loss_count(model, others[i]) > 0)
			return others[i];
	return GP_LOSSES;
}

/* The first reason, perhaps in text; NULL = the trace is complete. */
static const char *why_partial(const struct gp_model *model, char *text, size_t size)
{
	const struct gp_losses *losses = &model->losses;
	unsigned loss = first_loss(model);

	if (losses->live)
		return "its process still runs";
	if (!losses->closed)
		return gp_recorded_why_no_end(model);
	if (losses->cut)
		return "the file was cut";
	if (gp_recorded_is_last_part(model))
		return "only its last part was kept (--keep-last)";
	if (loss == GP_LOSSES)
		return NULL;
	gp_loss_text(text, size, gp_loss_count(model, loss), gp_loss_table[loss].sentence);
	return text;
}

int gp_run_note_partial(struct gp_run_figures *run, const struct gp_model *model)
{
	char text[256], word[GP_SHELL_WORD_BYTES];
	const char *why = why_partial(model, text, sizeof(text));

	if (!why || run->partial)
		return 0;
	asprintf(&run->partial, "%s; for details: gpuprof summary %s", why,
		 gp_shell_word(model->path, word, sizeof(word)));
	return 0;
}

/* ---- the traces of a run ---- */

void gp_run_models_free(struct gp_run_models *run)
{
	for (uint32_t i = 0; i < run->count; i++)
		gp_model_free(run->models[i]);
	free(run->models);
}

/* Of a large run, the figures are those of one process after the other, which is shrunk then. */
struct loading {
	struct gp_run_models *run;
	struct gp_figures_sum *sum; /* NULL: the processes stay in memory */
};

static int sum_up(const struct loading *loading, struct gp_model *model)
{
	struct gp_figures figures = {0};
	int result = loading->sum ? gp_figures_of_process(model, &figures) : 0;

	if (loading->sum && result == 0)
		result = gp_figures_sum_add(loading->sum, &figures);
	gp_figures_free(&figures);
	if (loading->sum)
		gp_model_shrink(model);
	return result;
}

static int take_model(void *context, struct gp_model *model)
{
	const struct loading *loading = context;
	struct gp_run_models *run = loading->run;
	int result;

	if (gp_traces_have_run(run->models, run->count, model)) {
		gp_model_free(model);
		return 0;
	}
	result = gp_array_grow(&run->models, &run->capacity, run->count, sizeof(struct gp_model *));
	if (result == 0)
		result = sum_up(loading, model);
	if (result == 0)
		run->models[run->count++] = model;
	else
		gp_model_free(model);
	return result;
}

static int load_trace(struct loading *loading, const char *path, const struct message *message)
{
	const struct gp_load_options options = {.save_to = -1};

	message->text[0] = '\0';
	return gp_traces_load_processes(path, &options, take_model, loading, message->text,
					message->bytes);
}

/* A folder of training runs may have other JSON files, too, such as settings. */
static int pass_over(int result, const struct message *message)
{
	if (result != -ENODATA)
		return result;
	gp_command_fail(0, "%s; skipped", message->text);
	return 0;
}

static int load_folder(struct loading *loading, const char *folder, const struct message *message)
{
	struct gp_trace_files files = {0};
	int result = gp_trace_files_add(&files, folder, message->text, message->bytes);

	for (uint32_t i = 0; i < files.count && result == 0; i++) {
		result = load_trace(loading, files.files[i].path, message);
		if (files.files[i].may_be_none)
			result = pass_over(result, message);
	}
	gp_trace_files_free(&files);
	return result == 0 && loading->run->count == 0
		       ? gp_trace_files_explain_none(folder, message->text, message->bytes)
		       : result;
}

static int compare_starts(const void *a, const void *b)
{
	const struct gp_model *const *left = a, *const *right = b;

	return ((*left)->base_unix_ns > (*right)->base_unix_ns) -
	       ((*left)->base_unix_ns < (*right)->base_unix_ns);
}

static int load_run(struct loading *loading, const char *path, const struct message *message)
{
	struct gp_run_models *run = loading->run;
	int result;

	if (!gp_trace_files_is_folder(path))
		return load_trace(loading, path, message);
	result = load_folder(loading, path, message);
	if (run->count > 0)
		qsort(run->models, run->count, sizeof(struct gp_model *), compare_starts);
	return result;
}

int gp_run_models_load(struct gp_run_models *run, const char *path, char *message,
		       size_t message_bytes)
{
	struct loading loading = {.run = run};

	*run = (struct gp_run_models){0};
	return load_run(&loading, path, &(struct message){message, message_bytes});
}

/* ---- a run ---- */

static int compare_machines(const struct gp_run_set *set, const struct gp_machine *machine,
			    const char *path, const struct message *message)
{
	for (int i = 0; i < GP_MACHINE_FACTS; i++) {
		const char *first = gp_machine_fact(&set->machine, (enum gp_machine_fact)i);
		const char *other = gp_machine_fact(machine, (enum gp_machine_fact)i);

		if (strcmp(first, other) == 0)
			continue;
		snprintf(message->text, message->bytes,
			 "%s and %s are not runs of the same kind: %s: %s and %s",
			 set->runs[0].name, path, gp_machine_fact_title((enum gp_machine_fact)i),
			 gp_machine_fact_text(&set->machine, (enum gp_machine_fact)i),
			 gp_machine_fact_text(machine, (enum gp_machine_fact)i));
		return -EXDEV;
	}
	return 0;
}

static int take_machine(struct gp_run_set *set, const struct gp_run_models *of, const char *path,
			const struct message *message)
{
	struct gp_machine machine;
	int result = 0;

	gp_machine_of(of->models, of->count, &machine);
	if (set->count > 0)
		result = compare_machines(set, &machine, path, message);
	if (result < 0 || set->count > 0)
		gp_machine_free(&machine);
	else
		set->machine = machine;
	return result;
}

static int figures_of(const struct loading *loading, struct gp_figures *figures)
{
	return loading->sum ? gp_figures_sum_end(loading->sum, figures)
			    : gp_figures_of(loading->run->models, loading->run->count, figures);
}

static int take_run(struct gp_run_set *set, const struct loading *of, const char *path)
{
	struct gp_run_figures run = {.name = strdup(path)};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < of->run->count; i++)
		result = gp_run_note_partial(&run, of->run->models[i]);
	if (result == 0)
		result = figures_of(of, &run.figures);
	if (result == 0) {
		gp_array_grow(&set->runs, &set->capacity, set->count, sizeof(*set->runs));
		set->runs[set->count++] = run;
		return 0;
	}
	free(run.name);
	free(run.partial);
	gp_figures_free(&run.figures);
	return result;
}

static int add_run(struct gp_run_set *set, char *path, const struct message *message)
{
	struct gp_run_models run = {0};
	struct gp_figures_sum sum = {0};
	struct loading loading = {.run = &run,
				  .sum = gp_traces_are_many(&path, 1, 1) ? &sum : NULL};
	int result = load_run(&loading, path, message);

	if (result == 0)
		result = take_machine(set, &run, path, message);
	if (result == 0)
		result = take_run(set, &loading, path);
	gp_run_models_free(&run);
	gp_figures_sum_free(&sum);
	return result;
}

int gp_run_set_load(struct gp_run_set *set, char *const *paths, size_t count, char *message,
		    size_t message_bytes)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++)
		result = add_run(set, paths[i], &(struct message){message, message_bytes});
	return result;
}

static double wall_of(const struct gp_run_figures *run)
{
	return run->figures.values[GP_METRIC_WALL];
}

/* The number of runs before this one when sorted by time; equal times keep the order of the set. */
static uint32_t place_of(const struct gp_run_set *set, uint32_t run)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		double time = wall_of(&set->runs[i]), own = wall_of(&set->runs[run]);

		place += time < own || (!(time > own) && i < run);
	}
	return place;
}

const struct gp_run_figures *gp_run_set_middle(const struct gp_run_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (place_of(set, i) == (set->count - 1) / 2)
			return &set->runs[i];
	return &set->runs[0];
}

/* ---- values ---- */

void gp_run_set_metric(const struct gp_run_set *set, enum gp_metric metric, double *values)
{
	for (uint32_t i = 0; i < set->count; i++)
		values[i] = set->runs[i].figures.values[metric];
}

static double field_of(const struct gp_named_figure *row, enum gp_named_field field)
{
	switch (field) {
	case GP_NAMED_COUNT:
		return row ? row->count : 0;
	case GP_NAMED_TOTAL:
		return row ? row->total_ns : 0;
	case GP_NAMED_MEDIAN:
		return row ? row->median_ns : (double)NAN;
	default:
		return row ? row->occupancy : (double)NAN;
	}
}

void gp_run_set_named(const struct gp_run_set *set, enum gp_named_kind kind, const char *name,
		      enum gp_named_field field, double *values)
{
	for (uint32_t i = 0; i < set->count; i++)
		values[i] = field_of(gp_named_find(&set->runs[i].figures.named[kind], name), field);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint64_t count_names(const struct gp_run_set *set, enum gp_named_kind kind)
{
	uint64_t count = 0;

	for (uint32_t i = 0; set && i < set->count; i++)
		count += set->runs[i].figures.named[kind].count;
	return count;
}

static uint64_t put_names(const struct gp_run_set *set, enum gp_named_kind kind, const char **names)
{
	uint64_t count = 0;

	for (uint32_t i = 0; set && i < set->count; i++)
		for (uint32_t k = 0; k < set->runs[i].figures.named[kind].count; k++)
			names[count++] = set->runs[i].figures.named[kind].rows[k].name;
	return count;
}

int gp_run_set_names(const struct gp_run_set *a, const struct gp_run_set *b,
		     enum gp_named_kind kind, const char ***names, uint32_t *count)
{
	uint64_t all = count_names(a, kind) + count_names(b, kind);

	*count = 0;
	*names = calloc(all + 1, sizeof(**names));
	all = put_names(a, kind, *names);
	all += put_names(b, kind, *names + all);
	qsort(*names, all, sizeof(**names), compare_texts);
	for (uint64_t i = 0; i < all; i++)
		if (i == 0 || strcmp((*names)[i], (*names)[i - 1]) != 0)
			(*names)[(*count)++] = (*names)[i];
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

void gp_sort_doubles(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
}

double gp_median(double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (isnan(values[i]))
			return (double)NAN;
	if (count == 0)
		return (double)NAN;
	gp_sort_doubles(values, count);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
