/* error_text: the texts of errors. */

#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject/error_text.h"

#define MOST 200

/* Without a locale, strerror() returns the C library's own texts. */
static void the_texts_are_those_of_the_c_library(void **state)
{
	int known = 0;

	for (int error = -1; error < MOST; error++) {
		char number[24];

		snprintf(number, sizeof(number), "error %d", error);
		if (strcmp(gp_error_text(error), number) == 0)
			continue;
		assert_string_equal(gp_error_text(error), strerror(error));
		known++;
	}
	assert_in_range(known, 40, MOST);
}

static void errors_of_writing_a_trace_have_texts(void **state)
{
	static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EROFS,  EIO,    EACCES,
				     EPERM,  ENOENT, ELOOP, EISDIR, EMFILE, ENOMEM};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		assert_string_equal(gp_error_text(errors[i]), strerror(errors[i]));
}

static void others_keep_their_number(void **state)
{
	assert_string_equal(gp_error_text(523), "error 523");
	assert_string_equal(gp_error_text(0), "error 0");
	assert_string_equal(gp_error_text(INT32_MIN), "error -2147483648");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_texts_are_those_of_the_c_library),
		cmocka_unit_test(errors_of_writing_a_trace_have_texts),
		cmocka_unit_test(others_keep_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
