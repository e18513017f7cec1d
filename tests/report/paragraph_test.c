#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "report/paragraph.h"

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

	(void)state;
	check((struct gp_paragraph){.columns = 20, .lead = "lead: "}, none, "");
}

static void pieces_stay_on_the_line_while_they_fit(void **state)
{
	const char *const pieces[] = {"one", "two", "three", NULL};

	(void)state;
	check((struct gp_paragraph){.columns = 80}, pieces, "  one; two; three\n");
	check((struct gp_paragraph){.columns = 80, .lead = "failed: ", .separator = ","}, pieces,
	      "  failed: one, two, three\n");
}

static void no_line_passes_the_limit(void **state)
{
	const char *const pieces[] = {"aaaa", "bbbb", "cccc", "dddd", NULL};

	(void)state;
	check((struct gp_paragraph){.columns = 16}, pieces, "  aaaa; bbbb;\n    cccc; dddd\n");
}

static void a_piece_longer_than_a_line_is_not_torn(void **state)
{
	const char *const pieces[] = {"a", "bbbbbbbbbbbbbbbbbbbb", "c", NULL};

	(void)state;
	check((struct gp_paragraph){.columns = 10}, pieces,
	      "  a;\n    bbbbbbbbbbbbbbbbbbbb;\n    c\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_prints_nothing),
		cmocka_unit_test(pieces_stay_on_the_line_while_they_fit),
		cmocka_unit_test(no_line_passes_the_limit),
		cmocka_unit_test(a_piece_longer_than_a_line_is_not_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
