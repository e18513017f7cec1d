#include "report/advice/advice_print.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/advice_document.h"
#include "report/advice/rules/limits.h"
#include "report/symbols/call_site.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/base/text/text.h"

#define COLUMNS      120
#define MARGIN       20 /* of all lines but the first */
#define TOLD_WHOLLY  3  /* findings of a rule in full; of the others only the places */
#define BRIEF_WIDE   110
#define BRIEF_MARGIN 10
#define BRIEF_LINES  2  /* of found, and of change */
#define PLACED_LINES 3  /* of found, if it names the place, or needs callers to distinguish it */
#define BRIEF_NAME   12 /* columns that remain for the function of a place */
#define BRIEF_MOST   8  /* findings */
#define ONCE_SHOWN   2  /* one-time costs beside the first findings */

/* A finding that is shown. */
struct chosen {
	const struct gp_finding *finding;
	uint32_t stands_for; /* the findings of its rule, if not all are shown; else 0 */
};

/* ---- findings, for people ---- */

static void print_worth(FILE *out, const struct gp_finding *finding, const struct gp_advice *advice)
{
	const struct gp_figure worth = gp_finding_worth(finding, advice);
	struct gp_saving saving = gp_finding_saving(finding, advice);

	if (saving.of_ns > 0)
		fprintf(out, "  %8s %5s %%  ", worth.text,
			gp_format_percent((double)saving.ns, (double)saving.of_ns).text);
	else
		fprintf(out, "  %8s %7s  ", worth.text, finding->bytes > 0 ? "memory" : "");
}

static void print_fitted(FILE *out, int margin, const char *before, const char *text)
{
	char *fitted = gp_text_fit(text, COLUMNS - MARGIN - strlen(before));

	fprintf(out, "%*s%s%s\n", margin, "", before, fitted);
	free(fitted);
}

/* With its callers, on a second line if they do not fit. */
static void print_place(FILE *out, const struct gp_finding *finding)
{
	char line[1024];

	if (*finding->place == '\0')
		return;
	snprintf(line, sizeof(line), "%s%s%s", finding->place,
		 *finding->callers ? GP_SITE_SEPARATOR : "", finding->callers);
	if (*finding->callers == '\0' ||
	    gp_text_columns(line) <= COLUMNS - MARGIN - strlen("at ")) {
		print_fitted(out, MARGIN, "at ", line);
	} else {
		print_fitted(out, MARGIN, "at ", finding->place);
		print_fitted(out, MARGIN, " " GP_SITE_SEPARATOR, finding->callers);
	}
}

/* Whether they differ in their places only: both recur, or both are one-time costs, of one rule. */
static bool is_alike(const struct gp_finding *finding, const struct gp_finding *other)
{
	return finding->rule == other->rule && finding->recurs == other->recurs &&
	       strcmp(finding->change, other->change) == 0;
}

/* The number of findings alike ... */
static uint32_t count_alike(const struct gp_advice *advice, const struct gp_finding *finding)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < advice->count; i++)
		count += is_alike(&advice->findings[i], finding);
	return count;
}

/* ... and of those before it, which save more. */
static uint32_t count_before(const struct gp_advice *advice, const struct gp_finding *finding)
{
	uint32_t count = 0;

	for (const struct gp_finding *at = advice->findings; at < finding; at++)
		count += is_alike(at, finding);
	return count;
}

static bool is_first(const struct gp_advice *advice, const struct gp_finding *finding)
{
	return count_before(advice, finding) == 0;
}

static void print_finding(FILE *out, const struct gp_finding *finding,
			  const struct gp_advice *advice, uint32_t stands_for)
{
	size_t column = MARGIN + strlen(finding->rule->id) + 1;
	char where[128];

	gp_finding_say_when(where, sizeof(where), finding, advice, stands_for);
	print_worth(out, finding, advice);
	fprintf(out, "%s%s:", finding->rule->id, where);
	gp_paragraph_wrap(out, finding->found, column + strlen(where), MARGIN, COLUMNS);
	print_place(out, finding);
	fprintf(out, "%*s", MARGIN, "");
	gp_paragraph_wrap(out, finding->change, MARGIN, MARGIN, COLUMNS);
}

/* Of what the savings are: of a step of the main loop, else of the whole run. */
static void print_title(FILE *out, const struct gp_advice *advice)
{
	if (advice->loop_steps > 0)
		fprintf(out, "Advice: largest possible savings out of an average step of %s",
			gp_format_ns(gp_advice_step_ns(advice)).text);
	else
		fprintf(out, "Advice: largest possible savings out of %s",
			gp_format_ns(advice->span_ns).text);
	fputs("; details: gpuprof explain RULE\n", out);
}

