#include "report/advice/advice_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/rules/limits.h"
#include "report/advice/sentence.h"
#include "report/base/text/text.h"

/* ---- words for a finding ---- */

struct gp_figure gp_finding_worth(const struct gp_finding *finding)
{
	if (finding->saves_ns > 0)
		return gp_format_ns(finding->saves_ns);
	if (finding->rule->is_moved)
		return (struct gp_figure){"one-time"};
	if (finding->bytes > 0 || !finding->rule->is_of_results)
		return gp_format_bytes(finding->bytes);
	return (struct gp_figure){"errors"};
}

static void add_words(char *text, size_t bytes, const char *words)
{
	size_t used = strlen(text);

	snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : " (", words);
}

void gp_finding_say_when(char *text, size_t bytes, const struct gp_finding *finding,
			 const struct gp_advice *advice, uint32_t stands_for)
{
	double share = finding->saves_ns == 0 || advice->loop_ns == 0
			       ? 1
			       : (double)finding->saves_in_loop_ns / (double)finding->saves_ns;
	char words[64];

	text[0] = '\0';
	if (finding->rule->is_once)
		add_words(text, bytes, "one-time cost");
	if (share >= 0.005 && share < 0.5) {
		snprintf(words, sizeof(words), "%s in the steady state",
			 gp_format_ns(finding->saves_in_loop_ns).text);
		add_words(text, bytes, words);
	} else if (share < 0.005 && !finding->rule->is_once) {
		add_words(text, bytes, "outside the steady state");
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
	if (stands_for > 0) {
		/* what is once is of several kinds, each with a remedy of its own */
		snprintf(words, sizeof(words), "the most of %u %s", stands_for,
			 finding->rule->is_once ? "findings" : "places");
		add_words(text, bytes, words);
	}
	if (text[0] != '\0')
		strncat(text, ")", bytes - strlen(text) - 1);
}

/* ---- notes ---- */

/* One more sentence; command NULL: nothing says more. */
#define add_note(document, id, command, ...)                                                       \
	(begin_note(document, id), gp_document_add_words(document, "text", __VA_ARGS__),           \
	 gp_document_add_text(document, "command", command))

static void begin_note(struct gp_document *document, const char *id)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "id", id);
}

/* Of the first place without a name ("app+0x1f0"): how it gets one. */
static void note_nameless(const struct gp_advice *advice, struct gp_document *document)
{
	static const char *const words[][2] = {
		[GP_WITHOUT_SYMBOLS] = {"no symbols in ",
					": built with -g, and not stripped, its lines have names"},
		[GP_FILE_UNREAD] =
			{"no names of ",
			 ": that file is not here, or is another build than the one that ran; `gpuprof finish FILE`, where it is, adds them to the trace"},
	};

	for (uint32_t i = 0; i < advice->count; i++) {
		const struct gp_finding *finding = &advice->findings[i];
		const char *at = strstr(finding->place, "+0x");

		if (finding->naming == GP_NAMED || !at)
			continue;
		add_note(document, "nameless", NULL, "%s%.*s%s", words[finding->naming][0],
			 (int)(at - finding->place), finding->place, words[finding->naming][1]);
		return;
	}
}

