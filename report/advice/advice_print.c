#include "report/advice/advice_print.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/advice_document.h"
#include "report/symbols/call_site.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/base/text/text.h"

#define COLUMNS      120
#define MARGIN       20 /* of the lines below the first */
#define BRIEF_WIDE   110
#define BRIEF_MARGIN 10
#define BRIEF_LINES  2 /* of what was found, and of what helps */
#define PLACED_LINES                                                                               \
	3 /* of what was found, where that says where to look, or it takes several to tell a place from others */
#define BRIEF_NAME 12 /* columns that the function of a place has at least */
#define BRIEF_MOST 8  /* findings */
#define TOLD_WHOLLY                                                                                \
	3 /* findings of one rule where all are told; of others a line, which says where */

/* One that is shown. */
struct chosen {
	const struct gp_finding *finding;
	uint32_t stands_for; /* so many of its rule, of which not all are shown; 0 = for itself */
};

/* ---- findings, for people ---- */

static void print_worth(FILE *out, const struct gp_finding *finding, uint64_t span_ns)
{
	const struct gp_figure worth = gp_finding_worth(finding);

	if (finding->saves_ns > 0)
		fprintf(out, "  %8s %5s %%  ", worth.text,
			gp_format_percent((double)finding->saves_ns, (double)span_ns).text);
	else
		fprintf(out, "  %8s %7s  ", worth.text, finding->bytes > 0 ? "memory" : "");
}

static void print_fitted(FILE *out, int margin, const char *before, const char *text)
{
	char *fitted = gp_text_fit(text, COLUMNS - MARGIN - strlen(before));

	fprintf(out, "%*s%s%s\n", margin, "", before, fitted ? fitted : "(no memory)");
	free(fitted);
}

/* With its callers, which are on a line of their own where one has no room for both. */
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

/* How many findings of its rule there are. */
static uint32_t count_alike(const struct gp_advice *advice, const struct gp_finding *finding)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < advice->count; i++)
		count += advice->findings[i].rule == finding->rule;
	return count;
}

/* ... and how many of them stand before it: those that save more. */
static uint32_t count_before(const struct gp_advice *advice, const struct gp_finding *finding)
{
	uint32_t count = 0;

	for (const struct gp_finding *at = advice->findings; at < finding; at++)
		count += at->rule == finding->rule;
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
	print_worth(out, finding, advice->span_ns);
	fprintf(out, "%s%s:", finding->rule->id, where);
	gp_paragraph_wrap(out, finding->found, column + strlen(where), MARGIN, COLUMNS);
	print_place(out, finding);
	fprintf(out, "%*s", MARGIN, "");
	gp_paragraph_wrap(out, finding->change, MARGIN, MARGIN, COLUMNS);
}

/* What takes less than half of the time is a loop, but not what the program is about. */
static void print_loop(FILE *out, const struct gp_advice *advice)
{
	fprintf(out, "  %s of it (%s %%) is ", gp_format_ns(advice->loop_ns).text,
		gp_format_percent((double)advice->loop_ns, (double)advice->span_ns).text);
	if (advice->loop_ns * 2 >= advice->span_ns)
		fputs("the main loop\n", out);
	else
		fprintf(out, "a loop of %s iterations\n",
			gp_format_count(advice->loop_passes).text);
}

/* Where there is no finding, first why. */
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

/*
 * The place, with those of its callers that tell it from others: "malloc (a.py:9) < load
 * (a.py:20)".
 */
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

/*
 * One of many of its rule, at a place of its own: what is to be changed stands with the first ones.
 */
static void print_line(FILE *out, const struct gp_finding *finding, const struct gp_advice *advice)
{
	const struct place place = place_of(finding);
	char text[1400];

	snprintf(text, sizeof(text), "%s: the same at %s", finding->rule->id, place.text);
	print_worth(out, finding, advice->span_ns);
	print_fitted(out, 0, "", text);
}

