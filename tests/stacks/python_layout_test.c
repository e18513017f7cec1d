/* python_layout: the known interpreters, and the check of their tables. */
#include "tests/unit.h"

#include <string.h>

#include "gpuprof/python_versions.h"
#include "stacks/python_layout.h"

#define VERSION(minor) (0x03000000u | (minor) << 16 | 0x00f0u)

/* A runtime's table of offsets, with other numbers between the groups. */
static void fill(uint64_t words[100], const struct gp_python_layout *layout, uint32_t version)
{
	const uint64_t groups[] = {
		layout->thread.frame,
		layout->thread.thread_id,
		999,
		layout->frame.previous,
		layout->frame.code,
		layout->frame.instruction,
		999,
		layout->code.file,
		layout->code.name - 8u,
		layout->code.name,
		layout->code.table,
		layout->code.first_line,
	};

	for (int i = 0; i < 100; i++)
		words[i] = 1000 + (uint64_t)i;
	memcpy(words, "xdebugpy", 8);
	words[1] = version;
	words[2] = 0;
	memcpy(words + 10, groups, sizeof(groups));
}

static void knows_its_versions(void **state)
{
	for (uint32_t minor = GP_PYTHON_OLDEST_MINOR; minor <= GP_PYTHON_NEWEST_MINOR; minor++) {
		const struct gp_python_layout *layout = gp_python_layout_of(VERSION(minor));

		assert_non_null(layout);
		assert_int_equal(layout->minor, minor);
	}
	assert_null(gp_python_layout_of(VERSION(GP_PYTHON_OLDEST_MINOR - 1)));
	assert_null(gp_python_layout_of(VERSION(GP_PYTHON_NEWEST_MINOR + 1)));
	assert_null(gp_python_layout_of(0x02070000));
	assert_null(gp_python_layout_of(0x040b0000));
	assert_null(gp_python_layout_of(0));
}

static void agrees_with_an_interpreters_table(void **state)
{
	uint64_t words[100], other[100];

	for (uint32_t minor = 13; minor <= 15; minor++) {
		const struct gp_python_layout *layout = gp_python_layout_of(VERSION(minor));

		fill(words, layout, VERSION(minor));
		assert_true(gp_python_layout_agrees(layout, VERSION(minor), words));
		assert_false(gp_python_layout_agrees(layout, VERSION(minor) + 1, words));
		for (int i = 0; i < 22; i++) { /* change each relevant number */
			memcpy(other, words, sizeof(words));
			other[i] += 8;
			if (words[i] < 900 || i < 3)
				assert_false(
					gp_python_layout_agrees(layout, VERSION(minor), other));
		}
	}
}

/* Versions before 3.13 have no table to compare with. */
static void does_not_check_older_versions(void **state)
{
	for (uint32_t minor = 8; minor <= 12; minor++)
		assert_true(gp_python_layout_agrees(gp_python_layout_of(VERSION(minor)),
						    VERSION(minor), NULL));
}

/* The offsets in the headers of these versions; from 3.13 on also in the runtime's table. */
static void knows_where_threads_are(void **state)
{
	static const uint16_t threads[] = {[8] = 8, [9] = 8, [10] = 8, [11] = 16, [12] = 72};
	struct gp_python_list list;
	uint64_t words[100] = {0};

	for (uint32_t minor = 8; minor <= 12; minor++) {
		list = gp_python_layout_list(gp_python_layout_of(VERSION(minor)), NULL);
		assert_int_equal(list.interpreters, minor < 11 ? 32 : 40);
		assert_int_equal(list.next_interpreter, 0);
		assert_int_equal(list.threads, threads[minor]);
	}
	words[5] = 632;
	words[8] = 7264;
	words[9] = 7344;
	list = gp_python_layout_list(gp_python_layout_of(VERSION(13)), words);
	assert_int_equal(list.interpreters, 632);
	assert_int_equal(list.next_interpreter, 7264);
	assert_int_equal(list.threads, 7344);
	assert_int_equal(list.next, 8);
	assert_int_equal(list.interpreter, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_its_versions),
		cmocka_unit_test(agrees_with_an_interpreters_table),
		cmocka_unit_test(does_not_check_older_versions),
		cmocka_unit_test(knows_where_threads_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