/* What comes before the recorded time has no finding. */
static void print_before(FILE *out, const struct gp_advice *advice)
{
	const struct gp_before *before = &advice->before;
	char text[512], process[128] = "";

	if (advice->process_count > 1)
		snprintf(process, sizeof(process), " (%s, the longest)", before->process.text);
	snprintf(text, sizeof(text), "the process started %s before its first CUDA call%s%s",
		 gp_format_ns(before->ns).text, process,
		 before->is_python ? ": import less (python3 -X importtime)" : "");
	fprintf(out, "  %8s  before ", gp_format_ns(before->ns).text);
	gp_paragraph_wrap(out, text, MARGIN - 1, BRIEF_MARGIN, BRIEF_WIDE);
}

static void print_once_title(FILE *out, const struct gp_advice *advice)
{
	fprintf(out, "One-time costs, out of %s: they matter less the longer the program runs\n",
		gp_format_ns(advice->span_ns).text);
	if (advice->before.ns > 0)
		print_before(out, advice);
}

/* One-time costs alone are told: what does not help must not stand first without a word. */
static void print_no_recurring(FILE *out, const struct gp_advice *advice)
{
	const struct gp_largest *largest = &advice->largest;
	char text[1400];

	if (advice->loop_steps == 0)
		return;
	if (!largest->place) {
		fprintf(out, "Advice: no rule finds how to shorten the steps, %s on average\n",
			gp_format_ns(gp_advice_step_ns(advice)).text);
		return;
	}
	snprintf(text, sizeof(text),
		 "no rule matched; %s %% of the GPU time of the steps (mean %s) is of %s",
		 gp_format_percent((double)largest->ns, (double)largest->of_ns).text,
		 gp_format_ns(gp_advice_step_ns(advice)).text, largest->place);
	fputs("Advice:", out);
	gp_paragraph_wrap(out, text, strlen("Advice:"), 2, BRIEF_WIDE);
}

/* Without a finding, first the reason. */
static void print_notes(FILE *out, const struct gp_advice *advice, bool warns_of_sums)
{
	struct gp_document document = {0};
	const struct gp_section *none;

	gp_advice_add_notes(advice, warns_of_sums, &document);
	none = gp_document_section(&document, "none");
	if (none && none->count > 0)
		fprintf(out, "%s\n", gp_fields_text(&none->rows[0], "text"));
	gp_document_print_text(gp_document_section(&document, "notes"), BRIEF_WIDE, out);
	gp_document_free(&document);
}

void gp_advice_print_none(FILE *out, const struct gp_advice *advice)
{
	print_notes(out, advice, false);
}

/* The place with the callers that distinguish it: "malloc (a.py:9) < load (a.py:20)". */
struct place {
	char text[1200];
};

static struct place place_of(const struct gp_finding *finding)
{
	struct place place;

	snprintf(place.text, sizeof(place.text), "%s%s%.*s", finding->place,
		 finding->apart_bytes > 0 ? GP_SITE_SEPARATOR : "", (int)finding->apart_bytes,
		 finding->callers);
	return place;
}

/* One of many findings of its rule: the change stands with the first ones. */
static void print_line(FILE *out, const struct gp_finding *finding, const struct gp_advice *advice)
{
	const struct place place = place_of(finding);
	char text[1400];

	snprintf(text, sizeof(text), "%s: the same at %s", finding->rule->id, place.text);
	print_worth(out, finding, advice);
	print_fitted(out, 0, "", text);
}

static void print_all(FILE *out, const struct gp_advice *advice)
{
	for (uint32_t i = 0; i < advice->count; i++) {
		const struct gp_finding *finding = &advice->findings[i];

		if (i + advice->once_count == advice->count)
			print_once_title(out, advice);
		if (*finding->place == '\0' || count_before(advice, finding) < TOLD_WHOLLY)
			print_finding(out, finding, advice, 0);
		else
			print_line(out, finding, advice);
	}
}

/*
 * Of the findings from first to end - 1 the first one of each rule, and others as far as the limit
 * allows, in their order.
 */
static size_t choose(const struct gp_advice *advice, uint32_t first, uint32_t end, size_t limit,
		     struct chosen *chosen)
{
	size_t rules = 0, room, count = 0;

