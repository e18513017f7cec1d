#include <stdio.h>

#include "report/export/sqlite/sqlite_names.h"
#include "report/export/sqlite/sqlite_writer.h"
#include "report/base/group_by.h"
#include "report/model/nsys_numbers.h"
#include "report/model/payload.h"

/* The columns up to the domain; those of payloads follow. */
enum { NVTX_PAYLOAD = 11, NVTX_COLUMNS = 14 };

static int event_type(const struct gp_range *range)
{
	static const int types[] = {
		[GP_STYLE_PUSH_POP] = GP_NSYS_NVTX_PUSH_POP,
		[GP_STYLE_START_END] = GP_NSYS_NVTX_START_END,
		[GP_STYLE_MARK] = GP_NSYS_NVTX_MARK,
	};

	return types[range->style];
}

static void set_payload(struct gp_value *values, const struct gp_range *range)
{
	if (range->payload_kind == GP_PAYLOAD_UNSIGNED)
		values[0] = gp_value_whole(range->payload);
	else if (range->payload_kind == GP_PAYLOAD_SIGNED)
		values[1] = gp_value_whole(range->payload);
	else if (range->payload_kind == GP_PAYLOAD_FLOATING)
		values[2] = gp_value_real(gp_payload_floating(range->payload));
}

static struct gp_value text_id(struct gp_sqlite_export *e, const struct gp_range *range)
{
	uint32_t *known;

	if (range->text == GP_NONE)
		return gp_value_none();
	known = &e->ids.texts[range->text];
	if (*known == 0)
		*known = (uint32_t)gp_sqlite_string(e->db, gp_model_range_text(e->model, range))
				 .whole +
			 1;
	return gp_value_whole(*known - 1);
}

/*
 * A text is written twice, as a text and as an id: nsys has one of them, depending on the NVTX
 * function, and readers may use only one.  A range that was never closed has no end.
 */
static void put_range(struct gp_sqlite_export *e, const struct gp_range *range, uint32_t index)
{
	bool has_end = range->style != GP_STYLE_MARK && !range->open;
	struct gp_value values[NVTX_COLUMNS] = {
		gp_sqlite_time(e, range->start_ns),
		has_end ? gp_sqlite_time(e, range->end_ns) : gp_value_none(),
		gp_value_whole((uint64_t)event_type(range)),
		range->style == GP_STYLE_START_END ? gp_value_whole(e->ranges + index + 1)
						   : gp_value_none(),
		gp_sqlite_if_any(range->category),
		gp_sqlite_if_any(range->color_argb),
		range->text == GP_NONE ? gp_value_none()
				       : gp_value_text(gp_model_range_text(e->model, range)),
		gp_sqlite_thread(e, range->thread_id),
		has_end && range->style == GP_STYLE_START_END
			? gp_sqlite_thread(e, range->end_thread_id)
			: gp_value_none(),
		text_id(e, range),
		gp_value_whole(range->domain),
	};

	set_payload(values + NVTX_PAYLOAD, range);
	GP_SQLITE_PUT(e, GP_SQLITE_NVTX, values);
}

/* Names of domains and categories are events, too. */
static void put_name(struct gp_sqlite_export *e, int type, uint32_t domain, uint32_t category,
		     const char *name)
{
	const struct gp_value values[] = {
		gp_sqlite_time(e, 0),
		gp_value_none(),
		gp_value_whole((uint64_t)type),
		gp_value_none(),
		gp_sqlite_if_any(category),
		gp_value_none(),
		gp_value_text(name),
		gp_sqlite_process(e),
		gp_value_none(),
		gp_sqlite_string(e->db, name),
		gp_value_whole(domain),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_NVTX, values);
}

static void put_category(struct gp_sqlite_export *e, const struct gp_range *range)
{
	const char *name = gp_model_category(e->model, range->domain, range->category);
	uint32_t count = e->categories.count;
	char key[32];

	if (range->category == 0 || !*name)
		return;
	snprintf(key, sizeof(key), "%u %u", range->domain, range->category);
	gp_groups_find(&e->categories, key);
	if (e->categories.count > count)
		put_name(e, GP_NSYS_NVTX_CATEGORY, range->domain, range->category, name);
}

void gp_sqlite_write_domains(struct gp_sqlite_export *e)
{
	for (uint32_t i = 1; i < e->model->domain_count; i++)
		put_name(e, GP_NSYS_NVTX_DOMAIN, i, 0, e->model->domains[i]);
}

void gp_sqlite_put_range(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_range *range = event->of.range;

	put_category(e, range);
	put_range(e, range, (uint32_t)(range - e->model->ranges));
}
