/* options: what the environment may say, and what is made of nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "inject/options.h"

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
	"GPUPROF_FLUSH_TIMEOUT_S=",
	"GPUPROFOUTPUT=not ours",
	NULL,
};

static int read_options(void **state)
{
	(void)state;
	gp_options_read(environment);
	return 0;
}

static void values_come_from_the_environment(void **state)
{
	(void)state;
	assert_string_equal(gp_option_text(GP_OPTION_ID_OUTPUT), "run-%p");
	assert_int_equal(gp_option_number(GP_OPTION_ID_FLUSH_MS, 10, 1000), 20);
	assert_true(gp_option_flag(GP_OPTION_ID_QUIET));
	assert_string_equal(gp_option_session(), "/tmp/session");
}

static void defaults_stand_for_the_rest(void **state)
{
	(void)state;
	assert_string_equal(gp_option_text(GP_OPTION_ID_SUMMARY), "stderr");
	assert_string_equal(gp_option_text(GP_OPTION_ID_CHROME), "json");
	assert_int_equal(gp_option_number(GP_OPTION_ID_FINISH_TIMEOUT_S, 1, 86400), 30);
}

static void nonsense_becomes_the_default(void **state)
{
	(void)state;
	assert_int_equal(gp_option_number(GP_OPTION_ID_CHROME_LIMIT, 0, UINT64_MAX), 2000000);
	assert_int_equal(gp_option_number(GP_OPTION_ID_FLUSH_TIMEOUT_S, 0, 3600), 5);
	/* a choice that begins as one does is none */
	assert_string_equal(gp_option_text(GP_OPTION_ID_RINGS), "auto");
	assert_string_equal(gp_option_text(GP_OPTION_ID_TRACE), "api-all");
	/* a number outside of what is sensible, too */
	assert_int_equal(gp_option_number(GP_OPTION_ID_FLUSH_MS, 100, 1000), 50);
}

static void every_default_is_of_its_type(void **state)
{
	(void)state;
	for (int i = 0; i < GP_OPTIONS; i++) {
		const char *value = gp_option_rows[i].value;

		if (gp_option_rows[i].type == GP_OPTION_NUMBER)
			assert_true(*value != '\0' && strspn(value, "0123456789") == strlen(value));
		if (gp_option_rows[i].type == GP_OPTION_CHOICE)
			assert_true(gp_option_has_choice(&gp_option_rows[i], value));
		if (gp_option_rows[i].type == GP_OPTION_FLAG)
			assert_true(strcmp(value, "0") == 0 || strcmp(value, "1") == 0);
	}
}

/* What gp_options_complain() prints, caught in a pipe. */
static void complaints_name_the_variable(void **state)
{
	char text[2048] = "";
	int pipe_fds[2], saved = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	gp_options_complain(environment);
	dup2(saved, STDERR_FILENO);
	close(pipe_fds[1]);
	assert_true(read(pipe_fds[0], text, sizeof(text) - 1) > 0);
	close(pipe_fds[0]);
	close(saved);
	assert_non_null(strstr(text, "GPUPROF_OUTPUTS"));
	assert_non_null(strstr(text, "GPUPROF_CHROME_LIMIT=many"));
	assert_non_null(strstr(text, "GPUPROF_RINGS=mem is not auto|shm|file|memory; using auto"));
	assert_null(strstr(text, "GPUPROF_SESSION"));
	assert_null(strstr(text, "GPUPROFOUTPUT="));
	assert_null(strstr(text, "GPUPROF_FLUSH_MS"));
}

static void description_names_what_differs(void **state)
{
	char text[1024], tiny[16];

	(void)state;
	assert_true(gp_options_describe(text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "OUTPUT=run-%p\n"));
	assert_non_null(strstr(text, "QUIET=1"));
	assert_null(strstr(text, "SUMMARY"));
	assert_true(gp_options_describe(tiny, sizeof(tiny)) < sizeof(tiny));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_from_the_environment),
		cmocka_unit_test(defaults_stand_for_the_rest),
		cmocka_unit_test(nonsense_becomes_the_default),
		cmocka_unit_test(every_default_is_of_its_type),
		cmocka_unit_test(complaints_name_the_variable),
		cmocka_unit_test(description_names_what_differs),
	};

	return cmocka_run_group_tests(tests, read_options, NULL);
}
