#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/model/payload.h"
#include "report/base/spill_memory.h"

/* ---- calls ---- */

/* In whatever part the operation is. */
static bool is_submitted(const struct gp_perfetto *p, const struct gp_op *op)
{
	return !op->untimed && gp_slice_filter_has_in_any(&p->filter, op->start_ns, op->end_ns);
}

/* What the call put on the GPU: the reader draws the arrows. */
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

/* Room for the iids of so many sites; false: no memory. */
static bool reserve_sites(struct gp_perfetto *p, uint32_t site)
{
	uint32_t capacity = p->site_capacity;

	while (site >= p->site_capacity) {
		if (gp_array_grow(&p->shown_sites, &p->site_capacity, p->site_capacity,
				  sizeof(*p->shown_sites)) < 0)
			return false;
		memset(p->shown_sites + capacity, 0,
		       (p->site_capacity - capacity) * sizeof(*p->shown_sites));
		capacity = p->site_capacity;
	}
	return true;
}

/* The line of the user's code, written once for all calls that it makes. */
static void put_caller(struct gp_perfetto *p, const struct gp_call *call)
{
	uint32_t site =
		call->stack == GP_NONE ? UINT32_MAX : gp_call_sites_find(p->sites, p->model, call);

	if (site == UINT32_MAX)
		return;
	if (!reserve_sites(p, site)) {
		p->error = -ENOMEM;
		return;
	}
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

static void write_call(struct gp_perfetto *p, const struct gp_call *call)
{
	uint64_t end_ns = call->start_ns + call->duration_ns;
	uint64_t track, asked_bytes;

	if (!gp_perfetto_has(p, call->start_ns, end_ns))
		return;
	track = gp_perfetto_place(p, call->start_ns, end_ns);
	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, call->start_ns);
	gp_perfetto_name_event(
		p, GP_API_IS_DRIVER(call->api) ? GP_PERFETTO_DRIVER : GP_PERFETTO_RUNTIME,
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
	gp_perfetto_end_slice(p, track, end_ns);
}

/* ---- ranges ---- */

static void put_payload(struct gp_perfetto *p, const struct gp_range *range)
{
	if (range->payload_kind == GP_PAYLOAD_NONE)
		return;
	gp_protobuf_number(&p->inner, NOTE_NAME, GP_PERFETTO_PAYLOAD);
	if (range->payload_kind == GP_PAYLOAD_FLOATING)
		gp_protobuf_double(&p->inner, NOTE_DOUBLE, gp_payload_floating(range->payload));
	else if (range->payload_kind == GP_PAYLOAD_SIGNED)
		gp_protobuf_value(&p->inner, NOTE_SIGNED, range->payload);
	else
		gp_protobuf_value(&p->inner, NOTE_UNSIGNED, range->payload);
	gp_protobuf_message(&p->event, EVENT_NOTE, &p->inner);
}

static void put_range(struct gp_perfetto *p, const struct gp_range *range,
		      enum gp_perfetto_type type, uint64_t track)
{
	const char *domain = p->model->domains[range->domain];
	const char *category = gp_model_category(p->model, range->domain, range->category);
	uint64_t *known =
		&p->texts[range->text == GP_NONE ? p->model->range_text_count : range->text];

	gp_perfetto_open_event(p, type, track, range->start_ns);
	gp_perfetto_name_event(p, GP_PERFETTO_RANGE,
			       gp_perfetto_name(p, known, gp_model_range_text(p->model, range)));
	if (*domain)
		gp_perfetto_note_text(p, GP_PERFETTO_DOMAIN, domain);
	if (*category)
		gp_perfetto_note_text(p, GP_PERFETTO_RANGE_CATEGORY, category);
	else if (range->category != 0)
		gp_perfetto_note(p, GP_PERFETTO_RANGE_CATEGORY, range->category);
	put_payload(p, range);
	if (range->open)
		gp_perfetto_note(p, GP_PERFETTO_OPEN, 1);
	gp_perfetto_close_event(p);
}

static void write_range(struct gp_perfetto *p, const struct gp_range *range)
{
	uint64_t track;

	if (range->style == GP_STYLE_MARK) {
		if (gp_slice_filter_has_moment(&p->filter, range->start_ns))
			put_range(p, range, GP_PERFETTO_INSTANT, gp_perfetto_first_track(p));
		return;
	}
	if (!gp_perfetto_has(p, range->start_ns, range->end_ns))
		return;
	track = gp_perfetto_place(p, range->start_ns, range->end_ns);
	p->cut_ranges += range->is_cut;
	put_range(p, range, GP_PERFETTO_BEGIN, track);
	gp_perfetto_end_slice(p, track, range->end_ns);
}

/* ---- threads ---- */

void gp_perfetto_write_threads(struct gp_perfetto *p)
{
	const struct gp_model *model = p->model;
	uint32_t call = 0, range = 0, thread_id = 0;

	for (bool begun = false; p->error == 0; begun = true) {
		bool is_range = gp_model_range_is_next(model, call, range);
		uint32_t next;

		if (!is_range && call == model->call_count)
			break;
		next = is_range ? model->ranges[range].thread_id : model->calls[call].thread_id;
		if (!begun || next != thread_id)
			gp_perfetto_begin_thread(p, next);
		thread_id = next;
		if (!is_range)
			write_call(p, &model->calls[call++]);
		else if (model->ranges[range++].style != GP_STYLE_START_END)
			write_range(p, &model->ranges[range - 1]);
	}
}

/* ---- what lies on no thread ---- */

static int compare_ranges(const void *a, const void *b, const void *context)
{
	const struct gp_range *left = a, *right = b;

	(void)context;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Ranges that any thread may end. */
static void write_started(struct gp_perfetto *p)
{
	const struct gp_model *model = p->model;
	uint32_t *order = gp_array_order(model->ranges, model->range_count, sizeof(*model->ranges),
					 compare_ranges, NULL);

	if (!order)
		p->error = -ENOMEM;
	gp_perfetto_begin_track(p, "NVTX start/end ranges", false);
	for (uint32_t i = 0; order && i < model->range_count && p->error == 0; i++)
		if (model->ranges[order[i]].style == GP_STYLE_START_END)
			write_range(p, &model->ranges[order[i]]);
	gp_spill_free(order);
}

static void write_named(struct gp_perfetto *p, enum gp_perfetto_category category, const char *name,
			uint64_t start_ns, uint64_t end_ns)
{
	uint64_t track, unknown = 0;

	if (!gp_perfetto_has(p, start_ns, end_ns))
		return;
	track = gp_perfetto_place(p, start_ns, end_ns);
	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, start_ns);
	gp_perfetto_name_event(p, category, gp_perfetto_name(p, &unknown, name));
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, end_ns);
}

