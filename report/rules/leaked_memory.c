/*
 * Memory that grows until the end.  Speaks where a call site left at least 16 blocks and 1 MiB that
 * nothing freed, and that no caching allocator keeps: fewer are what programs leave to the end of
 * the process.  Nothing is said of a trace that may lack the frees.
 */
#include "report/rules/rules.h"

#include "report/cuda_names.h"
#include "report/format.h"
#include "report/memory_sites.h"
#include "report/rules/advisor.h"

static void look_at_all(struct gp_advisor *advisor)
{
	const struct gp_memory_sites *memory = gp_advisor_memory(advisor);

	if (!memory ||
	    gp_memory_sites_doubt(advisor->scope.models, advisor->scope.model_count) != NULL)
		return;
	for (uint32_t i = 0; i < memory->row_count; i++) {
		const struct gp_memory_site *row = &memory->rows[i];
		struct gp_case *found;

		if (row->kind == GP_MEMORY_IPC || row->left_blocks == 0 ||
		    *gp_call_sites_at(memory->sites, row->site).owner)
			continue;
		found = gp_advisor_case(advisor,
					gp_advisor_same_site(advisor, memory->sites, row->site),
					row->kind, 0);
		found->count += row->left_blocks;
		found->bytes += row->left_bytes;
		found->extra += row->allocations;
	}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out, "%s of %s memory in %s blocks was never freed, of %s that were allocated here",
		gp_format_bytes(found->bytes).text, gp_allocation_name((uint8_t)found->detail),
		gp_format_count(found->count).text, gp_format_count(found->extra).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("free each block when its last use is over, or keep one and use it again", out);
}

const struct gp_rule gp_rule_leaked_memory = {
	.id = "leaked-memory",
	.title = "memory is allocated and never freed, block after block",
	.meaning =
		"At the end of the program many blocks were left that one call site had "
		"allocated. It costs no time until memory runs out: then an allocation fails, or "
		"managed memory is moved to and fro.",
	.change = "Free each block after its last use. `gpuprof summary --memory` shows all call "
		  "sites, and who held most at the peak.",
	.ignore = "The blocks are a cache or a table that the program needs until its end.",
	.threshold = {.count = 16, .bytes = 1 << 20},
	.look_at_all = look_at_all,
	.tell = tell,
	.advise = advise,
};
