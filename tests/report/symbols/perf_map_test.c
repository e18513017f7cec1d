/* Names that compilers at run time leave, and files that only look like them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/symbols/perf_map.h"
#include "tests/lib/emulated.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

static char folder[] = "/tmp/gpuprof-test-XXXXXX";
static char path[64];

static void write_map(const char *text, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static struct gp_perf_map *open_text(const char *text)
{
	write_map(text, strlen(text));
	return gp_perf_map_open(path, 0, time(NULL) + 5);
}

static void finds_functions(void **state)
{
	struct gp_perf_map *map = open_text("7f0000001000 40 LazyCompile:*step /srv/a.js:12\n"
					    "7F0000000000 10 first\n"
					    "7f0000001010 8 inner\n"
					    "7f0000001000 20 compiled again\n");

	assert_non_null(map);
	assert_string_equal(gp_perf_map_find(map, 0x7f0000000000), "first");
	assert_string_equal(gp_perf_map_find(map, 0x7f000000000f), "first");
	assert_null(gp_perf_map_find(map, 0x7f0000000010));
	assert_string_equal(gp_perf_map_find(map, 0x7f0000001000), "compiled again");
	assert_string_equal(gp_perf_map_find(map, 0x7f0000001012), "compiled again");
	assert_string_equal(gp_perf_map_find(map, 0x7f0000001030),
			    "LazyCompile:*step /srv/a.js:12");
	assert_null(gp_perf_map_find(map, 0x7f0000001040));
	assert_null(gp_perf_map_find(map, 0));
	assert_null(gp_perf_map_find(map, UINT64_MAX));
	gp_perf_map_free(map);
}

static void skips_what_is_no_line(void **state)
{
	struct gp_perf_map *map =
		open_text("\n \nxyz\n10\n10 20\n10 20 \n-10 20 minus\n0x10 20 prefix\n"
			  "ffffffffffffffff ffffffffffffffff end\n"
			  "30 8 bell\a and \x1b[31mred\n40 8 last without newline");

	assert_non_null(map);
	assert_string_equal(gp_perf_map_find(map, 0x10), "prefix");
	assert_string_equal(gp_perf_map_find(map, 0x30), "bell? and ?[31mred");
	assert_string_equal(gp_perf_map_find(map, 0x47), "last without newline");
	assert_string_equal(gp_perf_map_find(map, UINT64_MAX), "end");
	gp_perf_map_free(map);
}

static void bears_any_bytes(void **state)
{
	static char bytes[200000];
	unsigned dice = 1;

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			dice = dice * 1103515245 + 12345;
			bytes[i] = round % 2 ? (char)(dice >> 16) : "0f1 \nx"[(dice >> 16) % 6];
		}
		write_map(bytes, sizeof(bytes));
		struct gp_perf_map *map = gp_perf_map_open(path, 0, time(NULL) + 5);

		assert_non_null(map);
		for (uint64_t address = 0; address < 1000; address++)
			gp_perf_map_find(map, address * 0x111);
		gp_perf_map_free(map);
	}
}

/* A file as large as one likes, none of which takes room on the disk. */
static void reads_no_more_than_its_bound(void **state)
{
	struct gp_perf_map *map = open_text("10 8 first\n");

	gp_perf_map_free(map);
	assert_int_equal(truncate(path, (off_t)8 << 30), 0);
	map = gp_perf_map_open(path, 0, time(NULL) + 5);
	assert_non_null(map);
	assert_string_equal(gp_perf_map_find(map, 0x10), "first");
	gp_perf_map_free(map);
}

static void takes_no_other_file(void **state)
{
	char other[80];

	gp_perf_map_free(open_text("10 8 first\n"));
	assert_null(gp_perf_map_open(path, 0, time(NULL) - 1000)); /* written later */
	assert_null(gp_perf_map_open(path, time(NULL) + 1000, time(NULL) + 2000)); /* before */
	assert_null(gp_perf_map_open(folder, 0, time(NULL) + 5));
	snprintf(other, sizeof(other), "%s/link", folder);
	assert_int_equal(symlink(path, other), 0);
	assert_null(gp_perf_map_open(other, 0, time(NULL) + 5));
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_null(gp_perf_map_open(other, 0, time(NULL) + 5));
	unlink(other);
	assert_null(gp_perf_map_open(other, 0, time(NULL) + 5));
	if (geteuid() == 0 && !is_emulated(EMULATED_USERS)) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_null(gp_perf_map_open(path, 0, time(NULL) + 5));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions),
		cmocka_unit_test(skips_what_is_no_line),
		cmocka_unit_test(bears_any_bytes),
		cmocka_unit_test(reads_no_more_than_its_bound),
		cmocka_unit_test(takes_no_other_file),
	};

	if (temporary_folder(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/perf-1.map", folder);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	unlink(path);
	rmdir(folder);
	return failed;
}
