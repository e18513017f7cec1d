#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/document/table_writer.h"
#include "report/top/page.h"

static const struct gp_table_column columns[] = {
	{"Time %", GP_UNIT_PERCENT}, {"Time", GP_UNIT_NS},     {"Count", GP_UNIT_COUNT},
	{"Per s", GP_UNIT_COUNT},    {"Avg", GP_UNIT_NS},      {"Total %", GP_UNIT_PERCENT},
	{"Total", GP_UNIT_NS},       {"Calls", GP_UNIT_COUNT}, {"Avg", GP_UNIT_NS},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"top", NULL, columns, COUNT(columns)};

/* Kernels whose short names are equal. */
struct row {
	const char *name;
	struct gp_sum_values gained, total;
};

static void join(struct gp_sum_values *sum, const struct gp_sum_values *other)
{
	sum->count += other->count;
	sum->ns += other->ns;
}

static int compare_names(const void *a, const void *b, const void *context)
{
	const struct row *left = a, *right = b;

	(void)context;
	return strcmp(left->name, right->name);
}

static int compare_times(const void *a, const void *b, const void *context)
{
	const struct row *left = a, *right = b;

	(void)context;
	if (left->gained.ns != right->gained.ns)
		return left->gained.ns < right->gained.ns ? 1 : -1;
	return (left->total.ns < right->total.ns) - (left->total.ns > right->total.ns);
}

static void add_row(struct row *rows, uint32_t *count, const char *name, struct gp_live_flow flow)
{
	if (flow.now.count > 0)
		rows[(*count)++] = (struct row){name, gp_live_gained(&flow), flow.now};
}

static uint32_t collect(struct row *rows, const struct gp_page *page)
{
	const struct gp_live *l = page->live;
	const struct gp_sum *others = l->sums.others[GP_SUM_KERNEL];
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->sums.count; i++) {
		const struct gp_sum *sum = l->sums.sums[i];
		const char *name;

		if (sum->kind != GP_SUM_KERNEL)
			continue;
		name = gp_live_kernel_name(l, sum->first.kernel.name_id);
		add_row(rows, &count, name ? gp_names_short(page->names, name) : "(unknown kernel)",
			gp_live_flow_of(sum));
	}
	if (others)
		add_row(rows, &count, "(kernels beyond the first 65,536 names)",
			gp_live_flow_of(others));
	add_row(rows, &count, "[graph]", gp_live_flow(l, GP_SUM_GRAPH, GP_LIVE_ALL));
	return count;
}

static int join_equal_names(struct row *rows, uint32_t *count)
{
	uint32_t kept = 0;

	if (gp_array_sort(rows, *count, sizeof(*rows), compare_names, NULL) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < *count; i++) {
		if (kept > 0 && strcmp(rows[kept - 1].name, rows[i].name) == 0) {
			join(&rows[kept - 1].gained, &rows[i].gained);
			join(&rows[kept - 1].total, &rows[i].total);
		} else {
			rows[kept++] = rows[i];
		}
	}
	*count = kept;
	return gp_array_sort(rows, kept, sizeof(*rows), compare_times, NULL);
}

static struct gp_value average(const struct gp_sum_values *sum)
{
	return sum->count > 0 ? gp_value_real((double)sum->ns / (double)sum->count)
			      : gp_value_none();
}

static void put_row(struct gp_table *table, const struct row *row, const struct row *all,
		    double seconds)
{
	gp_table_cell(table, gp_value_percent((double)row->gained.ns, (double)all->gained.ns));
	gp_table_put_whole(table, row->gained.ns);
	gp_table_put_whole(table, row->gained.count);
	gp_table_cell(
		table,
		seconds > 0 ? gp_value_whole((uint64_t)((double)row->gained.count / seconds + 0.5))
			    : gp_value_none());
	gp_table_cell(table, average(&row->gained));
	gp_table_cell(table, gp_value_percent((double)row->total.ns, (double)all->total.ns));
	gp_table_put_whole(table, row->total.ns);
	gp_table_put_whole(table, row->total.count);
	gp_table_cell(table, average(&row->total));
	gp_table_cell(table, gp_value_text(row->name));
}

static int print_rows(FILE *out, const struct gp_page *page, const struct row *rows, uint32_t count)
{
	const struct gp_live_interval *interval = &page->live->interval;
	double seconds = (double)(interval->end_ns - interval->start_ns) / 1e9;
	struct gp_table table;
	struct row all = {0};
	int result;

	gp_table_open(&table, &head);
	for (uint32_t i = 0; i < count; i++) {
		join(&all.gained, &rows[i].gained);
		join(&all.total, &rows[i].total);
	}
	for (uint32_t i = 0; i < count && i < page->kernel_rows; i++)
		put_row(&table, &rows[i], &all, seconds);
	result = gp_table_print(&table, out, page->columns);
	gp_table_close(&table);
	return result;
}

int gp_page_print_kernels(FILE *out, const struct gp_page *page)
{
	struct row *rows = calloc((size_t)page->live->sums.count + 2, sizeof(*rows));
	uint32_t count;
	int result;

	if (!rows)
		return -ENOMEM;
	count = collect(rows, page);
	result = join_equal_names(rows, &count);
	if (result == 0 && count > 0) {
		fputc('\n', out);
		result = print_rows(out, page, rows, count);
	}
	free(rows);
	return result;
}
