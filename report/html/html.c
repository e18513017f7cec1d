#include "report/html/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/device/energy.h"
#include "report/analysis/device/hw_metrics.h"
#include "report/diff/compare.h"
#include "report/diff/thresholds.h"
#include "report/diff/kernel_names.h"
#include "report/diff/place_names.h"
#include "report/diff/vendor_names.h"
#include "report/html/about.h"
#include "report/html/activity.h"
#include "report/html/allocator.h"
#include "report/html/curves.h"
#include "report/html/flame.h"
#include "report/html/pack.h"
#include "report/html/rank_map.h"
#include "report/html/samples.h"
#include "report/html/series.h"
#include "report/html/tables.h"
#include "report/html/timeline.h"
#include "report/base/memstream.h"
#include "report/model/recorded.h"

/* The page, from report/html/page.S; the policy of a served page continues at the mark. */
extern const char gp_html_page[], gp_html_page_end[];
#define POLICY_MARK   "@SERVED@"
#define SERVED_POLICY "; connect-src 'self'"

struct page {
	struct gp_model *const *models;
	size_t model_count;
	const struct gp_html_options *options;
	FILE *out;
	struct gp_scope scope;
	struct gp_stack_profile profile;
	struct gp_html_timeline timeline;
};

static void show_progress(const struct page *page)
{
	if (page->options->progress)
		page->options->progress(page->options->progress_context);
}

/* Add an element of that kind with the JSON that make writes. */
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
	return gp_html_about(&page->scope, json);
}

static int make_served(struct page *page, struct gp_json *json)
{
	gp_json_string_after(json, "{\"perfetto\":", page->options->perfetto_ui);
	gp_json_text(json, "}");
	return 0;
}

static int make_tables(struct page *page, struct gp_json *json)
{
	return gp_html_tables(&page->scope, json);
}

/* ---- data of the timeline ---- */

static void put_pause(struct gp_json *json, size_t process, int64_t from_ns, int64_t to_ns,
		      bool *any)
{
	if (to_ns <= from_ns)
		return;
	gp_json_text(json, *any ? ",[" : "[");
	gp_json_unsigned(json, process);
	gp_json_text(json, ",");
	gp_json_signed(json, from_ns);
	gp_json_text(json, ",");
	gp_json_signed(json, to_ns);
	gp_json_text(json, "]");
	*any = true;
}

