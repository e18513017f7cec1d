#include "report/advice/advice_print.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/call_site.h"
#include "report/base/text/format.h"
#include "report/codec/json_write.h"
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
	bool stands_for_all; /* of its rule: not all of them are shown */
};

/* ---- findings, for people ---- */

struct gp_figure gp_finding_worth(const struct gp_finding *finding)
{
	if (finding->saves_ns > 0)
		return gp_format_ns(finding->saves_ns);
	if (finding->rule->is_moved)
		return (struct gp_figure){"moved"};
	if (finding->bytes > 0 || !finding->rule->is_of_results)
		return gp_format_bytes(finding->bytes);
	return (struct gp_figure){"errors"};
}

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

static void add_words(char *text, size_t bytes, const char *words)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : " (", words);
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

void gp_finding_say_when(char *text, size_t bytes, const struct gp_finding *finding,
			 const struct gp_advice *advice, bool stands_for_all)
{
	double share = finding->saves_ns == 0 || advice->loop_ns == 0
			       ? 1
			       : (double)finding->saves_in_loop_ns / (double)finding->saves_ns;
	char words[64];

	text[0] = '\0';
	if (finding->rule->is_once)
		add_words(text, bytes, "once per run");
	if (share >= 0.005 && share < 0.5) {
		snprintf(words, sizeof(words), "%s in the loop",
			 gp_format_ns(finding->saves_in_loop_ns).text);
		add_words(text, bytes, words);
	} else if (share < 0.005 && !finding->rule->is_once) {
		add_words(text, bytes, "outside of the loop");
	}
	if (advice->process_count > 1) {
		snprintf(words, sizeof(words), "pid %u", finding->pid);
		add_words(text, bytes, words);
	}
	if (finding->processes > 1) {
		snprintf(words, sizeof(words), "the most of %s processes",
			 gp_format_count(finding->processes).text);
		add_words(text, bytes, words);
	}
	if (stands_for_all) {
		/* what is once is of several kinds, each with a remedy of its own */
		snprintf(words, sizeof(words), "the most of %u %s", count_alike(advice, finding),
			 finding->rule->is_once ? "findings" : "places");
		add_words(text, bytes, words);
	}
	if (text[0] != '\0')
		strncat(text, ")", bytes - strlen(text) - 1);
}