	for (uint32_t i = first; i < end; i++)
		rules += is_first(advice, &advice->findings[i]);
	room = limit > rules ? limit - rules : 0; /* for those that are not */
	for (uint32_t i = first; i < end && count < limit; i++) {
		const struct gp_finding *finding = &advice->findings[i];
		bool is_one_more = !is_first(advice, finding);

		if (is_one_more && room == 0)
			continue;
		room -= is_one_more;
		chosen[count++] = (struct chosen){finding, 0};
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t alike = 0, all;

		for (size_t k = 0; k < count; k++)
			alike += is_alike(chosen[k].finding, chosen[i].finding);
		all = count_alike(advice, chosen[i].finding);
		if (is_first(advice, chosen[i].finding) && alike < all)
			chosen[i].stands_for = all;
	}
	return count;
}

/* What recurs, and one-time costs: so many of them. */
struct choice {
	struct chosen recurring[BRIEF_MOST], once[BRIEF_MOST];
	size_t recurring_count, once_count;
};

static void choose_both(const struct gp_advice *advice, size_t limit, size_t once,
			struct choice *choice)
{
	uint32_t recurring = advice->count - advice->once_count;

	limit = limit < BRIEF_MOST ? limit : BRIEF_MOST;
	choice->recurring_count = choose(advice, 0, recurring, limit, choice->recurring);
	if (once < limit - choice->recurring_count)
		once = limit - choice->recurring_count;
	choice->once_count = choose(advice, recurring, advice->count, once, choice->once);
}

static void print_number_left(FILE *out, const struct gp_advice *advice,
			      const struct choice *choice)
{
	size_t count = choice->recurring_count + choice->once_count;

	if (advice->count > count)
		fprintf(out, "  ... %zu more: gpuprof advice FILE\n", advice->count - count);
}

static void print_chosen(FILE *out, const struct gp_advice *advice, size_t limit)
{
	struct choice choice;

	choose_both(advice, limit, ONCE_SHOWN, &choice);
	for (size_t i = 0; i < choice.recurring_count; i++)
		print_finding(out, choice.recurring[i].finding, advice,
			      choice.recurring[i].stands_for);
	if (choice.once_count > 0 || advice->before.ns > 0)
		print_once_title(out, advice);
	for (size_t i = 0; i < choice.once_count; i++)
		print_finding(out, choice.once[i].finding, advice, choice.once[i].stands_for);
	print_number_left(out, advice, &choice);
}

void gp_advice_print(FILE *out, const struct gp_advice *advice, size_t limit)
{
	if (advice->count == 0)
		return;
	if (advice->once_count < advice->count)
		print_title(out, advice);
	else
		print_no_recurring(out, advice);
	if (limit > 0)
		print_chosen(out, advice, limit);
	else
		print_all(out, advice);
	print_notes(out, advice, advice->count > 1);
}

/* ---- findings, for one screen ---- */

/* The number of lines of gp_paragraph_wrap(). */
static size_t count_lines(const char *text, size_t column, size_t margin, size_t columns)
{
	size_t lines = 1;

	for (size_t length; (length = strcspn(text, " ")) > 0;
	     text += length, text += *text == ' ') {
		if (column > margin && column + 1 + length > columns) {
			column = margin;
			lines++;
		} else if (column > margin) {
			column++;
		}
		column += length;
	}
	return lines;
}

/* The start of the last clause of a sentence, which can be cut off; 0 = there is one clause. */
static size_t last_part(const char *found, size_t bytes)
{
	static const char *const marks[] = {"; ", ": "};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		for (size_t at = bytes; at-- > 1;)
			if (strncmp(found + at, marks[i], 2) == 0)
				return at;
	return 0;
}

static bool fits_in(size_t lines, const char *text, size_t column)
{
	return count_lines(text, column, BRIEF_MARGIN, BRIEF_WIDE) <= lines;
}

/* "function (file:line)" with a shortened function; the line stays. */
static void put_place(char *text, size_t size, const char *place, size_t columns)
{
	const char *line = NULL;
	size_t bytes;
	char function[1024], *fitted;

	for (const char *at = place; (at = strstr(at, " (")) != NULL; at++)
		line = at;
	bytes = line ? (size_t)(line - place) : strlen(place);
	bytes = bytes < sizeof(function) ? bytes : sizeof(function) - 1;
	memcpy(function, place, bytes);
	function[bytes] = '\0';
	fitted = gp_text_fit(function, columns);
	snprintf(text, size, "%s%s", fitted, line ? line : "");
	free(fitted);
}

