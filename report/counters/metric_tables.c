#include "report/counters/metric_tables.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "hardware/metric_set.h"
#include "report/base/text/did_you_mean.h"
#include "report/load/command.h"

#define NAME_BYTES 256

static int fail(const struct gp_metric_request *request)
{
	return gp_command_fail(GP_EXIT_FAILED, "metrics: libcupti refused %s (CUPTI error %d)",
			       request->chip, request->host->result);
}

/* ---- chips ---- */

/* GPUs by chip, for people who know the name on the box. */
static const struct {
	const char *chip, *gpus;
} products[] = {
	{"GV100", "V100"},
	{"GV11B", "Jetson AGX Xavier"},
	{"TU102", "RTX 2080 Ti, Quadro RTX 6000"},
	{"TU104", "T4, RTX 2080"},
	{"TU106", "RTX 2070, RTX 2060"},
	{"TU116", "GTX 1660"},
	{"TU117", "GTX 1650"},
	{"GA100", "A100, A30"},
	{"GA102", "A10, A40, RTX A6000, RTX 3090"},
	{"GA104", "RTX 3070"},
	{"GA106", "RTX 3060"},
	{"GA107", "A2, A16"},
	{"GA10B", "Jetson Orin"},
	{"GH100", "H100, H200, GH200"},
	{"AD102", "L40, L40S, RTX 6000 Ada, RTX 4090"},
	{"AD103", "RTX 4080"},
	{"AD104", "L4, RTX 4070"},
	{"AD106", "RTX 4060 Ti"},
	{"AD107", "RTX 4060"},
	{"GB100", "B100, B200"},
	{"GB202", "RTX 5090, RTX PRO 6000 Blackwell"},
	{"GB203", "RTX 5080"},
	{"GB205", "RTX 5070"},
	{"GB206", "RTX 5060 Ti"},
	{"GB207", "RTX 5050"},
};

static const char *find_gpus(const char *chip)
{
	for (size_t i = 0; i < COUNT(products); i++)
		if (strcmp(products[i].chip, chip) == 0)
			return products[i].gpus;
	return NULL;
}

const char *gp_metric_chip_of(const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < COUNT(products); i++) {
		const char *gpus = products[i].gpus;

		for (const char *at = gpus; length > 0 && (at = strcasestr(at, name)) != NULL; at++)
			if ((at == gpus || at[-1] == ' ') &&
			    (at[length] == ',' || at[length] == '\0'))
				return products[i].chip;
	}
	return name;
}

static int fill_chips(const struct gp_metric_request *request, struct gp_table *table)
{
	const char *const *names;
	size_t count;

	if (gp_profiler_host_chips(request->host, &names, &count) != 0)
		return fail(request);
	for (size_t i = 0; i < count; i++) {
		gp_table_put_text(table, names[i]);
		gp_table_put_text(table, find_gpus(names[i]));
	}
	return 0;
}

static int refuse_chip(const struct gp_metric_request *request)
{
	struct gp_did_you_mean nearest = {.word = request->chip};
	const char *const *names;
	size_t count;

	if (gp_profiler_host_chips(request->host, &names, &count) != 0)
		return fail(request);
	for (size_t i = 0; i < count; i++)
		gp_did_you_mean_try(&nearest, names[i]);
	return gp_command_refuse("metrics", "chip", &nearest, "see gpuprof metrics chips");
}

/* Returns 0, or an exit status after a line for the user. */
static int open_config(const struct gp_metric_request *request, struct gp_profiler_config *config)
{
	int error = gp_profiler_config_open(config, request->host, request->chip, request->kind);

	if (error == -EINVAL)
		return refuse_chip(request);
	if (error == -ENOTSUP)
		return gp_command_fail(GP_EXIT_FAILED, "metrics: %s cannot sample over time (--pm)",
				       request->chip);
	return error != 0 ? fail(request) : 0;
}

/* ---- list ---- */

/* word: a part of the name or the description; with * a pattern of the whole name. */
static bool has_word(const char *word, const char *name, const char *description)
{
	if (strchr(word, '*'))
		return fnmatch(word, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, word) || strcasestr(description, word);
}

static bool is_wanted(const struct gp_metric_request *request, const char *name,
		      const char *description)
{
	for (size_t i = 0; i < request->word_count; i++)
		if (!has_word(request->words[i], name, description))
			return false;
	return true;
}

/* A question about one chip. */
struct asked {
	const struct gp_metric_request *request;
	struct gp_table *table;
	struct gp_profiler_config config;
};

static void put_metric(struct asked *asked, const char *name)
{
	static const char *const types[] = {"counter", "ratio", "throughput"};
	struct gp_profiler_metric metric;

	if (gp_profiler_describe(&asked->config, name, &metric) != 0 ||
	    !is_wanted(asked->request, name, metric.description))
		return;
	gp_table_put_text(asked->table, name);
	gp_table_put_text(asked->table, types[metric.type]);
	gp_table_put_text(asked->table, metric.unit);
	gp_table_put_text(asked->table, metric.description);
}

