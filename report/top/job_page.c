#include "report/top/job_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"
#include "report/document/table_writer.h"

/* The others wait for a rank that communicates for less than this part of the median. */
#define LATE_PART 2

static const struct gp_table_column columns[] = {
	{"Rank", GP_UNIT_TEXT},        {"Step", GP_UNIT_NS},           {"Busy %", GP_UNIT_PERCENT},
	{"Communicating", GP_UNIT_NS}, {"Collectives", GP_UNIT_COUNT}, {"Launches", GP_UNIT_COUNT},
	{"Allocated", GP_UNIT_BYTES},  {"Last call", GP_UNIT_OFFSET},  {"Host", GP_UNIT_TEXT},
	{"State", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"top-ranks", NULL, columns, COUNT(columns)};

struct row {
	const struct gp_page *page;
	uint64_t rank;  /* UINT64_MAX = none */
	bool is_shared; /* by another process */
	/* of NCCL's kernels, in the interval; their number since the beginning */
	uint64_t communicating_ns, collectives;
	uint64_t step_ns; /* 0 = not known */
};

/* ---- one rank ---- */

static void count_collectives(struct row *row, const struct gp_live *l)
{
	for (uint32_t i = 0; i < l->sums.count; i++) {
		const struct gp_sum *sum = l->sums.sums[i];
		struct gp_live_flow flow = gp_live_flow_of(sum);
		const char *name = sum->kind == GP_SUM_KERNEL
					   ? gp_live_kernel_name(l, sum->first.kernel.name_id)
					   : NULL;

		if (!name || !strstr(name, "nccl"))
			continue;
		row->communicating_ns += gp_live_gained(&flow).ns;
		row->collectives += flow.now.count;
	}
}

static struct row row_of(const struct gp_page *page)
{
	const char *rank = page->live->info[GP_INFO_RANK];
	struct row row = {.page = page, .rank = rank ? strtoull(rank, NULL, 10) : UINT64_MAX};

	count_collectives(&row, page->live);
	return row;
}

/* Of all its devices together. */
static struct gp_value busy_of(const struct gp_live *l)
{
	uint64_t span_ns = l->interval.busy_end_ns - l->interval.busy_start_ns, busy_ns = 0;

	for (uint32_t i = 0; i < l->device_count; i++)
		busy_ns += l->devices[i].busy_ns;
	return gp_value_percent((double)busy_ns, (double)span_ns * l->device_count);
}

static uint64_t allocated_of(const struct gp_live *l)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < l->memory.ledger.row_count; i++)
		if (l->memory.ledger.rows[i].kind == GP_MEMORY_OF_DEVICE)
			bytes += l->memory.ledger.rows[i].now_bytes;
	return bytes;
}

static struct gp_value last_call_of(const struct gp_live *l)
{
	uint64_t last_ns = gp_live_from_ticks(l, l->sums.last_ticks);

	if (l->sums.last_ticks == 0 || last_ns == 0)
		return gp_value_none();
	return gp_value_moment((int64_t)(last_ns - l->interval.end_ns));
}

static void put_row(struct gp_table *table, const struct row *row)
{
	const struct gp_live *l = row->page->live;
	struct gp_live_flow launches =
		gp_live_flow(l, GP_SUM_CALL, 1u << GP_API_LAUNCH | 1u << GP_API_GRAPH_LAUNCH);

	if (row->rank == UINT64_MAX)
		gp_table_put_words(table, "pid %u", row->page->tail->pid);
	else if (row->is_shared)
		gp_table_put_words(table, "%llu, pid %u", (unsigned long long)row->rank,
				   row->page->tail->pid);
	else
		gp_table_put_words(table, "%llu", (unsigned long long)row->rank);
	gp_table_cell(table, row->step_ns > 0 ? gp_value_whole(row->step_ns) : gp_value_none());
	gp_table_cell(table, busy_of(l));
	gp_table_put_whole(table, row->communicating_ns);
	gp_table_put_whole(table, row->collectives);
	gp_table_put_whole(table, gp_live_gained(&launches).done);
	gp_table_put_whole(table, allocated_of(l));
	gp_table_cell(table, last_call_of(l));
	gp_table_put_text(table, l->info[GP_INFO_HOST]);
	gp_table_put_text(table, gp_page_state(row->page));
}

