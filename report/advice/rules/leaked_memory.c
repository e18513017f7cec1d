#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/trace/cuda_names.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/growth.h"

#define LIMITS(LIMIT) LIMIT(LEAST_BYTES, 1048576, BYTES, "programs often leave less to the exit")
GP_LIMITS(LIMITS);

struct own {
	uint64_t allocations;  /* of the site, freed or not */
	uint64_t passes;       /* iterations in which it grew; 0 = none, 1 = all at once */
	uint64_t blocks;       /* of most iterations ... */
	uint64_t bytes_a_pass; /* ... and their mean size */
};

static void note_growth(struct gp_advisor *advisor, const struct gp_growth *growth)
{
	struct own *own;

	if (*gp_call_sites_at(advisor->sites, growth->site).owner)
		return;
	own = gp_advisor_case(advisor, growth->site, growth->kind, 0)->own;
	if (growth->passes <= own->passes)
		return;
	own->passes = growth->passes;
	own->blocks = growth->blocks;
	own->bytes_a_pass = growth->bytes / growth->passes;
}

static void look_for_growth(struct gp_advisor *advisor)
{
	struct gp_growth *growths;
	uint32_t count;

	gp_growths_of(advisor->sites, advisor->model, &growths, &count);
	for (uint32_t i = 0; i < count; i++)
		note_growth(advisor, &growths[i]);
	free(growths);
}

/* Small memory that does not grow, and blocks allocated at once, are no leaks. */
static void drop_harmless(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->case_count; i++) {
		struct gp_case *found = &advisor->cases[i];
		const struct own *own = found->own;

		if (found->rule == advisor->rule &&
		    (own->passes == 1 || (found->bytes < LEAST_BYTES && own->passes == 0)))
			found->count = 0;
	}
}

static void take_row(struct gp_advisor *advisor, const struct gp_memory_sites *memory,
		     const struct gp_memory_site *row)
{
	struct gp_case *found;
	struct own *own;

	if (row->kind == GP_MEMORY_IPC || row->left_blocks == 0 ||
	    *gp_call_sites_at(memory->sites, row->site).owner)
		return;
	found = gp_advisor_case(advisor, gp_advisor_same_site(advisor, memory->sites, row->site),
				row->kind, 0);
	own = found->own;
	found->count += row->left_blocks;
	found->bytes += row->left_bytes;
	own->allocations += row->allocations;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_memory_sites *memory = gp_advisor_memory(advisor);
	struct gp_model *const model = advisor->scope.models[advisor->process];

	if (!memory || !gp_memory_sites_knows_leaks(&model, 1))
		return;
	for (uint32_t i = 0; i < memory->row_count; i++)
		take_row(advisor, memory, &memory->rows[i]);
	look_for_growth(advisor);
	drop_harmless(advisor);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	gp_document_add_text(values, "memory", gp_allocation_name((uint8_t)found->detail));
	gp_document_add_number(values, "allocation_count", GP_UNIT_COUNT, own->allocations);
	if (own->passes == 0)
		return;
	gp_document_add_number(values, "growth_count", GP_UNIT_COUNT, own->passes);
	gp_document_add_number(values, "growth_blocks", GP_UNIT_COUNT, own->blocks);
	gp_document_add_number(values, "growth_bytes", GP_UNIT_BYTES, own->bytes_a_pass);
}

const struct gp_rule gp_rule_leaked_memory = {
	.id = "leaked-memory",
	.title = "memory is allocated repeatedly and never freed",
	.found =
		"{count} of {allocation_count} block[{!allocation_count=1}s] of {memory} memory allocated here [{?count=1}was|were] never freed, {bytes} in all[: the memory grew {growth_count} times until the end, mostly by {growth_blocks} block[{!growth_blocks=1}s], {growth_bytes} on average, with kernel launches in between]",
	.change = "free each block after its last use, or keep one block and reuse it",
	.meaning =
		"At the end of the program many blocks of one call site were not freed: {LEAST_BYTES} or more in all; or less, but still growing, {GP_GROWTH_ITERATIONS} times or more with kernel launches in between, until the last launches. Blocks allocated with no launch in between, such as the weights of a model, and blocks of a caching allocator do not count. Nothing is reported if frees or call sites may be missing in the trace, or if it has no end, as of a killed program: the program could have freed the blocks later. A leak costs no time until memory runs out: then an allocation fails, or managed memory migrates constantly.",
	.remedy =
		"Free each block after its last use. `gpuprof summary --memory` shows all call sites, and the largest ones at the peak.",
	.ignore = "The blocks are a cache or a table that the program needs until its end.",
	.threshold = {.count = 16, .reason = "Fewer blocks are tables of the program"},
	.limits = limits,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
