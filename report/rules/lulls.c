#include "report/rules/lulls.h"

#include <errno.h>
#include <stdlib.h>

#include "report/array.h"

#define CLOCKS_DIFFER_NS 5000u

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_op *ops = context;
	const struct gp_op *left = &ops[*(const uint32_t *)a], *right = &ops[*(const uint32_t *)b];

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return 0;
}

/* The numbers of the operations that have times, by start; NULL if there is no memory. */
static uint32_t *order_ops(const struct gp_model *model, uint32_t *count)
{
	uint32_t *order = malloc(((size_t)model->op_count + 1) * sizeof(*order));

	*count = 0;
	for (uint32_t i = 0; order && i < model->op_count; i++)
		if (!model->ops[i].untimed)
			order[(*count)++] = i;
	if (order && gp_array_sort(order, *count, sizeof(*order), compare_starts, model->ops) == 0)
		return order;
	free(order);
	return NULL;
}

/* Whether recording was off at any time in it: then nobody knows whether the GPU was at work. */
static bool is_paused_within(const struct gp_model *model, uint64_t start_ns, uint64_t end_ns)
{
	if (!gp_model_records_at(model, start_ns))
		return true;
	for (uint32_t i = 0; i < model->gate_count; i++)
		if (!model->gates[i].on && model->gates[i].time_ns >= start_ns &&
		    model->gates[i].time_ns < end_ns)
			return true;
	return false;
}

static int add_lull(struct gp_device_lulls *device, struct gp_lull lull)
{
	int result = gp_array_grow(&device->lulls, &device->capacity, device->count, sizeof(lull));

	if (result == 0)
		device->lulls[device->count++] = lull;
	return result;
}

static int take_op(struct gp_device_lulls *device, const struct gp_model *model, uint32_t at,
		   uint32_t *latest)
{
	const struct gp_op *op = &model->ops[at];
	int result = 0;

	if (device->last_ns == 0) {
		device->first_ns = op->start_ns;
	} else if (op->start_ns > device->last_ns &&
		   !is_paused_within(model, device->last_ns, op->start_ns)) {
		result = add_lull(device, (struct gp_lull){.start_ns = device->last_ns,
							   .end_ns = op->start_ns,
							   .after = *latest,
							   .before = at});
	}
	if (op->end_ns >= device->last_ns) {
		device->last_ns = op->end_ns;
		*latest = at;
	}
	return result;
}

static int sum_up(struct gp_device_lulls *device)
{
	device->idle_ns = calloc((size_t)device->count + 1, sizeof(*device->idle_ns));
	if (!device->idle_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < device->count; i++)
		device->idle_ns[i + 1] = device->idle_ns[i] + gp_lull_ns(&device->lulls[i]);
	return 0;
}

int gp_lulls_of(const struct gp_model *model, struct gp_lulls *lulls)
{
	uint32_t count, latest[GP_DEVICE_LIMIT] = {0}, *order = order_ops(model, &count);
	int result = order ? 0 : -ENOMEM;

	lulls->devices = calloc(GP_DEVICE_LIMIT, sizeof(*lulls->devices));
	if (!lulls->devices)
		result = -ENOMEM;
	for (uint32_t i = 0; result == 0 && i < count; i++) {
		uint16_t device = model->ops[order[i]].device_id;

		result = take_op(&lulls->devices[device], model, order[i], &latest[device]);
	}
	for (uint32_t i = 0; result == 0 && i < GP_DEVICE_LIMIT; i++)
		result = sum_up(&lulls->devices[i]);
	free(order);
	return result;
}

void gp_lulls_free(struct gp_lulls *lulls)
{
	for (uint32_t i = 0; lulls->devices && i < GP_DEVICE_LIMIT; i++) {
		free(lulls->devices[i].lulls);
		free(lulls->devices[i].idle_ns);
	}
	free(lulls->devices);
	lulls->devices = NULL;
}

/* How many lulls began before that moment. */
static uint32_t count_before(const struct gp_device_lulls *device, uint64_t time_ns)
{
	uint32_t low = 0, high = device->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (device->lulls[middle].start_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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

uint64_t gp_lulls_busy_ns(const struct gp_lulls *lulls, uint16_t device_id, uint64_t start_ns,
			  uint64_t end_ns)
{
	const struct gp_device_lulls *device = &lulls->devices[device_id];

	if (start_ns < device->first_ns)
		start_ns = device->first_ns;
	if (end_ns > device->last_ns)
		end_ns = device->last_ns;
	if (start_ns >= end_ns)
		return 0;
	return end_ns - start_ns - (idle_until(device, end_ns) - idle_until(device, start_ns));
}

struct gp_lull *gp_lulls_at(const struct gp_lulls *lulls, uint16_t device_id, uint64_t time_ns)
{
	const struct gp_device_lulls *device = &lulls->devices[device_id];
	uint32_t begun = count_before(device, time_ns + CLOCKS_DIFFER_NS);

	if (begun == 0 || device->lulls[begun - 1].end_ns + CLOCKS_DIFFER_NS < time_ns)
		return NULL;
	return &device->lulls[begun - 1];
}
