/* advice_document: advice and rules as data: ids and values of findings; each rule explained. */
#include "tests/unit.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/advice/advice_document.h"
#include "report/advice/advice_print.h"
#include "report/advice/rules/rules.h"
#include "tests/report/expect.h"

static struct gp_finding findings[] = {
	{.rule = &gp_rule_sync_copy,
	 .count = 3,
	 .time_ns = 500,
	 .saves_ns = 400,
	 .processes = 2,
	 .pid = 42,
	 .saves_in_loop_ns = 300,
	 .step_ns = 50,
	 .loop_steps = 10,
	 .bytes = 4096,
	 .show_at_ns = 70,
	 .show_ns = 80,
	 .found = "found",
	 .change = "change",
	 .place = "main (a.py:1)",
	 .callers = "caller",
	 .recurs = true},
	{.rule = &gp_rule_start_up,
	 .saves_ns = 200,
	 .found = "",
	 .change = "",
	 .place = "",
	 .callers = ""},
	{.rule = &gp_rule_sync_copy,
	 .saves_ns = 100,
	 .found = "",
	 .change = "",
	 .place = "",
	 .callers = ""},
};

static const struct gp_advice advice = {
	.findings = findings,
	.count = COUNT(findings),
	.once_count = 1,
	.process_count = 2,
	.span_ns = 1000,
	.wall_ns = 2000,
	.loop_ns = 600,
	.loop_steps = 10,
	.largest = {.place = "step (a.py:7)", .ns = 300, .of_ns = 400},
	.before = {.ns = 5000},
	.unexplained = {{.cause = GP_IDLE_COPY,
			 .ns = 250,
			 .before_ns = 20,
			 .after_ns = 30,
			 .count = 4,
			 .longest_ns = 90,
			 .place = "at main (a.cu:7)",
			 .place_ns = 120}},
	.unexplained_count = 1,
};

static void assert_number(const struct gp_fields *fields, const char *id, double number)
{
	const struct gp_value *value = gp_fields_value(fields, id);
	double is = !value ? -1 : value->kind == GP_VALUE_REAL ? value->real : (double)value->whole;

	if (is != number)
		fail_msg("%s is %g, not %g", id, is, number);
}

static void each_value_has_its_id(void **state)
{
	static const struct {
		const char *id;
		double value;
	} facts[] = {{"span_ns", 1000},
		     {"loop_ns", 600},
		     {"step_ns", 60},
		     {"loop_iterations", 10},
		     {"before_first_call_ns", 5000},
		     {"largest_share", 0.75},
		     {"partial", 0}},
	  of_finding[] = {{"count", 3},
			  {"time_ns", 500},
			  {"bytes", 4096},
			  {"saves_ns", 400},
			  {"saves_in_loop_ns", 300},
			  {"loop_iterations", 10},
			  {"step_ns", 50},
			  {"processes", 2},
			  {"pid", 42},
			  {"recurs", 1},
			  {"once_per_run", 0},
			  {"saves_share", 0.4},
			  {"show_at_ns", 70},
			  {"show_ns", 80}},
	  of_idle[] = {{"idle_ns", 250}, {"idle_share", 0.125}, {"before_ns", 20}, {"after_ns", 30},
		       {"count", 4},     {"longest_ns", 90},    {"place_ns", 120}};
	struct gp_document document = {0};
	const struct gp_section *section;

	(void)state;
	gp_advice_describe(&advice, &document);
	assert_int_equal(document.error, 0);
	for (size_t i = 0; i < COUNT(facts); i++)
		assert_number(&document.facts, facts[i].id, facts[i].value);
	assert_string_equal(gp_fields_text(&document.facts, "largest_place"), "step (a.py:7)");
	section = gp_document_section(&document, "findings");
	assert_int_equal(section->count, COUNT(findings));
	assert_string_equal(gp_fields_text(&section->rows[0], "rule"), "sync-copy");
	assert_string_equal(gp_fields_text(&section->rows[0], "found"), "found");
	assert_string_equal(gp_fields_text(&section->rows[0], "change"), "change");
	assert_string_equal(gp_fields_text(&section->rows[0], "call_site"), "main (a.py:1)");
	assert_string_equal(gp_fields_text(&section->rows[0], "called_by"), "caller");
	for (size_t i = 0; i < COUNT(of_finding); i++)
		assert_number(&section->rows[0], of_finding[i].id, of_finding[i].value);
	assert_string_equal(gp_fields_text(&section->rows[1], "rule"), "start-up");
	assert_number(&section->rows[1], "once_per_run", 1);
	assert_number(&section->rows[1], "recurs", 0);
	assert_null(gp_fields_value(&section->rows[1], "show_at_ns"));
	section = gp_document_section(&document, "unexplained");
	assert_int_equal(section->count, 1);
	assert_string_equal(gp_fields_text(&section->rows[0], "cause"), "copy-bound");
	assert_string_equal(gp_fields_text(&section->rows[0], "place"), "at main (a.cu:7)");
	for (size_t i = 0; i < COUNT(of_idle); i++)
		assert_number(&section->rows[0], of_idle[i].id, of_idle[i].value);
	gp_document_free(&document);
}

