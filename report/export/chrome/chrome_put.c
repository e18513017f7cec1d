#include <stdlib.h>
#include <string.h>

#include "report/export/chrome/chrome_writer.h"

void gp_chrome_put_times(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, ",\"ts\":");
	gp_json_us(json, start_ns + chrome->offset_ns);
	gp_json_text(json, ",\"dur\":");
	gp_json_us(json, end_ns - start_ns);
}

void gp_chrome_put_number(struct gp_json *json, uint64_t value)
{
	if (value > INT64_MAX)
		gp_json_address(json, value);
	else
		gp_json_unsigned(json, value);
}

void gp_chrome_put_field(struct gp_json *json, const char *key, uint64_t value)
{
	gp_json_key(json, key);
	gp_chrome_put_number(json, value);
}

void gp_chrome_put_text(struct gp_json *json, const char *key, const char *text)
{
	gp_json_key(json, key);
	gp_json_string(json, text, strlen(text));
}

void gp_chrome_open(struct gp_chrome *chrome, const char *phase, const char *category,
		    const char *name, uint32_t tid, uint64_t start_ns)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, ",\n{\"ph\":\"");
	gp_json_text(json, phase);
	gp_json_text(json, "\",\"cat\":\"");
	gp_json_text(json, category);
	gp_json_text(json, "\",\"name\":");
	gp_json_string(json, name, strlen(name));
	gp_chrome_put_field(json, "pid", chrome->pid);
	gp_chrome_put_field(json, "tid", tid);
	gp_json_key(json, "ts");
	gp_json_us(json, start_ns + chrome->offset_ns);
}

struct gp_chrome_text gp_chrome_take(struct gp_json *scratch)
{
	struct gp_chrome_text text = {.length = (uint32_t)scratch->used};

	text.bytes = malloc(scratch->used + 1);
	memcpy(text.bytes, scratch->buffer, scratch->used);
	scratch->used = 0;
	return text;
}
