#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/base/spill_memory.h"
#include "report/analysis/device/unfinished.h"

/* ---- overhead ---- */

static void write_overhead(struct gp_chrome *chrome, const struct gp_overhead *overhead)
{
	gp_chrome_open_slice(chrome, "overhead", gp_overhead_name(overhead->overhead_kind),
			     overhead->start_ns, overhead->end_ns, "thread");
	gp_json_unsigned(&chrome->json, overhead->thread_id);
	gp_json_text(&chrome->json, "}}");
}

void gp_chrome_write_overheads(struct gp_chrome *chrome, struct gp_chrome_tids *tids)
{
	const struct gp_model *model = chrome->model;

	if (model->overhead_count == 0)
		return;
	snprintf(chrome->track_name, sizeof(chrome->track_name), "CUPTI and driver overhead");
	gp_chrome_begin_track(chrome, tids, chrome->host_pid, gp_chrome_fresh_tid(tids), true);
	for (uint32_t i = 0; i < model->overhead_count; i++)
		if (gp_chrome_is_shown(chrome, model->overheads[i].start_ns,
				       model->overheads[i].end_ns))
			write_overhead(chrome, &model->overheads[i]);
}

/* ---- the driver's compiler ---- */

static void write_jit(struct gp_chrome *chrome, const struct gp_record_jit *jit)
{
	struct gp_json *json = &chrome->json;
	char name[64];

	snprintf(name, sizeof(name), "%s %s", gp_jit_op_name(jit->op_kind),
		 gp_jit_entry_name(jit->entry_kind));
	gp_chrome_open_slice(chrome, "jit", name, jit->start_ns, jit->end_ns, "device");
	gp_json_unsigned(json, jit->device_id);
	gp_chrome_put_field(json, "correlation", jit->correlation_id);
	gp_chrome_put_field(json, "thread", jit->thread_id);
	gp_chrome_put_field(json, "operation", jit->operation_id);
	if (jit->cache_bytes > 0)
		gp_chrome_put_field(json, "compute cache bytes", jit->cache_bytes);
	gp_json_text(json, "}}");
}

void gp_chrome_write_compiling(struct gp_chrome *chrome, struct gp_chrome_tids *tids)
{
	const struct gp_model *model = chrome->model;

	if (model->jit_count == 0)
		return;
	snprintf(chrome->track_name, sizeof(chrome->track_name), "driver's compiler (JIT)");
	gp_chrome_begin_track(chrome, tids, chrome->host_pid, gp_chrome_fresh_tid(tids), false);
	for (uint32_t i = 0; i < model->jit_count; i++)
		if (gp_chrome_is_shown(chrome, model->jits[i].start_ns, model->jits[i].end_ns))
			write_jit(chrome, &model->jits[i]);
}

/* ---- functions of the host ---- */

static void write_host_function(struct gp_chrome *chrome,
				const struct gp_record_host_function *function)
{
	struct gp_json *json = &chrome->json;

	gp_chrome_open_slice(chrome, "host_function", "host function", function->start_ns,
			     function->end_ns, "device");
	gp_json_unsigned(json, function->device_id);
	gp_chrome_put_field(json, "context", function->context_id);
	gp_chrome_put_field(json, "stream", function->stream_id);
	gp_chrome_put_field(json, "correlation", function->correlation_id);
	gp_chrome_put_field(json, "thread", function->thread_id);
	if (function->graph_node_id != 0) {
		gp_chrome_put_field(json, "graph id", function->graph_id);
		gp_chrome_put_field(json, "graph node id", function->graph_node_id);
	}
	gp_json_text(json, "}}");
}

/* On threads of the driver, which may be several, and make no calls. */
void gp_chrome_write_host_functions(struct gp_chrome *chrome, struct gp_chrome_tids *tids)
{
	const struct gp_model *model = chrome->model;

	if (model->host_function_count == 0)
		return;
	snprintf(chrome->track_name, sizeof(chrome->track_name), "host functions");
	gp_chrome_begin_track(chrome, tids, chrome->host_pid, gp_chrome_fresh_tid(tids), false);
	for (uint32_t i = 0; i < model->host_function_count; i++)
		if (gp_chrome_is_shown(chrome, model->host_functions[i].start_ns,
				       model->host_functions[i].end_ns))
			write_host_function(chrome, &model->host_functions[i]);
}