/* What another recording would tell. */
static void note_hints(const struct gp_advice *advice, struct gp_document *document)
{
	note_nameless(advice, document);
	if (advice->lacks_stacks)
		add_note(document, "no-stacks", NULL,
			 "for the source lines, record with --stacks=all");
	if (advice->lacks_unified)
		add_note(
			document, "no-unified", NULL,
			"to see migrations of managed memory and their waits, record with --trace=default,unified");
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

static void note_untold(const struct gp_untold *untold, uint64_t wall_ns,
			struct gp_document *document)
{
	char why[768];

	put_why(why, sizeof(why), untold);
	add_note(document, "untold", NULL, "idle, and in no finding: %s, %s %% of %s, %s",
		 gp_idle_cause_words(untold->cause),
		 gp_format_percent((double)untold->ns, (double)wall_ns).text,
		 gp_format_ns(wall_ns).text, why);
}

/* But of that cause, which GP_IDLE_CAUSES is none of. */
static void note_untold_but(const struct gp_advice *advice, enum gp_idle_cause told,
			    struct gp_document *document)
{
	for (uint32_t i = 0; i < advice->untold_count; i++)
		if (advice->untold[i].cause != told)
			note_untold(&advice->untold[i], advice->wall_ns, document);
}

/* What makes findings doubtful, what of idle time they do not speak of, what is not recorded. */
static void note_doubts(const struct gp_advice *advice, struct gp_document *document)
{
	if (advice->doubt)
		add_note(document, "operations-missing", NULL,
			 "%s: the GPU may have been idle for less", advice->doubt);
	note_untold_but(advice, GP_IDLE_CAUSES, document);
	note_hints(advice, document);
}

/* ---- where there is no finding ---- */

/* Whether idle time is mostly no part of the work itself. */
static bool idle_is_at_ends(const struct gp_advice *advice)
{
	return (advice->idle_before_ns + advice->idle_after_ns) * 2 >= advice->idle_ns;
}

/* ", 1.2ms before its first operation and 3ms after its last one": then how much is where. */
static void put_idle_ends(char *text, size_t bytes, const struct gp_advice *advice)
{
	const char *recorded = advice->doubt ? "recorded " : "";
	bool has_before = advice->idle_before_ns * 20 >= advice->idle_ns;
	bool has_after = advice->idle_after_ns * 20 >= advice->idle_ns;
	char before[96] = "", after[96] = "";

	if (has_before)
		snprintf(before, sizeof(before), "%s before its first %soperation",
			 gp_format_ns(advice->idle_before_ns).text, recorded);
	if (has_after)
		snprintf(after, sizeof(after), "%s after its last %s%s",
			 gp_format_ns(advice->idle_after_ns).text, recorded,
			 has_before ? "one" : "operation");
	snprintf(text, bytes, ", %s%s%s", before, has_before && has_after ? " and " : "", after);
}

/* What is more important than that there is no advice. */
static void note_troubles(const struct gp_advice *advice, struct gp_document *document)
{
	if (advice->why_no_end)
		add_note(document, "no-end", NULL, "the trace has no end: %s", advice->why_no_end);
	if (advice->failures > 0)
		add_note(document, "failed-calls", "gpuprof summary --by failure FILE",
			 "%s call%s failed", gp_format_count(advice->failures).text,
			 advice->failures == 1 ? "" : "s");
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
static void note_no_work(const struct gp_advice *advice, struct gp_document *document)
{
	if (advice->span_ns > 0 && !advice->doubt)
		add_note(document, "no-work", "gpuprof summary --by api FILE",
			 "no GPU had anything to do in %s", gp_format_ns(advice->span_ns).text);
}

static void note_idle(const struct gp_advice *advice, struct gp_document *document)
{
	char ends[224] = "";

	if (idle_is_at_ends(advice))
		put_idle_ends(ends, sizeof(ends), advice);
	add_note(document, "idle",
		 advice->has_looks ? "gpuprof summary --by idle,gap,host --top 20 FILE"
				   : "gpuprof summary --by idle,gap --top 20 FILE",
		 "the %sGPU was idle for %s%s %% of %s, mostly %s%s",
		 advice->gpus > 1 ? "busiest " : "", advice->doubt ? "at most " : "",
		 gp_format_percent((double)advice->idle_ns, (double)advice->wall_ns).text,
		 gp_format_ns(advice->wall_ns).text, gp_idle_cause_words(advice->idle_cause), ends);
	/* most of a short run is what any takes */
	if (advice->idle_cause == GP_IDLE_SETUP && advice->idle_before_ns * 2 >= advice->wall_ns)
		add_note(
			document, "start-up", "gpuprof explain start-up",
			"making a context takes 100 to 300ms; of what takes 500ms and more, a rule speaks");
}

/* With where in the run most of it is, its main cause is told. */
static bool tells_idle(const struct gp_advice *advice)
{
	return advice->wall_ns > 0 && advice->idle_ns * 2 >= advice->wall_ns;
}

/* Why no rule found anything. */
static void add_none(const struct gp_advice *advice, struct gp_document *document)
{
	static const char listed[] = " (`gpuprof explain --list` names them)";

	gp_document_add_section(document, "none");
	if (advice->is_damaged)
		add_note(document, "damaged", NULL,
			 "No advice: in what can be read of the trace no rule found anything%s",
			 listed);
	else if (is_too_short(advice->span_ns))
		add_note(document, "too-short", NULL,
			 "No advice: %s, first to last CUDA call, is too short for most rules%s",
			 gp_format_ns(advice->span_ns).text, listed);
	else if (advice->gpus == 0)
		add_note(
			document, "no-operations", NULL,
			"No advice: no operation of a GPU was recorded, and few rules speak without%s",
			listed);
	else
		add_note(document, "nothing-found", NULL,
			 "No advice: none of the rules found anything worth a change%s", listed);
}

static void note_what_else(const struct gp_advice *advice, struct gp_document *document)
{
	note_troubles(advice, document);
	note_hints(advice, document);
	if (advice->is_damaged)
		return;
	if (advice->wall_ns == 0)
		note_no_work(advice, document);
	else if (tells_idle(advice))
		note_idle(advice, document);
	note_untold_but(advice,
			tells_idle(advice) && idle_is_at_ends(advice) ? advice->idle_cause
								      : GP_IDLE_CAUSES,
			document);
}

void gp_advice_add_notes(const struct gp_advice *advice, bool warns_of_sums,
			 struct gp_document *document)
{
	if (advice->count == 0)
		add_none(advice, document);
	gp_document_add_section(document, "notes");
	if (warns_of_sums)
		add_note(document, "no-sum", NULL,
			 "savings must not be added up: findings may be about the same time");
	if (advice->count > 0)
		note_doubts(advice, document);
	else
		note_what_else(advice, document);
}

/* ---- the whole document ---- */

static void add_finding(const struct gp_finding *finding, const struct gp_advice *advice,
			struct gp_document *document)
{
	char when[128];

	gp_finding_say_when(when, sizeof(when), finding, advice, 0);
	gp_document_add_row(document);
	gp_document_add_text(document, "rule", finding->rule->id);
	gp_document_add_text(document, "title", finding->rule->title);
	gp_document_add_text(document, "found", finding->found);
	gp_document_add_text(document, "change", finding->change);
	gp_document_add_number(document, "count", GP_UNIT_COUNT, finding->count);
	gp_document_add_number(document, "time_ns", GP_UNIT_NS, finding->time_ns);
	gp_document_add_number(document, "bytes", GP_UNIT_BYTES, finding->bytes);
	gp_document_add_number(document, "saves_ns", GP_UNIT_NS, finding->saves_ns);
	gp_document_add_number(document, "saves_in_loop_ns", GP_UNIT_NS, finding->saves_in_loop_ns);
	gp_document_add_number(document, "processes", GP_UNIT_COUNT, finding->processes);
	gp_document_add_number(document, "pid", GP_UNIT_NUMBER, finding->pid);
	gp_document_add_flag(document, "once_per_run", finding->rule->is_once);
	gp_document_add(document, "saves_share", GP_UNIT_RATIO,
			gp_value_ratio(finding->saves_ns, advice->span_ns));
	gp_document_add_text(document, "call_site", finding->place);
	gp_document_add_text(document, "called_by", finding->callers);
	gp_document_add_text(document, "worth", gp_finding_worth(finding).text);
	gp_document_add_text(document, "when", when + strspn(when, " "));
	if (finding->show_ns > 0) {
		gp_document_add_number(document, "show_at_ns", GP_UNIT_MOMENT, finding->show_at_ns);
		gp_document_add_number(document, "show_ns", GP_UNIT_NS, finding->show_ns);
	}
	for (uint32_t i = finding->common_values; i < finding->values.facts.count; i++) {
		const struct gp_document_field *field = &finding->values.facts.fields[i];

		gp_document_add(document, field->id, field->unit, field->value);
	}
}

static void add_untold(const struct gp_untold *untold, uint64_t wall_ns,
		       struct gp_document *document)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "cause", gp_idle_cause_name(untold->cause));
	gp_document_add_number(document, "idle_ns", GP_UNIT_NS, untold->ns);
	gp_document_add(document, "idle_share", GP_UNIT_RATIO, gp_value_ratio(untold->ns, wall_ns));
	gp_document_add_number(document, "before_ns", GP_UNIT_NS, untold->before_ns);
	gp_document_add_number(document, "after_ns", GP_UNIT_NS, untold->after_ns);
	gp_document_add_number(document, "count", GP_UNIT_COUNT, untold->count);
	gp_document_add_number(document, "longest_ns", GP_UNIT_NS, untold->longest_ns);
	gp_document_add_text(document, "place", untold->place ? untold->place : "");
	gp_document_add_number(document, "place_ns", GP_UNIT_NS, untold->place_ns);
}