static void write_overheads(struct gp_perfetto *p)
{
	const struct gp_model *model = p->model;

	gp_perfetto_begin_track(p, "CUPTI and driver overhead", false);
	for (uint32_t i = 0; i < model->overhead_count && p->error == 0; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];

		write_named(p, GP_PERFETTO_OVERHEAD, gp_overhead_name(overhead->overhead_kind),
			    overhead->start_ns, overhead->end_ns);
	}
}

static void write_jits(struct gp_perfetto *p)
{
	char name[96];

	gp_perfetto_begin_track(p, "driver's compiler (JIT)", false);
	for (uint32_t i = 0; i < p->model->jit_count && p->error == 0; i++) {
		const struct gp_record_jit *jit = &p->model->jits[i];

		snprintf(name, sizeof(name), "%s %s", gp_jit_op_name(jit->op_kind),
			 gp_jit_entry_name(jit->entry_kind));
		write_named(p, GP_PERFETTO_CODE, name, jit->start_ns, jit->end_ns);
	}
}

static void write_gates(struct gp_perfetto *p)
{
	for (uint32_t i = 0; i < p->model->gate_count; i++) {
		const struct gp_gate *gate = &p->model->gates[i];
		uint64_t unknown = 0;

		if (!gp_slice_filter_has_moment(&p->filter, gate->time_ns))
			continue;
		gp_perfetto_open_event(p, GP_PERFETTO_INSTANT, p->process_track, gate->time_ns);
		gp_perfetto_name_event(
			p, GP_PERFETTO_GATE,
			gp_perfetto_name(p, &unknown, gate->on ? "recording on" : "recording off"));
		gp_perfetto_close_event(p);
	}
}

void gp_perfetto_write_others(struct gp_perfetto *p)
{
	write_started(p);
	write_overheads(p);
	write_jits(p);
	write_gates(p);
}
