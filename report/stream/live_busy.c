#include "report/stream/live_busy.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/interval.h"

struct gp_live_busy_operation {
	uint64_t start_ns, end_ns;
	uint16_t device;
};

void gp_live_busy_free(struct gp_live_busy *b)
{
	free(b->devices);
	free(b->pending);
	*b = (struct gp_live_busy){0};
}

static struct gp_live_busy_device *find_device(const struct gp_live_busy *b, uint16_t device)
{
	for (uint32_t i = 0; i < b->device_count; i++)
		if (b->devices[i].device == device)
			return &b->devices[i];
	return NULL;
}

static int make_device(struct gp_live_busy *b, uint16_t device)
{
	int result;

	if (find_device(b, device))
		return 0;
	result = gp_array_grow(&b->devices, &b->device_capacity, b->device_count,
			       sizeof(*b->devices));
	if (result == 0)
		b->devices[b->device_count++] = (struct gp_live_busy_device){
			.device = device, .covered_ns = b->window_end_ns};
	return result;
}

int gp_live_busy_add(struct gp_live_busy *b, uint16_t device, uint64_t start_ns, uint64_t end_ns)
{
	int result = make_device(b, device);

	if (result != 0 || end_ns <= start_ns)
		return result;
	result = gp_array_grow(&b->pending, &b->pending_capacity, b->pending_count,
			       sizeof(*b->pending));
	if (result == 0)
		b->pending[b->pending_count++] =
			(struct gp_live_busy_operation){start_ns, end_ns, device};
	return result;
}

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_live_busy_operation *left = a, *right = b;

	(void)context;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

int gp_live_busy_count(struct gp_live_busy *b, uint64_t until_ns)
{
	uint32_t kept = 0;
	int result = gp_array_sort(b->pending, b->pending_count, sizeof(*b->pending),
				   compare_starts, NULL);

	for (uint32_t i = 0; i < b->pending_count && result == 0; i++) {
		struct gp_live_busy_operation operation = b->pending[i];
		uint64_t end_ns = operation.end_ns < until_ns ? operation.end_ns : until_ns;
		struct gp_live_busy_device *device = find_device(b, operation.device);

		device->next_busy_ns +=
			gp_interval_reach(&device->covered_ns, operation.start_ns, end_ns);
		if (operation.end_ns > until_ns)
			b->pending[kept++] = operation;
	}
	if (result == 0)
		b->pending_count = kept;
	return result;
}

int gp_live_busy_end_window(struct gp_live_busy *b, uint64_t start_ns, uint64_t end_ns)
{
	int result;

	b->window_start_ns = b->window_end_ns != 0 ? b->window_end_ns : start_ns;
	b->window_end_ns = end_ns > b->window_start_ns ? end_ns : b->window_start_ns;
	result = gp_live_busy_count(b, b->window_end_ns);
	for (uint32_t i = 0; i < b->device_count; i++) {
		struct gp_live_busy_device *device = &b->devices[i];

		device->window_busy_ns = device->next_busy_ns;
		device->next_busy_ns = 0;
		if (device->covered_ns < b->window_end_ns)
			device->covered_ns = b->window_end_ns;
	}
	return result;
}
