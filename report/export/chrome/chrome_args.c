#include <stdlib.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/base/spill_memory.h"

/* ---- streams, and the context with its default stream ---- */

static int compare_streams(const void *a, const void *b, void *context)
{
	const struct gp_model *model = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint32_t left_call = gp_model_stream_call(model, &model->streams[left]);
	uint32_t right_call = gp_model_stream_call(model, &model->streams[right]);

	if (left_call != right_call)
		return left_call < right_call ? -1 : 1;
	return (left > right) - (left < right);
}

static void order_streams(struct gp_chrome_args *args, const struct gp_model *model)
{
	args->streams = malloc(((size_t)model->stream_count + 1) * sizeof(*args->streams));
	for (uint32_t i = 0; i < model->stream_count; i++)
		args->streams[i] = i;
	qsort_r(args->streams, model->stream_count, sizeof(*args->streams), compare_streams,
		(void *)model);
}

/* The streams that a call created, and the context, if the call created it. */
static void put_made(struct gp_json *json, const struct gp_model *model, const uint32_t *made,
		     uint32_t count)
{
	const struct gp_record_stream *first = &model->streams[made[0]];

	gp_json_text(json, ",\"made streams\":[");
	for (uint32_t i = 0; i < count; i++) {
		gp_json_text(json, i > 0 ? "," : "");
		gp_json_unsigned(json, model->streams[made[i]].id);
	}
	gp_json_text(json, "]");
	gp_chrome_put_field(json, "context", first->context_id);
	if (count == 1) {
		gp_json_key(json, "priority");
		gp_json_signed(json, first->priority);
		gp_chrome_put_text(json, "stream kind", gp_stream_kind_name(first->flags));
	}
	for (uint32_t i = 0; i < count; i++)
		if (gp_model_is_null_stream(model, first->context_id, model->streams[made[i]].id)) {
			gp_chrome_put_field(json, "made context", first->context_id);
			gp_chrome_put_field(json, "default stream", model->streams[made[i]].id);
			gp_chrome_put_field(json, "of device",
					    gp_model_context_device(model, first->context_id));
			break;
		}
}

/* Called in the order of the calls. */
static void put_streams(struct gp_chrome *chrome, struct gp_chrome_args *args, uint32_t index)
{
	const struct gp_model *model = chrome->model;
	uint32_t first = args->stream, call = GP_NONE;

	for (; args->stream < model->stream_count; args->stream++) {
		call = gp_model_stream_call(model, &model->streams[args->streams[args->stream]]);
		if (call > index)
			break;
		first += call < index;
	}
	if (args->stream > first)
		put_made(&chrome->json, model, args->streams + first, args->stream - first);
}

/* ---- events ---- */

GP_COMPARE_BY(compare_events, struct gp_record_event, correlation_id)

struct wanted_event {
	const struct gp_record_event *events;
	uint32_t correlation_id;
};

static bool is_earlier_event(const void *element, const void *context)
{
	const struct wanted_event *wanted = context;

	return wanted->events[*(const uint32_t *)element].correlation_id < wanted->correlation_id;
}

static const struct gp_record_event *
find_event(const struct gp_chrome_args *args, const struct gp_model *model, uint32_t correlation_id)
{
	const struct wanted_event wanted = {model->events, correlation_id};
	uint32_t at = gp_array_lower_bound(args->events, model->event_count, sizeof(*args->events),
					   is_earlier_event, &wanted);

	if (at == model->event_count)
		return NULL;
	return model->events[args->events[at]].correlation_id == correlation_id
		       ? &model->events[args->events[at]]
		       : NULL;
}

static void put_event(struct gp_chrome *chrome, const struct gp_chrome_args *args,
		      const struct gp_call *call)
{
	const struct gp_record_event *event;

	if (chrome->model->event_count == 0 ||
	    gp_model_api_class(chrome->model, call->api) != GP_API_EVENT)
		return;
	event = find_event(args, chrome->model, call->correlation_id);
	if (!event)
		return;
	gp_chrome_put_field(&chrome->json, "event_id", event->event_id);
	gp_chrome_put_field(&chrome->json, "recorded in stream", event->stream_id);
}

/* ---- mappings of physical memory ---- */

static void put_mapping(struct gp_chrome *chrome, struct gp_chrome_args *args, uint32_t index)
{
	const struct gp_model *model = chrome->model;
	const struct gp_mapping *mapping;

	while (args->mapping < model->mapping_count && model->mappings[args->mapping].call < index)
		args->mapping++;
	if (args->mapping == model->mapping_count || model->mappings[args->mapping].call != index)
		return;
	mapping = &model->mappings[args->mapping];
	gp_json_key(&chrome->json, mapping->op == GP_MEMORY_RETAIN ? "handle" : "address");
	gp_json_address(&chrome->json, mapping->address);
	if (mapping->op == GP_MEMORY_RETAIN)
		return;
	gp_chrome_put_field(&chrome->json, "bytes", mapping->bytes);
	if (mapping->op != GP_MEMORY_MAP)
		return;
	gp_json_key(&chrome->json, "handle");
	gp_json_address(&chrome->json, mapping->handle);
}

/* ---- all arguments ---- */

void gp_chrome_args_open(struct gp_chrome_args *args, const struct gp_model *model)
{
	args->events = gp_array_order(model->events, model->event_count, sizeof(*model->events),
				      compare_events, NULL);
	order_streams(args, model);
}

void gp_chrome_args_close(struct gp_chrome_args *args)
{
	free(args->streams);
	gp_spill_free(args->events);
}

void gp_chrome_args_put(struct gp_chrome *chrome, struct gp_chrome_args *args,
			const struct gp_call *call)
{
	put_streams(chrome, args, (uint32_t)(call - chrome->model->calls));
	put_event(chrome, args, call);
	if (call->memory == GP_NONE) /* else an unmapping that freed the memory */
		put_mapping(chrome, args, (uint32_t)(call - chrome->model->calls));
}
