#include "report/analysis/idle/idle_gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

#define CLOCKS_DIFFER_NS 5000u
#define LEAST_NS         1000u

static void take_segment(void *context, size_t device, unsigned state, uint64_t start_ns,
			 uint64_t end_ns)
{
	struct gp_lulls *lulls = context;
	struct gp_device_lulls *of_device;

	if (device >= lulls->device_count || !(state & GP_STATE_BUSY) || state >= GP_STATE_IDLE)
		return;
	of_device = &lulls->devices[device];
	if (of_device->last_ns == 0)
		of_device->first_ns = start_ns;
	of_device->last_ns = end_ns;
}

static struct gp_lull lull_of(const struct gp_gap *gap)
{
	uint64_t length_ns = gap->end_ns - gap->start_ns;
	struct gp_lull lull = {
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
			lull.cause_share[i] =
				(uint8_t)((double)gap->cause_ns[i] / (double)length_ns * 255 + 0.5);
	return lull;
}

static void take_gap(void *context, const struct gp_gap *gap)
{
	struct gp_lulls *lulls = context;
	struct gp_device_lulls *device;
	int result;

	if (gap->device >= lulls->device_count || gap->end_ns - gap->start_ns < LEAST_NS)
		return;
	device = &lulls->devices[gap->device];
	result = gp_array_grow_room(&device->lulls, &device->capacity, device->count,
				    sizeof(*device->lulls));
	if (result == 0)
		device->lulls[device->count++] = lull_of(gap);
	else
		lulls->error = result;
}

static int sum_up(struct gp_device_lulls *device)
{
	device->idle_ns = gp_room_take_zeroed((size_t)device->count + 1, sizeof(*device->idle_ns));
	if (!device->idle_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < device->count; i++)
		device->idle_ns[i + 1] = device->idle_ns[i] + gp_lull_ns(&device->lulls[i]);
	return 0;
}

/* NULL = of none. */
static struct gp_process_lulls *process_of(const struct gp_lulls *lulls, const struct gp_lull *lull)
{
	return gp_lull_is_between(lull) && lull->after.model < lulls->process_count
		       ? &lulls->processes[lull->after.model]
		       : NULL;
}

static void each_of_process(struct gp_lulls *lulls,
			    void (*take)(struct gp_process_lulls *process, struct gp_lull *lull))
{
	for (size_t i = 0; i < lulls->device_count; i++)
		for (uint32_t k = 0; k < lulls->devices[i].count; k++) {
			struct gp_lull *lull = &lulls->devices[i].lulls[k];
			struct gp_process_lulls *process = process_of(lulls, lull);

			if (process)
				take(process, lull);
		}
}

static void count_lull(struct gp_process_lulls *process, struct gp_lull *lull)
{
	(void)lull;
	process->count++;
}

static void append_lull(struct gp_process_lulls *process, struct gp_lull *lull)
{
	uint64_t *longest_ns = &process->longest_ns[process->count / GP_LULLS_BLOCK];

	process->lulls[process->count++] = lull;
	*longest_ns = gp_lull_ns(lull) > *longest_ns ? gp_lull_ns(lull) : *longest_ns;
}

static int deal_out(struct gp_lulls *lulls)
{
	each_of_process(lulls, count_lull);
	for (size_t i = 0; i < lulls->process_count; i++) {
		struct gp_process_lulls *process = &lulls->processes[i];

		process->lulls =
			gp_room_take(((size_t)process->count + 1) * sizeof(struct gp_lull *));
		process->longest_ns = gp_room_take_zeroed(
			(size_t)process->count / GP_LULLS_BLOCK + 1, sizeof(*process->longest_ns));
		if (!process->lulls || !process->longest_ns)
			return -ENOMEM;
		process->count = 0;
	}
	each_of_process(lulls, append_lull);
	return 0;
}

int gp_lulls_open(struct gp_lulls *lulls, size_t device_count, size_t process_count,
		  struct gp_sweep_taker *taker)
{
	*lulls = (struct gp_lulls){.device_count = device_count, .process_count = process_count};
	*taker = (struct gp_sweep_taker){take_segment, take_gap, lulls, gp_sweep_needs_no_order};
	lulls->devices = calloc(device_count + 1, sizeof(*lulls->devices));
	lulls->processes = calloc(process_count + 1, sizeof(*lulls->processes));
	return lulls->devices && lulls->processes ? 0 : -ENOMEM;
}

int gp_lulls_finish(struct gp_lulls *lulls)
{
	int result = lulls->error;

	for (size_t i = 0; result == 0 && i < lulls->device_count; i++)
		result = sum_up(&lulls->devices[i]);
	return result == 0 ? deal_out(lulls) : result;
}

void gp_lulls_free(struct gp_lulls *lulls)
{
	for (size_t i = 0; lulls->devices && i < lulls->device_count; i++) {
		gp_room_free(lulls->devices[i].lulls);
		gp_room_free(lulls->devices[i].idle_ns);
	}
	for (size_t i = 0; lulls->processes && i < lulls->process_count; i++) {
		gp_room_free(lulls->processes[i].lulls);
		gp_room_free(lulls->processes[i].longest_ns);
	}
	free(lulls->devices);
	free(lulls->processes);
	*lulls = (struct gp_lulls){0};
}

static bool begins_before(const void *element, const void *key)
{
	const struct gp_lull *lull = element;
	const uint64_t *time_ns = key;

	return lull->start_ns < *time_ns;
}

/* How many lulls began before that moment. */
static uint32_t count_before(const struct gp_device_lulls *device, uint64_t time_ns)
{
	return gp_array_lower_bound(device->lulls, device->count, sizeof(*device->lulls),
				    begins_before, &time_ns);
}

/* From the first operation to that moment. */
static uint64_t idle_until(const struct gp_device_lulls *device, uint64_t time_ns)
{
	uint32_t begun = count_before(device, time_ns);
	const struct gp_lull *last = begun > 0 ? &device->lulls[begun - 1] : NULL;

	if (last && last->end_ns > time_ns)
		return device->idle_ns[begun] - (last->end_ns - time_ns);
	return device->idle_ns[begun];
}

uint64_t gp_lulls_busy_ns(const struct gp_lulls *lulls, size_t device, uint64_t start_ns,
			  uint64_t end_ns)
{
	const struct gp_device_lulls *of_device;

	if (device >= lulls->device_count)
		return 0;
	of_device = &lulls->devices[device];
	if (start_ns < of_device->first_ns)
		start_ns = of_device->first_ns;
	if (end_ns > of_device->last_ns)
		end_ns = of_device->last_ns;
	if (start_ns >= end_ns)
		return 0;
	return end_ns - start_ns -
	       (idle_until(of_device, end_ns) - idle_until(of_device, start_ns));
}

struct gp_lull *gp_lulls_at(const struct gp_lulls *lulls, size_t device, uint64_t time_ns)
{
	const struct gp_device_lulls *of_device;
	uint32_t begun;

	if (device >= lulls->device_count)
		return NULL;
	of_device = &lulls->devices[device];
	begun = count_before(of_device, time_ns + CLOCKS_DIFFER_NS);
	if (begun == 0 || of_device->lulls[begun - 1].end_ns + CLOCKS_DIFFER_NS < time_ns)
		return NULL;
	return gp_lull_is_between(&of_device->lulls[begun - 1]) ? &of_device->lulls[begun - 1]
								: NULL;
}
