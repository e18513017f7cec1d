#include "report/advice/advice_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/advice/rules/limits.h"
#include "report/advice/sentence.h"
#include "report/base/text/text.h"

/* ---- words for a finding ---- */

uint64_t gp_advice_step_ns(const struct gp_advice *advice)
{
	return advice->loop_steps > 0 ? advice->loop_ns / advice->loop_steps : 0;
}

struct gp_saving gp_finding_saving(const struct gp_finding *finding, const struct gp_advice *advice)
{
	if (finding->saves_ns == 0)
		return (struct gp_saving){0, 0};
	if (finding->loop_steps == 0 || !finding->recurs)
		return (struct gp_saving){finding->saves_ns, advice->span_ns};
	return (struct gp_saving){finding->saves_in_loop_ns / finding->loop_steps,
				  finding->step_ns};
}

struct gp_figure gp_finding_worth(const struct gp_finding *finding, const struct gp_advice *advice)
{
	struct gp_saving saving = gp_finding_saving(finding, advice);

	if (saving.of_ns > 0)
		return gp_format_ns(saving.ns);
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

/* Another program than the one whose steps the title tells: ranks of one job differ by less. */
static bool has_other_steps(const struct gp_finding *finding, const struct gp_advice *advice)
{
	double step_ns = (double)finding->step_ns, told_ns = (double)gp_advice_step_ns(advice);

	return finding->recurs && fabs(step_ns - told_ns) > told_ns / 10;
}

void gp_finding_say_when(char *text, size_t bytes, const struct gp_finding *finding,
			 const struct gp_advice *advice, uint32_t stands_for)
{
	char words[64];

	text[0] = '\0';
	if (finding->rule->is_once && advice->loop_steps == 0)
		add_words(text, bytes, "one-time cost");
	if (advice->process_count > 1)
		add_words(text, bytes, finding->process.text);
	if (has_other_steps(finding, advice)) {
		snprintf(words, sizeof(words), "of its steps of %s",
			 gp_format_ns(finding->step_ns).text);
		add_words(text, bytes, words);
	}
	if (finding->processes > 1) {
		snprintf(words, sizeof(words), "the most of %s processes",
			 gp_format_count(finding->processes).text);
		add_words(text, bytes, words);
	}
	if (stands_for > 0) {
		snprintf(words, sizeof(words), "the most of %u %s", stands_for,
			 *finding->place ? "places" : "findings");
		add_words(text, bytes, words);
	}
	if (text[0] != '\0')
		strncat(text, ")", bytes - strlen(text) - 1);
}

/* ---- notes ---- */

/* Sentences over the values of advice, and of unexplained idle time; an empty one is no note. */
struct note {
	const char *id, *sentence, *command;
};

#define LISTED " (`gpuprof explain --list` names them)"

/* Why there is no finding: the first that applies. */
static const struct note reasons[] = {
	{"damaged",
	 "[{?is_damaged}No advice: no rule found anything in the readable part of the trace" LISTED
	 "]",
	 ""},
	{"too-short",
	 "[{?is_short}No advice: {span_ns}, first to last CUDA call, is too short for most rules" LISTED
	 "]",
	 ""},
	{"no-operations",
	 "[{!gpus}No advice: no GPU operation was recorded, and few rules work without one" LISTED
	 "]",
	 ""},
	{"nothing-found", "No advice: no rule found anything worth changing" LISTED, ""},
};

/* Limits of the findings, other possible recordings, and without findings the main idle time. */
static const struct note notes[] = {
	{"no-sum",
	 "[{?warns_of_sums}savings must not be added up: findings may count the same time; savings include gpuprof's own cost]",
	 ""},
	{"no-end", "[{!count}the trace has no end: {why_no_end}]", ""},
	{"failed-calls", "[{!count}{failures} call[{!failures=1}s] failed]",
	 "gpuprof summary --by failure FILE"},
	{"operations-missing",
	 "[{?count}{doubt}[ ({doubtful}[ and {doubtful_others} more])], so idle times are upper bounds]",
	 ""},
	{"unexplained", NULL, ""}, /* with findings ... */
	{"nameless",
	 "[no names for {unread}: the file is missing here, or is another build than the one that ran; `gpuprof finish FILE` adds them to the trace on the machine that has it|no symbols in {nameless}: build it with -g and do not strip it, to see its lines]",
	 ""},
	{"no-stacks", "[{?lacks_stacks}for the source lines, record with --stacks=all]", ""},
	{"no-unified",
	 "[{?lacks_unified}to see migrations of managed memory and their waits, record with --trace=default,unified]",
	 ""},
	{"no-work", "[{!count}{!is_damaged}{!wall_ns}{!doubt}no GPU had any work in {span_ns}]",
	 "gpuprof summary --by api FILE"},
	{"idle",
	 "[{?is_idle}the [{?has_gpus}busiest ]GPU was idle for [{?doubt}at most ]{idle_percent} % of {wall_ns}, mostly {cause}[, {before_ns} before its first [{?doubt}recorded ]operation[ and {after_ns} after its last [{?doubt}recorded ]one]|, {after_ns} after its last [{?doubt}recorded ]operation]]",
	 "gpuprof summary --by idle,gap[{?has_samples},host] --top 20 FILE"},
	{"start-up",
	 "[{?is_idle}{?is_startup}creating a context takes 100 to 300ms; a rule reports 500ms and more]",
	 "gpuprof explain start-up"},
	{"unexplained", NULL, ""}, /* ... and without */
};

static const struct note unexplained_note = {
	"unexplained",
	"idle without a finding: {cause}, {idle_percent} % of {wall_ns}, "
	"[{edge_ns} of it [{?is_start}before the first|after the last] operation, once in a process"
	"|{unexplained_count} gap[{!unexplained_count=1}s], of {longest_ns} at most"
	"[: {place_percent} % of it ends {place}"
	"|: {few} at one place are too few for the rules of copies"
	"|{?is_little}: the saving at each place is too small for the rules of copies"
	"|{?cause=host-bound}: they end at no place repeatedly, as gaps from preemption do"
	"|{?cause=copy-bound}: the rules of copies found nothing to change"
	"|{?cause=profiler overhead}: without a profiler this time does not exist"
	"|{?cause=unused}: no process that uses the GPU was alive"
	"|{?cause=unknown}: the trace lacks work that may have run in these gaps, the calls that ended them, or the end of a process]"
	"|in gaps of mostly other causes]",
	""};

/* Returns whether there was something to say. */
static bool add_note(struct gp_document *document, const struct note *note,
		     const struct gp_document *values)
{
	char *text = gp_sentence_text(note->sentence, &values->facts);
	char *command = gp_sentence_text(note->command, &values->facts);
	bool is_said = text && *text;

	if (is_said) {
		gp_document_add_row(document);
		gp_document_add_text(document, "id", note->id);
		gp_document_add_text(document, "text", text);
		gp_document_add_text(document, "command", command && *command ? command : NULL);
	}
	free(text);
	free(command);
	return is_said;
}

static void add_percent(struct gp_document *values, const char *id, uint64_t part, uint64_t whole)
{
	gp_document_add(values, id, GP_UNIT_PERCENT, gp_value_percent((double)part, (double)whole));
}

/* The module of the first place without a name ("app+0x1f0"). */
static void add_nameless(const struct gp_advice *advice, struct gp_document *values)
{
	for (uint32_t i = 0; i < advice->count; i++) {
		const struct gp_finding *finding = &advice->findings[i];
		const char *at = strstr(finding->place, "+0x");

		if (finding->naming == GP_NAMED || !at)
			continue;
		gp_document_add_words(values,
				      finding->naming == GP_FILE_UNREAD ? "unread" : "nameless",
				      "%.*s", (int)(at - finding->place), finding->place);
		return;
	}
}

/* Whether the least saving of most rules is more than their part of the recorded time. */
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

/* Whether the GPU was idle for most of the time, and mostly before or after its work. */
static bool is_mostly_idle(const struct gp_advice *advice)
{
	return advice->wall_ns > 0 && advice->idle_ns * 2 >= advice->wall_ns;
}

static bool is_idle_at_ends(const struct gp_advice *advice)
{
	return (advice->idle_before_ns + advice->idle_after_ns) * 2 >= advice->idle_ns;
}

static void add_values(const struct gp_advice *advice, bool warns_of_sums,
		       struct gp_document *values)
{
	bool is_idle = advice->count == 0 && !advice->is_damaged && is_mostly_idle(advice);
	bool is_at_ends = is_idle && is_idle_at_ends(advice);