/* ---- recording on and off ---- */

void gp_chrome_write_gates(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;

	chrome->pid = chrome->host_pid;
	for (uint32_t i = 0; i < model->gate_count; i++) {
		const struct gp_gate *gate = &model->gates[i];

		if (!gp_chrome_is_moment_shown(chrome, gate->time_ns))
			continue;
		gp_chrome_open(chrome, "i", "gpuprof", gate->on ? "recording on" : "recording off",
			       chrome->host_pid, gate->time_ns);
		gp_json_text(&chrome->json, ",\"s\":\"p\",\"args\":{\"by\":");
		gp_json_text(&chrome->json, "\"");
		gp_json_text(&chrome->json, gp_gate_reason_name(gate->reason));
		gp_json_text(&chrome->json, "\"}}");
	}
}

/* ---- kernels without a known end ---- */

/* Where its launch ends: when it began is not known. */
static void write_unfinished(struct gp_chrome *chrome, const struct gp_unfinished *row)
{
	const struct gp_model *model = chrome->model;
	const struct gp_call *call = &model->calls[row->call];

	gp_chrome_open(chrome, "i", "gpuprof",
		       gp_names_full(chrome->names, gp_unfinished_name(model, row)),
		       call->thread_id, gp_call_end_ns(call));
	gp_json_text(&chrome->json, ",\"s\":\"t\",\"args\":{\"unfinished\":1");
	gp_chrome_put_field(&chrome->json, "correlation", call->correlation_id);
	gp_json_text(&chrome->json, ",\"state\":\"");
	gp_json_text(&chrome->json, gp_unfinished_state_name(row->state));
	gp_json_text(&chrome->json, "\"}}");
}

void gp_chrome_write_unfinished(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	struct gp_unfinished_list list;

	if (gp_unfinished_find(model, &list) != 0)
		chrome->error = -ENOMEM;
	chrome->pid = chrome->host_pid;
	for (uint32_t i = 0; i < list.count; i++) {
		const struct gp_call *call = &model->calls[list.rows[i].call];

		if (call->thread_id != 0 &&
		    gp_chrome_is_shown(chrome, call->start_ns, gp_call_end_ns(call)))
			write_unfinished(chrome, &list.rows[i]);
	}
	gp_unfinished_free(&list);
}

/* ---- unified memory ---- */

struct happening {
	uint32_t device_id; /* GP_NONE: of the host */
	uint32_t index;
};

/* GPUs that did nothing else have no tracks. */
static uint32_t device_of(const struct gp_chrome *chrome, const struct gp_record_unified *unified)
{
	uint32_t device_id = gp_unified_device(unified);

	return device_id != GP_NONE && chrome->gpu_of_device[device_id] != GP_NONE ? device_id
										   : GP_NONE;
}

static bool is_migration(const struct gp_record_unified *unified)
{
	return unified->counter_kind == GP_UNIFIED_HTOD ||
	       unified->counter_kind == GP_UNIFIED_DTOH || unified->counter_kind == GP_UNIFIED_DTOD;
}

/* A GPU's number, or the host. */
static void put_end(struct gp_json *json, const char *key, uint32_t device_id)
{
	if (device_id < GP_DEVICE_LIMIT)
		gp_chrome_put_field(json, key, device_id);
	else
		gp_chrome_put_text(json, key, "host");
}

/* The devices that memory goes to and fro between: one bit each. */
static void put_fighters(struct gp_json *json, uint32_t devices)
{
	const char *separator = "";

	gp_json_key(json, "devices");
	gp_json_text(json, "[");
	for (uint32_t i = 0; i < 32; i++) {
		if ((devices >> i & 1) == 0)
			continue;
		gp_json_text(json, separator);
		gp_json_unsigned(json, i);
		separator = ",";
	}
	gp_json_text(json, "]");
}

