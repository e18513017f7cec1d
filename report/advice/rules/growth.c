#include "report/advice/rules/growth.h"

#include <stdbool.h>
#include <stdlib.h>

#include "report/advice/rules/host_time.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"

#define QUARTERS 4u

struct block {
	uint64_t bytes;
	uint32_t site;
	uint32_t call;
	uint8_t kind;
};

struct blocks {
	struct block *rows;
	uint32_t count, capacity;
	uint32_t *kernels;    /* by call: the number of launches before it */
	uint64_t *kernels_ns; /* the launches of all threads, in order; NULL = not needed yet */
};

static bool launches_kernel(const struct gp_model *model, const struct gp_call *call)
{
	uint8_t kind = call->first_op == GP_NONE ? GP_OP_COPY : model->ops[call->first_op].kind;

	return kind == GP_OP_KERNEL || kind == GP_OP_GRAPH;
}

static void count_kernels(struct blocks *blocks, const struct gp_model *model)
{
	blocks->kernels = gp_spill_take(((size_t)model->call_count + 1) * sizeof(*blocks->kernels));
	blocks->kernels[0] = 0;
	for (uint32_t i = 0; i < model->call_count; i++)
		blocks->kernels[i + 1] =
			blocks->kernels[i] + launches_kernel(model, &model->calls[i]);
}

static int compare_times(const void *a, const void *b, const void *context)
{
	const uint64_t *left = a, *right = b;

	(void)context;
	return (*left > *right) - (*left < *right);
}

static void time_kernels(struct blocks *blocks, const struct gp_model *model)
{
	uint32_t count = blocks->kernels[model->call_count];

	blocks->kernels_ns = gp_spill_take(((size_t)count + 1) * sizeof(*blocks->kernels_ns));
	for (uint32_t i = 0; i < model->call_count; i++)
		if (blocks->kernels[i + 1] > blocks->kernels[i])
			blocks->kernels_ns[blocks->kernels[i]] = model->calls[i].start_ns;
	gp_array_sort(blocks->kernels_ns, count, sizeof(*blocks->kernels_ns), compare_times, NULL);
}

static bool is_launched_before(const void *element, const void *key)
{
	const uint64_t *kernel_ns = element, *at_ns = key;

	return *kernel_ns < *at_ns;
}

/* The number of launches of all threads before that call. */
static uint32_t kernels_until(const struct blocks *blocks, const struct gp_model *model,
			      uint32_t call)
{
	return gp_array_lower_bound(blocks->kernels_ns, blocks->kernels[model->call_count],
				    sizeof(*blocks->kernels_ns), is_launched_before,
				    &model->calls[call].start_ns);
}

static void gather(struct blocks *blocks, struct gp_call_sites *sites, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		struct block block = {.bytes = event->bytes, .call = event->call};

		if (event->op != GP_MEMORY_ALLOC || event->other != GP_NONE ||
		    event->address == 0 || event->call == GP_NONE ||
		    event->memory_kind == GP_MEMORY_IPC)
			continue;
		block.kind = event->memory_kind;
		block.site = gp_call_sites_find(sites, model, &model->calls[event->call]);
		gp_array_grow_spill(&blocks->rows, &blocks->capacity, blocks->count, sizeof(block));
		blocks->rows[blocks->count++] = block;
	}
}

/* By site and kind, then by thread and time. */
static int compare_blocks(const void *a, const void *b, const void *context)
{
	const struct block *left = a, *right = b;

	(void)context;
	if (left->site != right->site)
		return left->site < right->site ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return (left->call > right->call) - (left->call < right->call);
}

/* The iterations in which blocks of one site were left. */
struct passes {
	uint64_t count, usual;          /* usual: with as many blocks as the first */
	uint64_t blocks, bytes;         /* of the first one; of all */
	uint64_t now;                   /* blocks of the present one */
	uint32_t first_call, last_call; /* that began the first and the last one */
	uint64_t of[QUARTERS];          /* how many began in each quarter of the launches */
};

static void end_pass(struct passes *passes)
{
	if (passes->count == 1)
		passes->blocks = passes->now;
	passes->usual += passes->now == passes->blocks;
	passes->now = 0;
}

static void begin_pass(struct passes *passes, uint32_t call, uint32_t kernels_before,
		       uint32_t kernels)
{
	if (passes->count++ == 0)
		passes->first_call = call;
	passes->last_call = call;
	passes->of[(uint64_t)kernels_before * QUARTERS / kernels]++;
}