static void print_all(FILE *out, const struct gp_advice *advice)
{
	for (uint32_t i = 0; i < advice->count; i++) {
		const struct gp_finding *finding = &advice->findings[i];

		if (*finding->place == '\0' || count_before(advice, finding) < TOLD_WHOLLY)
			print_finding(out, finding, advice, 0);
		else
			print_line(out, finding, advice);
	}
}

/*
 * One of each rule first, best first, then others as far as there is room: many of one rule would
 * hide all else.  At most limit.
 */
static size_t choose(const struct gp_advice *advice, size_t limit, struct chosen *chosen)
{
	size_t rules = 0, room, count = 0;

	for (uint32_t i = 0; i < advice->count; i++)
		rules += is_first(advice, &advice->findings[i]);
	room = limit > rules ? limit - rules : 0; /* for those that are not */
	for (uint32_t i = 0; i < advice->count && count < limit; i++) {
		const struct gp_finding *finding = &advice->findings[i];
		bool first = is_first(advice, finding);

		if (!first && room == 0)
			continue;
		room -= !first;
		chosen[count++] = (struct chosen){finding, 0};
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t alike = 0, all;

		for (size_t k = 0; k < count; k++)
			alike += chosen[k].finding->rule == chosen[i].finding->rule;
		all = count_alike(advice, chosen[i].finding);
		if (is_first(advice, chosen[i].finding) && alike < all)
			chosen[i].stands_for = all;
	}
	return count;
}

void gp_advice_print(FILE *out, const struct gp_advice *advice, size_t limit)
{
	struct chosen chosen[BRIEF_MOST];
	size_t count = limit > 0 ? choose(advice, limit < BRIEF_MOST ? limit : BRIEF_MOST, chosen)
				 : advice->count;

	if (count == 0)
		return;
	fprintf(out, "Advice: what could be saved at most, of %s",
		gp_format_ns(advice->span_ns).text);
	fputs(" (`gpuprof explain RULE` says more)\n", out);
	if (advice->loop_ns > 0)
		print_loop(out, advice);
	for (size_t i = 0; limit > 0 && i < count; i++)
		print_finding(out, chosen[i].finding, advice, chosen[i].stands_for);
	if (limit == 0)
		print_all(out, advice);
	if (advice->count > count)
		fprintf(out, "  ... %zu more: gpuprof advice FILE\n", advice->count - count);
	print_notes(out, advice, advice->count > 1);
}

/* ---- findings, for one screen ---- */

/* Lines that gp_paragraph_wrap() takes. */
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

/*
 * Where the last part begins of so many bytes of a sentence, which may go: its examples, then its
 * explanation; 0 = there is none.
 */
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

/*
 * "function (file:line)" with so many columns for the function: the line is what a place is for,
 * and stays whole.
 */
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
	snprintf(text, size, "%s%s", fitted ? fitted : "(no memory)", line ? line : "");
	free(fitted);
}

/* What stands before the place behind so many bytes of what was found. */
static const char *word_for_place(const struct gp_finding *finding, size_t bytes)
{
	bool is_short = bytes < strlen(finding->found);

	return is_short && finding->rule->at ? finding->rule->at : "at";
}

/* So many bytes of what was found, with as much of its place's function as there is room for. */
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

/* Whether so many bytes of what was found end behind the clause that says where to look. */
static bool names_place_in(const struct gp_finding *finding, size_t bytes)
{
	const char *clause = strstr(finding->found, "; ");

	return finding->names_place && clause && clause < finding->found + bytes;
}

/*
 * As much of what was found as fits with its place, and the place's callers if there is room for
 * them; without the place where what was found says where to look.  A place without a name is told
 * from others by its callers: they stay as long as the sentence can get shorter.
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
	print_worth(out, finding, advice->span_ns);
	fprintf(out, "%s%s:", finding->rule->id, where);
	column += strlen(where);
	describe_in_brief(text, sizeof(text), finding, column);
	fitted = gp_text_fit(text, PLACED_LINES * (BRIEF_WIDE - BRIEF_MARGIN));
	gp_paragraph_wrap(out, fitted ? fitted : "(no memory)", column, BRIEF_MARGIN, BRIEF_WIDE);
	free(fitted);
}

/*
 * What helps first; what helps against several, one after the other, is said once, below the last:
 * of how many.
 */
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