void gp_advice_describe(const struct gp_advice *advice, struct gp_document *document)
{
	gp_document_add_number(document, "span_ns", GP_UNIT_NS, advice->span_ns);
	gp_document_add_number(document, "loop_ns", GP_UNIT_NS, advice->loop_ns);
	gp_document_add_number(document, "loop_iterations", GP_UNIT_COUNT, advice->loop_passes);
	gp_document_add_flag(document, "partial", advice->doubt != NULL);
	gp_document_add_section(document, "findings");
	for (uint32_t i = 0; i < advice->count; i++)
		add_finding(&advice->findings[i], advice, document);
	gp_document_add_section(document, "untold");
	for (uint32_t i = 0; i < advice->untold_count; i++)
		add_untold(&advice->untold[i], advice->wall_ns, document);
	gp_advice_add_notes(advice, advice->count > 1, document);
}

static bool is_told_before(const struct gp_advice *advice, uint32_t finding)
{
	for (uint32_t i = 0; i < finding; i++)
		if (advice->findings[i].rule == advice->findings[finding].rule)
			return true;
	return false;
}

static void add_limits(struct gp_document *values, const struct gp_limit *limits)
{
	for (; limits && limits->id; limits++)
		gp_document_add_number(values, limits->id, limits->unit, limits->value);
}

