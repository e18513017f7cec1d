#include <stdio.h>
#include <stdlib.h>

#include "report/trace/cuda_names.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/base/text/utf8.h"

#define API_IDS 65536u

struct gp_chrome_calls {
	struct gp_chrome_text *openings; /* by API */
	struct gp_json scratch;
	struct gp_chrome_args args;
	/* not all calls use a context of the first GPU, which readers assume */
	bool has_contexts;
};

bool gp_chrome_arrow_end(const struct gp_chrome *chrome, const struct gp_op *op, uint64_t *end_ns)
{
	const struct gp_call *call;

	if (op->call == GP_NONE || op->untimed ||
	    !gp_timeline_shows(&chrome->timeline, op->start_ns, op->end_ns))
		return false;
	call = &chrome->model->calls[op->call];
	*end_ns = op->start_ns > call->start_ns ? op->start_ns : call->start_ns;
	if (*end_ns > op->start_ns && *end_ns >= op->end_ns)
		return false;
	return gp_timeline_has(&chrome->timeline, call->start_ns, gp_call_end_ns(call));
}

/*
 * The id of an arrow is the number of its operation, over all processes.  For parts, the part of the
 * operation has both ends.
 */
static void write_arrows(struct gp_chrome *chrome, const struct gp_call *call, uint32_t tid)
{
	struct gp_json *json = &chrome->json;
	uint64_t end_ns;

	for (uint32_t i = call->first_op; i != GP_NONE; i = chrome->model->ops[i].next_op) {
		if (!gp_chrome_arrow_end(chrome, &chrome->model->ops[i], &end_ns))
			continue;
		gp_json_text(json, ",\n{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
		gp_json_unsigned(json, chrome->first_arrow + i + 1);
		gp_json_text(json, ",\"pid\":");
		gp_json_unsigned(json, chrome->host_pid);
		gp_json_text(json, ",\"tid\":");
		gp_json_unsigned(json, tid);
		gp_json_text(json, ",\"ts\":");
		gp_json_us(json, call->start_ns + chrome->offset_ns);
		gp_json_text(json, "}");
	}
}

static void put_memory(struct gp_json *json, const struct gp_memory_event *memory)
{
	const char *kind = gp_allocation_name(memory->memory_kind);

	gp_json_text(json, ",\"bytes\":");
	gp_chrome_put_number(json, memory->bytes);
	gp_json_text(json, ",\"address\":");
	gp_json_address(json, memory->address);
	gp_json_text(json, ",\"memory\":");
	gp_json_string(json, kind, strlen(kind));
}

static void put_failure(struct gp_chrome *chrome, const struct gp_call *call)
{
	const char *name = gp_status_name(call->status);
	struct gp_json *json = &chrome->json;
	uint64_t asked_bytes;

	if (gp_model_asked_bytes(chrome->model, call, &asked_bytes)) {
		gp_json_text(json, ",\"bytes\":");
		gp_chrome_put_number(json, asked_bytes);
	}
	gp_json_text(json, ",\"status\":");
	gp_json_unsigned(json, call->status);
	if (*name) {
		gp_json_text(json, ",\"error\":");
		gp_json_string(json, name, strlen(name));
	}
}

/* The event up to its tid: the same for all calls of an API function. */
static struct gp_chrome_text make_opening(struct gp_chrome *chrome, struct gp_json *scratch,
					  uint16_t api)
{
	struct gp_api named = gp_model_api(chrome->model, api);

	gp_json_text(scratch, ",\n{\"ph\":\"X\",\"cat\":\"");
	gp_json_text(scratch, GP_API_IS_DRIVER(api) ? "cuda_driver" : "cuda_runtime");
	gp_json_text(scratch, "\",\"name\":");
	gp_json_string(scratch, named.name, strlen(named.name));
	gp_json_text(scratch, ",\"pid\":");
	gp_json_unsigned(scratch, chrome->host_pid);
	gp_json_text(scratch, ",\"tid\":");
	return gp_chrome_take(scratch);
}

static void write_call(struct gp_chrome *chrome, const struct gp_call *call)
{
	struct gp_chrome_calls *calls = chrome->calls;
	const struct gp_chrome_text *opening = &calls->openings[call->api];
	uint64_t end_ns = call->start_ns + call->duration_ns;
	uint32_t tid = gp_chrome_place(chrome, call->start_ns, end_ns);
	struct gp_json *json = &chrome->json;

	gp_json_bytes(json, opening->bytes, opening->length);
	gp_json_unsigned(json, tid);
	gp_chrome_put_times(chrome, call->start_ns, end_ns);
	gp_json_text(json, ",\"args\":{\"cbid\":");
	gp_json_unsigned(json, GP_API_CBID(call->api));
	gp_json_text(json, ",\"correlation\":");
	gp_json_unsigned(json, call->correlation_id);
	if (calls->has_contexts && call->context_id != 0)
		gp_chrome_put_field(json, "in context", call->context_id);
	if (call->memory != GP_NONE)
		put_memory(json, &chrome->model->memory[call->memory]);
	if (call->status != 0)
		put_failure(chrome, call);
	if (call->cooperative)
		gp_chrome_put_field(json, "cooperative", 1);
	if (call->overlapping)
		gp_chrome_put_field(json, "programmatic dependent launch", 1);
	if (call->captured)
		gp_json_text(json, ",\"captured\":1");
	gp_chrome_put_stack(chrome, "stack", call->is_estimated ? GP_NONE : call->stack);
	gp_chrome_args_put(chrome, &calls->args, call);
	gp_json_text(json, "}}");
	write_arrows(chrome, call, tid);
}

/* Thread 0 stands for threads that shared a ring and cannot be distinguished. */
void gp_chrome_begin_thread(struct gp_chrome *chrome, uint32_t thread_id)
{
	const char *name = gp_model_thread_name(chrome->model, thread_id);
	uint32_t tid = thread_id ? thread_id : gp_chrome_fresh_tid(&chrome->host_tids);

	if (thread_id == 0)
		snprintf(chrome->track_name, sizeof(chrome->track_name), "threads not known");
	else
		snprintf(chrome->track_name, sizeof(chrome->track_name),
			 *name ? "thread %u (%.*s)" : "thread %u", thread_id,
			 (int)gp_utf8_cut(name, 64), name);
	gp_chrome_begin_track(chrome, &chrome->host_tids, chrome->host_pid, tid, true);
}

void gp_chrome_write_call(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	const struct gp_call *call = event->of.call;
	struct gp_chrome_text *opening = &chrome->calls->openings[call->api];

	if (event->is_elsewhere) {
		write_arrows(chrome, call,
			     gp_chrome_place_again(chrome, event->start_ns, event->end_ns));
		return;
	}
	if (!opening->bytes)
		*opening = make_opening(chrome, &chrome->calls->scratch, call->api);
	write_call(chrome, call);
}

int gp_chrome_calls_open(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	struct gp_chrome_calls *calls = calloc(1, sizeof(*calls));

	chrome->calls = calls;
	calls->openings = calloc(API_IDS, sizeof(*calls->openings));
	calls->has_contexts = model->context_count > 1 ||
			      (model->context_count == 1 && model->contexts[0].device_id != 0);
	gp_chrome_args_open(&calls->args, model);
	return gp_json_open(&calls->scratch, NULL);
}

void gp_chrome_calls_close(struct gp_chrome *chrome)
{
	struct gp_chrome_calls *calls = chrome->calls;

	if (!calls)
		return;
	gp_json_close(&calls->scratch);
	for (uint32_t i = 0; calls->openings && i < API_IDS; i++)
		free(calls->openings[i].bytes);
	free(calls->openings);
	gp_chrome_args_close(&calls->args);
	free(calls);
	chrome->calls = NULL;
}
