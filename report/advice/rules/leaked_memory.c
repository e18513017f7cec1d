/*
 * Memory that grows until the end.  Speaks where a call site left at least 16 blocks that nothing
 * freed, and that no caching allocator keeps: 1 MiB or more in all, for less is what programs leave
 * to the end of the process; or however little it is, if it became more with the passes of a loop
 * (report/advice/rules/growth.h).  What is made at once before the work, as a model's weights, is
 * no leak.  Nothing is said of a trace that may lack the frees, nor of one that does not tell who
 * allocated: a caching allocator may keep it all.
 */
#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/growth.h"

#define LEAST_BYTES (1u << 20)

struct own {
	uint64_t allocations; /* at the site, those that were freed, too */
	uint64_t passes;      /* in which it grew; 0 = it did not, 1 = all of it was made at once */
	uint64_t blocks;      /* in most of them by so many, ... */
	uint64_t bytes_a_pass; /* ... and on average by so much */
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

	advisor->error = gp_growths_of(advisor->sites, advisor->model, &growths, &count);
	for (uint32_t i = 0; i < count && advisor->error == 0; i++)
		note_growth(advisor, &growths[i]);
	free(growths);
}

/*
 * What is little and does not grow is left to the end of the process, as is what is made at once.
 */
static void forget_what_stays(struct gp_advisor *advisor)
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
	forget_what_stays(advisor);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	(void)advisor;
	fprintf(out,
		"%s of %s block%s of %s memory that %s allocated here %s never freed, %s in all",
		gp_format_count(found->count).text, gp_format_count(own->allocations).text,
		own->allocations == 1 ? "" : "s", gp_allocation_name((uint8_t)found->detail),
		own->allocations == 1 ? "was" : "were", found->count == 1 ? "was" : "were",
		gp_format_bytes(found->bytes).text);
	if (own->passes == 0)
		return;
	fprintf(out,
		": it grew %s times, until the work ended; mostly by %s block%s, %s on average, with kernels launched in between",
		gp_format_count(own->passes).text, gp_format_count(own->blocks).text,
		own->blocks == 1 ? "" : "s", gp_format_bytes(own->bytes_a_pass).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("free each block when its last use is over, or keep one and use it again", out);
}

const struct gp_rule gp_rule_leaked_memory = {
	.id = "leaked-memory",
	.title = "memory is allocated repeatedly and never freed",
	.meaning =
		"At the end of the program many blocks of one call site were not freed: 1 MiB or more in all; or less, but still growing, 20 times or more with kernel launches in between, until the last launches. Blocks allocated with no launch in between, such as the weights of a model, do not count. A leak costs no time until memory runs out: then an allocation fails, or managed memory migrates constantly.",
	.change =
		"Free each block after its last use. `gpuprof summary --memory` shows all call sites, and the largest ones at the peak.",
	.ignore = "The blocks are a cache or a table that the program needs until its end.",
	.threshold = {.count = 16},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
