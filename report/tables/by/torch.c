/* PyTorch's memory snapshot: segments allocated from CUDA, and their blocks, used by tensors. */
#include "report/tables/breakdown.h"

#include <errno.h>

#include "gpuprof/count.h"
#include "report/analysis/memory/torch_category.h"
#include "report/analysis/memory/torch_snapshot.h"

#define NO_SNAPSHOT                                                                                \
	"memory of tensors in PyTorch's caching allocator is in its own snapshot: write one by "   \
	"torch.cuda.memory._dump_snapshot(\"FILE\") and type gpuprof summary --memory "            \
	"--torch-snapshot FILE TRACE"

static const struct gp_table_column segment_columns[] = {
	{"Reserved", GP_UNIT_BYTES},     {"Segments", GP_UNIT_COUNT},
	{"In the trace", GP_UNIT_COUNT}, {"Allocated", GP_UNIT_BYTES},
	{"Waiting", GP_UNIT_BYTES},      {"Free", GP_UNIT_BYTES},
	{"Split", GP_UNIT_BYTES},        {"Largest free", GP_UNIT_BYTES},
	{"Device", GP_UNIT_NUMBER},      {"Pool", GP_UNIT_NUMBER},
	{"Segments for", GP_UNIT_TEXT},
};

static const struct gp_table_column block_columns[] = {
	{"Bytes", GP_UNIT_BYTES},    {"Requested", GP_UNIT_BYTES}, {"Blocks", GP_UNIT_COUNT},
	{"Device", GP_UNIT_NUMBER},  {"State", GP_UNIT_TEXT},      {"Call site", GP_UNIT_TEXT},
	{"Called by", GP_UNIT_TEXT},
};

static const struct gp_table_column category_columns[] = {
	{"Share %", GP_UNIT_PERCENT}, {"Bytes", GP_UNIT_BYTES},       {"Requested", GP_UNIT_BYTES},
	{"Blocks", GP_UNIT_COUNT},    {"At the peak", GP_UNIT_BYTES}, {"Device", GP_UNIT_NUMBER},
	{"Category", GP_UNIT_TEXT},
};

enum { RESERVED, TRACED, ALLOCATED, WAITING, FREE, SPLIT, LARGEST };
enum { BYTES, REQUESTED, PEAK };

static uint32_t device_of(struct gp_scope *scope, const struct gp_torch_segment *segment)
{
	return gp_scope_device(scope, scope->models[0], (uint16_t)segment->device_id);
}

/* ---- segments ---- */

static void take_segment(struct gp_scope *scope, struct gp_tally *tally,
			 const struct gp_torch_segment *segment)
{
	const uint64_t key[GP_TALLY_KEYS] = {device_of(scope, segment), segment->pool_number,
					     segment->is_small, segment->is_expandable};
	struct gp_tally_row *row = gp_tally_find(tally, key);
	const uint64_t *state_bytes = segment->state_bytes;
	bool is_split = state_bytes[GP_TORCH_ALLOCATED] + state_bytes[GP_TORCH_WAITING] > 0;

	row->count++;
	row->sums[RESERVED] += segment->bytes;
	row->sums[TRACED] += segment->memory != GP_NONE;
	row->sums[ALLOCATED] += state_bytes[GP_TORCH_ALLOCATED];
	row->sums[WAITING] += state_bytes[GP_TORCH_WAITING];
	row->sums[FREE] += state_bytes[GP_TORCH_FREE];
	row->sums[SPLIT] += is_split ? state_bytes[GP_TORCH_FREE] : 0;
	if (segment->largest_free_bytes > row->sums[LARGEST])
		row->sums[LARGEST] = segment->largest_free_bytes;
}

static void put_segments(struct gp_scope *scope, struct gp_table *table,
			 const struct gp_tally_row *row, double total)
{
	(void)scope;
	(void)total;
	gp_table_put_whole(table, row->sums[RESERVED]);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[TRACED]);
	for (size_t i = ALLOCATED; i <= LARGEST; i++)
		gp_table_put_whole(table, row->sums[i]);
	gp_table_put_whole(table, row->key[0]);
	gp_table_put_whole(table, row->key[1]);
	gp_table_put_text(table, row->key[3]   ? "blocks of any size, expandable"
				 : row->key[2] ? "blocks up to 1MiB"
					       : "larger blocks");
}

