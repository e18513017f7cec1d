#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"

/* Whether the operation is written, in any part. */
static bool is_submitted(const struct gp_perfetto *p, const struct gp_op *op)
{
	return !op->untimed && gp_timeline_has(&p->timeline, op->start_ns, op->end_ns);
}

/* The operations that the call launched: readers draw the arrows. */
static void put_submitted(struct gp_perfetto *p, const struct gp_call *call)
{
	bool any = false;

	for (uint32_t i = call->first_op; i != GP_NONE; i = p->model->ops[i].next_op)
		if (is_submitted(p, &p->model->ops[i])) {
			gp_protobuf_value(&p->inner, GPU_CORRELATION_SUBMITTED,
					  gp_perfetto_event_id(p, i));
			any = true;
		}
	if (any)
		gp_protobuf_message(&p->event, EVENT_GPU_CORRELATION, &p->inner);
	gp_protobuf_number(&p->event, EVENT_GPU_API, CONTEXT_API_CUDA);
}

static void put_memory(struct gp_perfetto *p, const struct gp_memory_event *memory)
{
	gp_perfetto_note(p, GP_PERFETTO_BYTES, memory->bytes);
	gp_perfetto_note(p, GP_PERFETTO_ADDRESS, memory->address);
	gp_perfetto_note_text(p, GP_PERFETTO_MEMORY, gp_allocation_name(memory->memory_kind));
}

/* Make room for the iid of that site; false: no memory. */
static bool reserve_sites(struct gp_perfetto *p, uint32_t site)
{
	uint32_t capacity = p->site_capacity;

	while (site >= p->site_capacity) {
		gp_array_grow(&p->shown_sites, &p->site_capacity, p->site_capacity,
			      sizeof(*p->shown_sites));
		memset(p->shown_sites + capacity, 0,
		       (p->site_capacity - capacity) * sizeof(*p->shown_sites));
		capacity = p->site_capacity;
	}
	return true;
}

/* The line of the user's code; its text is written once. */
static void put_caller(struct gp_perfetto *p, const struct gp_call *call)
{
	uint32_t site = call->stack == GP_NONE || call->is_estimated
				? UINT32_MAX
				: gp_call_sites_find(p->sites, p->model, call);

	if (site == UINT32_MAX)
		return;
	reserve_sites(p, site);
	if (p->shown_sites[site] == 0) {
		p->shown_sites[site] = ++p->last_iid;
		gp_protobuf_number(&p->inner, ENTRY_IID, p->last_iid);
		gp_protobuf_text(&p->inner, ENTRY_NAME, gp_call_sites_at(p->sites, site).place);
		gp_protobuf_message(&p->interned, INTERNED_NOTE_TEXTS, &p->inner);
	}
	gp_protobuf_number(&p->inner, NOTE_NAME, GP_PERFETTO_CALLER);
	gp_protobuf_number(&p->inner, NOTE_TEXT_IID, p->shown_sites[site]);
	gp_protobuf_message(&p->event, EVENT_NOTE, &p->inner);
}

void gp_perfetto_write_call(struct gp_perfetto *p, const struct gp_timeline_event *event)
{
	const struct gp_call *call = event->of.call;
	uint64_t track = gp_perfetto_place(p, event->start_ns, event->end_ns), asked_bytes;

	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, call->start_ns);
	gp_perfetto_name_event(
		p, event->kind,
		gp_perfetto_name(p, &p->apis[call->api], gp_model_api(p->model, call->api).name));
	gp_perfetto_note(p, GP_PERFETTO_CORRELATION, call->correlation_id);
	if (call->status != 0) {
		if (gp_model_asked_bytes(p->model, call, &asked_bytes))
			gp_perfetto_note(p, GP_PERFETTO_BYTES, asked_bytes);
		gp_perfetto_note(p, GP_PERFETTO_STATUS, call->status);
		gp_perfetto_note_text(p, GP_PERFETTO_ERROR, gp_status_name(call->status));
	}
	if (call->memory != GP_NONE)
		put_memory(p, &p->model->memory[call->memory]);
	put_caller(p, call);
	put_submitted(p, call);
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, event->end_ns);
}
