/*
 * The sections that one screen shows in a shorter form: copies in a line, memory in a row for each
 * device.
 */
#include "report/summary/part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/model/peak_bandwidth.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/model/recorded.h"

/* ---- copies ---- */

#define SMALL_PART     1000
#define MOST_COPIES    4
#define LEAST_GB_PER_S 0.1 /* slower copies are dominated by latency */

/* "HtoD pinned 3.000MiB, 33.79 GB/s (61.2 % of its peak)" */
static void describe_copies(char *text, size_t size, const struct gp_group *group)
{
	const char *label = group->key + strlen("o[");
	int used;

	if (strncmp(label, "memcpy ", strlen("memcpy ")) == 0)
		label += strlen("memcpy ");
	used = snprintf(text, size, "%.*s %s", (int)strcspn(label, "]"), label,
			gp_format_bytes(group->bytes).text);
	if (group->total_ns == 0 ||
	    (double)group->timed_bytes < LEAST_GB_PER_S * (double)group->total_ns)
		return;
	used += snprintf(text + used, size - (size_t)used, ", %s GB/s",
			 gp_format_gb_per_s(group->timed_bytes, group->total_ns).text);
	if (gp_copy_peak_is_known(group->without_peak, group->peak_ns, group->total_ns))
		snprintf(text + used, size - (size_t)used, " (%s %% of its peak)",
			 gp_format_percent((double)group->peak_ns, (double)group->total_ns).text);
}

void gp_summary_print_copies_in_brief(const struct gp_summary *summary)
{
	const struct gp_groups *groups = &summary->activity.operations;
	struct gp_paragraph paragraph = {
		.out = summary->out, .columns = gp_summary_columns(summary), .lead = "copies: "};
	uint32_t *order = gp_groups_by_time(groups), count = 0;
	char text[256];

	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->rows[order[i]].key[0] != GP_ACTIVITY_OTHER || count++ >= MOST_COPIES)
			continue;
		describe_copies(text, sizeof(text), &groups->rows[order[i]]);
		gp_paragraph_add(&paragraph, text);
	}
	if (count > MOST_COPIES) {
		snprintf(text, sizeof(text), "%u more", count - MOST_COPIES);
		gp_paragraph_add(&paragraph, text);
	}
	gp_paragraph_end(&paragraph);
	free(order);
}

/* ---- memory ---- */

static const struct gp_table_column columns[] = {
	{"Peak", GP_UNIT_BYTES},   {"At", GP_UNIT_OFFSET},  {"Allocs", GP_UNIT_COUNT},
	{"Frees", GP_UNIT_COUNT},  {"Left", GP_UNIT_BYTES}, {"Blocks", GP_UNIT_COUNT},
	{"In use", GP_UNIT_BYTES}, {"Of", GP_UNIT_BYTES},   {"Memory", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"memory", NULL, columns, COUNT(columns)};

/* The memory in use on the device of a row, as the driver last reported it. */
static void put_usage(const struct gp_summary *summary, struct gp_table *table,
		      const struct gp_memory_row *row)
{
	const struct gp_memory_usage *usage = NULL;

	for (size_t i = 0; i < summary->memory.usage_count; i++)
		if (row->kind == GP_MEMORY_OF_DEVICE &&
		    summary->memory.usages[i].device == row->device)
			usage = &summary->memory.usages[i];
	gp_table_cell(table, usage ? gp_value_whole(usage->in_use_bytes) : gp_value_none());
	gp_table_cell(table, usage ? gp_value_whole(usage->total_bytes) : gp_value_none());
}

static void put_row(const struct gp_summary *summary, struct gp_table *table,
		    const struct gp_memory_row *row)
{
	gp_summary_put_peak(summary, table, row);
	gp_table_put_whole(table, row->allocations);
	gp_table_put_whole(table, row->frees);
	gp_table_put_whole(table, row->allocated_bytes - row->freed_bytes);
	gp_table_put_whole(table, row->allocations - row->frees);
	put_usage(summary, table, row);
	gp_summary_put_memory_kind(summary, table, row, "");
}

/* All memory of a device is one row; other kinds have their own. */
static bool may_have_row(const struct gp_memory_row *row)
{
	return row->kind == GP_MEMORY_OF_DEVICE ||
	       (row->allocations > 0 && !gp_memory_is_of_device(row->kind));
}

static uint64_t largest_peak(const struct gp_memory_stats *memory)
{
	uint64_t most_bytes = 0;

	for (size_t i = 0; i < memory->row_count; i++)
		if (may_have_row(&memory->rows[i]) && memory->rows[i].peak_bytes > most_bytes)
			most_bytes = memory->rows[i].peak_bytes;
	return most_bytes;
}

/* How many rows are printed, and how many there are.  A single hidden row is printed. */
struct choice {
	size_t shown, rows;
	/* of a kind that is not on a device; less than that is hidden */
	uint64_t least_bytes;
};

static bool is_worth_a_row(const struct gp_memory_row *row, uint64_t least_bytes)
{
	return may_have_row(row) &&
	       (row->kind == GP_MEMORY_OF_DEVICE || row->peak_bytes >= least_bytes);
}

static struct choice choose_rows(const struct gp_summary *summary)
{
	const struct gp_memory_stats *memory = &summary->memory;
	size_t limit = summary->rows.memory;
	struct choice choice = {.least_bytes = largest_peak(memory) / SMALL_PART};

	for (size_t i = 0; i < memory->row_count; i++) {
		choice.rows += may_have_row(&memory->rows[i]);
		choice.shown += is_worth_a_row(&memory->rows[i], choice.least_bytes);
	}
	if (choice.shown > limit)
		choice.shown = limit;
	if (limit > 0 && choice.shown + 1 < choice.rows)
		return choice;
	return (struct choice){.shown = choice.rows, .rows = choice.rows};
}

int gp_summary_print_memory_in_brief(const struct gp_summary *summary)
{
	const struct gp_memory_stats *memory = &summary->memory;
	struct choice choice = choose_rows(summary);
	struct gp_table table;
	size_t shown = 0;
	int result;

	if (gp_summary_lacks_memory(summary))
		return 0;
	gp_summary_print_memory_title(summary);
	gp_table_open(&table, &head);
	for (size_t i = 0; i < memory->row_count && shown < choice.shown; i++)
		if (is_worth_a_row(&memory->rows[i], choice.least_bytes)) {
			put_row(summary, &table, &memory->rows[i]);
			shown++;
		}
	result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	if (shown < choice.rows)
		fprintf(summary->out, "  ... %s more\n", gp_format_count(choice.rows - shown).text);
	gp_summary_print_left_note(summary);
	gp_summary_print_reserved(summary);
	gp_table_close(&table);
	return result;
}
