/* The first of the calls that failed; `--by failure` lists all. */
#include "report/summary/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/device/failures.h"
#include "report/model/process_name.h"
#include "report/base/text/format.h"
#include "report/base/memstream.h"
#include "report/base/text/paragraph.h"
#include "report/base/text/text.h"

#define MOST_ROWS 4

#define LEAD 10 /* "  failed: " */

/* Escape a text and shorten it to the page; free the result.  NULL: no memory.  Frees text. */
static char *fit(const struct gp_summary *summary, char *text)
{
	char *escaped = gp_text_escape(text);
	char *fitted = gp_text_fit(escaped, gp_summary_columns(summary) - LEAD);

	free(text);
	free(escaped);
	return fitted;
}

static char *describe_failure(const struct gp_summary *summary, const struct gp_failure *row)
{
	char error[GP_FAILURE_ERROR_BYTES], *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_process_name first = gp_process_name(summary->models[row->first_process]);

	gp_failure_error(error, row->code, row->is_driver);
	fprintf(out, "%s x %s", gp_format_count(row->count).text, row->function);
	if (row->processes > 1)
		fprintf(out, " in %s processes, first %s", gp_format_count(row->processes).text,
			first.text);
	else if (summary->model_count > 1)
		fprintf(out, " in %s", first.text);
	fprintf(out, ": %s", error);
	gp_asked_tell(out, &row->asked);
	gp_memstream_close(out, &text);
	return fit(summary, text);
}

/* The last separator before that end of the text, or NULL. */
static char *separator_before(char *text, char *end)
{
	while (--end > text)
		if (strncmp(end, GP_SITE_SEPARATOR, strlen(GP_SITE_SEPARATOR)) == 0)
			return end;
	return NULL;
}

/*
 * Shorten a chain of callers by removing whole callers before the outermost one.  If that is not
 * enough, the caller cuts it as any text.
 */
static void shorten(char *text, size_t room)
{
	static const char more[] = GP_SITE_SEPARATOR "...";
	size_t bytes = strlen(text);
	char *outermost = separator_before(text, text + bytes);
	size_t rest = outermost ? (size_t)(text + bytes - outermost) : 0;

	if (bytes <= room || !outermost)
		return;
	for (char *left = separator_before(text, outermost); left;
	     left = separator_before(text, left))
		if ((size_t)(left - text) + strlen(more) + rest <= room) {
			memmove(left + strlen(more), outermost, rest + 1);
			memcpy(left, more, strlen(more));
			return;
		}
}

static char *describe_place(const struct gp_summary *summary, const struct gp_failures *failures,
			    const struct gp_failure *row)
{
	struct gp_call_site site = gp_call_sites_at(failures->sites, row->site);
	char *text;
	int length;

	if (row->has_stack)
		length = asprintf(&text, "at %s%s%s", site.place,
				  *site.callers ? GP_SITE_SEPARATOR : "", site.callers);
	else if (row->range && *row->range)
		length = asprintf(&text, "in range \"%s\"", row->range);
	else
		length = asprintf(&text, "%s", "");
	if (length >= 0 && row->has_stack)
		shorten(text, gp_summary_columns(summary) - LEAD);
	return length < 0 ? NULL : fit(summary, text);
}

/* The owners of the memory when an allocation failed, on separate lines. */
static void print_held(const struct gp_summary *summary, const struct gp_failures *failures,
		       const struct gp_failure *row)
{
	char *text, *escaped;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	gp_oom_snapshot_tell(out, &row->held, failures->sites);
	gp_memstream_close(out, &text);
	escaped = gp_text_escape(text);
	fprintf(summary->out, "%*s", LEAD, "");
	gp_paragraph_wrap(summary->out, escaped, LEAD, LEAD, gp_summary_columns(summary));
	free(escaped);
	free(text);
}

/* The failure and its place; on two lines if one is too short. */
static void print_failure(const struct gp_summary *summary, const struct gp_failures *failures,
			  const struct gp_failure *row)
{
	char *failed = describe_failure(summary, row), *at = describe_place(summary, failures, row);

	fprintf(summary->out, "  failed: %s", failed);
	if (at && *at &&
	    LEAD + gp_text_columns(failed) + 2 + gp_text_columns(at) <= gp_summary_columns(summary))
		fprintf(summary->out, ", %s\n", at);
	else if (at && *at)
		fprintf(summary->out, "\n%*s%s\n", LEAD, "", at);
	else
		fputs("\n", summary->out);
	free(failed);
	free(at);
}

int gp_summary_print_failures(const struct gp_summary *summary)
{
	struct gp_failures failures;
	bool has_held = false;
	uint32_t shown;

	if (summary->activity.failures == 0)
		return 0;
	gp_failures_of(&failures, summary->models, summary->model_count);
	shown = failures.count <= MOST_ROWS ? failures.count : MOST_ROWS - 1;
	for (uint32_t i = 0; i < shown; i++) {
		print_failure(summary, &failures, &failures.rows[i]);
		if (failures.rows[i].held.is_known && !has_held)
			print_held(summary, &failures, &failures.rows[i]);
		has_held |= failures.rows[i].held.is_known;
	}
	if (failures.count > shown)
		fprintf(summary->out, "  ... %s more: gpuprof summary --by failure FILE\n",
			gp_format_count(failures.count - shown).text);
	gp_failures_free(&failures);
	return 0;
}