/* Pauses of the recording of all processes: [process, from, to]. */
static void put_pauses(const struct page *page, struct gp_json *json)
{
	bool any = false;

	for (size_t i = 0; i < page->model_count; i++) {
		const struct gp_model *model = page->models[i];
		uint64_t from_ns = model->base_unix_ns - page->timeline.walk.origin_unix_ns;
		struct gp_recorded_part part;
		uint64_t last_ns = 0;

		for (uint32_t next = 0;
		     model->gate_count > 0 && gp_recorded_part(model, &next, &part);) {
			put_pause(json, i, (int64_t)(from_ns + last_ns),
				  (int64_t)(from_ns + part.start_ns), &any);
			last_ns = part.end_ns;
		}
		if (model->gate_count > 0)
			put_pause(json, i, (int64_t)(from_ns + last_ns),
				  (int64_t)(from_ns + gp_model_end_ns(model)), &any);
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
	gp_json_signed(json, window.start_unix_ns > 0 ? (int64_t)(window.start_unix_ns -
								  timeline->walk.origin_unix_ns)
						      : 0);
	put_field(json, ",\"end\":", timeline->end_ns);
	put_field(json, ",\"events\":", timeline->events);
	put_field(json, ",\"grouped\":", timeline->walk.grouped);
	put_field(json, ",\"least\":", gp_html_tracks_least_ns(&timeline->walk));
	put_field(json, ",\"limited\":", timeline->walk.is_limited);
	put_field(json, ",\"crowded\":", timeline->walk.crowded);
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
	gp_html_labels_put(&timeline->walk.labels, page->scope.names, json);
	if (timeline->walk.grouped > 0 && timeline->end_ns > 0) {
		gp_json_text(json, ",\n\"activity\":");
		gp_html_activity(page->models, page->model_count, gp_scope_kinds(&page->scope),
				 timeline->walk.origin_unix_ns, timeline->end_ns, json);
	}
	gp_json_text(json, "}");
	return timeline->tracks.error < 0 ? timeline->tracks.error : timeline->shapes.error;
}

/* ---- comparison with another run ---- */

/* A run of these processes, as `gpuprof diff` makes it from files. */
static int make_run(struct gp_run_set *set, struct gp_model *const *models, size_t count)
{
	struct gp_run_figures *run = calloc(1, sizeof(*run));
	int result = 0;

	*set = (struct gp_run_set){.runs = run, .count = 1, .capacity = 1};
	run->name = strdup(models[0]->path ? models[0]->path : "");
	for (size_t i = 0; result == 0 && i < count; i++)
		result = gp_run_note_partial(run, models[i]);
	if (result == 0)
		result = gp_figures_of(models, count, &run->figures);
	return result == 0 ? gp_machine_of(models, count, &set->machine) : result;
}

static void write_tables(const struct gp_run_set *base, const struct gp_run_set *own, FILE *out,
			 int *result)
{
	const struct gp_compare_options all = {0};
	struct gp_compare_result written;
	struct gp_table_writer writer;
	int closed;

	gp_table_writer_open(&writer, &gp_table_json, out, true);
	*result = gp_compare_write(&writer, base, own, &all, &written);
	closed = gp_table_writer_close(&writer);
	if (*result == 0)
		*result = closed;
}

struct list {
	struct gp_json json;
	const char *separator;
};

static void put_doubt(void *context, const char *line)
{
	struct list *list = context;

	gp_json_string_after(&list->json, list->separator, line);
	list->separator = ",";
}

/* The words and the meaning of each metric that a table may name. */
static void put_meanings(struct gp_json *json)
{
	for (int i = 0; i < GP_METRICS; i++) {
		gp_json_string_after(json, i > 0 ? "," : ",\"meanings\":{", gp_metric_rows[i].name);
		gp_json_string_after(json, ":[", gp_metric_rows[i].words);
		gp_json_string_after(json, ",", gp_metric_rows[i].meaning);
		gp_json_text(json, "]");
	}
	gp_json_text(json, "}");
}

/*
 * {"name": file of the other run, "own": file of this one, "programs": [of the other run, of this
 * one], "runs": [number of runs of the other set, of this set], "margin": tolerated difference of
 * times, "meanings": {metric: [words, a line], ...}, "doubts": [a line, ...], "tables": written by
 * the caller}
 */
static int write_name(const struct gp_run_set *base, const struct gp_run_set *own, FILE *out)
{
	struct list list = {.separator = ""};

	gp_json_open(&list.json, out);
	gp_json_string_after(&list.json, "{\"name\":", gp_run_set_middle(base)->name);
	gp_json_string_after(&list.json, ",\"own\":", gp_run_set_middle(own)->name);
	gp_json_string_after(&list.json, ",\"programs\":[",
			     gp_machine_fact(&base->machine, GP_MACHINE_PROGRAM));
	gp_json_string_after(&list.json, ",", gp_machine_fact(&own->machine, GP_MACHINE_PROGRAM));
	put_field(&list.json, "],\"runs\":[", base->count);
	put_field(&list.json, ",", own->count);
	gp_json_text(&list.json, "]");
	put_meanings(&list.json);
	gp_json_text(&list.json, ",\"margin\":{\"percent\":");
	gp_json_unsigned(&list.json, (uint64_t)(100 * GP_THRESHOLD_SHARE + 0.5));
	gp_json_text(&list.json, ",\"ns\":");
	gp_json_unsigned(&list.json, (uint64_t)GP_THRESHOLD_NS);
	gp_json_text(&list.json, "},\"doubts\":[");
	gp_compare_doubts(base, own, put_doubt, &list);
	gp_json_text(&list.json, "],\"tables\":");
	gp_json_close(&list.json);
	return 0;
}

static int put_comparison(struct page *page, const struct gp_run_set *base,
			  const struct gp_run_set *own)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int result;

	result = write_name(base, own, out);
	if (result == 0)
		write_tables(base, own, out, &result);
	fputs("}", out);
	gp_memstream_close(out, &text);
	if (result == 0)
		result = gp_html_put_text(page->out, "diff", text, length);
	free(text);
	return result;
}

