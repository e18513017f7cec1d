/*
 * Allocation in the steady state.  Speaks where a call site allocated at least 16 times more often
 * than it had blocks at the same time, and the calls that would have been spared took 2 % of the
 * recorded time and 200 us: below that it is set-up, or an allocator that is fast enough.  Blocks
 * that leak meanwhile are none of those to keep.
 */
#include "report/rules/rules.h"

#include "report/cuda_names.h"
#include "report/format.h"
#include "report/memory_sites.h"
#include "report/rules/advisor.h"

/*
 * In a case's cause_ns, of the present process: time in the calls, and what of it would have been spared.
 * Of all: the blocks that leaked, and are not counted among those at the same time.
 */
enum { TIME, SPARED, LEAKED };

/* Blocks that leaked, where there were more at the same time for them. */
static uint64_t count_leaked(const struct gp_advisor *advisor, const struct gp_memory_sites *memory,
			     const struct gp_memory_site *row)
{
	if (row->blocks_at_once == row->freed_at_once || !gp_memory_site_is_leak(memory, row) ||
	    !gp_memory_sites_knows_leaks(advisor->scope.models, advisor->scope.model_count))
		return 0;
	return row->left_blocks;
}

static void take_row(struct gp_advisor *advisor, const struct gp_memory_sites *memory,
		     const struct gp_memory_site *row)
{
	uint64_t leaked = count_leaked(advisor, memory, row);
	uint64_t at_once = leaked > 0 ? row->freed_at_once : row->blocks_at_once;
	uint64_t spared = row->allocations - leaked - at_once;
	uint64_t time_ns = row->allocate_ns + row->free_ns;
	struct gp_case *found;

	if (spared == 0 || row->allocations == 0)
		return;
	found = gp_advisor_case(advisor, gp_advisor_same_site(advisor, memory->sites, row->site),
				row->kind, 0);
	found->count += spared;
	found->time_ns += time_ns;
	found->bytes += row->allocated_bytes;
	found->extra += at_once;
	found->cause_ns[LEAKED] += leaked;
	found->cause_ns[TIME] += time_ns;
	found->cause_ns[SPARED] +=
		(uint64_t)((double)time_ns * (double)spared / (double)row->allocations);
}

static void take_call(struct gp_advisor *advisor, const struct gp_case *found, uint32_t number)
{
	const struct gp_call *call = number != GP_NONE ? &advisor->model->calls[number] : NULL;

	if (call)
		gp_advisor_stretch(advisor, found, call->start_ns, gp_call_end_ns(call),
				   (double)found->cause_ns[SPARED] / (double)found->cause_ns[TIME]);
}

/* Of the calls that allocate, and those that free the same, the share that would have been spared. */
static void take_calls(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; advisor->error == 0 && i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		const struct gp_case *found;

		if (event->op != GP_MEMORY_ALLOC || event->call == GP_NONE)
			continue;
		found = gp_advisor_case(advisor,
					gp_advisor_site(advisor, &model->calls[event->call]),
					event->memory_kind, 0);
		if (found->cause_ns[TIME] == 0)
			continue;
		take_call(advisor, found, event->call);
		if (event->other != GP_NONE)
			take_call(advisor, found, model->memory[event->other].call);
	}
	gp_advisor_save_once(advisor);
}

static void begin_process(struct gp_advisor *advisor)
{
	for (uint32_t i = 0; i < advisor->case_count; i++)
		if (advisor->cases[i].rule == advisor->rule)
			advisor->cases[i].cause_ns[TIME] = advisor->cases[i].cause_ns[SPARED] = 0;
}

/* While the process allocated its GPU had nothing to do: these are the calls. */
static void explain_lulls(struct gp_advisor *advisor, const struct gp_case *found)
{
	for (size_t i = 0; i < advisor->basis->lulls.device_count; i++) {
		struct gp_device_lulls *device = &advisor->basis->lulls.devices[i];

		for (uint32_t k = 0; k < device->count; k++)
			if (device->lulls[k].cause == GP_IDLE_ALLOC &&
			    device->lulls[k].after.model == advisor->process)
				device->lulls[k].told = (uint32_t)(found - advisor->cases);
	}
}

