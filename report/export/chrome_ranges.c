#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/chrome_writer.h"
#include "report/payload.h"

/* ---- on their thread ---- */

static void put_value(struct gp_json *json, uint8_t kind, uint64_t value)
{
	double floating = gp_payload_floating(value);
	char text[40];

	if (kind == GP_PAYLOAD_SIGNED) {
		gp_json_signed(json, (int64_t)value);
	} else if (kind == GP_PAYLOAD_FLOATING && isfinite(floating)) {
		snprintf(text, sizeof(text), "%.17g", floating);
		gp_json_text(json, text);
	} else if (kind == GP_PAYLOAD_FLOATING) {
		gp_json_text(json, isnan(floating) ? "\"nan\""
				   : floating > 0  ? "\"inf\""
						   : "\"-inf\"");
	} else {
		gp_chrome_put_number(json, value);
	}
}

/* The fields of a payload that are written already: keys of an object may not occur twice. */
struct fields {
	struct gp_json *json;
	uint32_t hashes[GP_PAYLOAD_MOST_FIELDS];
	uint32_t count;
};

static bool is_new(struct fields *fields, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	fields->hashes[fields->count] = hash;
	for (uint32_t i = 0; i < fields->count; i++)
		if (fields->hashes[i] == hash)
			return false;
	return true;
}

static void put_payload_field(void *context, const struct gp_payload_field *field)
{
	struct fields *fields = context;
	char name[192];

	snprintf(name, sizeof(name), "%s", field->name);
	if (!is_new(fields, field->name))
		snprintf(name, sizeof(name), "%.160s (%u)", field->name, fields->count + 1);
	gp_json_text(fields->json, fields->count > 0 ? "," : "");
	fields->count++;
	gp_json_string(fields->json, name, strlen(name));
	gp_json_text(fields->json, ":");
	if (field->kind == GP_PAYLOAD_NONE)
		gp_json_string(fields->json, field->text, strlen(field->text));
	else
		put_value(fields->json, field->kind, field->value);
}

static void put_payloads(struct gp_chrome *chrome, const struct gp_range *range)
{
	struct fields fields = {.json = &chrome->json};

	if (range->payload_kind != GP_PAYLOAD_NONE) {
		gp_json_key(&chrome->json, "payload");
		put_value(&chrome->json, range->payload_kind, range->payload);
	}
	if (range->extended_payload == GP_NONE)
		return;
	gp_json_key(&chrome->json, "fields");
	gp_json_text(&chrome->json, "{");
	gp_payload_decode(chrome->model, range->extended_payload, put_payload_field, &fields);
	gp_json_text(&chrome->json, "}");
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

void gp_chrome_write_range(struct gp_chrome *chrome, const struct gp_range *range)
{
	static void (*const writers[])(struct gp_chrome *, const struct gp_range *) = {
		[GP_STYLE_PUSH_POP] = write_pushed,
		[GP_STYLE_START_END] = write_started,
		[GP_STYLE_MARK] = write_mark,
	};

	if (range->style == GP_STYLE_MARK
		    ? gp_chrome_is_moment_shown(chrome, range->start_ns)
		    : gp_chrome_is_shown(chrome, range->start_ns, range->end_ns))
		writers[range->style](chrome, range);
}

/* ---- on the GPU ---- */

/* Such slices follow from others: the limit does not count them. */
void gp_chrome_write_span(struct gp_chrome *chrome, const struct gp_range_span *span)
{
	const struct gp_range *range = &chrome->model->ranges[span->range];
	const char *domain = chrome->model->domains[range->domain];

	if (!gp_chrome_is_shown(chrome, span->start_ns, span->end_ns))
		return;
	gp_chrome_open_slice(chrome, "gpu_user_annotation", name_of(chrome, range), span->start_ns,
			     span->end_ns, "thread");
	gp_json_unsigned(&chrome->json, range->thread_id);
	gp_chrome_put_text(&chrome->json, "domain", domain);
	gp_json_text(&chrome->json, "}}");
	chrome->slices--;
}
