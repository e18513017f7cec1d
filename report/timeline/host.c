/* What else happened on the host: overhead, the compiler, host functions, recording on and off. */
#include <stdio.h>

#include "report/analysis/device/unfinished.h"
#include "report/timeline/walk.h"
#include "report/trace/cuda_names.h"

static void begin_track(struct gp_timeline *t, const char *name, bool is_nesting)
{
	gp_walk_track(t, &(struct gp_timeline_track){
				 .kind = GP_TRACK_HOST, .name = name, .is_nesting = is_nesting});
}

static void walk_overheads(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;

	if (model->overhead_count > 0)
		begin_track(t, "profiler and driver overhead", true);
	for (uint32_t i = 0; i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];
		struct gp_timeline_event event = {.kind = GP_TIMELINE_OVERHEAD,
						  .start_ns = overhead->start_ns,
						  .end_ns = overhead->end_ns,
						  .of.overhead = overhead};

		if (!gp_walk_wants(t, &event))
			continue;
		event.name = gp_overhead_name(overhead->overhead_kind);
		gp_walk_number(&event, "thread", overhead->thread_id);
		gp_walk_event(t, &event);
	}
}

static void walk_compiling(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;
	char name[64];

	if (model->jit_count > 0)
		begin_track(t, "driver's compiler (JIT)", false);
	for (uint32_t i = 0; i < model->jit_count; i++) {
		const struct gp_record_jit *jit = &model->jits[i];
		struct gp_timeline_event event = {.kind = GP_TIMELINE_COMPILING,
						  .start_ns = jit->start_ns,
						  .end_ns = jit->end_ns,
						  .name = name,
						  .of.jit = jit};

		if (!gp_walk_wants(t, &event))
			continue;
		snprintf(name, sizeof(name), "%s %s", gp_jit_op_name(jit->op_kind),
			 gp_jit_entry_name(jit->entry_kind));
		gp_walk_number(&event, "device", jit->device_id);
		gp_walk_number(&event, "correlation", jit->correlation_id);
		gp_walk_number(&event, "thread", jit->thread_id);
		gp_walk_number(&event, "operation", jit->operation_id);
		if (jit->cache_bytes > 0)
			gp_walk_number(&event, "compute cache bytes", jit->cache_bytes);
		gp_walk_event(t, &event);
	}
}

/* On threads of the driver, which may be several, and make no calls. */
static void walk_host_functions(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;

	if (model->host_function_count > 0)
		begin_track(t, "host functions", false);
	for (uint32_t i = 0; i < model->host_function_count; i++) {
		const struct gp_record_host_function *function = &model->host_functions[i];
		struct gp_timeline_event event = {.kind = GP_TIMELINE_HOST_FUNCTION,
						  .start_ns = function->start_ns,
						  .end_ns = function->end_ns,
						  .name = "host function",
						  .of.host_function = function};

		if (!gp_walk_wants(t, &event))
			continue;
		gp_walk_number(&event, "device", function->device_id);
		gp_walk_number(&event, "context", function->context_id);
		gp_walk_number(&event, "stream", function->stream_id);
		gp_walk_number(&event, "correlation", function->correlation_id);
		gp_walk_number(&event, "thread", function->thread_id);
		if (function->graph_node_id != 0) {
			gp_walk_number(&event, "graph id", function->graph_id);
			gp_walk_number(&event, "graph node id", function->graph_node_id);
		}
		gp_walk_event(t, &event);
	}
}

static void walk_gates(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;

	if (model->gate_count > 0)
		gp_walk_track(t, &(struct gp_timeline_track){.kind = GP_TRACK_PROCESS});
	for (uint32_t i = 0; i < model->gate_count; i++) {
		const struct gp_gate *gate = &model->gates[i];
		struct gp_timeline_event event = {.kind = GP_TIMELINE_GATE,
						  .is_instant = true,
						  .start_ns = gate->time_ns,
						  .of.gate = gate,
						  .name = gate->on ? "recording on"
								   : "recording off"};

		if (!gp_walk_wants(t, &event))
			continue;
		gp_walk_text(&event, "by", gp_gate_reason_name(gate->reason));
		gp_walk_event(t, &event);
	}
}

void gp_walk_host(struct gp_timeline *t)
{
	walk_overheads(t);
	walk_compiling(t);
	walk_host_functions(t);
	walk_gates(t);
}

/* ---- kernels without a known end ---- */

/* Where its launch ends: when it began is not known. */
static void walk_unfinished(struct gp_timeline *t, const struct gp_unfinished *row)
{
	const struct gp_call *call = &t->model->calls[row->call];
	struct gp_timeline_event event = {
		.kind = GP_TIMELINE_UNFINISHED,
		.is_instant = true,
		.start_ns = gp_call_end_ns(call),
		.name = gp_names_full(t->names, gp_unfinished_name(t->model, row))};

	gp_walk_number(&event, "unfinished", 1);
	gp_walk_number(&event, "correlation", call->correlation_id);
	gp_walk_text(&event, "state", gp_unfinished_state_name(row->state));
	gp_walk_track(t, &(struct gp_timeline_track){.kind = GP_TRACK_THREAD,
						     .is_nesting = true,
						     .is_again = true,
						     .thread_id = call->thread_id});
	gp_walk_event(t, &event);
}

void gp_walk_unfinished(struct gp_timeline *t)
{
	struct gp_unfinished_list list;

	if (t->error != 0 || t->slices_only)
		return;
	gp_unfinished_find(t->model, &list);
	for (uint32_t i = 0; i < list.count; i++) {
		const struct gp_call *call = &t->model->calls[list.rows[i].call];

		if (call->thread_id != 0 &&
		    gp_timeline_shows(t, call->start_ns, gp_call_end_ns(call)))
			walk_unfinished(t, &list.rows[i]);
	}
	gp_unfinished_free(&list);
}