static int fill_segments(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (uint32_t i = 0; scope->torch && i < scope->torch->segment_count; i++)
		take_segment(scope, &tally, &scope->torch->segments[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_segments);
}

const struct gp_breakdown gp_breakdown_torch_segment = {
	.help = "PyTorch's snapshot: segments of its caching allocator, free memory in them",
	.nothing = NO_SNAPSHOT,
	.head = {"torch-segment", "PyTorch's segments, when the snapshot was written",
		 segment_columns, COUNT(segment_columns)},
	.sort_column = 0,
	.fill = fill_segments,
};

/* ---- blocks ---- */

static void take_block(struct gp_scope *scope, struct gp_tally *tally,
		       const struct gp_torch_block *block)
{
	const struct gp_torch_segment *segment = &scope->torch->segments[block->segment];
	const uint64_t key[GP_TALLY_KEYS] = {block->site, device_of(scope, segment), block->state};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	row->count++;
	row->sums[BYTES] += block->bytes;
	row->sums[REQUESTED] += block->requested_bytes;
}

static void put_blocks(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	struct gp_call_site site = gp_call_sites_at(scope->torch->sites, (uint32_t)row->key[0]);

	(void)total;
	gp_table_put_whole(table, row->sums[BYTES]);
	gp_table_put_whole(table, row->sums[REQUESTED]);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->key[1]);
	gp_table_put_text(table, row->key[2] == GP_TORCH_ALLOCATED ? "allocated" : "waiting");
	gp_table_put_text(table, site.place);
	gp_table_put_text(table, site.callers);
}

static int fill_blocks(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (uint32_t i = 0; scope->torch && i < scope->torch->block_count; i++)
		if (scope->torch->blocks[i].state != GP_TORCH_FREE)
			take_block(scope, &tally, &scope->torch->blocks[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_blocks);
}

const struct gp_breakdown gp_breakdown_torch_block = {
	.help = "PyTorch's snapshot: blocks of tensors, by call site",
	.nothing = NO_SNAPSHOT,
	.head = {"torch-block", "Blocks of PyTorch's tensors, when the snapshot was written",
		 block_columns, COUNT(block_columns)},
	.sort_column = 0,
	.fill = fill_blocks,
};

/* ---- categories ---- */

/* After the categories of blocks with tensors: of the others, by their state. */
static void take_category(struct gp_scope *scope, struct gp_tally *tally,
			  const struct gp_torch_block *block)
{
	const struct gp_torch_segment *segment = &scope->torch->segments[block->segment];
	const uint64_t key[GP_TALLY_KEYS] = {device_of(scope, segment),
					     block->state == GP_TORCH_ALLOCATED
						     ? block->category
						     : GP_TORCH_CATEGORIES + block->state};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	row->count++;
	row->sums[REQUESTED] += block->requested_bytes;
	gp_tally_value(tally, row, 0, block->bytes);
}

static void put_category(struct gp_scope *scope, struct gp_table *table,
			 const struct gp_tally_row *row, double total)
{
	static const char *const states[] = {
		[GP_TORCH_WAITING] = "waiting", [GP_TORCH_FREE] = "cached"};

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->sums[REQUESTED]);
	gp_table_put_whole(table, row->count);
	gp_table_cell(table, scope->torch->peak_count > 0 ? gp_value_whole(row->sums[PEAK])
							  : gp_value_none());
	gp_table_put_whole(table, row->key[0]);
	gp_table_put_text(table,
			  row->key[1] < GP_TORCH_CATEGORIES
				  ? gp_torch_category_name((enum gp_torch_category)row->key[1])
				  : states[row->key[1] - GP_TORCH_CATEGORIES]);
}

static void take_peak(struct gp_scope *scope, struct gp_tally *tally,
		      const struct gp_torch_peak *peak)
{
	uint64_t key[GP_TALLY_KEYS] = {
		gp_scope_device(scope, scope->models[0], (uint16_t)peak->device_id)};

	for (key[1] = 0; key[1] < GP_TORCH_CATEGORIES; key[1]++)
		if (peak->bytes[key[1]] > 0)
			gp_tally_find(tally, key)->sums[PEAK] = peak->bytes[key[1]];
	key[1] = GP_TORCH_CATEGORIES + GP_TORCH_FREE;
	if (peak->cached_bytes > 0)
		gp_tally_find(tally, key)->sums[PEAK] = peak->cached_bytes;
}

static int fill_categories(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (uint32_t i = 0; scope->torch && i < scope->torch->block_count; i++)
		take_category(scope, &tally, &scope->torch->blocks[i]);
	for (uint32_t i = 0; scope->torch && i < scope->torch->peak_count; i++)
		take_peak(scope, &tally, &scope->torch->peaks[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_category);
}

const struct gp_breakdown gp_breakdown_torch_category = {
	.help = "PyTorch's snapshot: parameters, gradients, optimizer state, activations, ..., free memory",
	.nothing = NO_SNAPSHOT,
	.head = {"torch-category", "PyTorch's memory by purpose, when the snapshot was written",
		 category_columns, COUNT(category_columns)},
	.sort_column = 1,
	.fill = fill_categories,
};
