#include "report/tables/summary_by.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/shell_word.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/job.h"
#include "report/base/text/format.h"
#include "report/base/text/did_you_mean.h"

#define ALL          "all"
#define WORD_BYTES   32
#define MOST_SAID    64  /* more than the number of tables */
#define TEXT_COLUMNS 160 /* of a line */

const char gp_summary_page_words[] =
	"process,missing,device,time,idle,gap,gap-site,kind,iteration,queue,sequence,tuning,gpu,api,failure,unfinished,copy,stream,nvtx-time,memory,memory-leak";

void gp_summary_by_list(FILE *out)
{
	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++)
		fprintf(out, "  %-15s  %s\n", (*at)->head.name, (*at)->help);
	fprintf(out, "  %-15s  copy-time and copy-size\n", "copy");
	fprintf(out, "  %-15s  every table\n", ALL);
}

/* Read the next word of a comma-separated list; returns the rest of the list, NULL at its end. */
static const char *next_word(const char *words, char word[WORD_BYTES])
{
	size_t length = strcspn(words, ",");

	if (*words == '\0')
		return NULL;
	snprintf(word, WORD_BYTES, "%.*s", (int)length, words);
	return words + length + (words[length] == ',');
}

static bool is_table(const char *word)
{
	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++)
		if (strcmp((*at)->head.name, word) == 0)
			return true;
	return false;
}

/*
 * Whether a word selects a table.  Formats for programs get the table of that name only; text also
 * gets related ones.
 */
static bool means(const struct gp_summary_by *by, const char *word,
		  const struct gp_breakdown *breakdown)
{
	if (strcmp(word, ALL) == 0)
		return true;
	if (by->format != &gp_table_text && is_table(word))
		return strcmp(breakdown->head.name, word) == 0;
	return gp_breakdown_is(breakdown, word);
}

static bool is_wanted(const struct gp_breakdown *breakdown, const struct gp_summary_by *by)
{
	const char *words = by->words;
	char word[WORD_BYTES];

	while ((words = next_word(words, word)))
		if (means(by, word, breakdown))
			return true;
	return false;
}

static bool is_known(const struct gp_summary_by *by, const char *word)
{
	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++)
		if (means(by, word, *at))
			return true;
	return false;
}

/*
 * Tables come in the order of the words; those of "all" and "copy" in the order of gp_breakdowns.
 */
static size_t count_wanted(const struct gp_summary_by *by)
{
	size_t count = 0;

	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++)
		count += is_wanted(*at, by);
	return count;
}

static int say_columns(const struct gp_breakdown *breakdown, const char *sort, char *message,
		       size_t size)
{
	const struct gp_table_head *head = &breakdown->head;
	struct gp_did_you_mean nearest = {.word = sort};
	size_t used;

	if (breakdown->sort_column == GP_TABLE_AS_ADDED) {
		snprintf(message, size,
			 "summary: %s is a tree with a fixed order; leave out --sort", head->name);
		return -EINVAL;
	}
	for (size_t i = 0; i < head->column_count; i++)
		gp_did_you_mean_try(&nearest, head->columns[i].title);
	used = (size_t)snprintf(message, size, "summary: %s has no column %s%s%s%s; it has",
				head->name, sort, nearest.found ? " (did you mean " : "",
				nearest.found ? nearest.found : "", nearest.found ? "?)" : "");
	for (size_t i = 0; i < head->column_count && used < size; i++)
		used += (size_t)snprintf(message + used, size - used, "%s %s", i > 0 ? "," : "",
					 head->columns[i].title);
	return -EINVAL;
}

static bool can_sort(const struct gp_breakdown *breakdown, const char *column)
{
	return breakdown->sort_column != GP_TABLE_AS_ADDED &&
	       gp_table_find_column(&breakdown->head, column) < breakdown->head.column_count;
}

static int check_column(const struct gp_summary_by *by, char *message, size_t size)
{
	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++)
		if (is_wanted(*at, by) && !can_sort(*at, by->sort))
			return say_columns(*at, by->sort, message, size);
	return 0;
}

static int refuse(const char *word, char *message, size_t message_bytes)
{
	struct gp_did_you_mean nearest = {.word = word};

	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++) {
		gp_did_you_mean_try(&nearest, (*at)->head.name);
		if ((*at)->word)
			gp_did_you_mean_try(&nearest, (*at)->word);
	}
	if (!nearest.found) {
		snprintf(message, message_bytes,
			 "summary: there is no table by %s; --by takes these:", word);
		return -ENOENT;
	}
	snprintf(message, message_bytes,
		 "summary: there is no table by %s; did you mean %s? --by help lists all", word,
		 nearest.found);
	return -EINVAL;
}