/* Calls for each metric of the chip, without ".sum" and the like. */
typedef void each_metric(void *context, const char *name, enum gp_profiler_type type);

static void for_each_metric(struct gp_profiler_config *config, each_metric *call, void *context)
{
	for (enum gp_profiler_type type = 0; type < GP_PROFILER_TYPES; type++) {
		const char *const *names;
		size_t count;

		gp_profiler_metrics(config, type, &names, &count);
		for (size_t i = 0; i < count; i++)
			call(context, names[i], type);
	}
}

static void list_metric(void *context, const char *name, enum gp_profiler_type type)
{
	struct asked *asked = context;
	const char *const *ends;
	size_t count;

	if (!asked->request->with_ends) {
		put_metric(asked, name);
		return;
	}
	gp_profiler_submetrics(&asked->config, name, type, &ends, &count);
	for (size_t i = 0; i < count; i++) {
		char full[NAME_BYTES];

		snprintf(full, sizeof(full), "%s%s", name, ends[i]);
		put_metric(asked, full);
	}
}

static int fill_list(const struct gp_metric_request *request, struct gp_table *table)
{
	struct asked asked = {.request = request, .table = table};
	int status = open_config(request, &asked.config);

	if (status != 0)
		return status;
	for_each_metric(&asked.config, list_metric, &asked);
	gp_profiler_config_close(&asked.config);
	if (gp_table_rows(table) == 0)
		gp_command_fail(0, "no metric of %s has these words in its name or description",
				request->chip);
	gp_table_sort(table, 0);
	return 0;
}

/* ---- passes ---- */

/* The nearest metric of the chip to a name, in two steps: without its end, then the end. */
struct nearest {
	struct gp_did_you_mean metric;
	enum gp_profiler_type type; /* of metric.found */
};

static void try_metric(void *context, const char *name, enum gp_profiler_type type)
{
	struct nearest *nearest = context;
	const char *before = nearest->metric.found;

	gp_did_you_mean_try(&nearest->metric, name);
	if (nearest->metric.found != before)
		nearest->type = type;
}

/* Where the end of a full name begins: PCI.TriageCompute.pcie__read_bytes.sum has it at ".sum". */
static size_t length_without_end(const char *name)
{
	const char *unit = strstr(name, "__"), *end = strchr(unit ? unit : name, '.');

	return end ? (size_t)(end - name) : strlen(name);
}

/* The nearest end of a metric, else a usual one. */
static const char *find_end(struct gp_profiler_config *config, const struct nearest *nearest,
			    const char *end)
{
	static const char *const usual[] = {".sum", ".pct", ".avg.pct_of_peak_sustained_elapsed"};
	struct gp_did_you_mean near = {.word = end};
	const char *const *ends;
	size_t count;

	gp_profiler_submetrics(config, nearest->metric.found, nearest->type, &ends, &count);
	for (size_t i = 0; i < count; i++)
		gp_did_you_mean_try(&near, ends[i]);
	return near.found ? near.found : usual[nearest->type];
}

static int refuse_metric(const struct gp_metric_request *request, struct gp_profiler_config *config,
			 const char *name)
{
	char metric[NAME_BYTES], meant[NAME_BYTES];
	size_t length = length_without_end(name);
	struct nearest nearest = {.metric.word = metric};
	struct gp_did_you_mean whole = {.word = name};

	snprintf(metric, sizeof(metric), "%.*s", (int)length, name);
	for_each_metric(config, try_metric, &nearest);
	if (nearest.metric.found) {
		snprintf(meant, sizeof(meant), "%s%s", nearest.metric.found,
			 find_end(config, &nearest, name + length));
		whole.found = meant;
	}
	snprintf(metric, sizeof(metric), "see gpuprof metrics list --chip %s", request->chip);
	return gp_command_refuse("metrics", "metric", &whole, metric);
}

static size_t count_passes(const struct gp_metric_request *request, char *const *names,
			   size_t count)
{
	return gp_metric_passes(request->host, request->chip, request->kind,
				(const char *const *)names, count);
}

static void put_passes(struct gp_table *table, size_t passes)
{
	gp_table_cell(table, passes > 0 ? gp_value_whole(passes) : gp_value_none());
}

/* The row of a metric, given those before it. */
static int add_passes(const struct gp_metric_request *request, struct gp_table *table,
		      struct gp_profiler_config *config, size_t index)
{
	const char *name = request->words[index];
	size_t alone = count_passes(request, &request->words[index], 1);
	size_t together = count_passes(request, request->words, index + 1);