	gp_document_add_number(values, "count", GP_UNIT_COUNT, advice->count);
	gp_document_add_number(values, "span_ns", GP_UNIT_NS, advice->span_ns);
	gp_document_add_number(values, "wall_ns", GP_UNIT_NS, advice->wall_ns);
	gp_document_add_number(values, "gpus", GP_UNIT_COUNT, advice->gpus);
	gp_document_add_flag(values, "has_gpus", advice->gpus > 1);
	gp_document_add_flag(values, "warns_of_sums", warns_of_sums);
	gp_document_add_flag(values, "is_damaged", advice->is_damaged);
	gp_document_add_flag(values, "is_short", is_too_short(advice->span_ns));
	gp_document_add_flag(values, "has_samples", advice->has_samples);
	gp_document_add_flag(values, "lacks_stacks", advice->lacks_stacks);
	gp_document_add_flag(values, "lacks_unified", advice->lacks_unified);
	gp_document_add_text(values, "why_no_end", advice->why_no_end);
	gp_document_add_number(values, "failures", GP_UNIT_COUNT, advice->failures);
	gp_document_add_text(values, "doubt", advice->doubt);
	if (advice->doubt && advice->process_count > 1)
		gp_document_add_text(values, "doubtful", advice->doubtful.text);
	if (advice->doubtful_count > 1)
		gp_document_add_number(values, "doubtful_others", GP_UNIT_COUNT,
				       advice->doubtful_count - 1);
	add_nameless(advice, values);
	gp_document_add_flag(values, "is_idle", is_idle);
	gp_document_add_flag(values, "is_startup",
			     advice->idle_cause == GP_IDLE_SETUP &&
				     advice->idle_before_ns * 2 >= advice->wall_ns);
	add_percent(values, "idle_percent", advice->idle_ns, advice->wall_ns);
	gp_document_add_text(values, "cause", gp_idle_cause_words(advice->idle_cause));
	if (is_at_ends && advice->idle_before_ns * 20 >= advice->idle_ns)
		gp_document_add_number(values, "before_ns", GP_UNIT_NS, advice->idle_before_ns);
	if (is_at_ends && advice->idle_after_ns * 20 >= advice->idle_ns)
		gp_document_add_number(values, "after_ns", GP_UNIT_NS, advice->idle_after_ns);
}

static void note_unexplained(const struct gp_unexplained *unexplained, uint64_t wall_ns,
			     struct gp_document *document)
{
	bool is_start = unexplained->before_ns * 2 >= unexplained->ns;
	struct gp_document values = {0};