/* Whether savings, which take idle time away, come to more than there is. */
static bool overlap(const struct gp_advice *advice)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < advice->count; i++)
		if (!advice->findings[i].rule->is_of_gpu)
			sum_ns += advice->findings[i].saves_ns;
	return advice->count > 1 && sum_ns > advice->idle_most_ns;
}

void gp_advice_print_brief(FILE *out, const struct gp_advice *advice, size_t limit)
{
	struct chosen chosen[BRIEF_MOST];
	size_t count = choose(advice, limit < BRIEF_MOST ? limit : BRIEF_MOST, chosen), same = 0;

	fprintf(out, "Advice: what each could save at most, of %s",
		gp_format_ns(advice->span_ns).text);
	if (advice->loop_ns > 0)
		fprintf(out, " (steady state: %s)", gp_format_ns(advice->loop_ns).text);
	fputs("; more of a rule: gpuprof explain RULE\n", out);
	for (size_t i = 0; i < count; i++) {
		print_finding_in_brief(out, &chosen[i], advice);
		print_change_in_brief(out, chosen[i].finding,
				      i + 1 < count ? chosen[i + 1].finding : NULL, &same);
	}
	if (advice->count > count)
		fprintf(out, "  ... %zu more: gpuprof advice FILE\n", advice->count - count);
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

/* Below which figures the rule says nothing. */
static void print_threshold(FILE *out, const struct gp_rule *rule)
{
	const struct gp_rule_threshold *least = &rule->threshold;
	const char *from = "; from";

	fputs("\nWhen it speaks\n  ", out);
	if (least->saves_percent > 0)
		fprintf(out, "Where at least %g %% of the recorded time%s and %s could be saved",
			least->saves_percent,
			rule->is_once ? "" : ", or of the main loop's and 0.25 % of all,",
			gp_format_ns(least->saves_ns).text);
	else if (least->bytes > 0)
		fprintf(out, "Where it is about at least %s", gp_format_bytes(least->bytes).text);
	else
		from = "From";
	if (least->or_ns > 0)
		fprintf(out, ", or %g %% and %s", least->or_percent,
			gp_format_ns(least->or_ns).text);
	if (least->count > 1)
		fprintf(out, "%s %s times on", from, gp_format_count(least->count).text);
	if (rule->few)
		fprintf(out, "; %s", rule->few);
	fputs(".\n", out);
	if (least->saves_percent > 0)
		fputs("  Of a few steps that torch.profiler recorded, a tenth of this time and number is enough.\n",
		      out);
}

void gp_rule_explain(FILE *out, const struct gp_rule *rule)
{
	fprintf(out, "%s: %s\n", rule->id, rule->title);
	gp_paragraph_explain(out, "What it means", rule->meaning);
	gp_paragraph_explain(out, "What helps", rule->change);
	gp_paragraph_explain(out, "When to ignore it", rule->ignore);
	print_threshold(out, rule);
}

void gp_rules_list(FILE *out)
{
	for (size_t i = 0; gp_rules[i]; i++)
		fprintf(out, "%-16s  %s\n", gp_rules[i]->id, gp_rules[i]->title);
}

void gp_rules_document(FILE *out)
{
	fputs("# The rules of advice\n\n"
	      "`gpuprof advice FILE...` says what costs time and what to change; a summary has the most important\nof it. These are its rules, as `gpuprof explain RULE` prints them.\n\n"
	      "What each finding could save is the most that it could alone: findings may be about the same\ntime, and then their savings must not be added up.\n",
	      out);
	for (size_t i = 0; gp_rules[i]; i++) {
		fprintf(out, "\n## %s\n\n```\n", gp_rules[i]->id);
		gp_rule_explain(out, gp_rules[i]);
		fputs("```\n", out);
	}
}
