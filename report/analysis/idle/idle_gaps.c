#include "report/analysis/idle/idle_gaps.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

#define CLOCKS_DIFFER_NS 5000u /* host and GPU clock, at most */
#define LEAST_GAP_NS     1000u /* the device takes so long between two operations */

static void take_segment(void *context, size_t device, unsigned state, uint64_t start_ns,
			 uint64_t end_ns)
{
	struct gp_idle_gaps *idle_gaps = context;
	struct gp_device_idle_gaps *of_device;

	if (device >= idle_gaps->device_count || !(state & GP_STATE_BUSY) || state >= GP_STATE_IDLE)
		return;
	of_device = &idle_gaps->devices[device];
	if (of_device->last_ns == 0)
		of_device->first_ns = start_ns;
	of_device->last_ns = end_ns;
}

static struct gp_idle_gap idle_gap_of(const struct gp_gap *gap)
{
	uint64_t length_ns = gap->end_ns - gap->start_ns;
	struct gp_idle_gap idle_gap = {
		.start_ns = gap->start_ns,
		.end_ns = gap->end_ns,
		.before = gap->before,
		.after = gap->after,
		.told = GP_NONE,
		.taker = GP_NONE,
		.device = (uint16_t)gap->device,
		.cause = (uint8_t)gap->cause,
	};

	for (size_t i = 0; i < GP_IDLE_CAUSES; i++)
		if (gap->cause_ns[i] > 0)
			idle_gap.cause_share[i] =
				(uint8_t)((double)gap->cause_ns[i] / (double)length_ns * 255 + 0.5);
	return idle_gap;
}

static void take_gap(void *context, const struct gp_gap *gap)
{
	struct gp_idle_gaps *idle_gaps = context;
	struct gp_device_idle_gaps *device;

	if (gap->device >= idle_gaps->device_count || gap->end_ns - gap->start_ns < LEAST_GAP_NS)
		return;
	device = &idle_gaps->devices[gap->device];
	gp_array_grow_spill(&device->idle_gaps, &device->capacity, device->count,
			    sizeof(*device->idle_gaps));
	device->idle_gaps[device->count++] = idle_gap_of(gap);
}

static void sum_up(struct gp_device_idle_gaps *device)
{
	device->idle_ns = gp_spill_take_zeroed((size_t)device->count + 1, sizeof(*device->idle_ns));
	for (uint32_t i = 0; i < device->count; i++)
		device->idle_ns[i + 1] = device->idle_ns[i] + gp_idle_gap_ns(&device->idle_gaps[i]);
}

/* NULL = of none. */
static struct gp_process_idle_gaps *process_of(const struct gp_idle_gaps *idle_gaps,
					       const struct gp_idle_gap *idle_gap)
{
	return gp_idle_gap_is_between(idle_gap) && idle_gap->after.model < idle_gaps->process_count
		       ? &idle_gaps->processes[idle_gap->after.model]
		       : NULL;
}

static void each_of_process(struct gp_idle_gaps *idle_gaps,
			    void (*take)(struct gp_process_idle_gaps *process,
					 struct gp_idle_gap *idle_gap))
{
	for (size_t i = 0; i < idle_gaps->device_count; i++)
		for (uint32_t k = 0; k < idle_gaps->devices[i].count; k++) {
			struct gp_idle_gap *idle_gap = &idle_gaps->devices[i].idle_gaps[k];
			struct gp_process_idle_gaps *process = process_of(idle_gaps, idle_gap);

			if (process)
				take(process, idle_gap);
		}
}

static void count_idle_gap(struct gp_process_idle_gaps *process, struct gp_idle_gap *idle_gap)
{
	(void)idle_gap;
	process->count++;
}

static void append_idle_gap(struct gp_process_idle_gaps *process, struct gp_idle_gap *idle_gap)
{
	uint64_t *longest_ns = &process->longest_ns[process->count / GP_IDLE_GAPS_BLOCK];

	process->idle_gaps[process->count++] = idle_gap;
	*longest_ns =
		gp_idle_gap_ns(idle_gap) > *longest_ns ? gp_idle_gap_ns(idle_gap) : *longest_ns;
}