/* ---- all ---- */

static int compare_ranks(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return (left->page > right->page) - (left->page < right->page);
}

static void mark_shared(struct row *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_ranks);
	for (size_t i = 1; i < count; i++)
		if (rows[i].rank == rows[i - 1].rank)
			rows[i].is_shared = rows[i - 1].is_shared = true;
}

static int compare_communicating(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->communicating_ns != right->communicating_ns)
		return left->communicating_ns < right->communicating_ns ? -1 : 1;
	return compare_ranks(a, b);
}

static void print_title(FILE *out, const struct gp_job_page *page)
{
	size_t over = 0;

	for (size_t i = 0; i < page->count; i++)
		over += gp_page_is_over(&page->ranks[i]);
	fputs("gpuprof top: ", out);
	gp_text_print(out, page->folder);
	fprintf(out, ", %s processes, %s of them ended", gp_format_count(page->count).text,
		gp_format_count(over).text);
	if (page->unread > 0)
		fprintf(out, "; %s file%s cannot be read%s", gp_format_count(page->unread).text,
			page->unread > 1 ? "s" : "",
			page->is_full ? ", because the limit of open files is reached (ulimit -n)"
				      : "");
	fputs("\n", out);
}

/* Keeps the ranks that run; if none runs, those that ended normally. */
static size_t keep_comparable(const struct row *rows, size_t count, const struct row **kept)
{
	size_t running = 0, comparable = 0;

	for (size_t i = 0; i < count; i++)
		running += !gp_page_is_over(rows[i].page);
	for (size_t i = 0; i < count; i++)
		if (rows[i].rank != UINT64_MAX && rows[i].collectives > 0 &&
		    (running > 0 ? !gp_page_is_over(rows[i].page) : rows[i].page->tail->closed))
			kept[comparable++] = &rows[i];
	return comparable;
}

/* The rows are sorted: the rank that communicates least comes first. */
static int print_late(FILE *out, const struct row *rows, size_t count)
{
	const struct row **kept = calloc(count + 1, sizeof(const struct row *));
	size_t comparable = kept ? keep_comparable(rows, count, kept) : 0;
	bool has_memory = kept != NULL;

	if (comparable > 1) {
		uint64_t median_ns = kept[comparable / 2]->communicating_ns;

		if (kept[0]->communicating_ns * LATE_PART < median_ns)
			fprintf(out,
				"rank %llu communicates for the shortest time, %s (median: %s): the others wait for it\n",
				(unsigned long long)kept[0]->rank,
				gp_format_ns(kept[0]->communicating_ns).text,
				gp_format_ns(median_ns).text);
	}
	free(kept);
	return has_memory ? 0 : -ENOMEM;
}

static int print_rows(FILE *out, const struct gp_job_page *page, struct row *rows)
{
	size_t shown = page->count < page->rows ? page->count : page->rows;
	struct gp_table table;
	int result;

	qsort(rows, shown, sizeof(*rows), compare_ranks);
	gp_table_open(&table, &head);
	for (size_t i = 0; i < shown && table.error == 0; i++) {
		table.error = gp_live_steps_find(&rows[i].page->live->steps, &rows[i].step_ns);
		put_row(&table, &rows[i]);
	}
	fputc('\n', out);
	result = gp_table_print(&table, out, page->columns);
	gp_table_close(&table);
	if (shown < page->count)
		fprintf(out, "  ... %s more, which communicate for longer\n",
			gp_format_count(page->count - shown).text);
	return result;
}

int gp_job_page_print(FILE *out, const struct gp_job_page *page)
{
	struct row *rows = calloc(page->count + 1, sizeof(*rows));
	int result;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < page->count; i++)
		rows[i] = row_of(&page->ranks[i]);
	mark_shared(rows, page->count);
	qsort(rows, page->count, sizeof(*rows), compare_communicating);
	print_title(out, page);
	result = print_late(out, rows, page->count);
	if (result == 0)
		result = print_rows(out, page, rows);
	free(rows);
	return result;
}