int gp_summary_by_check(const struct gp_summary_by *by, char *message, size_t message_bytes)
{
	const char *words = by->words;
	char word[WORD_BYTES];

	if (*words == '\0') {
		snprintf(message, message_bytes, "summary: --by needs a word; it takes these:");
		return -ENOENT;
	}
	while ((words = next_word(words, word))) {
		if (*word == '\0') {
			snprintf(
				message, message_bytes,
				"summary: a word is missing between the commas of --by %s; it takes these:",
				by->words);
			return -ENOENT;
		}
		if (!is_known(by, word))
			return refuse(word, message, message_bytes);
	}
	return by->sort ? check_column(by, message, message_bytes) : 0;
}

static void write_rows(struct gp_table_writer *writer, const struct gp_table *table, size_t limit)
{
	size_t more = gp_table_writer_rows(writer, table, limit);

	if (more > 0 && writer->format == &gp_table_text)
		fprintf(writer->out, "  ... %s more\n", gp_format_count(more).text);
}

/* Messages about tables without rows that were printed: several tables have the same. */
struct said {
	const char *texts[MOST_SAID];
	size_t count;
};

static void say_once(struct said *said, const char *text, FILE *messages)
{
	for (size_t i = 0; i < said->count; i++)
		if (strcmp(said->texts[i], text) == 0)
			return;
	if (said->count < MOST_SAID)
		said->texts[said->count++] = text;
	if (messages)
		fprintf(messages, "gpuprof: %s\n", text);
}

/* In a job, PID may have become Rank (gp_breakdown_make()). */
static size_t sort_column_of(const struct gp_table *table, const char *title)
{
	size_t column = gp_table_find_column(table->head, title);

	if (column == table->head->column_count)
		column = gp_table_find_column(table->head, "Rank");
	return column < table->head->column_count ? column : GP_TABLE_AS_ADDED;
}

/* What the tables are printed from, and to. */
struct printing {
	struct gp_table_writer writer;
	struct gp_scope *scope;
	const struct gp_summary_by *by;
	struct gp_table_sum *sums; /* of gp_summary_by_job; NULL = none */
	struct said said;
};

/* The table of a job takes over that of its sum. */
static int make_table(const struct printing *p, size_t at, struct gp_table *table)
{
	const struct gp_breakdown *breakdown = gp_breakdowns[at];

	if (!p->sums || breakdown->job == GP_BREAKDOWN_OF_JOB)
		return gp_breakdown_make(breakdown, p->scope, table);
	gp_table_sum_end(&p->sums[at]);
	*table = p->sums[at].table;
	p->sums[at].table = (struct gp_table){0};
	if (!table->head)
		gp_table_open(table, &breakdown->head);
	return breakdown->is_in_order ? 0 : gp_table_sort(table, breakdown->sort_column);
}

/* Of a job, the scope's models have no events that could tell why. */
static void say_why_empty(struct printing *p, const struct gp_breakdown *breakdown)
{
	const struct gp_job *job = p->sums ? p->by->job : NULL;
	char word[GP_SHELL_WORD_BYTES];

	if (job && breakdown->job == GP_BREAKDOWN_OF_ONE && p->by->messages)
		fprintf(p->by->messages,
			"gpuprof: the table %s is not made for a job of %s ranks, which are read one after the other; for one rank, type: gpuprof summary --by %s %s\n",
			breakdown->head.name, gp_format_count(job->count).text,
			breakdown->head.name,
			gp_shell_word(job->models[job->shown[0]]->path, word, sizeof(word)));
	else if (breakdown->say_nothing && !job)
		say_once(&p->said, breakdown->say_nothing(p->scope), p->by->messages);
	else if (breakdown->nothing)
		say_once(&p->said, breakdown->nothing, p->by->messages);
}

/* Text omits a table without rows. */
static int write_table(struct printing *p, size_t at)
{
	const struct gp_summary_by *by = p->by;
	struct gp_table table;
	int result = make_table(p, at, &table);

	if (result == 0 && by->sort)
		result = gp_table_sort(&table, sort_column_of(&table, by->sort));
	if (result == 0 && gp_table_rows(&table) == 0)
		say_why_empty(p, gp_breakdowns[at]);
	p->writer.text_fold_before = gp_breakdowns[at]->fold_before;
	if (result == 0 && (gp_table_rows(&table) > 0 || by->format != &gp_table_text))
		write_rows(&p->writer, &table, by->row_limit);
	gp_table_close(&table);
	return result;
}

