#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/doctor/finding.h"

static char *print(const struct gp_doctor_finding *finding)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	gp_doctor_finding_print(finding, "driver", out);
	fclose(out);
	return text;
}

static void test_a_line_and_what_to_type(void **state)
{
	struct gp_doctor_finding finding = {.verdict = GP_CHECK_NOT_MADE};
	char *text = print(&finding);

	assert_string_equal(text, "");
	free(text);
	gp_doctor_finding_set(&finding, GP_CHECK_OK, "for CUDA %d", 13);
	text = print(&finding);
	assert_string_equal(text, "  ok       driver      for CUDA 13\n");
	free(text);
	gp_doctor_finding_set(&finding, GP_CHECK_FAILS, "not there");
	gp_doctor_finding_fix(&finding, "sudo %s", "ldconfig");
	text = print(&finding);
	assert_string_equal(text, "  fails    driver      not there\n"
				  "                       type: sudo ldconfig\n");
	free(text);
}

static void test_foreign_text_does_no_harm(void **state)
{
	struct gp_doctor_finding finding = {.verdict = GP_CHECK_NOT_MADE};
	char large[4096];
	char *text;

	memset(large, 'x', sizeof(large));
	large[sizeof(large) - 1] = 0;
	gp_doctor_finding_set(&finding, GP_CHECK_WARNING, "\033[2J\n%s", large);
	gp_doctor_finding_fix(&finding, "unset A\n%s", large);
	text = print(&finding);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "  warning  driver      \\x1b[2J\\nxxx"));
	assert_non_null(strstr(text, "type: unset A\\nxxx"));
	assert_true(strlen(text) < 2 * sizeof(finding));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_and_what_to_type),
		cmocka_unit_test(test_foreign_text_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
