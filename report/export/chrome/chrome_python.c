/*
 * Python functions of each thread, by stack samples, as nested slices on their own track.
 *
 * They nest by construction, and a caller begins together with its first callee, so they need no
 * lanes.  Starts and ends are separate events: readers that sum whole slices as work of a thread do
 * not see them.
 */
#include "report/export/chrome/chrome_writer.h"

/* The most line changes in a text: readers keep the first 64 KiB of it. */
#define LINES_IN_TEXT 2000u

static void end_until(struct gp_chrome *chrome, uint64_t time_ns)
{
	struct gp_chrome_open_spans *open = &chrome->open_spans;

	for (; open->count > 0 && open->spans[open->count - 1].end_ns <= time_ns; open->count--) {
		gp_chrome_open(chrome, "E", "python_sample",
			       gp_chrome_function(chrome, open->spans[open->count - 1].frame).label,
			       gp_chrome_first_tid(chrome), open->spans[open->count - 1].end_ns);
		gp_json_text(&chrome->json, "}");
	}
}

/* ,"lines":"14@2500000 2@7000000": changes of the line, each with the ns since the span began. */
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
	gp_json_unsigned(json, span->samples);
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

void gp_chrome_write_python(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	struct gp_chrome_open_spans *open = &chrome->open_spans;

	end_until(chrome, event->start_ns);
	write_span(chrome, event->of.python, event->turns, chrome->thread_id);
	open->spans[open->count].end_ns = event->end_ns;
	open->spans[open->count++].frame = event->of.python->frame;
}

void gp_chrome_end_python(struct gp_chrome *chrome)
{
	end_until(chrome, UINT64_MAX);
}