/* The preposition before the place, after so many bytes of found. */
static const char *word_for_place(const struct gp_finding *finding, size_t bytes)
{
	bool is_short = bytes < strlen(finding->found);

	return is_short && finding->rule->at ? finding->rule->at : "at";
}

/* So many bytes of found, with a place that is shortened to fit. */
static void describe_with_less_place(char *text, size_t size, const struct gp_finding *finding,
				     size_t bytes, size_t column)
{
	const struct place whole = place_of(finding);
	char place[1200];

	for (size_t columns = BRIEF_LINES * BRIEF_WIDE; columns >= BRIEF_NAME; columns--) {
		put_place(place, sizeof(place), whole.text, columns);
		snprintf(text, size, "%.*s, %s %s", (int)bytes, finding->found,
			 word_for_place(finding, bytes), place);
		if (fits_in(BRIEF_LINES, text, column))
			return;
	}
}

/* Whether so many bytes of found contain the clause that names the place. */
static bool names_place_in(const struct gp_finding *finding, size_t bytes)
{
	const char *clause = strstr(finding->found, "; ");

	return finding->names_place && clause && clause < finding->found + bytes;
}

/*
 * As many clauses of found as fit with the place, and with its callers if possible.  A place without
 * a name needs its callers: clauses are cut first.
 */
static void describe_in_brief(char *text, size_t size, const struct gp_finding *finding,
			      size_t column)
{
	const struct place place = place_of(finding);
	size_t bytes = strlen(finding->found), shorter;
	const char *others = finding->callers + finding->apart_bytes;
	bool callers = *others != '\0' && !finding->names_place;
	bool nameless = callers && finding->naming != GP_NAMED;

	for (;;) {
		bool placed = names_place_in(finding, bytes);

		bool named = placed || !*finding->place;

		snprintf(text, size, "%.*s%s%s%s%s%s%s", (int)bytes, finding->found,
			 named ? "" : ", ", named ? "" : word_for_place(finding, bytes),
			 named ? "" : " ", placed ? "" : place.text,
			 callers && finding->apart_bytes == 0 ? GP_SITE_SEPARATOR : "",
			 callers ? others : "");
		if (fits_in(placed || nameless || finding->apart_bytes > 0 ? PLACED_LINES
									   : BRIEF_LINES,
			    text, column))
			return;
		shorter = last_part(finding->found, bytes);
		if (!callers && shorter == 0)
			break;
		if (!callers || (nameless && shorter > 0)) {
			bytes = shorter;
			continue;
		}
		callers = false;
		bytes = strlen(finding->found);
	}
	if (*finding->place)
		describe_with_less_place(text, size, finding, bytes, column);
}

static void print_finding_in_brief(FILE *out, const struct chosen *chosen,
				   const struct gp_advice *advice)
{
	const struct gp_finding *finding = chosen->finding;
	size_t column = MARGIN + strlen(finding->rule->id) + 1;
	char where[128], text[2048], *fitted;

	gp_finding_say_when(where, sizeof(where), finding, advice, chosen->stands_for);
	print_worth(out, finding, advice);
	fprintf(out, "%s%s:", finding->rule->id, where);
	column += strlen(where);
	describe_in_brief(text, sizeof(text), finding, column);
	fitted = gp_text_fit(text, PLACED_LINES * (BRIEF_WIDE - BRIEF_MARGIN));
	gp_paragraph_wrap(out, fitted, column, BRIEF_MARGIN, BRIEF_WIDE);
	free(fitted);
}

/* Equal changes of consecutive findings are printed once, after the last one, with their number. */
static void print_change_in_brief(FILE *out, const struct gp_finding *finding,
				  const struct gp_finding *next, size_t *same)
{
	char text[1024], each[32] = "";
	size_t last;

	++*same;
	if (next && strcmp(next->change, finding->change) == 0)
		return;
	if (*same == 2)
		snprintf(each, sizeof(each), "(both) ");
	else if (*same > 2)
		snprintf(each, sizeof(each), "(all %zu) ", *same);
	*same = 0;
	fprintf(out, "%*s-> ", BRIEF_MARGIN, "");
	snprintf(text, sizeof(text), "%s%s", each, finding->change);
	while (count_lines(text, BRIEF_MARGIN + 3, BRIEF_MARGIN + 3, BRIEF_WIDE) > BRIEF_LINES &&
	       (last = last_part(text, strlen(text))) > 0)
		text[last] = '\0';
	gp_paragraph_wrap(out, text, BRIEF_MARGIN + 3, BRIEF_MARGIN + 3, BRIEF_WIDE);
}

