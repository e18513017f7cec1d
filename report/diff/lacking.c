#include "report/diff/lacking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/memstream.h"

/* The kinds of rows that all come from one kind of data. */
static const struct {
	enum gp_named_kind kind;
	const char *words;
} kinds[] = {
	{GP_NAMED_CALL, "API calls"},
	{GP_NAMED_LINE, "call stacks"},
	{GP_NAMED_HOST, "Python functions on the host"},
	{GP_NAMED_PHASE, "phases of the step"},
};

bool gp_lacking_may_be(enum gp_named_kind kind)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].kind == kind)
			return true;
	return false;
}

bool gp_lacking_one(double a, double b)
{
	return isnan(a) != isnan(b);
}

static bool has_rows(const struct gp_run_set *set, enum gp_named_kind kind)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->runs[i].figures.named[kind].count > 0)
			return true;
	return false;
}

static bool knows(const struct gp_run_set *set, enum gp_metric metric)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (!isnan(set->runs[i].figures.values[metric]))
			return true;
	return false;
}

/* Another sentence is about the step. */
static bool is_of_step(enum gp_metric metric)
{
	return metric == GP_METRIC_STEP || metric == GP_METRIC_STEP_SPREAD ||
	       metric == GP_METRIC_STEP_MEAN;
}

/* The data that a metric comes from, which the other side lacks; several metrics share it. */
static const char *words_of(enum gp_metric metric, const struct gp_run_set *other)
{
	const struct gp_metric_row *row = &gp_metric_rows[metric];

	if (row->source == GP_METRIC_OF_MEMORY)
		return knows(other, GP_METRIC_ALLOCATIONS) ? "memory never freed" : "memory";
	if (row->unit == GP_UNIT_JOULES || metric == GP_METRIC_CLOCKS_LOWERED)
		return "energy and clocks";
	return row->words;
}

/* A list of words, each once. */
struct list {
	const char *words[GP_METRICS + COUNT(kinds)];
	size_t count;
};

static void add(struct list *list, const char *words)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->words[i], words) == 0)
			return;
	list->words[list->count++] = words;
}

/* Without a main loop there are no phases: the sentence on the step says that. */
static bool may_have(const struct gp_run_set *set, enum gp_named_kind kind)
{
	return kind != GP_NAMED_PHASE || knows(set, GP_METRIC_STEP);
}

/* Lists the data that only the first set has. */
static void find(struct list *list, const struct gp_run_set *set, const struct gp_run_set *other)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (has_rows(set, kinds[i].kind) && !has_rows(other, kinds[i].kind) &&
		    may_have(other, kinds[i].kind))
			add(list, kinds[i].words);
	for (int metric = 0; metric < GP_METRICS && !gp_machine_is_sampled(&other->machine);
	     metric++) /* another line says that a sampled run has no totals */
		if (!is_of_step((enum gp_metric)metric) && knows(set, (enum gp_metric)metric) &&
		    !knows(other, (enum gp_metric)metric))
			add(list, words_of((enum gp_metric)metric, other));
}

static void print(FILE *out, const struct list *list, const char *begin)
{
	for (size_t i = 0; i < list->count; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : begin, list->words[i]);
}

char *gp_lacking_tell(const struct gp_run_set *a, const struct gp_run_set *b)
{
	struct list of_a = {.count = 0}, of_b = {.count = 0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	find(&of_a, a, b);
	find(&of_b, b, a);
	print(out, &of_a, "only A has data on ");
	print(out, &of_b, of_a.count > 0 ? "; only B has data on " : "only B has data on ");
	if (of_a.count + of_b.count > 0)
		fputs(": they are not compared", out);
	gp_memstream_close(out, &text);
	return text;
}