static void put_unified(struct gp_json *json, const struct gp_record_unified *unified)
{
	const char *cause = gp_unified_cause_name(unified->counter_kind, unified->flags);

	gp_json_address(json, unified->address);
	gp_chrome_put_field(json,
			    gp_unified_counts_bytes(unified->counter_kind) ? "bytes" : "value",
			    unified->value);
	gp_chrome_put_field(json, "flags", unified->flags);
	if (*cause)
		gp_chrome_put_text(
			json, unified->counter_kind == GP_UNIFIED_GPU_FAULT ? "access" : "cause",
			cause);
	if (unified->counter_kind == GP_UNIFIED_THRASHING)
		put_fighters(json, unified->source_device_id);
	else if (unified->counter_kind == GP_UNIFIED_GPU_FAULT ||
		 unified->counter_kind == GP_UNIFIED_THROTTLING)
		put_end(json, "device", unified->source_device_id);
	else if (unified->counter_kind != GP_UNIFIED_CPU_FAULT) {
		put_end(json, "source", unified->source_device_id);
		put_end(json, "destination", unified->destination_device_id);
	}
	if (is_migration(unified) && unified->end_ns > unified->start_ns) {
		gp_json_key(json, "memory bandwidth (GB/s)");
		gp_json_ratio(json, unified->value, unified->end_ns - unified->start_ns);
	}
	gp_json_text(json, "}}");
}

static void write_unified(struct gp_chrome *chrome, const struct gp_record_unified *unified)
{
	const char *name = gp_unified_name(unified->counter_kind);
	struct gp_json *json = &chrome->json;

	if (!gp_chrome_is_shown(chrome, unified->start_ns, unified->end_ns))
		return;
	if (unified->end_ns > unified->start_ns) {
		gp_chrome_open_slice(chrome, "unified_memory", name, unified->start_ns,
				     unified->end_ns, "address");
	} else {
		gp_chrome_open(chrome, "i", "unified_memory", name, gp_chrome_first_tid(chrome),
			       unified->start_ns);
		gp_json_text(json, ",\"s\":\"t\",\"args\":{\"address\":");
	}
	put_unified(json, unified);
}

static int compare_happenings(const void *a, const void *b, const void *context)
{
	const struct happening *left = a, *right = b;

	(void)context;
	if (left->device_id != right->device_id)
		return left->device_id < right->device_id ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static void begin_unified(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t device_id)
{
	struct gp_chrome_gpu *gpu =
		device_id != GP_NONE ? gp_chrome_gpu(chrome, (uint16_t)device_id) : NULL;
	struct gp_chrome_tids *of = gpu ? &gpu->tids : tids;

	snprintf(chrome->track_name, sizeof(chrome->track_name), "%s%sunified memory",
		 chrome->owner, *chrome->owner ? ": " : "");
	gp_chrome_begin_track(chrome, of, gpu ? gpu->pid : chrome->host_pid,
			      gp_chrome_fresh_tid(of), false);
}

void gp_chrome_write_unified(struct gp_chrome *chrome, struct gp_chrome_tids *tids)
{
	const struct gp_model *model = chrome->model;
	struct happening *all = gp_spill_take(((size_t)model->unified_count + 1) * sizeof(*all));

	for (uint32_t i = 0; all && i < model->unified_count; i++)
		all[i] = (struct happening){device_of(chrome, &model->unifieds[i]), i};
	if (!all ||
	    gp_array_sort(all, model->unified_count, sizeof(*all), compare_happenings, NULL) < 0) {
		chrome->error = -ENOMEM;
		gp_spill_free(all);
		return;
	}
	for (uint32_t i = 0; i < model->unified_count; i++) {
		if (i == 0 || all[i].device_id != all[i - 1].device_id)
			begin_unified(chrome, tids, all[i].device_id);
		write_unified(chrome, &model->unifieds[all[i].index]);
	}
	gp_spill_free(all);
}
