/* idle_explain: each cause is found by its name, and explained under it. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/idle/idle_explain.h"
#include "tests/report/expect.h"

static void each_cause_is_found_and_explained(void **state)
{
	(void)state;
	for (enum gp_idle_cause cause = 0; cause < GP_IDLE_CAUSES; cause++) {
		const char *name = gp_idle_cause_name(cause);
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_int_equal(gp_idle_cause_find(name), cause);
		gp_idle_cause_explain(out, cause);
		fclose(out);
		assert_int_equal(strncmp(text, name, strlen(name)), 0);
		expect(text, "What it means");
		expect(text, "What helps");
		free(text);
	}
	assert_int_equal(gp_idle_cause_find("no cause"), GP_IDLE_CAUSES);
}

static void the_list_has_a_line_for_each(void **state)
{
	char *text = NULL, *line;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	gp_idle_causes_list(out);
	fclose(out);
	line = text;
	for (enum gp_idle_cause cause = 0; cause < GP_IDLE_CAUSES; cause++) {
		const char *name = gp_idle_cause_name(cause);

		assert_int_equal(strncmp(line, name, strlen(name)), 0);
		line = strchr(line, '\n') + 1;
	}
	assert_string_equal(line, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cause_is_found_and_explained),
		cmocka_unit_test(the_list_has_a_line_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
