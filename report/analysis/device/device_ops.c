#include "report/analysis/device/device_ops.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

static void add_run(struct gp_device_ops *ops, struct gp_op_run run)
{
	gp_array_grow_spill(&ops->runs, &ops->run_capacity, ops->run_count, sizeof(run));
	ops->runs[ops->run_count++] = run;
}

static void find_runs(struct gp_device_ops *ops, uint32_t number, struct gp_device_list *devices)
{
	const struct gp_model *model = ops->models[number];

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		size_t device = gp_device_list_find(devices, model, model->ops[first].device_id);

		end = gp_model_stream_end(model, first);
		add_run(ops, (struct gp_op_run){device, number, first, end});
	}
}

int gp_device_ops_open(struct gp_device_ops *ops, struct gp_model *const *models,
		       size_t model_count, struct gp_device_list *devices)
{
	*ops = (struct gp_device_ops){.models = models};
	for (uint32_t i = 0; i < model_count; i++)
		find_runs(ops, i, devices);
	ops->next = calloc((size_t)ops->run_count + 1, sizeof(*ops->next));
	gp_kway_merge_open(&ops->heads, ops->run_count);
	return 0;
}

void gp_device_ops_close(struct gp_device_ops *ops)
{
	gp_kway_merge_close(&ops->heads);
	gp_spill_free(ops->runs);
	free(ops->next);
	*ops = (struct gp_device_ops){0};
}

size_t gp_device_ops_users(const struct gp_device_ops *ops, size_t device, uint32_t *users)
{
	size_t count = 0;

	for (uint32_t i = 0; i < ops->run_count; i++) {
		const struct gp_op_run *run = &ops->runs[i];

		if (run->device == device && (count == 0 || users[count - 1] != run->model))
			users[count++] = run->model;
	}
	return count;
}

/* Whether the run has a next timed operation, and when it begins. */
static bool find_next(struct gp_device_ops *ops, size_t number, uint64_t *start_ns)
{
	const struct gp_op_run *run = &ops->runs[number];
	const struct gp_model *model = ops->models[run->model];
	uint32_t *next = &ops->next[number];

	while (*next < run->end &&
	       (model->ops[*next].untimed || gp_op_is_on_host(&model->ops[*next])))
		(*next)++;
	if (*next == run->end)
		return false;
	*start_ns = model->base_unix_ns + model->ops[*next].start_ns;
	return true;
}

void gp_device_ops_start(struct gp_device_ops *ops, size_t device)
{
	uint64_t start_ns;

	ops->heads.count = 0;
	for (size_t i = 0; i < ops->run_count; i++)
		if (ops->runs[i].device == device) {
			ops->next[i] = ops->runs[i].first;
			if (find_next(ops, i, &start_ns))
				gp_kway_merge_put(&ops->heads, i, start_ns);
		}
}

bool gp_device_ops_next(struct gp_device_ops *ops, struct gp_op_at *at)
{
	struct gp_kway_merge_head head;
	uint64_t start_ns;
	size_t number;

	if (ops->heads.count == 0)
		return false;
	number = ops->heads.heads[0].sequence;
	*at = (struct gp_op_at){ops->runs[number].model, ops->next[number]++};
	if (find_next(ops, number, &start_ns))
		gp_kway_merge_replace(&ops->heads, start_ns);
	else
		gp_kway_merge_take(&ops->heads, &head);
	return true;
}
