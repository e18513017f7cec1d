#include "report/tables/memory_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/model/memory_stats.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/document/table_writer.h"
#include "report/base/text/text.h"

#define COLUMNS 120 /* of a line */

#define LEFT  "memory-leak,memory-cache"
#define TORCH "torch-category,torch-segment,torch-block"
#define WHEN  "memory-peak,memory-churn,memory-wait,memory-pool"

const char gp_memory_page_words[] = LEFT "," WHEN;
const char gp_memory_page_torch_words[] = LEFT "," TORCH "," WHEN;

static const struct gp_breakdown *const parts[] = {
	&gp_breakdown_memory_leak,   &gp_breakdown_memory_cache, &gp_breakdown_torch_category,
	&gp_breakdown_torch_segment, &gp_breakdown_torch_block,  &gp_breakdown_memory_peak,
	&gp_breakdown_memory_churn,  &gp_breakdown_memory_wait,  &gp_breakdown_memory_pool,
};

struct page {
	FILE *out;
	const struct gp_memory_page_options *options;
	struct gp_scope scope;
	const struct gp_memory_sites *memory;
};

/* ---- tables, with the callers below each call site ---- */

#define CALLERS "Called by" /* the title of the last column of such a table */

static size_t count_columns(const struct gp_table_head *head)
{
	size_t count = head->column_count;

	return strcmp(head->columns[count - 1].title, CALLERS) == 0 ? count - 1 : count;
}

/* A row for each caller, with a cell in the last column only. */
static void put_callers(struct gp_table *table, const char *callers)
{
	size_t length;

	for (const char *next; callers; callers = next) {
		next = strstr(callers, GP_SITE_SEPARATOR);
		length = next ? (size_t)(next - callers) : strlen(callers);
		for (size_t i = 0; i + 1 < table->head->column_count; i++)
			gp_table_cell(table, gp_value_text(""));
		gp_table_put_words(table, "  by %.*s", (int)length, callers);
		next = next ? next + strlen(GP_SITE_SEPARATOR) : NULL;
	}
}

static int print_rows(const struct page *page, const struct gp_table *all, size_t shown)
{
	size_t count = count_columns(all->head);
	struct gp_table_head head = *all->head;
	struct gp_table table;
	int result;

	head.title = NULL;
	head.column_count = count;
	gp_table_open(&table, &head);
	for (size_t i = 0; i < shown; i++) {
		const struct gp_value *row = gp_table_row(all, i);

		for (size_t c = 0; c < count; c++)
			gp_table_cell(&table, row[c]);
		if (count < all->head->column_count && row[count].kind == GP_VALUE_TEXT)
			put_callers(&table, row[count].text);
	}
	result = gp_table_print(&table, page->out, COLUMNS);
	gp_table_close(&table);
	return result;
}

static int print_table(const struct page *page, const struct gp_table *table)
{
	size_t rows = gp_table_rows(table), limit = page->options->row_limit;
	size_t shown = limit == 0 || limit > rows ? rows : limit;
	int result;

	fprintf(page->out, "\n%s\n", table->head->title);
	result = print_rows(page, table, shown);
	if (shown < rows)
		fprintf(page->out, "  ... %s more\n", gp_format_count(rows - shown).text);
	return result;
}

static int print_part(struct page *page, const struct gp_breakdown *part)
{
	struct gp_table table;
	int result = gp_breakdown_make(part, &page->scope, &table);

	if (result == 0 && gp_table_rows(&table) > 0)
		result = print_table(page, &table);
	gp_table_close(&table);
	return result;
}

/* ---- the closing lines ---- */

/* Totals of the page.  Mapped memory of another process adds no bytes. */
struct totals {
	uint64_t allocations, bytes, temporary, allocate_ns, free_ns;
	uint64_t left_blocks, left_bytes, left_sites, left_mappings;
	uint64_t kept_bytes, ended_with_context;
};

static void add_left(struct totals *totals, const struct gp_memory_site *row, bool kept)
{
	if (row->kind == GP_MEMORY_IPC) {
		totals->left_mappings += row->left_blocks;
	} else if (kept) {
		totals->kept_bytes += row->left_bytes;
	} else {
		totals->left_blocks += row->left_blocks;
		totals->left_bytes += row->left_bytes;
		totals->left_sites += row->left_blocks > 0;
	}
}

static struct totals sum_up(const struct gp_memory_sites *memory)
{
	struct totals totals = {0};

	for (uint32_t i = 0; i < memory->row_count; i++) {
		const struct gp_memory_site *row = &memory->rows[i];
		struct gp_call_site site = gp_call_sites_at(memory->sites, row->site);

		totals.allocations += row->allocations;
		totals.bytes += row->kind == GP_MEMORY_IPC ? 0 : row->allocated_bytes;
		totals.temporary += row->temporary;
		totals.allocate_ns += row->allocate_ns;
		totals.free_ns += row->free_ns;
		totals.ended_with_context += row->ended_with_context;
		add_left(&totals, row, site.owner[0] != '\0');
	}
	return totals;
}

/* "1 block", "2 blocks". */
static void print_count(FILE *out, const char *before, uint64_t count, const char *thing)
{
	fprintf(out, "%s%s %s%s", before, gp_format_count(count).text, thing,
		count == 1 ? "" : "s");
}

