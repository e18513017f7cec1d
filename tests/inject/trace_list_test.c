/* trace_list: the bits of a list of words. */

#include "tests/unit.h"

#include <string.h>

#include "inject/options.h"
#include "inject/trace_list.h"

static void words_combine(void **state)
{
	assert_int_equal(gp_trace_list_bits("none"), 0);
	assert_int_equal(gp_trace_list_bits("gpu,sync"),
			 GP_TRACE_GPU | GP_TRACE_SYNC | GP_TRACE_WAITS);
	assert_int_equal(gp_trace_list_bits("sync,none,gpu"),
			 GP_TRACE_GPU | GP_TRACE_SYNC | GP_TRACE_WAITS);
	assert_int_equal(gp_trace_list_bits("unified,default"),
			 GP_TRACE_DEFAULT | GP_TRACE_UNIFIED);
	assert_int_equal(gp_trace_list_bits("api-all"), GP_TRACE_DEFAULT | GP_TRACE_API_ALL);
}

/* Each word of the option except "none" has bits, and no two words have the same. */
static void every_word_of_the_option_is_known(void **state)
{
	const char *word = gp_option_rows[GP_OPTION_ID_TRACE].argument;
	uint32_t seen[32], count = 0;

	while (*word != '\0') {
		size_t length = strcspn(word, "|");
		char text[32] = "";

		memcpy(text, word, length);
		seen[count] = gp_trace_list_bits(text);
		assert_int_equal(seen[count] == 0, strcmp(text, "none") == 0);
		for (uint32_t i = 0; i < count; i++)
			assert_int_not_equal(seen[i], seen[count]);
		count++;
		word += length + (word[length] == '|');
	}
	assert_int_equal(count, 11);
}

static void a_wrong_list_counts_as_default(void **state)
{
	char *environment[] = {"GPUPROF_TRACE=gpu,memroy", NULL};

	assert_int_equal(gp_trace_list(), GP_TRACE_DEFAULT);
	gp_options_read(environment);
	assert_int_equal(gp_trace_list(), GP_TRACE_DEFAULT);
	environment[0] = "GPUPROF_TRACE=gpu,memory";
	gp_options_read(environment);
	assert_int_equal(gp_trace_list(), GP_TRACE_GPU | GP_TRACE_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_combine),
		cmocka_unit_test(every_word_of_the_option_is_known),
		cmocka_unit_test(a_wrong_list_counts_as_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