const char gp_rule_threshold_text[] =
	"From {count} on[, if the saving is {saves_percent} % of the recorded time[{!is_once} or of the main loop] and {saves_ns}[, or {or_percent} % and {or_ns}]][; {exception}]. {reason}.[{?saves_percent} Of a few steps that torch.profiler recorded, a tenth of the time and count is enough.]";

static char *rule_text(const struct gp_rule *rule, const char *text, const char *exception)
{
	const struct gp_rule_threshold *least = &rule->threshold;
	struct gp_document values = {0};
	char *sentence;

	gp_document_add_number(&values, "count", GP_UNIT_COUNT, least->count);
	if (least->saves_percent > 0)
		gp_document_add_words(&values, "saves_percent", "%g", least->saves_percent);
	gp_document_add_number(&values, "saves_ns", GP_UNIT_NS, least->saves_ns);
	gp_document_add_words(&values, "or_percent", "%g", least->or_percent);
	gp_document_add_number(&values, "or_ns", GP_UNIT_NS, least->or_ns);
	gp_document_add_flag(&values, "is_once", rule->is_once);
	gp_document_add_text(&values, "exception", exception);
	gp_document_add_text(&values, "reason", least->reason);
	add_limits(&values, rule->limits);
	add_limits(&values, gp_shared_limits);
	sentence = values.error == 0 ? gp_sentence_text(text, &values.facts) : NULL;
	gp_document_free(&values);
	return sentence;
}

char *gp_rule_text(const struct gp_rule *rule, const char *text)
{
	char *exception = rule->exception ? rule_text(rule, rule->exception, NULL) : NULL;
	char *sentence = rule_text(rule, text, exception);

	free(exception);
	return sentence;
}

static void add_rule_text(struct gp_document *document, const char *id, const struct gp_rule *rule,
			  const char *text)
{
	char *sentence = gp_rule_text(rule, text);

	if (!sentence && document->error == 0)
		document->error = -ENOMEM;
	gp_document_add_text(document, id, sentence);
	free(sentence);
}

void gp_advice_add_rules(const struct gp_advice *advice, struct gp_document *document)
{
	gp_document_add_section(document, "rules");
	for (uint32_t i = 0; i < advice->count; i++) {
		const struct gp_rule *rule = advice->findings[i].rule;

		if (is_told_before(advice, i))
			continue;
		gp_document_add_row(document);
		gp_document_add_text(document, "rule", rule->id);
		add_rule_text(document, "meaning", rule, rule->meaning);
		add_rule_text(document, "ignore", rule, rule->ignore);
	}
}