static void print_left(const struct page *page, const struct totals *totals)
{
	FILE *out = page->out;
	const char *doubt = gp_memory_sites_doubt(page->scope.models, page->scope.model_count);

	bool knows_owners =
		gp_memory_sites_knows_owners(page->scope.models, page->scope.model_count);

	fprintf(out, "  %-11s  %s", doubt || !knows_owners ? "not freed" : "leaked",
		gp_format_bytes(totals->left_bytes).text);
	if (totals->left_blocks > 0) {
		print_count(out, " in ", totals->left_blocks, "block");
		print_count(out, " from ", totals->left_sites, "call site");
	}
	if (totals->kept_bytes > 0)
		fprintf(out, "; %s more is kept by libraries",
			gp_format_bytes(totals->kept_bytes).text);
	if (totals->ended_with_context > 0) {
		print_count(out, "; ", totals->ended_with_context, "block");
		fputs(" freed only by the end of their context", out);
	}
	if (totals->left_mappings > 0) {
		print_count(out, "; ", totals->left_mappings, "mapping");
		fputs(" of other processes' memory left open", out);
	}
	fputs("\n", out);
	if (gp_recorded_any_last_part(page->scope.models, page->scope.model_count))
		fputs("               in the kept part: blocks allocated before it are not counted\n",
		      out);
	if (!knows_owners)
		fputs("               perhaps in the cache of an allocator: call stacks would tell, but the calls have none\n",
		      out);
	if (doubt && *doubt)
		fprintf(out, "               including memory that was freed %s\n", doubt);
}

static void print_peak(const struct page *page, const struct gp_memory_row *account)
{
	uint64_t start = page->scope.start_unix_ns, at = account->peak_time;
	const char *kind =
		account->kind == GP_MEMORY_OF_DEVICE ? "device" : gp_allocation_name(account->kind);

	if (account->peak_bytes == 0 || gp_memory_is_of_device(account->kind))
		return;
	fprintf(page->out, "  peak         %s ", gp_format_bytes(account->peak_bytes).text);
	if (account->device < page->scope.devices.count)
		fprintf(page->out, "of GPU %" PRIu32 "'s %s memory",
			page->scope.devices.entries[account->device].number, kind);
	else
		fprintf(page->out, "of %s memory", kind);
	fprintf(page->out, " at %s\n", gp_format_moment((int64_t)(at - start)).text);
}

static void print_totals(const struct page *page)
{
	struct totals totals = sum_up(page->memory);

	fprintf(page->out, "\nIn all\n  allocations  %s of %s; the calls took %s, the frees %s\n",
		gp_format_count(totals.allocations).text, gp_format_bytes(totals.bytes).text,
		gp_format_ns(totals.allocate_ns).text, gp_format_ns(totals.free_ns).text);
	fprintf(page->out,
		"  temporary    %s (%s %%): freed before their thread allocated or freed anything else\n",
		gp_format_count(totals.temporary).text,
		gp_format_percent((double)totals.temporary, (double)totals.allocations).text);
	print_left(page, &totals);
	for (uint32_t i = 0; i < page->memory->ledger.row_count; i++)
		print_peak(page, &page->memory->ledger.rows[i]);
	fputs("  over time    a counter of the Chrome trace: gpuprof export --format chrome -o memory.json FILE\n"
	      "  flame graph  of memory never freed, the peak, allocations: gpuprof export --format speedscope FILE\n",
	      page->out);
}

static void print_head(const struct page *page)
{
	const struct gp_model *model = page->scope.models[0];
	const char *program = model->info[GP_INFO_PROGRAM];

	fputs("gpuprof: ", page->out);
	gp_text_print(page->out, program ? program : "(unknown program)");
	fputs(", ", page->out);
	if (page->scope.model_count == 1)
		fputs(gp_process_name(model).text, page->out);
	else
		fprintf(page->out, "%zu processes", page->scope.model_count);
	fputs(": memory allocated through CUDA, by call site\n", page->out);
}

static const char *words_for_nothing(const struct page *page)
{
	for (size_t i = 0; i < page->scope.model_count; i++) {
		const struct gp_model *model = page->scope.models[i];

		if (!gp_recorded_kind(model, "memory"))
			return model->recorder
				       ? "the trace lacks the allocations and frees of CUDA calls"
				       : "allocations were not recorded: --trace does not name memory";
	}
	return "nothing was allocated while recording was on";
}

/* The statistics of allocators are known anyway, such as PyTorch's in its own traces. */
static int print_pools(struct page *page)
{
	bool any = false;
	int result = print_part(page, &gp_breakdown_memory_pool);

	for (size_t i = 0; i < page->scope.model_count; i++)
		any |= page->scope.models[i]->pool_count > 0;
	if (any)
		fputs("\n  over time    in the timeline of the page: gpuprof html FILE\n",
		      page->out);
	return result;
}

static int print_page(struct page *page)
{
	int result = 0;

	page->memory = gp_scope_memory(&page->scope);
	print_head(page);
	if (gp_recorded_any_sampled(page->scope.models, page->scope.model_count)) {
		fputs("  unknown, as --sample records no calls between its windows\n", page->out);
		return print_pools(page);
	}
	if (page->memory->row_count == 0) {
		fprintf(page->out, "  %s\n", words_for_nothing(page));
		return print_pools(page);
	}
	for (size_t i = 0; result == 0 && i < COUNT(parts); i++)
		result = print_part(page, parts[i]);
	print_totals(page);
	gp_call_sites_explain(page->memory->sites, page->options->messages);
	return result;
}

int gp_memory_page_print(FILE *out, struct gp_model *const *models, size_t model_count,
			 const struct gp_memory_page_options *options)
{
	struct page page = {.out = out, .options = options};
	int result = gp_scope_open(&page.scope, models, model_count, false);

	page.scope.torch = options->torch;
	if (result == 0)
		result = print_page(&page);
	gp_scope_close(&page.scope);
	if (fflush(out) != 0 || ferror(out))
		return -EIO;
	return result;
}