static void deal_out(struct gp_idle_gaps *idle_gaps)
{
	each_of_process(idle_gaps, count_idle_gap);
	for (size_t i = 0; i < idle_gaps->process_count; i++) {
		struct gp_process_idle_gaps *process = &idle_gaps->processes[i];

		process->idle_gaps =
			gp_spill_take(((size_t)process->count + 1) * sizeof(struct gp_idle_gap *));
		process->longest_ns =
			gp_spill_take_zeroed((size_t)process->count / GP_IDLE_GAPS_BLOCK + 1,
					     sizeof(*process->longest_ns));
		process->count = 0;
	}
	each_of_process(idle_gaps, append_idle_gap);
}

void gp_idle_gaps_open(struct gp_idle_gaps *idle_gaps, size_t device_count, size_t process_count,
		       struct gp_sweep_taker *taker)
{
	*idle_gaps =
		(struct gp_idle_gaps){.device_count = device_count, .process_count = process_count};
	*taker =
		(struct gp_sweep_taker){take_segment, take_gap, idle_gaps, gp_sweep_needs_no_order};
	idle_gaps->devices = calloc(device_count + 1, sizeof(*idle_gaps->devices));
	idle_gaps->processes = calloc(process_count + 1, sizeof(*idle_gaps->processes));
}

void gp_idle_gaps_finish(struct gp_idle_gaps *idle_gaps)
{
	for (size_t i = 0; i < idle_gaps->device_count; i++)
		sum_up(&idle_gaps->devices[i]);
	deal_out(idle_gaps);
}

void gp_idle_gaps_free(struct gp_idle_gaps *idle_gaps)
{
	for (size_t i = 0; idle_gaps->devices && i < idle_gaps->device_count; i++) {
		gp_spill_free(idle_gaps->devices[i].idle_gaps);
		gp_spill_free(idle_gaps->devices[i].idle_ns);
	}
	for (size_t i = 0; idle_gaps->processes && i < idle_gaps->process_count; i++) {
		gp_spill_free(idle_gaps->processes[i].idle_gaps);
		gp_spill_free(idle_gaps->processes[i].longest_ns);
	}
	free(idle_gaps->devices);
	free(idle_gaps->processes);
	*idle_gaps = (struct gp_idle_gaps){0};
}

static bool begins_before(const void *element, const void *key)
{
	const struct gp_idle_gap *idle_gap = element;
	const uint64_t *time_ns = key;

	return idle_gap->start_ns < *time_ns;
}

/* How many idle_gaps began before that moment. */
static uint32_t count_before(const struct gp_device_idle_gaps *device, uint64_t time_ns)
{
	return gp_array_lower_bound(device->idle_gaps, device->count, sizeof(*device->idle_gaps),
				    begins_before, &time_ns);
}

/* From the first operation to that moment. */
static uint64_t idle_until(const struct gp_device_idle_gaps *device, uint64_t time_ns)
{
	uint32_t begun = count_before(device, time_ns);
	const struct gp_idle_gap *last = begun > 0 ? &device->idle_gaps[begun - 1] : NULL;

	if (last && last->end_ns > time_ns)
		return device->idle_ns[begun] - (last->end_ns - time_ns);
	return device->idle_ns[begun];
}

uint64_t gp_idle_gaps_busy_ns(const struct gp_idle_gaps *idle_gaps, size_t device,
			      uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_device_idle_gaps *of_device;

	if (device >= idle_gaps->device_count)
		return 0;
	of_device = &idle_gaps->devices[device];
	if (start_ns < of_device->first_ns)
		start_ns = of_device->first_ns;
	if (end_ns > of_device->last_ns)
		end_ns = of_device->last_ns;
	if (start_ns >= end_ns)
		return 0;
	return end_ns - start_ns -
	       (idle_until(of_device, end_ns) - idle_until(of_device, start_ns));
}

struct gp_idle_gap *gp_idle_gaps_at(const struct gp_idle_gaps *idle_gaps, size_t device,
				    uint64_t time_ns)
{
	const struct gp_device_idle_gaps *of_device;
	struct gp_idle_gap *idle_gap;
	uint32_t begun;

	if (device >= idle_gaps->device_count)
		return NULL;
	of_device = &idle_gaps->devices[device];
	begun = count_before(of_device, time_ns + CLOCKS_DIFFER_NS);
	if (begun == 0 || of_device->idle_gaps[begun - 1].end_ns + CLOCKS_DIFFER_NS < time_ns)
		return NULL;
	idle_gap = &of_device->idle_gaps[begun - 1];
	return gp_idle_gap_is_between(idle_gap) && idle_gap->cause != GP_IDLE_UNKNOWN ? idle_gap
										      : NULL;
}
