/*
 * Kernels that wait for memory which is not on their GPU: page faults of unified memory, and what
 * moves there because of them.  Speaks where these took 5 % of the recorded time and 10 ms in which
 * the GPU was at work.
 */
#include "report/advice/rules/rules.h"

#include <errno.h>

#include "report/analysis/idle/busy.h"
#include "report/base/text/format.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/advisor.h"

struct own {
	uint64_t faults, fault_ns;
	uint64_t pieces, moved_bytes, moved_ns;
};

/* Of events, those that a kernel on that device waits for; all have a duration. */
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

/*
 * What comes at once counts once, and only while the GPU was at work: its kernels were longer for
 * it.
 */
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

	for (uint32_t i = 0; i < model->unified_count && advisor->error == 0; i++) {
		const struct gp_record_unified *event = &model->unifieds[i];

		if (!is_waited_for(event, device_id))
			continue;
		times[found++] = (struct gp_interval){event->start_ns, event->end_ns};
		count(advisor, device_id, event);
	}
	if (found > 0 && advisor->error == 0)
		save(advisor, device_id, times, gp_interval_join(times, found));
}

static void look(struct gp_advisor *advisor)
{
	struct gp_interval *times;

	if (advisor->model->unified_count == 0)
		return;
	times = gp_spill_take((size_t)advisor->model->unified_count * sizeof(*times));
	if (!times)
		advisor->error = -ENOMEM;
	for (uint32_t i = 0; times && i < GP_DEVICE_LIMIT; i++)
		if (advisor->devices[i] != SIZE_MAX)
			look_at_device(advisor, i, times);
	gp_spill_free(times);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	const char *separator = "";

	(void)advisor;
	fputs("kernels waited for unified memory that was not on their GPU: ", out);
	if (own->fault_ns > 0) {
		fprintf(out, "%s page fault%s took %s", gp_format_count(own->faults).text,
			own->faults == 1 ? "" : "s", gp_format_ns(own->fault_ns).text);
		separator = ", and ";
	}
	if (own->pieces > 0)
		fprintf(out, "%s%s came in %s piece%s, %s on average, in %s", separator,
			gp_format_bytes(own->moved_bytes).text, gp_format_count(own->pieces).text,
			own->pieces == 1 ? "" : "s",
			gp_format_bytes((own->moved_bytes + own->pieces / 2) / own->pieces).text,
			gp_format_ns(own->moved_ns).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("prefetch it before the kernel needs it (cudaMemPrefetchAsync), declare its use (cudaMemAdvise), and use cudaMalloc for memory of the GPU only; the addresses: gpuprof summary --by unified-address FILE",
	      out);
}

const struct gp_rule gp_rule_unified_faults = {
	.id = "unified-faults",
	.title = "kernels wait for unified memory to migrate",
	.meaning =
		"Unified memory (cudaMallocManaged) migrates on access. A kernel that accesses a page of the host takes a page fault, waits until the driver has migrated the page, and then takes the next fault. This takes several times as long as one large copy, and counts as busy time of the GPU. Explicit prefetches do not count. The rule needs --trace=unified.",
	.change =
		"Call cudaMemPrefetchAsync() to the GPU before the launch, and to the host before the host reads. Use cudaMemAdvise() for memory that both only read (cudaMemAdviseSetReadMostly) or that should stay (cudaMemAdviseSetPreferredLocation). Use cudaMalloc() for memory of the GPU only.",
	.ignore = "The program needs more memory than the GPU has, so a part has to migrate.",
	.threshold = {.saves_percent = 5, .saves_ns = 10000000, .count = 1},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