static int put_differences_of(struct page *page, struct gp_run_set *base, struct gp_run_set *own)
{
	gp_kernel_names_match(base, own);
	gp_vendor_names_match(base, own);
	gp_place_names_match(base, own);
	return put_comparison(page, base, own);
}

static int put_differences(struct page *page)
{
	const struct gp_html_options *options = page->options;
	struct gp_run_set base, own = {0};
	int result;

	if (options->base_runs)
		return put_differences_of(page, options->base_runs, options->runs);
	result = make_run(&base, options->base, options->base_count);
	if (result == 0)
		result = make_run(&own, page->models, page->model_count);
	if (result == 0)
		result = put_differences_of(page, &base, &own);
	gp_run_set_free(&base);
	gp_run_set_free(&own);
	return result;
}

static int put_base_stacks(struct page *page)
{
	const struct gp_html_options *options = page->options;
	struct gp_stack_profile profile;
	int result = gp_stack_profile_open(&profile, false, false);

	for (size_t i = 0; result == 0 && i < options->base_count; i++)
		result = gp_stack_profile_add(&profile, options->base[i]);
	if (result == 0)
		result = gp_html_flame(&profile, "basestacks", "basesites", page->out);
	gp_stack_profile_close(&profile);
	return result;
}

/* ---- the page ---- */

static int make_series(struct page *page, FILE *out, struct gp_json *names)
{
	return gp_html_series(page->models, page->model_count, page->timeline.walk.origin_unix_ns,
			      page->options->event_limit, &page->profile, out, names);
}

static int make_allocator(struct page *page, FILE *out, struct gp_json *names)
{
	return gp_html_allocator(&page->scope, page->timeline.walk.origin_unix_ns,
				 page->options->event_limit, out, names);
}

static int make_curves(struct page *page, FILE *out, struct gp_json *names)
{
	return gp_html_curves(&page->scope, page->options->counters,
			      page->timeline.walk.origin_unix_ns, page->options->event_limit, out,
			      names);
}

static bool has_curves(const struct page *page)
{
	return page->options->counters || gp_hw_any(page->scope.models, page->scope.model_count) ||
	       gp_energy_any(page->scope.models, page->scope.model_count);
}

/* Write names, then values. */
static int put_named(struct page *page, const char *kind,
		     int (*make)(struct page *page, FILE *out, struct gp_json *names))
{
	char *values = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&values, &length);
	struct gp_json names;
	int result = gp_json_open(&names, NULL);

	if (result == 0)
		result = make(page, out, &names);
	gp_memstream_close(out, &values);
	if (result == 0)
		result = names.error;
	if (result == 0)
		result = gp_html_put_text(page->out, kind, names.buffer, names.used);
	if (result == 0)
		fwrite(values, 1, length, page->out);
	gp_json_close(&names);
	free(values);
	return result;
}

/*
 * If the file is cut off later, its first part remains, so the events, which need the names, are
 * written last.  They are kept packed until then: five bytes each, compared with a hundred in the
 * model.
 */
