/*
 * What Python did in each thread, by looks at its stacks: functions as slices that nest, on a track
 * of their own.
 *
 * They nest by how they are made, and callers begin when what they called does: lanes, which keep
 * starts apart, are not for them.  Beginnings and ends are events of their own: readers that add up
 * whole slices, and take each for work that a thread did, see none of these.
 */
#include <errno.h>

#include "report/export/chrome/chrome_writer.h"
#include "report/base/spill_memory.h"

/* So many changes of a line a text has at most: readers keep the first 64 KiB of one. */
#define LINES_IN_TEXT 2000u

/* The spans that have begun and not ended, the outermost first. */
struct open_spans {
	const struct gp_host_span *spans[GP_FRAME_DEPTH];
	uint32_t count;
};

static void end_until(struct gp_chrome *chrome, struct open_spans *open, uint64_t time_ns)
{
	for (; open->count > 0 && open->spans[open->count - 1]->end_ns <= time_ns; open->count--) {
		const struct gp_host_span *span = open->spans[open->count - 1];

		gp_chrome_open(chrome, "E", "python_sample",
			       gp_chrome_function(chrome, span->frame).label,
			       gp_chrome_first_tid(chrome), span->end_ns);
		gp_json_text(&chrome->json, "}");
	}
}

/*
 * ,"lines":"14@2500000 2@7000000": so many ns after its beginning looks found the span at another
 * line than before.
 */
static void put_lines(struct gp_chrome *chrome, const struct gp_host_span *span,
		      const struct gp_host_turn *turns)
{
	struct gp_json *json = &chrome->json;
	uint32_t line = gp_chrome_function(chrome, span->frame).line, texts = 0, in_text = 0;

	for (uint32_t at = span->turn; at != GP_NONE; at = turns[at].next) {
		uint32_t before = line;

		line = gp_chrome_function(chrome, turns[at].frame).line;
		if (line == before)
			continue;
		if (in_text > 0) {
			gp_json_text(json, " ");
		} else {
			gp_json_text(json, texts > 0 ? ",\"lines " : ",\"lines");
			if (texts++ > 0)
				gp_json_unsigned(json, texts);
			gp_json_text(json, "\":\"");
		}
		gp_json_unsigned(json, line);
		gp_json_text(json, "@");
		gp_json_unsigned(json, turns[at].start_ns - span->start_ns);
		in_text = (in_text + 1) % LINES_IN_TEXT;
		if (in_text == 0)
			gp_json_text(json, "\"");
	}
	if (in_text > 0)
		gp_json_text(json, "\"");
}

static void write_span(struct gp_chrome *chrome, const struct gp_host_span *span,
		       const struct gp_host_turn *turns, uint32_t thread_id)
{
	struct gp_json *json = &chrome->json;
	struct gp_chrome_function function = gp_chrome_function(chrome, span->frame);

	gp_chrome_open(chrome, "B", "python_sample", function.label, gp_chrome_first_tid(chrome),
		       span->start_ns);
	gp_json_text(json, ",\"args\":{\"samples\":");
	gp_json_unsigned(json, span->looks);
	if (*function.file)
		gp_chrome_put_text(json, "file", function.file);
	gp_chrome_put_field(json, "line", function.line);
	put_lines(chrome, span, turns);
	gp_chrome_put_field(json, "thread", thread_id);
	if (span->is_imported)
		gp_chrome_put_field(json, "imported", 1);
	gp_json_text(json, "}}");
	chrome->slices++;
}

static void write_thread(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t first,
			 uint32_t end)
{
	uint32_t thread_id = chrome->model->samples[first].thread_id, count;
	struct gp_host_span *spans;
	struct gp_host_turn *turns;
	struct open_spans open = {.count = 0};

	if (gp_host_spans_find(chrome->model, first, end, chrome->host_depth, &spans, &count,
			       &turns) < 0)
		chrome->error = -ENOMEM;
	gp_host_track_name(chrome->model, thread_id, chrome->track_name);
	gp_chrome_begin_track(chrome, tids, chrome->host_pid, gp_chrome_fresh_tid(tids), false);
	for (uint32_t i = 0; chrome->error == 0 && i < count; i++) {
		if (!gp_chrome_is_shown(chrome, spans[i].start_ns, spans[i].end_ns))
			continue;
		end_until(chrome, &open, spans[i].start_ns);
		write_span(chrome, &spans[i], turns, thread_id);
		open.spans[open.count++] = &spans[i];
	}
	end_until(chrome, &open, UINT64_MAX);
	gp_spill_free(spans);
	gp_spill_free(turns);
}

void gp_chrome_write_looks(struct gp_chrome *chrome, struct gp_chrome_tids *tids,
			   uint32_t before_thread)
{
	const struct gp_model *model = chrome->model;

	while (chrome->error == 0 && chrome->next_look < model->sample_count &&
	       model->samples[chrome->next_look].thread_id < before_thread) {
		uint32_t end = gp_python_samples_end(model, chrome->next_look);

		write_thread(chrome, tids, chrome->next_look, end);
		chrome->next_look = end;
	}
}