static void each_rule_is_told_once(void **state)
{
	struct gp_document document = {0};
	const struct gp_section *section;

	(void)state;
	gp_advice_add_rules(&advice, &document);
	assert_int_equal(document.error, 0);
	section = gp_document_section(&document, "rules");
	assert_int_equal(section->count, 2);
	assert_string_equal(gp_fields_text(&section->rows[0], "rule"), "sync-copy");
	assert_string_equal(gp_fields_text(&section->rows[1], "rule"), "start-up");
	for (size_t i = 0; i < 2; i++) {
		assert_true(strlen(gp_fields_text(&section->rows[i], "meaning")) > 0);
		assert_true(strlen(gp_fields_text(&section->rows[i], "ignore")) > 0);
	}
	gp_document_free(&document);
}

/* What the function prints, to be freed. */
static char *print_rule(const struct gp_rule *rule)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (rule)
		gp_rule_explain(out, rule);
	else
		gp_rules_list(out);
	fclose(out);
	return text;
}

/* With each of its limits, and without a bracket or a name of a value. */
static void each_rule_is_explained(void **state)
{
	char *list = print_rule(NULL), *line = list;

	(void)state;
	for (size_t i = 0; gp_rules[i]; i++) {
		const struct gp_rule *rule = gp_rules[i];
		char *text = print_rule(rule);

		assert_int_equal(strncmp(text, rule->id, strlen(rule->id)), 0);
		expect(text, "What it means");
		expect(text, "What helps");
		expect(text, "When to ignore it");
		expect(text, "When it is reported");
		expect_not(text, "{");
		assert_int_equal(strstr(text, "\nLimits\n") != NULL, rule->limits != NULL);
		for (const struct gp_limit *limit = rule->limits; limit && limit->id; limit++) {
			expect(text, limit->id);
			expect(text, limit->reason);
		}
		free(text);
		assert_int_equal(strncmp(line, rule->id, strlen(rule->id)), 0);
		line = strchr(line, '\n') + 1;
	}
	assert_string_equal(line, "");
	free(list);
}

/* A quarter is 25 %: "4 of the gaps" would be a number of them. */
static void parts_are_shown_in_percent(void **state)
{
	static const struct gp_limit limits[] = {{"HABIT_PART", 4, GP_UNIT_COUNT, "of the gaps"},
						 {"RUN_PART", 400, GP_UNIT_COUNT, "of the run"},
						 {"HOST_PERCENT", 80, GP_UNIT_PERCENT, "of a gap"},
						 {"LEAST_NS", 200000, GP_UNIT_NS, "a gap"},
						 {.id = NULL}};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_limits_print(out, limits);
	fclose(out);
	squeeze(text, " \n");
	assert_string_equal(text, "HABIT_PART 25 % of the gaps RUN_PART 0.25 % of the run"
				  " HOST_PERCENT 80 % of a gap LEAST_NS 200.0us a gap ");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_has_its_id),
		cmocka_unit_test(each_rule_is_told_once),
		cmocka_unit_test(each_rule_is_explained),
		cmocka_unit_test(parts_are_shown_in_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
