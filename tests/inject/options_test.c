/* options: valid values in the environment, and the handling of invalid ones. */

#include "tests/unit.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "inject/options.h"
#include "inject/log.h"

static char *environment[] = {
	"PATH=/bin",
	"GPUPROF_OUTPUT=run-%p",
	"GPUPROF_FLUSH_MS=20",
	"GPUPROF_CHROME_LIMIT=many",
	"GPUPROF_QUIET=1",
	"GPUPROF_RINGS=mem",
	"GPUPROF_TRACE=api-all",
	"GPUPROF_SESSION=/tmp/session",
	"GPUPROF_OUTPUTS=misspelt",
	"GPUPROF_FLUSH_TIMEOUT=",
	"GPUPROF_SAMPLE=2.5%",
	"GPUPROF_FINISH_TIMEOUT=86401",
	"GPUPROFOUTPUT=not ours",
	NULL,
};

static int read_options(void **state)
{
	gp_options_read(environment);
	return 0;
}

static void values_come_from_the_environment(void **state)
{
	assert_string_equal(gp_option_text(GP_OPTION_ID_OUTPUT), "run-%p");
	assert_int_equal(gp_option_number(GP_OPTION_ID_FLUSH_MS), 20);
	assert_true(gp_option_flag(GP_OPTION_ID_QUIET));
	assert_int_equal(gp_option_share_millionths(GP_OPTION_ID_SAMPLE), 25000);
	assert_string_equal(gp_option_session(), "/tmp/session");
}

static void defaults_stand_for_the_rest(void **state)
{
	assert_string_equal(gp_option_text(GP_OPTION_ID_SUMMARY), "stderr");
	assert_string_equal(gp_option_text(GP_OPTION_ID_CHROME), "json");
	assert_int_equal(gp_option_number(GP_OPTION_ID_CHROME_LIMIT), 300000);
}

/* --flush-timeout is GPUPROF_FLUSH_TIMEOUT, and so on: each name follows from the other. */
static void variables_are_called_as_the_options(void **state)
{
	for (int i = 0; i < GP_OPTIONS; i++) {
		char variable[64] = "";

		for (size_t k = 0; gp_option_rows[i].long_name[k] != '\0'; k++) {
			char letter = gp_option_rows[i].long_name[k];

			assert_in_range(k, 0, sizeof(variable) - 2);
			variable[k] = letter == '-' ? '_' : (char)toupper(letter);
		}
		assert_string_equal(gp_option_rows[i].variable, variable);
	}
}

static void invalid_values_become_the_default(void **state)
{
	assert_int_equal(gp_option_number(GP_OPTION_ID_CHROME_LIMIT), 300000);
	assert_int_equal(gp_option_number(GP_OPTION_ID_FLUSH_TIMEOUT), 5);
	/* a prefix of a choice is not a choice */
	assert_string_equal(gp_option_text(GP_OPTION_ID_RINGS), "auto");
	assert_string_equal(gp_option_text(GP_OPTION_ID_TRACE), "api-all");
	/* nor is a number out of bounds valid */
	assert_int_equal(gp_option_number(GP_OPTION_ID_FINISH_TIMEOUT), 30);
}

static void every_default_is_of_its_type(void **state)
{
	for (int i = 0; i < GP_OPTIONS; i++) {
		const char *value = gp_option_rows[i].value;

		char right[256];

		assert_false(gp_option_is_wrong(&gp_option_rows[i], value, right, sizeof(right)));
		if (gp_option_rows[i].type == GP_OPTION_FLAG)
			assert_true(strcmp(value, "0") == 0 || strcmp(value, "1") == 0);
	}
}

static void seconds_have_fractions(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {{"0", 0},
		     {"2", 2000000000},
		     {"0.5", 500000000},
		     {"1.", 1000000000},
		     {"1.5s", 1500000000},
		     {"1.0000000019", 1000000001},
		     {"31536000", 31536000000000000}};
	static const char *const wrong[] = {"",         ".5",  "-1", "1ms", "1.5.",
					    "31536001", "1e3", " 1", "s"};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_true(gp_option_is_seconds(right[i].text, &ns));
		assert_int_equal(ns, right[i].ns);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(gp_option_is_seconds(wrong[i], &ns));
}