	gp_document_add_text(&values, "cause", gp_idle_cause_words(unexplained->cause));
	add_percent(&values, "idle_percent", unexplained->ns, wall_ns);
	gp_document_add_number(&values, "wall_ns", GP_UNIT_NS, wall_ns);
	gp_document_add_flag(&values, "is_start", is_start);
	if (is_start || unexplained->after_ns * 2 >= unexplained->ns)
		gp_document_add_number(&values, "edge_ns", GP_UNIT_NS,
				       is_start ? unexplained->before_ns : unexplained->after_ns);
	gp_document_add_number(&values, "unexplained_count", GP_UNIT_COUNT, unexplained->count);
	gp_document_add_number(&values, "longest_ns", GP_UNIT_NS, unexplained->longest_ns);
	gp_document_add_text(&values, "place", unexplained->place);
	add_percent(&values, "place_percent", unexplained->place_ns, unexplained->ns);
	gp_document_add_number(&values, "few", GP_UNIT_COUNT, unexplained->few);
	gp_document_add_flag(&values, "is_little", unexplained->is_little);
	add_note(document, &unexplained_note, &values);
	gp_document_free(&values);
}

/* Without findings, the note "idle" has the cause of the idle time at the ends. */
static void note_all_unexplained(const struct gp_advice *advice, struct gp_document *document)
{
	bool is_noted = advice->count == 0 && is_mostly_idle(advice) && is_idle_at_ends(advice);

	for (uint32_t i = 0; i < advice->unexplained_count; i++)
		if (!is_noted || advice->unexplained[i].cause != advice->idle_cause)
			note_unexplained(&advice->unexplained[i], advice->wall_ns, document);
}

void gp_advice_add_notes(const struct gp_advice *advice, bool warns_of_sums,
			 struct gp_document *document)
{
	struct gp_document values = {0};

