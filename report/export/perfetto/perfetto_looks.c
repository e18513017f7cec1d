/*
 * What Python did in each thread, by looks at its stacks: functions as slices that nest, on a track
 * of their own.
 *
 * They nest by how they are made, and callers begin when what they called does: lanes, which keep
 * starts apart, are not for them.
 */
#include <errno.h>

#include "report/symbols/call_tree.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/analysis/host/python_samples.h"
#include "report/base/spill_memory.h"

/* Frames of one function share its name, which is written once. */
static uint64_t name_of(struct gp_perfetto *p, const struct gp_frame *frame, struct gp_place place)
{
	uint32_t code = frame->origin < p->model->text_count ? frame->origin : p->model->text_count;
	char label[GP_SITE_LABEL_BYTES];

	place.line = 0;
	return gp_perfetto_name(p, &p->codes[code], gp_site_label(&place, label));
}

static void write_span(struct gp_perfetto *p, const struct gp_host_span *span)
{
	uint64_t track = gp_perfetto_first_track(p), name;
	size_t count;
	const struct gp_place *place = gp_symbols_find(p->symbols, p->model, span->frame, &count);

	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, span->start_ns);
	name = name_of(p, &p->model->frames[span->frame], *place);
	gp_perfetto_name_event(p, GP_PERFETTO_LOOK, name);
	gp_perfetto_note(p, GP_PERFETTO_LOOKS, span->looks);
	gp_perfetto_note(p, GP_PERFETTO_LINE, place->line);
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, span->end_ns);
}

static void write_thread(struct gp_perfetto *p, uint32_t first, uint32_t end,
			 struct gp_host_depth depth)
{
	struct gp_host_span *spans;
	uint32_t count;
	char name[GP_HOST_TRACK_BYTES];

	if (gp_host_spans_find(p->model, first, end, depth, &spans, &count, NULL) < 0)
		p->error = -ENOMEM;
	gp_perfetto_begin_track(
		p, gp_host_track_name(p->model, p->model->samples[first].thread_id, name), false);
	for (uint32_t i = 0; p->error == 0 && i < count; i++)
		if (gp_slice_filter_has(&p->filter, spans[i].start_ns, spans[i].end_ns))
			write_span(p, &spans[i]);
	gp_spill_free(spans);
}

void gp_perfetto_write_looks(struct gp_perfetto *p)
{
	struct gp_host_depth depth = gp_host_spans_depth(p->model);

	if (p->options->messages && !p->is_later)
		gp_host_depth_explain(&depth, p->options->messages);
	for (uint32_t first = 0, end; p->error == 0 && first < p->model->sample_count;
	     first = end) {
		end = gp_python_samples_end(p->model, first);
		write_thread(p, first, end, depth);
	}
}