	if (alone == 0)
		return refuse_metric(request, config, name);
	if (together == 0)
		gp_command_fail(0, "%s cannot be collected together with those before it", name);
	gp_table_put_text(table, name);
	put_passes(table, alone);
	put_passes(table, together);
	return 0;
}

static int fill_passes(const struct gp_metric_request *request, struct gp_table *table)
{
	struct gp_profiler_config config;
	int status;

	if (request->word_count == 0)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"metrics: name metrics after passes; see gpuprof metrics list --ends");
	status = open_config(request, &config);
	if (status != 0)
		return status;
	for (size_t i = 0; i < request->word_count && status == 0; i++)
		status = add_passes(request, table, &config, i);
	gp_profiler_config_close(&config);
	return status;
}

/* ---- sets ---- */

static void put_fit(const struct gp_metric_request *request, struct gp_table *table,
		    enum gp_profiler_kind kind, enum gp_metric_fit fit)
{
	if (fit == GP_METRIC_LACKING)
		gp_table_put_words(table, "no, not on %s", request->chip);
	else if (fit == GP_METRIC_TAKEN)
		gp_table_put_text(table, "yes");
	else if (fit == GP_METRIC_TOO_LARGE)
		gp_table_put_text(table, "no, needs several passes");
	else
		gp_table_put_text(table, kind == GP_PROFILER_RANGE ? "no, excluded by others"
								   : "no, needs another pass");
}

static void put_set(const struct gp_metric_request *request, struct gp_table *table,
		    const struct gp_metric_set *set, struct gp_metric_choice *choice)
{
	for (size_t i = 0; i < set->count; i++) {
		struct gp_profiler_metric metric;

		gp_profiler_describe(&choice->config, choice->names[i], &metric);
		gp_table_put_text(table, set->name);
		put_passes(table, choice->config.passes);
		gp_table_put_text(table, choice->names[i]);
		gp_table_put_text(table, metric.unit);
		put_fit(request, table, set->kind, choice->fits[i]);
	}
}

static int choose(const struct gp_metric_request *request, struct gp_table *table,
		  const struct gp_metric_set *set)
{
	struct gp_metric_choice choice;
	int error = gp_metric_set_choose(&choice, request->host, request->chip, set);

	if (error == -EINVAL)
		return refuse_chip(request);
	if (error == -ENOTSUP)
		return gp_command_fail(0, "%s has no metric of the set %s", request->chip,
				       set->name);
	if (error != 0)
		return fail(request);
	put_set(request, table, set, &choice);
	gp_profiler_config_close(&choice.config);
	return 0;
}

static int refuse_set(const char *name)
{
	struct gp_did_you_mean nearest = {.word = name};

	for (size_t i = 0; i < GP_METRIC_SETS; i++)
		gp_did_you_mean_try(&nearest, gp_metric_sets[i].name);
	return gp_command_refuse("metrics", "set", &nearest, "see gpuprof metrics --help");
}

static int fill_sets(const struct gp_metric_request *request, struct gp_table *table)
{
	int status = 0;

	for (size_t i = 0; i < request->word_count && status == 0; i++) {
		const struct gp_metric_set *set = gp_metric_set_find(request->words[i]);

		status = set ? choose(request, table, set) : refuse_set(request->words[i]);
	}
	for (size_t i = 0; i < GP_METRIC_SETS && status == 0 && request->word_count == 0; i++)
		status = choose(request, table, &gp_metric_sets[i]);
	return status;
}

/* ---- all of them ---- */

static const struct gp_table_column list_columns[] = {
	{"Metric", GP_UNIT_TEXT},
	{"Type", GP_UNIT_TEXT},
	{"Unit", GP_UNIT_TEXT},
	{"Description", GP_UNIT_TEXT},
};
static const struct gp_table_column passes_columns[] = {
	{"Metric", GP_UNIT_TEXT},
	{"Passes", GP_UNIT_COUNT},
	{"With those above", GP_UNIT_COUNT},
};
static const struct gp_table_column sets_columns[] = {
	{"Set", GP_UNIT_TEXT},  {"Passes", GP_UNIT_COUNT},   {"Metric", GP_UNIT_TEXT},
	{"Unit", GP_UNIT_TEXT}, {"Collected", GP_UNIT_TEXT},
};
static const struct gp_table_column chips_columns[] = {
	{"Chip", GP_UNIT_TEXT},
	{"GPUs", GP_UNIT_TEXT},
};

const struct gp_metric_table gp_metric_tables[] = {
	{{"list", NULL, list_columns, COUNT(list_columns)}, fill_list},
	{{"passes", NULL, passes_columns, COUNT(passes_columns)}, fill_passes},
	{{"sets", NULL, sets_columns, COUNT(sets_columns)}, fill_sets},
	{{"chips", NULL, chips_columns, COUNT(chips_columns)}, fill_chips},
	{{NULL, NULL, NULL, 0}, NULL},
};