static void take_memory(struct gp_advisor *advisor, const struct gp_memory_sites *memory)
{
	for (uint32_t i = 0; advisor->error == 0 && i < memory->row_count; i++)
		take_row(advisor, memory, &memory->rows[i]);
}

/* Of a process alone: what all of them could save at the same time is not saved twice. */
static void take_own_memory(struct gp_advisor *advisor)
{
	struct gp_scope *scope = &advisor->scope;
	struct gp_memory_sites memory;

	advisor->error = gp_memory_sites_of(&scope->models[advisor->process], 1, &scope->devices,
					    GP_MEMORY_ALL, &memory);
	take_memory(advisor, &memory);
	gp_memory_sites_free(&memory);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_memory_sites *all =
		advisor->scope.model_count == 1 ? gp_advisor_memory(advisor) : NULL;

	begin_process(advisor);
	if (all)
		take_memory(advisor, all);
	else if (advisor->error == 0)
		take_own_memory(advisor);
	take_calls(advisor);
	for (uint32_t i = 0; advisor->error == 0 && i < advisor->case_count; i++)
		if (advisor->cases[i].rule == advisor->rule &&
		    gp_advisor_is_worth(advisor, &advisor->cases[i])) {
			explain_lulls(advisor, &advisor->cases[i]);
			return;
		}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	uint64_t leaked = found->cause_ns[LEAKED];

	(void)advisor;
	fprintf(out, "%s memory is allocated %s times, but only %s block%s in use at the same time",
		gp_allocation_name((uint8_t)found->detail),
		gp_format_count(found->count + found->extra + leaked).text,
		gp_format_count(found->extra).text, found->extra == 1 ? " is" : "s are");
	if (leaked > 0)
		fprintf(out, ", besides %s that %s never freed", gp_format_count(leaked).text,
			leaked == 1 ? "was" : "were");
	fprintf(out, "; the calls that allocate and free take %s",
		gp_format_ns(found->time_ns).text);
}

/* What else helps, by enum gp_memory_kind: only a device's own memory can come from a pool. */
static const char *const others[GP_MEMORY_KINDS] = {
	[GP_MEMORY_DEVICE] = "; or take memory from a pool (cudaMallocAsync)",
	[GP_MEMORY_ASYNC] = "; or let the pool keep what is freed "
			    "(cudaMemPoolAttrReleaseThreshold)",
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const char *other = found->detail < GP_MEMORY_KINDS ? others[found->detail] : NULL;

	(void)advisor;
	if (found->cause_ns[LEAKED] > 0)
		fprintf(out, "free %s first; ", found->cause_ns[LEAKED] == 1 ? "that" : "those");
	fprintf(out, "allocate %s before the loop and use %s again%s",
		found->extra == 1 ? "the block" : "the blocks", found->extra == 1 ? "it" : "them",
		other ? other : "");
}

const struct gp_rule gp_rule_alloc_in_loop = {
	.id = "alloc-in-loop",
	.title = "memory is allocated and freed again and again",
	.meaning = "A call site allocated far more often than it had blocks at the same time. "
		   "cudaMalloc, "
		   "cudaFree, cudaMallocHost and cudaHostRegister take tens of microseconds to "
		   "milliseconds, and cudaFree waits for the GPU. With as many blocks kept as "
		   "there were "
		   "at the same time, all other allocations were not needed; blocks that "
		   "leak are told apart.",
	.change = "Allocate before the loop. Where sizes vary, allocate the largest. Or use "
		  "cudaMallocAsync and cudaFreeAsync with a release threshold above 0 "
		  "(cudaMemPoolAttrReleaseThreshold), or the caching allocator of your framework.",
	.ignore = "The loop is set-up that runs once, or what is in it takes much longer for a "
		  "reason of its own.",
	.threshold = {.saves_percent = 2, .saves_ns = 200000, .count = 16},
	.look = look,
	.tell = tell,
	.advise = advise,
};
