/* The hardware samples (--hw-timeline), as counters of their device. */
#include <string.h>

#include "report/analysis/device/hw_metrics.h"
#include "report/timeline/walk.h"

static const enum gp_timeline_counter_kind kind_of_unit[] = {
	[GP_HW_UNIT_PERCENT] = GP_TIMELINE_PERCENT,
	[GP_HW_UNIT_BYTES] = GP_TIMELINE_BANDWIDTH,
	[GP_HW_UNIT_HERTZ] = GP_TIMELINE_CLOCK,
};

/* The metrics of one track, from `first` on.  Returns the first one of the next track. */
static uint32_t tell_track(struct gp_timeline *t, const struct gp_record_hw_sample *sample,
			   uint32_t first)
{
	struct gp_timeline_counter counter = {.kind = kind_of_unit[gp_hw_metrics[first].unit],
					      .time_ns = sample->start_ns,
					      .device_id = sample->device_id,
					      .name = gp_hw_metrics[first].track,
					      .changed = GP_NONE};
	uint32_t i = first;

	for (; i < GP_HW_METRICS && strcmp(gp_hw_metrics[i].track, counter.name) == 0; i++)
		if (gp_hw_has(sample, i))
			counter.series[counter.series_count++] = (struct gp_timeline_series){
				gp_hw_metrics[i].series, gp_hw_level(sample, i)};
	if (counter.series_count > 0)
		gp_walk_counter(t, &counter);
	return i;
}

void gp_walk_hardware(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;

	if (t->slices_only || t->is_table)
		return;
	for (uint32_t i = 0; i < model->hw_sample_count; i++) {
		if (!gp_timeline_shows_moment(t, model->hw_samples[i].start_ns))
			continue;
		for (uint32_t metric = 0; metric < GP_HW_METRICS;)
			metric = tell_track(t, &model->hw_samples[i], metric);
	}
}
