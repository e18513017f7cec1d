#include "report/export/payload_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/model/payload.h"

#define MOST_EXACT ((uint64_t)1 << 53) /* readers that hold numbers as doubles round larger ones */

static void put_signed(struct gp_json *json, int64_t value)
{
	bool is_exact = value <= (int64_t)MOST_EXACT && value >= -(int64_t)MOST_EXACT;

	gp_json_text(json, is_exact ? "" : "\"");
	gp_json_signed(json, value);
	gp_json_text(json, is_exact ? "" : "\"");
}

void gp_payload_json_value(struct gp_json *json, uint8_t kind, uint64_t value)
{
	double floating = gp_payload_floating(value);
	char text[40];

	if (kind == GP_PAYLOAD_SIGNED) {
		put_signed(json, (int64_t)value);
	} else if (kind == GP_PAYLOAD_FLOATING && isfinite(floating)) {
		snprintf(text, sizeof(text), "%.17g", floating);
		gp_json_text(json, text);
	} else if (kind == GP_PAYLOAD_FLOATING) {
		gp_json_text(json, isnan(floating) ? "\"nan\""
				   : floating > 0  ? "\"inf\""
						   : "\"-inf\"");
	} else if (value > MOST_EXACT) {
		gp_json_address(json, value);
	} else {
		gp_json_unsigned(json, value);
	}
}

/* The fields written so far: keys of an object must be unique. */
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
		gp_payload_json_value(fields->json, field->kind, field->value);
}

void gp_payload_json_fields(struct gp_json *json, const struct gp_model *model, uint32_t payload)
{
	struct fields fields = {.json = json};

	gp_json_text(json, "{");
	gp_payload_decode(model, payload, put_payload_field, &fields);
	gp_json_text(json, "}");
}
