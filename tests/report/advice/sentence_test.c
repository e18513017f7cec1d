/* Templates of sentences: values, alternatives and conditions; and that those of all rules are whole. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/advice/advice.h"
#include "report/advice/advice_document.h"
#include "report/advice/sentence.h"

static struct gp_document make_values(void)
{
	struct gp_document values = {0};

	gp_document_add_number(&values, "count", GP_UNIT_COUNT, 1234);
	gp_document_add_number(&values, "time_ns", GP_UNIT_NS, 1500000);
	gp_document_add_number(&values, "none", GP_UNIT_COUNT, 0);
	gp_document_add_number(&values, "gpu", GP_UNIT_NUMBER, 0);
	gp_document_add_text(&values, "language", "torch");
	gp_document_add_text(&values, "empty", "");
	gp_document_add_flag(&values, "is_so", true);
	gp_document_add_flag(&values, "is_not", false);
	gp_document_add_words(&values, "raw", "[{|}]");
	assert_int_equal(values.error, 0);
	return values;
}

static void templates_show_what_is_set(void **state)
{
	static const char *const cases[][2] = {
		{"plain", "plain"},
		{"{count} in {time_ns}", "1,234 in 1.500ms"},
		{"{none} and {unknown}.", "0 and ."},
		{"a[ b {none}][ c {count}][ d {unknown}][ e {empty}]", "a c 1,234"},
		{"[{unknown}|{none}|third|{count}]", "third"},
		{"[{?is_so}yes|no] [{?is_not}yes|no] [{!is_not}yes|no]", "yes no yes"},
		{"[{?language=torch}T|{?language=jax}J|N]", "T"},
		{"[{?language=tor}T][{!language=jax}J][{?count=1234}C][{!count=1}s]", "JCs"},
		{"GPU [{gpu}]", "GPU 0"},
		{"[a[ b[ {none}]]|c]!", "a b!"},
		{"[{none}[ x {count}]|y[ {count}]]", "y 1,234"},
		{"{raw}", "[{|}]"},
	};
	struct gp_document values = make_values();

	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = gp_sentence_text(cases[i][0], &values.facts);

		assert_string_equal(text, cases[i][1]);
		free(text);
	}
	gp_document_free(&values);
}

/* Brackets and braces are in pairs, and a bar is within brackets. */
static void check_whole(const char *sentence)
{
	unsigned brackets = 0, braces = 0;

	for (const char *at = sentence; *at != '\0'; at++) {
		brackets += *at == '[';
		braces += *at == '{';
		assert_true(braces <= 1 && (*at != '|' || brackets > 0));
		assert_true((*at != ']' || brackets > 0) && (*at != '}' || braces > 0));
		brackets -= *at == ']';
		braces -= *at == '}';
	}
	assert_int_equal(brackets, 0);
	assert_int_equal(braces, 0);
}

static void sentences_of_rules_are_whole(void **state)
{
	for (size_t i = 0; gp_rules[i]; i++) {
		const struct gp_rule *rule = gp_rules[i];
		const char *const texts[] = {rule->meaning, rule->remedy, rule->ignore,
					     gp_rule_threshold_text};

		check_whole(rule->found);
		check_whole(rule->change);
		assert_non_null(rule->threshold.reason);
		for (size_t k = 0; k < COUNT(texts); k++) {
			char *text = gp_rule_text(rule, texts[k]);

			check_whole(texts[k]);
			assert_null(strpbrk(text, "{}[|]"));
			assert_null(strstr(text, "  "));
			free(text);
		}
		for (const struct gp_limit *limit = rule->limits; limit && limit->id; limit++)
			assert_true(limit->value > 0 && *limit->reason != '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(templates_show_what_is_set),
		cmocka_unit_test(sentences_of_rules_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
