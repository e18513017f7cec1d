#include <stdio.h>
#include <string.h>

#include "report/export/chrome/chrome_writer.h"
#include "report/export/payload_json.h"

/* ---- on their thread ---- */

static void put_payloads(struct gp_chrome *chrome, const struct gp_range *range)
{
	if (range->payload_kind != GP_PAYLOAD_NONE) {
		gp_json_key(&chrome->json, "payload");
		gp_payload_json_value(&chrome->json, range->payload_kind, range->payload);
	}
	if (range->extended_payload != GP_NONE) {
		gp_json_key(&chrome->json, "fields");
		gp_payload_json_fields(&chrome->json, chrome->model, range->extended_payload);
	}
}

static void put_category(struct gp_chrome *chrome, const struct gp_range *range)
{
	const char *name = gp_model_category(chrome->model, range->domain, range->category);

	if (range->category == 0)
		return;
	if (*name)
		gp_chrome_put_text(&chrome->json, "category", name);
	else
		gp_chrome_put_field(&chrome->json, "category", range->category);
}

/* ,"args":{...}} */
static void put_args(struct gp_chrome *chrome, const struct gp_range *range)
{
	const char *domain = chrome->model->domains[range->domain];
	struct gp_json *json = &chrome->json;
	char color[12];

	gp_json_text(json, ",\"args\":{\"domain\":");
	gp_json_string(json, domain, strlen(domain));
	put_category(chrome, range);
	put_payloads(chrome, range);
	if (range->color_argb != 0) {
		snprintf(color, sizeof(color), "#%06x", range->color_argb & 0xffffffu);
		gp_chrome_put_text(json, "color", color);
	}
	chrome->cut_ranges += range->is_cut;
	if (range->op_count > 0) {
		gp_chrome_put_field(json, "GPU operations", range->op_count);
		gp_json_key(json, "GPU time (us)");
		gp_json_us(json, range->gpu_busy_ns);
	}
	if (range->open)
		gp_chrome_put_field(json, "never closed", 1);
	gp_json_text(json, "}}");
}

static const char *name_of(const struct gp_chrome *chrome, const struct gp_range *range)
{
	const char *text = gp_model_range_text(chrome->model, range);

	return *text ? text : "(no name)";
}

static void write_pushed(struct gp_chrome *chrome, const struct gp_range *range)
{
	uint32_t tid = gp_chrome_place(chrome, range->start_ns, range->end_ns);

	gp_chrome_open(chrome, "X", "user_annotation", name_of(chrome, range), tid,
		       range->start_ns);
	gp_json_key(&chrome->json, "dur");
	gp_json_us(&chrome->json, range->end_ns - range->start_ns);
	put_args(chrome, range);
}

/* Two events; a viewer draws what lies between them on a track of its own. */
static void write_started(struct gp_chrome *chrome, const struct gp_range *range)
{
	const char *name = name_of(chrome, range);
	uint32_t tid = gp_chrome_first_tid(chrome);

	chrome->last_async++;
	gp_chrome_open(chrome, "b", "user_annotation", name, tid, range->start_ns);
	gp_chrome_put_field(&chrome->json, "id", chrome->last_async);
	put_args(chrome, range);
	gp_chrome_open(chrome, "e", "user_annotation", name, tid, range->end_ns);
	gp_chrome_put_field(&chrome->json, "id", chrome->last_async);
	gp_json_text(&chrome->json, ",\"args\":{\"thread\":");
	gp_json_unsigned(&chrome->json, range->end_thread_id);
	gp_json_text(&chrome->json, "}}");
}

static void write_mark(struct gp_chrome *chrome, const struct gp_range *range)
{
	gp_chrome_open(chrome, "i", "user_annotation", name_of(chrome, range),
		       gp_chrome_first_tid(chrome), range->start_ns);
	gp_json_text(&chrome->json, ",\"s\":\"t\"");
	put_args(chrome, range);
}

void gp_chrome_write_range(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	static void (*const writers[])(struct gp_chrome *, const struct gp_range *) = {
		[GP_STYLE_PUSH_POP] = write_pushed,
		[GP_STYLE_START_END] = write_started,
		[GP_STYLE_MARK] = write_mark,
	};
	const struct gp_range *range = event->of.range;

	if (!event->is_elsewhere)
		writers[range->style](chrome, range);
	else if (range->style == GP_STYLE_PUSH_POP)
		gp_chrome_place_again(chrome, range->start_ns, range->end_ns);
}

/* ---- on the GPU ---- */

/*
 * Such slices follow from others: the limit does not count them.  On a stream's own track they lie
 * whatever else is there.
 */
void gp_chrome_write_span(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	const struct gp_range_span *span = event->of.span;
	const struct gp_range *range = &chrome->model->ranges[span->range];
	const char *domain = chrome->model->domains[range->domain];
	uint32_t tid;

	if (event->is_elsewhere)
		return;
	tid = chrome->options->ranges_on_streams
		      ? gp_chrome_first_tid(chrome)
		      : gp_chrome_place_again(chrome, span->start_ns, span->end_ns);
	gp_chrome_open(chrome, "X", "gpu_user_annotation", name_of(chrome, range), tid,
		       span->start_ns);
	gp_json_key(&chrome->json, "dur");
	gp_json_us(&chrome->json, span->end_ns - span->start_ns);
	gp_json_text(&chrome->json, ",\"args\":{\"thread\":");
	gp_json_unsigned(&chrome->json, range->thread_id);
	gp_chrome_put_text(&chrome->json, "domain", domain);
	gp_json_text(&chrome->json, "}}");
}