static int put_timeline(struct page *page)
{
	char *events = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&events, &length);
	int result;

	page->timeline.walk.scope = &page->scope;
	page->timeline.walk.tree = &page->profile.tree;
	result = gp_html_timeline_write(&page->timeline, out);
	gp_memstream_close(out, &events);
	if (result == 0)
		result = put_json(page, "index", make_index);
	if (result == 0)
		result = gp_html_flame(&page->profile, "stacks", "sites", page->out);
	if (result == 0 && page->options->base_count > 0)
		result = put_base_stacks(page);
	if (result == 0)
		result = put_named(page, "series", make_series);
	if (result == 0)
		result = put_named(page, "allocators", make_allocator);
	if (result == 0 && has_curves(page))
		result = put_named(page, "courses", make_curves);
	if (result == 0)
		result = gp_html_samples(&page->scope, page->timeline.walk.origin_unix_ns,
					 page->options->event_limit, page->out);
	if (result == 0)
		fwrite(events, 1, length, page->out);
	free(events);
	return result;
}

static void put_page(const struct page *page)
{
	const char *mark = strstr(gp_html_page, POLICY_MARK), *rest = mark + strlen(POLICY_MARK);

	fwrite(gp_html_page, 1, (size_t)(mark - gp_html_page), page->out);
	if (page->options->perfetto_ui)
		fputs(SERVED_POLICY, page->out);
	fwrite(rest, 1, (size_t)(gp_html_page_end - rest), page->out);
}

static int put_data(struct page *page)
{
	int result = put_json(page, "about", make_about);

	if (result == 0 && page->options->perfetto_ui)
		result = put_json(page, "served", make_served);
	if (result == 0)
		result = put_json(page, "tables", make_tables);
	if (result == 0 && page->options->job)
		result = gp_html_put_rank_map(page->out, page->options->job);
	if (result == 0 && page->options->base_count > 0)
		result = put_differences(page);
	for (size_t i = 0; result == 0 && i < page->model_count; i++) {
		show_progress(page);
		result = gp_stack_profile_add(&page->profile, page->models[i]);
	}
	if (result == 0)
		result = put_timeline(page);
	/* if this element is missing, the page knows that the file was cut off */
	return result < 0 ? result : gp_html_put_text(page->out, "end", "end", 3);
}

static int write_page(struct page *page)
{
	int error = gp_scope_open(&page->scope, page->models, page->model_count, false);

	gp_stack_profile_open(&page->profile, false, false);
	if (page->options->job)
		gp_scope_set_job(&page->scope, page->options->job);
	page->timeline.walk.event_limit = page->options->event_limit;
	page->timeline.walk.least_ns = page->options->least_ns;
	if (error == 0)
		gp_scope_kinds(&page->scope);
	put_page(page);
	if (error == 0)
		error = put_data(page);
	fputs("</body></html>\n", page->out);
	return error;
}

static struct gp_html_result result_of(const struct gp_html_timeline *timeline)
{
	return (struct gp_html_result){
		.events = timeline->events,
		.is_limited = timeline->walk.is_limited,
		.grouped = timeline->walk.grouped,
		.least_ns = gp_html_tracks_least_ns(&timeline->walk),
		.crowded = timeline->walk.crowded,
		.host_depth = timeline->walk.host_depth,
	};
}

static void free_page(struct page *page)
{
	gp_html_timeline_free(&page->timeline);
	gp_stack_profile_close(&page->profile);
	gp_scope_close(&page->scope);
	free(page);
}

int gp_html_write(struct gp_model *const *models, size_t model_count,
		  const struct gp_html_options *options, FILE *out, struct gp_html_result *result)
{
	struct page *page = calloc(1, sizeof(*page));
	int error;

	page->models = models;
	page->model_count = model_count;
	page->options = options;
	page->out = out;
	error = write_page(page);
	if (result)
		*result = result_of(&page->timeline);
	free_page(page);
	if (error == 0 && (fflush(out) != 0 || ferror(out)))
		error = -EIO;
	return error;
}
