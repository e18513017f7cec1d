#include "report/html/html.h"

#include <errno.h>
#include <stdlib.h>

#include "report/html/about.h"
#include "report/html/flame.h"
#include "report/html/pack.h"
#include "report/html/series.h"
#include "report/html/tables.h"
#include "report/html/timeline.h"
#include "report/recorded.h"

/* The page, from report/html/page.S. */
extern const char gp_html_page[], gp_html_page_end[];

struct page {
	struct gp_model *const *models;
	size_t model_count;
	const struct gp_html_options *options;
	FILE *out;
	struct gp_kinds *kinds;
	struct gp_scope scope;
	struct gp_stack_profile profile;
	struct gp_html_timeline timeline;
	struct gp_json series; /* JSON */
};

static void show_progress(const struct page *page)
{
	if (page->options->progress)
		page->options->progress(page->options->progress_context);
}

/* Add JSON, written by make, as an element of that kind. */
static int put_json(struct page *page, const char *kind,
		    int (*make)(struct page *page, struct gp_json *json))
{
	struct gp_json json;
	int result = gp_json_open(&json, NULL);

	show_progress(page);
	if (result == 0)
		result = make(page, &json);
	if (result == 0)
		result = json.error;
	if (result == 0)
		result = gp_html_put_text(page->out, kind, json.buffer, json.used);
	gp_json_close(&json);
	return result;
}

static int make_about(struct page *page, struct gp_json *json)
{
	return gp_html_about(page->models, page->model_count, page->kinds, page->scope.names, json);
}

static int make_tables(struct page *page, struct gp_json *json)
{
	return gp_html_tables(&page->scope, json);
}

/* ---- what belongs to the timeline ---- */

/* Pauses of the recording, of every process: [process, from, to]. */
static void put_pauses(const struct page *page, struct gp_json *json)
{
	const char *separator = "";

	for (size_t i = 0; i < page->model_count; i++) {
		const struct gp_model *model = page->models[i];
		uint64_t from_ns = model->base_unix_ns - page->timeline.origin_unix_ns;
		struct gp_recorded_part part;
		uint64_t last_ns = 0;

		for (uint32_t next = 0;
		     model->gate_count > 0 && gp_recorded_part(model, &next, &part);) {
			gp_json_text(json, separator);
			gp_json_text(json, "[");
			gp_json_unsigned(json, i);
			gp_json_text(json, ",");
			gp_json_signed(json, (int64_t)(from_ns + last_ns));
			gp_json_text(json, ",");
			gp_json_signed(json, (int64_t)(from_ns + part.start_ns));
			gp_json_text(json, "]");
			separator = ",";
			last_ns = part.end_ns;
		}
	}
}

static void put_field(struct gp_json *json, const char *key, uint64_t value)
{
	gp_json_text(json, key);
	gp_json_unsigned(json, value);
}

static int make_index(struct page *page, struct gp_json *json)
{
	struct gp_html_timeline *timeline = &page->timeline;
	struct gp_window window = gp_busy_window(page->models, page->model_count);

	gp_json_text(json, "{\"zero\":");
	gp_json_signed(json, window.start_unix_ns > 0
				     ? (int64_t)(window.start_unix_ns - timeline->origin_unix_ns)
				     : 0);
	put_field(json, ",\"events\":", timeline->events);
	put_field(json, ",\"shorter\":", timeline->shorter);
	put_field(json, ",\"shortest\":", timeline->shortest_ns);
	put_field(json, ",\"tooDeep\":", timeline->too_deep);
	gp_json_text(json, ",\"sums\":[");
	for (size_t i = 0; i < sizeof(timeline->sums) / sizeof(timeline->sums[0]); i++)
		put_field(json, i > 0 ? "," : "", timeline->sums[i]);
	gp_json_text(json, "],\"pauses\":[");
	put_pauses(page, json);
	gp_json_text(json, "],\n\"tracks\":[");
	gp_json_bytes(json, timeline->tracks.buffer, timeline->tracks.used);
	gp_json_text(json, "],\n\"shapes\":[");
	gp_json_bytes(json, timeline->shapes.buffer, timeline->shapes.used);
	gp_json_text(json, "],\n\"labels\":");
	gp_html_labels_put(&timeline->labels, page->scope.names, json);
	gp_json_text(json, ",\n\"series\":");
	gp_json_bytes(json, page->series.buffer, page->series.used);
	gp_json_text(json, "}");
	return timeline->tracks.error < 0 ? timeline->tracks.error : timeline->shapes.error;
}

static int put_timeline(struct page *page)
{
	int result = gp_json_open(&page->series, NULL);

	page->timeline.scope = &page->scope;
	page->timeline.tree = &page->profile.tree;
	if (result == 0)
		result = gp_html_timeline_write(&page->timeline, page->out);
	if (result == 0)
		result = gp_html_series(page->models, page->model_count,
					page->timeline.origin_unix_ns, page->out, &page->series);
	if (result == 0)
		result = put_json(page, "index", make_index);
	gp_json_close(&page->series);
	return result;
}

/* ---- the whole ---- */

static int put_data(struct page *page)
{
	int result = put_json(page, "about", make_about);

	if (result == 0)
		result = put_json(page, "tables", make_tables);
	for (size_t i = 0; result == 0 && i < page->model_count; i++) {
		show_progress(page);
		result = gp_stack_profile_add(&page->profile, page->models[i]);
	}
	if (result == 0)
		result = put_timeline(page);
	if (result == 0)
		result = gp_html_flame(&page->profile, page->out);
	/* whoever opens a file that was cut finds that this is missing */
	return result < 0 ? result : gp_html_put_text(page->out, "end", "end", 3);
}

int gp_html_write(struct gp_model *const *models, size_t model_count,
		  const struct gp_html_options *options, FILE *out, struct gp_html_result *result)
{
	struct page page = {
		.models = models, .model_count = model_count, .options = options, .out = out};
	int error = gp_scope_open(&page.scope, models, model_count, false);
	int opened = gp_stack_profile_open(&page.profile, false, false);
	char message[64];

	page.kinds = gp_kinds_new(NULL, message, sizeof(message));
	page.timeline.event_limit = options->event_limit;
	if (error == 0)
		error = page.kinds ? opened : -ENOMEM;
	fwrite(gp_html_page, 1, (size_t)(gp_html_page_end - gp_html_page), out);
	if (error == 0)
		error = put_data(&page);
	fputs("</body></html>\n", out);
	if (result)
		*result = (struct gp_html_result){.events = page.timeline.events,
						  .left_out = page.timeline.shorter +
							      page.timeline.too_deep};
	gp_html_timeline_free(&page.timeline);
	gp_stack_profile_close(&page.profile);
	gp_scope_close(&page.scope);
	gp_kinds_free(page.kinds);
	if (error == 0 && (fflush(out) != 0 || ferror(out)))
		error = -EIO;
	return error;
}
