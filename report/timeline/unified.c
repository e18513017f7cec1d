/* Unified memory: migrations, faults, thrashing, by the device that they are about. */

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/timeline/walk.h"
#include "report/trace/cuda_names.h"

struct happening {
	uint32_t device_id; /* GP_NONE: of the host */
	uint32_t index;
};

/* GPUs of which nothing else is known have no tracks. */
static uint32_t device_of(const struct gp_model *model, const struct gp_record_unified *unified)
{
	uint32_t device_id = gp_unified_device(unified);

	if (device_id == GP_NONE || gp_model_device(model, (uint16_t)device_id))
		return device_id;
	for (uint32_t i = 0; i < model->op_count; i = gp_model_stream_end(model, i))
		if (model->ops[i].device_id == device_id)
			return device_id;
	return GP_NONE;
}

static bool is_migration(const struct gp_record_unified *unified)
{
	return unified->counter_kind == GP_UNIFIED_HTOD ||
	       unified->counter_kind == GP_UNIFIED_DTOH || unified->counter_kind == GP_UNIFIED_DTOD;
}

/* A GPU's number, or the host. */
static void put_end(struct gp_timeline_event *event, const char *key, uint32_t device_id)
{
	if (device_id < GP_DEVICE_LIMIT)
		gp_walk_number(event, key, device_id);
	else
		gp_walk_text(event, key, "host");
}

static void put_devices(struct gp_timeline_event *event, const struct gp_record_unified *unified)
{
	switch (unified->counter_kind) {
	case GP_UNIFIED_THRASHING: /* memory goes to and fro between them */
		gp_walk_arg(event, (struct gp_timeline_arg){.key = "devices",
							    .type = GP_ARG_BITS,
							    .number = unified->source_device_id});
		break;
	case GP_UNIFIED_GPU_FAULT:
	case GP_UNIFIED_THROTTLING:
		put_end(event, "device", unified->source_device_id);
		break;
	case GP_UNIFIED_CPU_FAULT:
		break;
	default:
		put_end(event, "source", unified->source_device_id);
		put_end(event, "destination", unified->destination_device_id);
	}
}

static void walk_unified(struct gp_timeline *t, const struct gp_record_unified *unified)
{
	const char *cause = gp_unified_cause_name(unified->counter_kind, unified->flags);
	bool is_slice = unified->end_ns > unified->start_ns;
	struct gp_timeline_event event = {.kind = GP_TIMELINE_UNIFIED,
					  .start_ns = unified->start_ns,
					  .end_ns = unified->end_ns,
					  .name = gp_unified_name(unified->counter_kind),
					  .of.unified = unified};

	if (!gp_walk_wants(t, &event) || (!is_slice && (event.is_elsewhere || t->slices_only)))
		return;
	event.is_instant = !is_slice;
	gp_walk_address(&event, "address", unified->address);
	gp_walk_number(&event, gp_unified_counts_bytes(unified->counter_kind) ? "bytes" : "value",
		       unified->value);
	gp_walk_number(&event, "flags", unified->flags);
	if (*cause)
		gp_walk_text(&event,
			     unified->counter_kind == GP_UNIFIED_GPU_FAULT ? "access" : "cause",
			     cause);
	put_devices(&event, unified);
	if (is_migration(unified) && is_slice)
		gp_walk_arg(&event,
			    (struct gp_timeline_arg){.key = "memory bandwidth (GB/s)",
						     .type = GP_ARG_RATIO,
						     .number = unified->value,
						     .per = unified->end_ns - unified->start_ns});
	gp_walk_event(t, &event);
}

GP_COMPARE_BY_TWO(compare_happenings, struct happening, device_id, index)

void gp_walk_unified(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;
	struct happening *all = gp_spill_take(((size_t)model->unified_count + 1) * sizeof(*all));

	for (uint32_t i = 0; i < model->unified_count; i++)
		all[i] = (struct happening){device_of(model, &model->unifieds[i]), i};
	if (!t->is_table)
		gp_array_sort(all, model->unified_count, sizeof(*all), compare_happenings, NULL);
	for (uint32_t i = 0; t->error == 0 && i < model->unified_count; i++) {
		if (i == 0 || all[i].device_id != all[i - 1].device_id)
			gp_walk_track(t,
				      &(struct gp_timeline_track){.kind = GP_TRACK_DEVICE,
								  .name = "unified memory",
								  .device_id = all[i].device_id});
		walk_unified(t, &model->unifieds[all[i].index]);
	}
	gp_spill_free(all);
}