	add_values(advice, warns_of_sums, &values);
	if (advice->count == 0) {
		gp_document_add_section(document, "none");
		for (size_t i = 0; i < COUNT(reasons); i++)
			if (add_note(document, &reasons[i], &values))
				break;
	}
	gp_document_add_section(document, "notes");
	for (size_t i = 0; i < COUNT(notes); i++) {
		if (notes[i].sentence)
			add_note(document, &notes[i], &values);
		else if ((advice->count == 0) == (i == COUNT(notes) - 1) &&
			 (advice->count > 0 || !advice->is_damaged))
			note_all_unexplained(advice, document);
	}
	gp_document_free(&values);
}

/* ---- the whole document ---- */

static void add_finding(const struct gp_finding *finding, const struct gp_advice *advice,
			struct gp_document *document)
{
	struct gp_saving saving = gp_finding_saving(finding, advice);
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
	gp_document_add_number(document, "loop_iterations", GP_UNIT_COUNT, finding->loop_steps);
	gp_document_add_number(document, "step_ns", GP_UNIT_NS, finding->step_ns);
	gp_document_add_number(document, "processes", GP_UNIT_COUNT, finding->processes);
	gp_document_add_number(document, "pid", GP_UNIT_NUMBER, finding->pid);
	gp_document_add_flag(document, "once_per_run", finding->rule->is_once);
	gp_document_add_flag(document, "recurs", finding->recurs);
	gp_document_add(document, "saves_share", GP_UNIT_RATIO,
			gp_value_ratio(finding->saves_ns, advice->span_ns));
	gp_document_add_text(document, "call_site", finding->place);
	gp_document_add_text(document, "called_by", finding->callers);
	gp_document_add_text(document, "worth", gp_finding_worth(finding, advice).text);
	gp_document_add(document, "worth_share", GP_UNIT_RATIO,
			gp_value_ratio(saving.ns, saving.of_ns));
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

static void add_unexplained(const struct gp_unexplained *unexplained, uint64_t wall_ns,
			    struct gp_document *document)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "cause", gp_idle_cause_name(unexplained->cause));
	gp_document_add_number(document, "idle_ns", GP_UNIT_NS, unexplained->ns);
	gp_document_add(document, "idle_share", GP_UNIT_RATIO,
			gp_value_ratio(unexplained->ns, wall_ns));
	gp_document_add_number(document, "before_ns", GP_UNIT_NS, unexplained->before_ns);
	gp_document_add_number(document, "after_ns", GP_UNIT_NS, unexplained->after_ns);
	gp_document_add_number(document, "count", GP_UNIT_COUNT, unexplained->count);
	gp_document_add_number(document, "longest_ns", GP_UNIT_NS, unexplained->longest_ns);
	gp_document_add_text(document, "place", unexplained->place ? unexplained->place : "");
	gp_document_add_number(document, "place_ns", GP_UNIT_NS, unexplained->place_ns);
}

void gp_advice_describe(const struct gp_advice *advice, struct gp_document *document)
{
	gp_document_add_number(document, "span_ns", GP_UNIT_NS, advice->span_ns);
	gp_document_add_number(document, "loop_ns", GP_UNIT_NS, advice->loop_ns);
	gp_document_add_number(document, "step_ns", GP_UNIT_NS, gp_advice_step_ns(advice));
	gp_document_add_number(document, "loop_iterations", GP_UNIT_COUNT, advice->loop_steps);
	gp_document_add_flag(document, "partial", advice->doubt != NULL);
	if (advice->before.ns > 0)
		gp_document_add_number(document, "before_first_call_ns", GP_UNIT_NS,
				       advice->before.ns);
	if (advice->largest.place) {
		gp_document_add_text(document, "largest_place", advice->largest.place);
		gp_document_add(document, "largest_share", GP_UNIT_RATIO,
				gp_value_ratio(advice->largest.ns, advice->largest.of_ns));
	}
	gp_document_add_section(document, "findings");
	for (uint32_t i = 0; i < advice->count; i++)
		add_finding(&advice->findings[i], advice, document);
	gp_document_add_section(document, "unexplained");
	for (uint32_t i = 0; i < advice->unexplained_count; i++)
		add_unexplained(&advice->unexplained[i], advice->wall_ns, document);
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
	"[{?count=1}At a saving|At a count of {count} or more[{?saves_percent}, and a saving]][ of at least {saves_percent} % of the recorded time[{!is_once} or of the main loop], and at least {saves_ns}[, or of at least {or_percent} % and {or_ns}]][; {exception}]. {reason}.[{?saves_percent} If torch.profiler recorded only a few steps, a tenth of the time and count is enough.]";

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
	sentence = gp_sentence_text(text, &values.facts);
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
