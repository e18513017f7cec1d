#include "report/html/activity.h"

#include <stdlib.h>

#include "report/analysis/idle/gpu_sweep.h"
#include "report/analysis/idle/busy.h"
#include "report/analysis/idle/time_parts.h"
#include "report/model/devices.h"

struct activity {
	uint64_t origin_unix_ns;
	double part_ns;
	double *busy_ns; /* GP_HTML_ACTIVITY_PARTS for each device */
};

static void add_segment(void *context, size_t device, unsigned state, uint64_t start_ns,
			uint64_t end_ns)
{
	struct activity *activity = context;

	if ((state & GP_STATE_BUSY) == 0 || state >= GP_STATE_IDLE ||
	    start_ns < activity->origin_unix_ns)
		return;
	gp_time_parts_take(activity->busy_ns + device * GP_HTML_ACTIVITY_PARTS,
			   GP_HTML_ACTIVITY_PARTS, activity->part_ns,
			   (double)(start_ns - activity->origin_unix_ns),
			   (double)(end_ns - activity->origin_unix_ns));
}

static void put_device(const struct activity *activity, size_t device, uint32_t number,
		       struct gp_json *json)
{
	const double *busy_ns = activity->busy_ns + device * GP_HTML_ACTIVITY_PARTS;

	gp_json_text(json, device > 0 ? ",[" : "[");
	gp_json_unsigned(json, number);
	for (size_t part = 0; part < GP_HTML_ACTIVITY_PARTS; part++) {
		double share = busy_ns[part] / activity->part_ns;

		gp_json_text(json, part > 0 ? "," : ",[");
		/* at least 1 if there is any, so that it is visible */
		gp_json_unsigned(json, share > 0 && share < 0.001 ? 1 : (uint64_t)(share * 1000));
	}
	gp_json_text(json, "]]");
}

void gp_html_activity(struct gp_model *const *models, size_t model_count,
		      const struct gp_kinds *kinds, uint64_t origin_unix_ns, uint64_t span_ns,
		      struct gp_json *json)
{
	struct activity activity = {.origin_unix_ns = origin_unix_ns,
				    .part_ns = (double)span_ns / GP_HTML_ACTIVITY_PARTS};
	const struct gp_sweep_taker taker = {.segment = add_segment,
					     .context = &activity,
					     .needs_order = gp_sweep_needs_no_order};
	struct gp_device_list devices = {0};

	gp_device_list_all(&devices, models, model_count);
	activity.busy_ns = calloc(devices.count * GP_HTML_ACTIVITY_PARTS + 1, sizeof(double));
	gp_gpu_sweep(models, model_count, gp_busy_window(models, model_count), &devices, kinds,
		     &taker, 1);
	gp_json_text(json, "[");
	for (size_t i = 0; i < devices.count; i++)
		put_device(&activity, i, devices.entries[i].number, json);
	gp_json_text(json, "]");
	free(activity.busy_ns);
	gp_device_list_free(&devices);
}