static void sizes_have_units(void **state)
{
	const struct gp_option_row row = {.bounds = {1 << 20, UINT64_C(1) << 40}};
	static const struct {
		const char *text;
		uint64_t bytes;
	} right[] = {{"0", 0},
		     {"1048576", 1 << 20},
		     {"1024K", 1 << 20},
		     {"500M", UINT64_C(500) << 20},
		     {"2G", UINT64_C(2) << 30},
		     {"1T", UINT64_C(1) << 40}};
	static const char *const wrong[] = {"",    "M",    "1",   "1023K", "1m",
					    "1MB", "1.5G", "-1G", "2T",    "17179869184G"};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_true(gp_option_is_size(&row, right[i].text, &bytes));
		assert_int_equal(bytes, right[i].bytes);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(gp_option_is_size(&row, wrong[i], &bytes));
}

static void ranks_are_numbers_and_ranges(void **state)
{
	static const char *const right[] = {"", "node", "0", "0,7,64-71", "5-5,1"};
	static const char *const wrong[] = {",",     "0,",  "1-",  "-1",    "2-1",
					    "nodes", "0 1", "0;1", "node,0"};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_true(gp_option_is_ranks(right[i]));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(gp_option_is_ranks(wrong[i]));
	assert_true(gp_option_ranks_have("0,7,64-71", 71));
	assert_false(gp_option_ranks_have("0,7,64-71", 72));
	assert_true(gp_option_ranks_have("", 5));
	assert_false(gp_option_ranks_have("node", 0));
}

/* The output of gp_options_log_problems(), captured in a pipe. */
static void problems_name_the_variable(void **state)
{
	char text[2048] = "";
	int pipe_fds[2], saved = dup(STDERR_FILENO);

	assert_int_equal(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	gp_log_remember_stderr();
	gp_options_log_problems(environment);
	dup2(saved, STDERR_FILENO);
	close(pipe_fds[1]);
	assert_true(read(pipe_fds[0], text, sizeof(text) - 1) > 0);
	close(pipe_fds[0]);
	close(saved);
	assert_non_null(strstr(text, "GPUPROF_OUTPUTS"));
	assert_non_null(strstr(text, "GPUPROF_CHROME_LIMIT=many"));
	assert_non_null(strstr(text, "GPUPROF_RINGS=mem is not auto|shm|file|memory; using auto"));
	assert_non_null(
		strstr(text, "FINISH_TIMEOUT=86401 is not a number from 1 to 86400; using 30"));
	assert_null(strstr(text, "GPUPROF_SESSION"));
	assert_null(strstr(text, "GPUPROFOUTPUT="));
	assert_null(strstr(text, "GPUPROF_FLUSH_MS"));
}

static void description_names_what_differs(void **state)
{
	char text[1024], tiny[16];

	assert_true(gp_options_describe(text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "OUTPUT=run-%p\n"));
	assert_non_null(strstr(text, "QUIET=1"));
	assert_null(strstr(text, "SUMMARY"));
	assert_null(strstr(text, "RINGS=mem")); /* the option is not in use */
	assert_true(gp_options_describe(tiny, sizeof(tiny)) < sizeof(tiny));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_from_the_environment),
		cmocka_unit_test(defaults_stand_for_the_rest),
		cmocka_unit_test(variables_are_called_as_the_options),
		cmocka_unit_test(invalid_values_become_the_default),
		cmocka_unit_test(every_default_is_of_its_type),
		cmocka_unit_test(seconds_have_fractions),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(ranks_are_numbers_and_ranges),
		cmocka_unit_test(problems_name_the_variable),
		cmocka_unit_test(description_names_what_differs),
	};

	return cmocka_run_group_tests(tests, read_options, NULL);
}
