#include "report/advice/rules/rules.h"

#include "report/analysis/idle/busy.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/advisor.h"

struct own {
	uint64_t faults, fault_ns;
	uint64_t pieces, moved_bytes, moved_ns;
};

/* Whether kernels of that device wait for that event. */
static bool is_waited_for(const struct gp_record_unified *event, uint32_t device_id)
{
	if (event->end_ns <= event->start_ns || gp_unified_device(event) != device_id)
		return false;
	return event->counter_kind == GP_UNIFIED_GPU_FAULT ||
	       (event->counter_kind == GP_UNIFIED_HTOD && event->flags != GP_UNIFIED_CAUSE_USER);
}

static void count(struct gp_advisor *advisor, uint32_t device_id,
		  const struct gp_record_unified *event)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, device_id, 0);
	uint64_t ns = event->end_ns - event->start_ns;
	struct own *own = found->own;

	gp_advisor_add(advisor, found, event->start_ns, ns, 0, NULL);
	if (event->counter_kind == GP_UNIFIED_GPU_FAULT) {
		own->faults += event->value;
		own->fault_ns += ns;
	} else {
		own->pieces++;
		own->moved_bytes += event->value;
		own->moved_ns += ns;
	}
}

/* Simultaneous events count once, and only while the GPU is busy: they make its kernels longer. */
static void save(struct gp_advisor *advisor, uint32_t device_id, struct gp_interval *times,
		 size_t joined)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, device_id, 0);

	for (size_t i = 0; i < joined; i++)
		gp_advisor_save(advisor, found, times[i].start_ns,
				gp_advisor_busy_ns(advisor, (uint16_t)device_id, times[i].start_ns,
						   times[i].end_ns));
}

static void look_at_device(struct gp_advisor *advisor, uint32_t device_id,
			   struct gp_interval *times)
{
	const struct gp_model *model = advisor->model;
	size_t found = 0;

	for (uint32_t i = 0; i < model->unified_count; i++) {
		const struct gp_record_unified *event = &model->unifieds[i];

		if (!is_waited_for(event, device_id))
			continue;
		times[found++] = (struct gp_interval){event->start_ns, event->end_ns};
		count(advisor, device_id, event);
	}
	if (found > 0)
		save(advisor, device_id, times, gp_interval_join(times, found));
}

static void look(struct gp_advisor *advisor)
{
	struct gp_interval *times;

	if (advisor->model->unified_count == 0)
		return;
	times = gp_spill_take((size_t)advisor->model->unified_count * sizeof(*times));
	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++)
		if (advisor->devices[i] != SIZE_MAX)
			look_at_device(advisor, i, times);
	gp_spill_free(times);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	if (own->fault_ns > 0)
		gp_document_add_number(values, "fault_count", GP_UNIT_COUNT, own->faults);
	gp_document_add_number(values, "fault_ns", GP_UNIT_NS, own->fault_ns);
	if (own->pieces == 0)
		return;
	gp_document_add_number(values, "moved_bytes", GP_UNIT_BYTES, own->moved_bytes);
	gp_document_add_number(values, "piece_count", GP_UNIT_COUNT, own->pieces);
	gp_document_add_number(values, "piece_bytes", GP_UNIT_BYTES,
			       (own->moved_bytes + own->pieces / 2) / own->pieces);
	gp_document_add_number(values, "moved_ns", GP_UNIT_NS, own->moved_ns);
}

const struct gp_rule gp_rule_unified_faults = {
	.id = "unified-faults",
	.title = "kernels wait for unified memory to migrate",
	.found =
		"kernels waited for unified memory that was not on their GPU: [{fault_count} page fault[{!fault_count=1}s] took {fault_ns}[{?moved_bytes}, and ]][{moved_bytes} migrated in {piece_count} piece[{!piece_count=1}s], {piece_bytes} on average, in {moved_ns}]",
	.change =
		"prefetch the memory before the kernel needs it (cudaMemPrefetchAsync), declare its use (cudaMemAdvise), and use cudaMalloc for memory of the GPU only; addresses: gpuprof summary --by unified-address FILE",
	.meaning =
		"Unified memory (cudaMallocManaged) migrates on access. A kernel that accesses a page of the host takes a page fault, waits until the driver has migrated the page, and then takes the next fault. This takes several times as long as one large copy, and counts as busy time of the GPU. Explicit prefetches do not count. The rule needs --trace=unified.",
	.remedy =
		"Call cudaMemPrefetchAsync() to the GPU before the launch, and to the host before the host reads. Use cudaMemAdvise() for memory that both only read (cudaMemAdviseSetReadMostly) or that should stay (cudaMemAdviseSetPreferredLocation). Use cudaMalloc() for memory of the GPU only.",
	.ignore = "The program needs more memory than the GPU has, so a part has to migrate.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 10000000,
		      .count = 1,
		      .reason = "Less is the first touch of the data"},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