/* Whether an earlier word selected the table already. */
static bool is_written(const struct gp_summary_by *by, const char *until,
		       const struct gp_breakdown *breakdown)
{
	const char *words = by->words;
	char word[WORD_BYTES];

	while ((words = next_word(words, word)) && words < until)
		if (means(by, word, breakdown))
			return true;
	return false;
}

static int write_tables(struct printing *p)
{
	const char *words = p->by->words;
	char word[WORD_BYTES];
	int result = 0;

	while (result == 0 && (words = next_word(words, word)))
		for (size_t at = 0; result == 0 && gp_breakdowns[at]; at++)
			if (means(p->by, word, gp_breakdowns[at]) &&
			    !is_written(p->by, words, gp_breakdowns[at]))
				result = write_table(p, at);
	return result;
}

static int print(struct printing *p, FILE *out)
{
	const struct gp_summary_by *by = p->by;
	int result, closed;

	gp_table_writer_open(&p->writer, by->format, out, count_wanted(by) > 1);
	p->writer.text_columns = TEXT_COLUMNS;
	result = write_tables(p);
	if (result == 0 && by->write_more)
		result = by->write_more(&p->writer, p->scope);
	closed = gp_table_writer_close(&p->writer);
	return result == 0 ? closed : result;
}

static int open_scope(struct gp_scope *scope, struct gp_model *const *models, size_t model_count,
		      const struct gp_summary_by *by)
{
	int result = gp_scope_open(scope, models, model_count, by->full_names);

	scope->torch = by->torch;
	scope->kinds = by->kinds;
	scope->messages = by->messages;
	scope->every_row = by->every_row;
	if (by->job)
		gp_scope_set_job(scope, by->job);
	return result;
}

int gp_summary_by_print(FILE *out, struct gp_model *const *models, size_t model_count,
			const struct gp_summary_by *by)
{
	struct gp_scope scope;
	struct printing printing = {.scope = &scope, .by = by};
	int result = open_scope(&scope, models, model_count, by);

	if (result == 0)
		result = print(&printing, out);
	gp_scope_close(&scope);
	return result;
}

/* ---- the ranks of a job, one after the other ---- */

int gp_summary_by_job_open(struct gp_summary_by_job *tables, const struct gp_summary_by *by)
{
	size_t count = 0;

	while (gp_breakdowns[count])
		count++;
	*tables = (struct gp_summary_by_job){.by = by,
					     .sums = calloc(count + 1, sizeof(*tables->sums))};
	return open_scope(&tables->scope, by->job->models, by->job->count, by);
}

static bool is_added(const struct gp_summary_by *by, const struct gp_breakdown *breakdown)
{
	return breakdown->job == GP_BREAKDOWN_ADDED && is_wanted(breakdown, by);
}

bool gp_summary_by_job_needs_ranks(const struct gp_summary_by_job *tables)
{
	for (const struct gp_breakdown *const *at = gp_breakdowns; *at; at++)
		if (is_added(tables->by, *at))
			return true;
	return false;
}

int gp_summary_by_job_add(struct gp_summary_by_job *tables, struct gp_model *rank)
{
	struct gp_model *const models[] = {rank};
	struct gp_scope scope;
	int result = gp_scope_open_one(&scope, &tables->scope, models);

	for (size_t at = 0; result == 0 && gp_breakdowns[at]; at++) {
		struct gp_table table;

		if (!is_added(tables->by, gp_breakdowns[at]))
			continue;
		result = gp_breakdown_make(gp_breakdowns[at], &scope, &table);
		if (result == 0)
			gp_table_sum_add(&tables->sums[at], &table);
		gp_table_close(&table);
	}
	gp_scope_close(&scope);
	return result;
}

int gp_summary_by_job_print(struct gp_summary_by_job *tables, FILE *out)
{
	struct printing printing = {
		.scope = &tables->scope, .by = tables->by, .sums = tables->sums};

	return print(&printing, out);
}

void gp_summary_by_job_close(struct gp_summary_by_job *tables)
{
	for (size_t at = 0; gp_breakdowns[at]; at++)
		gp_table_sum_free(&tables->sums[at]);
	free(tables->sums);
	gp_scope_close(&tables->scope);
}
