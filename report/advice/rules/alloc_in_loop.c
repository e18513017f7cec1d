#include "report/advice/rules/rules.h"

#include "report/trace/cuda_names.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/next_wait.h"

struct own {
	bool recurs;          /* on a device it allocates more often than it has blocks in use */
	uint64_t leaked;      /* blocks, which only allocations counts */
	uint64_t allocations; /* on all devices, during the walk over the calls ... */
	uint64_t in_use;      /* ... blocks at present ... */
	uint64_t kept;        /* ... and at most: these are needed in any case */
};

/* Leaked blocks, if they increase the number of blocks in use. */
static uint64_t count_leaked(const struct gp_advisor *advisor, const struct gp_memory_sites *memory,
			     const struct gp_memory_site *row)
{
	struct gp_model *const model = advisor->scope.models[advisor->process];

	if (row->blocks_at_once == row->freed_at_once || !gp_memory_site_is_leak(memory, row) ||
	    !gp_memory_sites_knows_leaks(&model, 1))
		return 0;
	return row->left_blocks;
}

static void take_row(struct gp_advisor *advisor, const struct gp_memory_sites *memory,
		     const struct gp_memory_site *row)
{
	uint64_t leaked = count_leaked(advisor, memory, row);
	uint64_t at_once = leaked > 0 ? row->freed_at_once : row->blocks_at_once;
	uint32_t site = gp_advisor_same_site(advisor, memory->sites, row->site);
	struct own *own = gp_advisor_case(advisor, site, row->kind, 0)->own;

	own->recurs |= row->allocations > leaked + at_once;
	own->leaked += leaked;
}

/* The case of an allocation. */
static struct gp_case *case_of(struct gp_advisor *advisor, const struct gp_memory_event *event)
{
	return gp_advisor_case(advisor,
			       gp_advisor_site(advisor, &advisor->model->calls[event->call]),
			       event->memory_kind, 0);
}

/* Returns the time of the call. */
static uint64_t spare_call(struct gp_advisor *advisor, struct gp_case *found, uint32_t number)
{
	const struct gp_call *call = number != GP_NONE ? &advisor->model->calls[number] : NULL;

	if (!call)
		return 0;
	if (!gp_next_wait_follows(advisor, call))
		gp_advisor_stretch_until(advisor, found, call,
					 gp_next_wait_after_ns(advisor, call));
	return call->duration_ns;
}

/* The first blocks are needed, and their allocations with them; later ones could reuse a block. */
static void take_allocation(struct gp_advisor *advisor, const struct gp_memory_event *event)
{
	struct gp_case *found = case_of(advisor, event);
	struct own *own = found->own;
	uint64_t time_ns;

	if (!own->recurs)
		return;
	own->allocations++;
	if (own->leaked > 0 && event->other == GP_NONE)
		return;
	if (++own->in_use > own->kept) {
		own->kept = own->in_use;
		return;
	}
	found->bytes += event->bytes;
	time_ns = spare_call(advisor, found, event->call);
	if (event->other != GP_NONE)
		time_ns += spare_call(advisor, found, advisor->model->memory[event->other].call);
	gp_advisor_count(advisor, found, advisor->model->calls[event->call].start_ns, time_ns);
}

static void take_free(struct gp_advisor *advisor, const struct gp_memory_event *event)
{
	const struct gp_memory_event *other =
		event->other != GP_NONE ? &advisor->model->memory[event->other] : NULL;
	struct own *own = other && other->call != GP_NONE ? case_of(advisor, other)->own : NULL;

	if (own && own->in_use > 0)
		own->in_use--;
}

/* The calls that allocate, and those that free the same. */
static void take_calls(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op == GP_MEMORY_FREE)
			take_free(advisor, event);
		else if (event->op == GP_MEMORY_ALLOC && event->call != GP_NONE)
			take_allocation(advisor, event);
	}
	gp_advisor_save_idle_once(advisor);
}

/* These calls explain the gaps in which the process allocated. */
static void explain_idle_gaps(struct gp_advisor *advisor, const struct gp_case *found)
{
	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++) {
		struct gp_device_idle_gaps *device = &advisor->basis->idle_gaps.devices[i];

		for (uint32_t k = 0; k < device->count; k++)
			if (device->idle_gaps[k].cause == GP_IDLE_ALLOC &&
			    device->idle_gaps[k].after.model == advisor->process)
				device->idle_gaps[k].told = (uint32_t)(found - advisor->cases);
	}
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_memory_sites *memory = gp_advisor_memory(advisor);
	const struct gp_case *found;

	for (uint32_t i = 0; memory && i < memory->row_count; i++)
		take_row(advisor, memory, &memory->rows[i]);
	take_calls(advisor);
	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		if (gp_advisor_is_worth(advisor, found)) {
			explain_idle_gaps(advisor, found);
			return;
		}
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	gp_document_add_text(values, "memory", gp_allocation_name((uint8_t)found->detail));
	gp_document_add_flag(values, "is_device", found->detail == GP_MEMORY_DEVICE);
	gp_document_add_flag(values, "is_async", found->detail == GP_MEMORY_ASYNC);
	gp_document_add_number(values, "allocation_count", GP_UNIT_COUNT, own->allocations);
	gp_document_add_number(values, "kept_count", GP_UNIT_COUNT, own->kept);
	gp_document_add_number(values, "leaked_count", GP_UNIT_COUNT, own->leaked);
}

const struct gp_rule gp_rule_alloc_in_loop = {
	.id = "alloc-in-loop",
	.title = "memory is allocated and freed repeatedly",
	.found =
		"{memory} memory is allocated {allocation_count} times, but only {kept_count} block[{?kept_count=1} is|s are] in use at the same time[, besides {leaked_count} never freed]; the other allocations and their frees take [{?step_time_ns}{step_time_ns} in each step|{time_ns}]",
	.change =
		"[{?leaked_count}free the leaked blocks first; ][{?language=torch}{?is_device}PyTorch keeps freed memory for reuse: remove torch.cuda.empty_cache() from the loop, and unset PYTORCH_NO_CUDA_MEMORY_CACHING; if the program does neither, memory is short: use smaller batches, or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True|allocate the block[{!kept_count=1}s] before the loop and reuse [{?kept_count=1}it|them][{?is_device}; or use a memory pool (cudaMallocAsync)][{?is_async}; or let the pool keep freed memory (cudaMemPoolAttrReleaseThreshold)]]",
	.meaning =
		"A call site allocates far more often than it has blocks in use. cudaMalloc, cudaFree, cudaMallocHost and cudaHostRegister take tens of microseconds to milliseconds, and cudaFree waits for the GPU. With all of its blocks kept, the site needs no further allocation. Blocks that leak are reported separately. The saving is at most the time of the calls, and at most the GPU's idle time from such a call to the next one or to the next wait of the thread for the GPU: a later launch would wait there all the same. A free that waits for kernels saves nothing if the next call of the thread waits for the same kernels.",
	.remedy =
		"Allocate before the loop, with the largest size if sizes vary. Or use cudaMallocAsync and cudaFreeAsync with a release threshold above 0 (cudaMemPoolAttrReleaseThreshold), or the caching allocator of your framework.",
	.ignore =
		"The loop is setup that runs once, or its iterations are slow for another reason.",
	.threshold =
		{.saves_percent = 1,
		 .saves_ns = 200000,
		 .count = 16,
		 .reason =
			 "Fewer allocations are setup, and less time shows that the allocator is fast enough"},
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
