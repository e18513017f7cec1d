/* Trace files that were named on a command line, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "report/load/traces.h"
#include "tests/unit.h"

#define NAME_BYTES 64

static void files_are_kept_where_they_were_named_first(void **state)
{
	char folder[] = "/tmp/traces-XXXXXX", a[NAME_BYTES], b[NAME_BYTES], link[NAME_BYTES];
	char missing[] = "/nowhere/a", *paths[] = {b, a, link, missing, b, missing, a};
	size_t count = sizeof(paths) / sizeof(paths[0]);

	assert_non_null(mkdtemp(folder));
	snprintf(a, sizeof(a), "%s/a", folder);
	snprintf(b, sizeof(b), "%s/b", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(fclose(fopen(a, "w")), 0);
	assert_int_equal(fclose(fopen(b, "w")), 0);
	assert_int_equal(symlink(a, link), 0);
	assert_int_equal(gp_traces_name_once(paths, &count), 0);
	/* what is not there is no file: whoever opens it says so each time */
	assert_int_equal(count, 4);
	assert_ptr_equal(paths[0], b);
	assert_ptr_equal(paths[1], a);
	assert_ptr_equal(paths[2], missing);
	assert_ptr_equal(paths[3], missing);
	remove(link);
	remove(a);
	remove(b);
	remove(folder);
}

/* A look at each for each of them would be more than a milliard. */
static void each_of_many_files_is_looked_at_once(void **state)
{
	enum { FILES = 50000, MOST_SECONDS = 60 };
	static char names[FILES][NAME_BYTES], *paths[FILES];
	size_t count = FILES;

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "/nowhere/%u", i);
		paths[i] = names[i];
	}
	alarm(MOST_SECONDS);
	assert_int_equal(gp_traces_name_once(paths, &count), 0);
	alarm(0);
	assert_int_equal(count, FILES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_kept_where_they_were_named_first),
		cmocka_unit_test(each_of_many_files_is_looked_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