/* Blocks first to end - 1 are of one site and kind. */
static struct passes find_passes(const struct blocks *blocks, const struct gp_model *model,
				 uint32_t first, uint32_t end)
{
	const struct block *rows = &blocks->rows[first];
	uint32_t thread_end =
		gp_host_first_call(model, model->calls[rows[0].call].thread_id, UINT64_MAX);
	const uint32_t *launched = blocks->kernels;
	uint32_t start = launched[rows[0].call], kernels = launched[thread_end] - start;
	struct passes passes = {0};

	for (uint32_t i = 0; i < end - first; i++) {
		uint32_t before = launched[rows[i].call] - start;

		if (rows[i].call >= thread_end || before == kernels)
			break;
		if (i > 0 && before > launched[rows[i - 1].call] - start)
			end_pass(&passes);
		if (passes.now++ == 0)
			begin_pass(&passes, rows[i].call, before, kernels);
		passes.bytes += rows[i].bytes;
	}
	if (passes.count > 0)
		end_pass(&passes);
	return passes;
}

static bool grows(const struct passes *passes)
{
	bool is_spread = true;

	for (unsigned i = 0; i < QUARTERS; i++)
		is_spread &= passes->of[i] * 2 * QUARTERS >= passes->count;
	return is_spread && passes->count >= GP_GROWTH_ITERATIONS &&
	       passes->usual * 10 >= passes->count * 9;
}

/* Whether at most two iterations' launches follow the start of the last one. */
static bool goes_on_to_the_end(struct blocks *blocks, const struct gp_model *model,
			       const struct passes *passes)
{
	uint64_t first, last, all = blocks->kernels[model->call_count];

	if (!blocks->kernels_ns)
		time_kernels(blocks, model);
	first = kernels_until(blocks, model, passes->first_call);
	last = kernels_until(blocks, model, passes->last_call);
	return (all - last) * (passes->count - 1) <= 2 * (last - first);
}

/* Whether no launch lies between the blocks first to end - 1, but some follow. */
static bool are_made_at_once(struct blocks *blocks, const struct gp_model *model, uint32_t first,
			     uint32_t end)
{
	uint32_t earliest = UINT32_MAX, latest = 0;

	if (end - first < GP_ONCE_BLOCKS)
		return false;
	if (!blocks->kernels_ns)
		time_kernels(blocks, model);
	for (uint32_t i = first; i < end; i++) {
		uint32_t before = kernels_until(blocks, model, blocks->rows[i].call);

		earliest = before < earliest ? before : earliest;
		latest = before > latest ? before : latest;
	}
	return earliest == latest && latest < blocks->kernels[model->call_count];
}

/* Whether the blocks first to end - 1, of one site and kind, grow or are made at once. */
static bool find_growth(struct blocks *blocks, const struct gp_model *model, uint32_t first,
			uint32_t end, struct gp_growth *growth)
{
	struct passes passes = find_passes(blocks, model, first, end);

	*growth = (struct gp_growth){.site = blocks->rows[first].site,
				     .kind = blocks->rows[first].kind,
				     .passes = passes.count,
				     .blocks = passes.blocks,
				     .bytes = passes.bytes};
	if (grows(&passes) && goes_on_to_the_end(blocks, model, &passes))
		return true;
	growth->passes = 1;
	return are_made_at_once(blocks, model, first, end);
}

static void find_growths(struct blocks *blocks, const struct gp_model *model,
			 struct gp_growth **growths, uint32_t *count)
{
	uint32_t capacity = 0;

	for (uint32_t first = 0, end; first < blocks->count; first = end) {
		const struct block *row = &blocks->rows[first];
		struct gp_growth growth;

		for (end = first + 1; end < blocks->count && blocks->rows[end].site == row->site &&
				      blocks->rows[end].kind == row->kind;
		     end++)
			;
		if (!find_growth(blocks, model, first, end, &growth))
			continue;
		gp_array_grow(growths, &capacity, *count, sizeof(**growths));
		(*growths)[(*count)++] = growth;
	}
}

void gp_growths_of(struct gp_call_sites *sites, const struct gp_model *model,
		   struct gp_growth **growths, uint32_t *count)
{
	struct blocks blocks = {0};

	gather(&blocks, sites, model);
	*growths = NULL;
	*count = 0;
	if (blocks.count >= GP_ONCE_BLOCKS)
		count_kernels(&blocks, model);
	if (blocks.kernels)
		gp_array_sort(blocks.rows, blocks.count, sizeof(*blocks.rows), compare_blocks,
			      NULL);
	if (blocks.kernels)
		find_growths(&blocks, model, growths, count);
	gp_spill_free(blocks.rows);
	gp_spill_free(blocks.kernels);
	gp_spill_free(blocks.kernels_ns);
}