/* Whether the savings of idle time add up to more than the idle time. */
static bool overlap(const struct gp_advice *advice)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < advice->count; i++)
		if (!advice->findings[i].rule->is_of_gpu)
			sum_ns += advice->findings[i].saves_ns;
	return advice->count > 1 && sum_ns > advice->idle_most_ns;
}

void gp_advice_print_brief(FILE *out, const struct gp_advice *advice, size_t limit, size_t once)
{
	struct choice choice;
	size_t same = 0;

	choose_both(advice, limit, once, &choice);
	if (choice.recurring_count > 0)
		print_title(out, advice);
	else
		print_no_recurring(out, advice);
	for (size_t i = 0; i < choice.recurring_count; i++) {
		print_finding_in_brief(out, &choice.recurring[i], advice);
		print_change_in_brief(
			out, choice.recurring[i].finding,
			i + 1 < choice.recurring_count ? choice.recurring[i + 1].finding : NULL,
			&same);
	}
	if (choice.once_count > 0 || advice->before.ns > 0)
		print_once_title(out, advice);
	for (size_t i = 0; i < choice.once_count; i++)
		print_finding_in_brief(out, &choice.once[i], advice);
	print_number_left(out, advice, &choice);
	print_notes(out, advice, overlap(advice));
}

/* ---- for programs ---- */

int gp_advice_print_json(FILE *out, const struct gp_advice *advice)
{
	struct gp_document document = {0};
	int result;

	gp_advice_describe(advice, &document);
	result = gp_document_write(&document, out);
	gp_document_free(&document);
	return result;
}

/* ---- rules ---- */

static void explain(FILE *out, const char *title, const struct gp_rule *rule, const char *text)
{
	char *sentence = gp_rule_text(rule, text);

	gp_paragraph_explain(out, title, sentence);
	free(sentence);
}

/* A part, such as 4 for a quarter, is shown in percent, as other shares are. */
static bool is_part(const struct gp_limit *limit)
{
	static const char end[] = "_PART";
	size_t length = strlen(limit->id);

	return length > strlen(end) && strcmp(limit->id + length - strlen(end), end) == 0;
}

void gp_limits_print(FILE *out, const struct gp_limit *limits)
{
	for (; limits && limits->id; limits++) {
		const struct gp_value value = gp_value_whole(limits->value);
		bool is_percent = is_part(limits) || limits->unit == GP_UNIT_PERCENT;
		char *figure = gp_value_figure(&value, limits->unit);

		if (is_part(limits))
			fprintf(out, "  %-20s %10g", limits->id, 100 / (double)limits->value);
		else
			fprintf(out, "  %-20s %10s", limits->id, figure ? figure : "");
		fprintf(out, "%s  %s\n", is_percent ? " %" : "  ", limits->reason);
		free(figure);
	}
}

void gp_rule_explain(FILE *out, const struct gp_rule *rule)
{
	fprintf(out, "%s: %s\n", rule->id, rule->title);
	explain(out, "What it means", rule, rule->meaning);
	explain(out, "What helps", rule, rule->remedy);
	explain(out, "When to ignore it", rule, rule->ignore);
	explain(out, "When it is reported", rule, gp_rule_threshold_text);
	if (rule->limits)
		fputs("\nLimits\n", out);
	gp_limits_print(out, rule->limits);
}

void gp_rules_list(FILE *out)
{
	for (size_t i = 0; gp_rules[i]; i++)
		fprintf(out, "%-17s  %s\n", gp_rules[i]->id, gp_rules[i]->title);
}

void gp_rules_document(FILE *out)
{
	fputs("# The rules of advice\n\n"
	      "`gpuprof advice FILE...` reports what costs time and what to change; a summary has the most\n"
	      "important findings. These are the rules, as `gpuprof explain RULE` prints them.\n\n"
	      "The saving of a finding is an upper bound for this finding alone: several findings can be about\n"
	      "the same time, so their savings must not be added. Steps and savings are those of the recorded\n"
	      "run: they include gpuprof's own cost, which the summary states.\n",
	      out);
	for (size_t i = 0; gp_rules[i]; i++) {
		fprintf(out, "\n## %s\n\n```\n", gp_rules[i]->id);
		gp_rule_explain(out, gp_rules[i]);
		fputs("```\n", out);
	}
	fputs("\n## Limits of several rules\n\n```\n", out);
	gp_limits_print(out, gp_shared_limits);
	fputs("```\n", out);
}