static void print_finding(FILE *out, const struct gp_finding *finding,
			  const struct gp_advice *advice, bool stands_for_all)
{
	size_t column = MARGIN + strlen(finding->rule->id) + 1;
	char where[128];

	gp_finding_say_when(where, sizeof(where), finding, advice, stands_for_all);
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

/* Of the first place without a name ("app+0x1f0"): how it gets one. */
static void print_nameless(FILE *out, const struct gp_advice *advice)
{
	static const char *const words[][2] = {
		[GP_WITHOUT_SYMBOLS] = {"no symbols in ",
					": built with -g, and not stripped, its lines have names"},
		[GP_FILE_UNREAD] =
			{"no names of ",
			 ": that file is not here, or is another build than the one that ran; `gpuprof finish FILE`,\n"
			 "  where it is, adds them to the trace"},
	};

	for (uint32_t i = 0; i < advice->count; i++) {
		const struct gp_finding *finding = &advice->findings[i];
		const char *at = strstr(finding->place, "+0x");

		if (finding->naming == GP_NAMED || !at)
			continue;
		fprintf(out, "  %s%.*s%s\n", words[finding->naming][0], (int)(at - finding->place),
			finding->place, words[finding->naming][1]);
		return;
	}
}

/* What another recording would tell. */
static void print_hints(FILE *out, const struct gp_advice *advice)
{
	print_nameless(out, advice);
	if (advice->lacks_stacks)
		fputs("  for the lines to change, record with --stacks=all\n", out);
	if (advice->lacks_unified)
		fputs("  what moves of managed memory, and who waits for it, is known with --trace=default,unified\n",
		      out);
}

/* Why no rule speaks of times between operations. */
static const char *const whys[GP_IDLE_CAUSES] = {
	[GP_IDLE_HOST] =
		"they come at no place again and again, as where the system takes the processor from the host",
	[GP_IDLE_COPY] = "the rules of copies found nothing that could be changed",
	[GP_IDLE_PROFILER] = "without a profiler that time is not there",
	[GP_IDLE_UNUSED] = "no process lived that had an operation on it",
	[GP_IDLE_UNKNOWN] =
		"the calls that ended these are not in the trace, or what a process did that has no end",
};

/* Of times between operations; NULL = there is nothing to say. */
static const char *why_not_told(const struct gp_untold *untold, char *text, size_t bytes)
{
	if (untold->place)
		snprintf(text, bytes, "%s %% of it ends %s",
			 gp_format_percent((double)untold->place_ns, (double)untold->ns).text,
			 untold->place);
	else if (untold->few > 0)
		snprintf(text, bytes, "too few at one place (%s) for the rules of copies",
			 gp_format_count(untold->few).text);
	else if (untold->is_little)
		snprintf(text, bytes,
			 "what could be saved is too little at each place for the rules of copies");
	else
		return whys[untold->cause];
	return text;
}

static void put_why(char *text, size_t bytes, const struct gp_untold *untold)
{
	char words[640];
	const char *why = why_not_told(untold, words, sizeof(words));
	bool is_start = untold->before_ns * 2 >= untold->ns;

	if (is_start || untold->after_ns * 2 >= untold->ns)
		snprintf(text, bytes, "%s of it %s operation, once in a process",
			 gp_format_ns(is_start ? untold->before_ns : untold->after_ns).text,
			 is_start ? "before the first" : "after the last");
	else if (untold->count == 0)
		snprintf(text, bytes, "in times that are mostly of other causes");
	else
		snprintf(text, bytes, "%s time%s, of %s at most%s%s",
			 gp_format_count(untold->count).text, untold->count == 1 ? "" : "s",
			 gp_format_ns(untold->longest_ns).text, why ? ": " : "", why ? why : "");
}

static void print_untold(FILE *out, const struct gp_untold *untold, uint64_t wall_ns)
{
	char text[1024], why[768];

	put_why(why, sizeof(why), untold);
	snprintf(text, sizeof(text), "idle, and in no finding: %s, %s %% of %s, %s",
		 gp_idle_cause_name(untold->cause),
		 gp_format_percent((double)untold->ns, (double)wall_ns).text,
		 gp_format_ns(wall_ns).text, why);
	fputs("  ", out);
	gp_paragraph_wrap(out, text, 2, 4, BRIEF_WIDE);
}

/* But of that cause, which GP_IDLE_CAUSES is none of. */
static void print_untold_but(FILE *out, const struct gp_advice *advice, enum gp_idle_cause told)
{
	for (uint32_t i = 0; i < advice->untold_count; i++)
		if (advice->untold[i].cause != told)
			print_untold(out, &advice->untold[i], advice->wall_ns);
}

void gp_advice_print_doubts(FILE *out, const struct gp_advice *advice)
{
	if (advice->doubt)
		fprintf(out, "  %s: the GPU may have been idle for less\n", advice->doubt);
	print_untold_but(out, advice, GP_IDLE_CAUSES);
	print_hints(out, advice);
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
			print_finding(out, finding, advice, false);
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
		chosen[count++] = (struct chosen){finding, false};
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t alike = 0;

		for (size_t k = 0; k < count; k++)
			alike += chosen[k].finding->rule == chosen[i].finding->rule;
		chosen[i].stands_for_all = is_first(advice, chosen[i].finding) &&
					   alike < count_alike(advice, chosen[i].finding);
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
		print_finding(out, chosen[i].finding, advice, chosen[i].stands_for_all);
	if (limit == 0)
		print_all(out, advice);
	if (advice->count > count)
		fprintf(out, "  ... %zu more: gpuprof advice FILE\n", advice->count - count);
	if (advice->count > 1)
		fputs("  " GP_NO_SUM "\n", out);
	gp_advice_print_doubts(out, advice);
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

	gp_finding_say_when(where, sizeof(where), finding, advice, chosen->stands_for_all);
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
		fprintf(out, " (of the loop: %s)", gp_format_ns(advice->loop_ns).text);
	fputs("; more of a rule: gpuprof explain RULE\n", out);
	for (size_t i = 0; i < count; i++) {
		print_finding_in_brief(out, &chosen[i], advice);
		print_change_in_brief(out, chosen[i].finding,
				      i + 1 < count ? chosen[i + 1].finding : NULL, &same);
	}
	if (advice->count > count)
		fprintf(out, "  ... %zu more: gpuprof advice FILE\n", advice->count - count);
	if (overlap(advice))
		fputs("  " GP_NO_SUM "\n", out);
	gp_advice_print_doubts(out, advice);
}

/* ---- no findings ---- */

/* Whether idle time is mostly no part of the work itself. */
static bool idle_is_at_ends(const struct gp_advice *advice)
{
	return (advice->idle_before_ns + advice->idle_after_ns) * 2 >= advice->idle_ns;
}

/* Then how much is before it, and how much after it. */
static void print_idle_ends(FILE *out, const struct gp_advice *advice)
{
	const char *recorded = advice->doubt ? "recorded " : "";
	bool has_before = advice->idle_before_ns * 20 >= advice->idle_ns;
	bool has_after = advice->idle_after_ns * 20 >= advice->idle_ns;

	if (!idle_is_at_ends(advice))
		return;
	fputs(", ", out);
	if (has_before)
		fprintf(out, "%s before its first %soperation",
			gp_format_ns(advice->idle_before_ns).text, recorded);
	if (has_before && has_after)
		fputs(" and ", out);
	if (has_after)
		fprintf(out, "%s after its last %s%s", gp_format_ns(advice->idle_after_ns).text,
			recorded, has_before ? "one" : "operation");
}

/* What is more important than that there is no advice. */
static void print_troubles(FILE *out, const struct gp_advice *advice)
{
	if (advice->why_no_end)
		fprintf(out, "  the trace has no end: %s\n", advice->why_no_end);
	if (advice->failures > 0)
		fprintf(out, "  %s call%s failed: gpuprof summary --by failure FILE\n",
			gp_format_count(advice->failures).text, advice->failures == 1 ? "" : "s");
}

/* Most rules have a least time that their share of the recorded time does not reach. */
static bool is_too_short(uint64_t span_ns)
{
	size_t count = 0, too_short = 0;

	for (; gp_rules[count]; count++) {
		const struct gp_rule_threshold *least = &gp_rules[count]->threshold;
		double percent = least->or_ns > 0 ? least->or_percent : least->saves_percent;
		uint64_t ns = least->or_ns > 0 ? least->or_ns : least->saves_ns;

		too_short += (double)ns * 100 > percent * (double)span_ns;
	}
	return span_ns > 0 && too_short * 2 > count;
}

/* A process that only asks, or makes contexts and ends them. */
static void print_no_work(FILE *out, const struct gp_advice *advice)
{
	if (advice->span_ns > 0 && !advice->doubt)
		fprintf(out, "  no GPU had anything to do in %s: gpuprof summary --by api FILE\n",
			gp_format_ns(advice->span_ns).text);
}

/* Most of a short run is what any takes. */
static void print_start_up(FILE *out, const struct gp_advice *advice)
{
	if (advice->idle_cause == GP_IDLE_SETUP && advice->idle_before_ns * 2 >= advice->wall_ns)
		fputs("  making a context takes 100 to 300ms; of what takes 500ms and more, a rule speaks: gpuprof explain start-up\n",
		      out);
}

static void print_idle(FILE *out, const struct gp_advice *advice)
{
	fprintf(out, "  the %sGPU was idle for %s%s %% of %s, mostly %s",
		advice->gpus > 1 ? "busiest " : "", advice->doubt ? "at most " : "",
		gp_format_percent((double)advice->idle_ns, (double)advice->wall_ns).text,
		gp_format_ns(advice->wall_ns).text, gp_idle_cause_name(advice->idle_cause));
	print_idle_ends(out, advice);
	fprintf(out, ":%sgpuprof summary --by idle,gap%s --top 20 FILE\n",
		idle_is_at_ends(advice) ? "\n    " : " ", advice->has_looks ? ",host" : "");
	print_start_up(out, advice);
}

/* With where in the run most of it is, its main cause is told. */
static bool tells_idle(const struct gp_advice *advice)
{
	return advice->wall_ns > 0 && advice->idle_ns * 2 >= advice->wall_ns;
}

void gp_advice_print_none(FILE *out, const struct gp_advice *advice)
{
	if (advice->is_damaged)
		fputs("No advice: in what can be read of the trace no rule found anything", out);
	else if (is_too_short(advice->span_ns))
		fprintf(out, "No advice: %s, first to last CUDA call, is too short for most rules",
			gp_format_ns(advice->span_ns).text);
	else if (advice->gpus == 0)
		fputs("No advice: no operation of a GPU was recorded, and few rules speak without",
		      out);
	else
		fputs("No advice: none of the rules found anything worth a change", out);
	fputs(" (`gpuprof explain --list` names them)\n", out);
	print_troubles(out, advice);
	print_hints(out, advice);
	if (advice->is_damaged)
		return;
	if (advice->wall_ns == 0)
		print_no_work(out, advice);
	else if (tells_idle(advice))
		print_idle(out, advice);
	print_untold_but(out, advice,
			 tells_idle(advice) && idle_is_at_ends(advice) ? advice->idle_cause
								       : GP_IDLE_CAUSES);
}

/* ---- findings, for programs ---- */

static void put_number(struct gp_json *json, const char *key, uint64_t number)
{
	gp_json_text(json, key);
	gp_json_unsigned(json, number);
}

static void put_finding(struct gp_json *json, const struct gp_finding *finding, uint64_t span_ns)
{
	gp_json_string_after(json, "{\"rule\": ", finding->rule->id);
	gp_json_string_after(json, ", \"title\": ", finding->rule->title);
	gp_json_string_after(json, ", \"found\": ", finding->found);
	gp_json_string_after(json, ", \"change\": ", finding->change);
	put_number(json, ", \"count\": ", finding->count);
	put_number(json, ", \"time_ns\": ", finding->time_ns);
	put_number(json, ", \"bytes\": ", finding->bytes);
	put_number(json, ", \"saves_ns\": ", finding->saves_ns);
	put_number(json, ", \"saves_in_loop_ns\": ", finding->saves_in_loop_ns);
	put_number(json, ", \"processes\": ", finding->processes);
	put_number(json, ", \"pid\": ", finding->pid);
	gp_json_text(json, finding->rule->is_once ? ", \"once_per_run\": true"
						  : ", \"once_per_run\": false");
	gp_json_text(json, ", \"saves_share\": ");
	gp_json_ratio(json, finding->saves_ns, span_ns > 0 ? span_ns : 1);
	gp_json_string_after(json, ", \"call_site\": ", finding->place);
	gp_json_string_after(json, ", \"called_by\": ", finding->callers);
	gp_json_text(json, "}");
}

static void put_untold(struct gp_json *json, const struct gp_untold *untold, uint64_t wall_ns)
{
	gp_json_string_after(json, "{\"cause\": ", gp_idle_cause_name(untold->cause));
	put_number(json, ", \"idle_ns\": ", untold->ns);
	gp_json_text(json, ", \"idle_share\": ");
	gp_json_ratio(json, untold->ns, wall_ns > 0 ? wall_ns : 1);
	put_number(json, ", \"before_ns\": ", untold->before_ns);
	put_number(json, ", \"after_ns\": ", untold->after_ns);
	put_number(json, ", \"count\": ", untold->count);
	put_number(json, ", \"longest_ns\": ", untold->longest_ns);
	gp_json_string_after(json, ", \"place\": ", untold->place ? untold->place : "");
	put_number(json, ", \"place_ns\": ", untold->place_ns);
	gp_json_text(json, "}");
}

int gp_advice_print_json(FILE *out, const struct gp_advice *advice)
{
	struct gp_json json;
	int result = gp_json_open(&json, out);

	if (result < 0)
		return result;
	put_number(&json, "{\"span_ns\": ", advice->span_ns);
	put_number(&json, ", \"loop_ns\": ", advice->loop_ns);
	gp_json_text(&json, advice->doubt ? ", \"partial\": true" : ", \"partial\": false");
	gp_json_text(&json, ", \"findings\": [");
	for (uint32_t i = 0; i < advice->count; i++) {
		gp_json_text(&json, i > 0 ? ",\n" : "\n");
		put_finding(&json, &advice->findings[i], advice->span_ns);
	}
	gp_json_text(&json, "\n], \"untold\": [");
	for (uint32_t i = 0; i < advice->untold_count; i++) {
		gp_json_text(&json, i > 0 ? ",\n" : "\n");
		put_untold(&json, &advice->untold[i], advice->wall_ns);
	}
	gp_json_text(&json, "\n]}\n");
	return gp_json_close(&json);
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
