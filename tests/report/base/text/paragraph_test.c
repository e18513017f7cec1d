#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/text/paragraph.h"

static void check(struct gp_paragraph paragraph, const char *const *pieces, const char *expected)
{
	char *text = NULL;
	size_t bytes;

	paragraph.out = open_memstream(&text, &bytes);
	for (; *pieces; pieces++)
		gp_paragraph_add(&paragraph, *pieces);
	gp_paragraph_end(&paragraph);
	fclose(paragraph.out);
	assert_string_equal(text, expected);
	free(text);
}

static void nothing_prints_nothing(void **state)
{
	const char *const none[] = {NULL};

	check((struct gp_paragraph){.columns = 20, .lead = "lead: "}, none, "");
}

static void pieces_stay_on_the_line_while_they_fit(void **state)
{
	const char *const pieces[] = {"one", "two", "three", NULL};

	check((struct gp_paragraph){.columns = 80}, pieces, "  one; two; three\n");
	check((struct gp_paragraph){.columns = 80, .lead = "failed: ", .separator = ","}, pieces,
	      "  failed: one, two, three\n");
}

static void no_line_passes_the_limit(void **state)
{
	const char *const pieces[] = {"aaaa", "bbbb", "cccc", "dddd", NULL};

	check((struct gp_paragraph){.columns = 16}, pieces, "  aaaa; bbbb;\n    cccc; dddd\n");
}

static void a_piece_longer_than_a_line_is_not_torn(void **state)
{
	const char *const pieces[] = {"a", "bbbbbbbbbbbbbbbbbbbb", "c", NULL};

	check((struct gp_paragraph){.columns = 10}, pieces,
	      "  a;\n    bbbbbbbbbbbbbbbbbbbb;\n    c\n");
}

static void check_fold(const char *text, size_t columns, const char *expected)
{
	char *folded = NULL;
	size_t bytes;
	FILE *out = open_memstream(&folded, &bytes);

	gp_paragraph_fold(out, text, columns);
	fclose(out);
	assert_string_equal(folded, expected);
	free(folded);
}

static void lines_that_fit_stay_as_they_are(void **state)
{
	check_fold("", 10, "");
	check_fold("\n  0123 567\n\nend", 10, "\n  0123 567\n\nend\n");
}

static void a_wide_line_is_folded_after_a_clause_or_a_word(void **state)
{
	check_fold("  one two three four\n", 12, "  one two\n    three\n    four\n");
	check_fold("  a lot or, of it one two\n", 18, "  a lot or,\n    of it one two\n");
	check_fold("a, one two three four\n", 16, "a, one two three\n  four\n");
}

static void what_has_no_space_is_not_folded(void **state)
{
	check_fold("  0123456789abcdef\n", 10, "  0123456789abcdef\n");
	check_fold("0123456789abcdef x y\n", 10, "0123456789abcdef\n  x y\n");
	check_fold("            x y\n", 10, "            x\n              y\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_prints_nothing),
		cmocka_unit_test(pieces_stay_on_the_line_while_they_fit),
		cmocka_unit_test(no_line_passes_the_limit),
		cmocka_unit_test(a_piece_longer_than_a_line_is_not_torn),
		cmocka_unit_test(lines_that_fit_stay_as_they_are),
		cmocka_unit_test(a_wide_line_is_folded_after_a_clause_or_a_word),
		cmocka_unit_test(what_has_no_space_is_not_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
