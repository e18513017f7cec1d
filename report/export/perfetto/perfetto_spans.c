#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/export/perfetto/perfetto_writer.h"
#include "report/analysis/host/range_spans.h"
#include "report/base/spill_memory.h"

/* Streams are runs of operations: where each begins.  NULL: no memory. */
static uint32_t *find_streams(const struct gp_model *model, uint32_t *count)
{
	uint32_t *first_ops = gp_spill_take(((size_t)model->op_count + 1) * sizeof(*first_ops));

	*count = 0;
	for (uint32_t first = 0; first_ops && first < model->op_count;
	     first = gp_model_stream_end(model, first))
		first_ops[(*count)++] = first;
	return first_ops;
}

/* A track of the process: Perfetto takes no ranges on a GPU's queue. */
static void begin_stream(struct gp_perfetto *p, const struct gp_op *op)
{
	char name[96];

	snprintf(name, sizeof(name), "ranges on GPU %u, stream %u, context %u",
		 gp_gpu_numbers_find(&p->gpus, p->model, op->device_id, NULL), op->stream_id,
		 op->context_id);
	gp_perfetto_begin_track(p, name, true);
}

static void write_span(struct gp_perfetto *p, const struct gp_range_span *span)
{
	const struct gp_range *range = &p->model->ranges[span->range];
	const char *domain = p->model->domains[range->domain];
	uint64_t *known =
		&p->texts[range->text == GP_NONE ? p->model->range_text_count : range->text];
	uint64_t track = gp_perfetto_place(p, span->start_ns, span->end_ns);

	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, span->start_ns);
	gp_perfetto_name_event(p, GP_PERFETTO_SPAN,
			       gp_perfetto_name(p, known, gp_model_range_text(p->model, range)));
	gp_perfetto_note(p, GP_PERFETTO_THREAD, range->thread_id);
	if (*domain)
		gp_perfetto_note_text(p, GP_PERFETTO_DOMAIN, domain);
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, span->end_ns);
}

static void write_spans(struct gp_perfetto *p, const uint32_t *first_ops,
			const struct gp_range_span *spans, uint32_t count)
{
	for (uint32_t i = 0; i < count && p->error == 0; i++) {
		if (i == 0 || spans[i].stream != spans[i - 1].stream)
			begin_stream(p, &p->model->ops[first_ops[spans[i].stream]]);
		if (gp_perfetto_has(p, spans[i].start_ns, spans[i].end_ns))
			write_span(p, &spans[i]);
	}
}

void gp_perfetto_write_spans(struct gp_perfetto *p)
{
	struct gp_range_span *spans = NULL;
	uint32_t stream_count, count = 0;
	uint32_t *first_ops = find_streams(p->model, &stream_count);

	if (!first_ops || gp_range_spans_find(p->model, first_ops, stream_count, &spans, &count,
					      &p->deep_ranges) < 0)
		p->error = -ENOMEM;
	else
		write_spans(p, first_ops, spans, count);
	gp_spill_free(spans);
	gp_spill_free(first_ops);
}
