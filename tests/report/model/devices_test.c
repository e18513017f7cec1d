/*
 * Which devices of several processes are one GPU: for reports, which see all of them, and for
 * exports, which see one after the other.
 */
#include <string.h>
#include "report/model/devices.h"
#include "report/model/gpu_numbers.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define LISTED 2 /* devices of each process */

struct process {
	const char *rank, *host;
	uint8_t uuid;   /* of device 0; 0: of none it is known */
	uint16_t works; /* on that device, and no other */
};

static struct gp_model *model_of(struct process process)
{
	struct build b = build_begin(1);

	for (uint16_t i = 0; i < LISTED; i++) {
		build_device(&b, i, "GPU");
		memset(b.model->devices[i].uuid, process.uuid ? process.uuid + i : 0, 16);
	}
	if (process.rank)
		build_info(&b, GP_INFO_RANK, process.rank);
	if (process.host)
		build_info(&b, GP_INFO_HOST, process.host);
	build_op(&b, GP_OP_COPY, 7, 100, 200, 1)->device_id = process.works;
	return build_end(&b);
}

struct expected {
	size_t count;       /* of GPUs */
	uint32_t of[2];     /* what each process works on: its number for reports */
	uint32_t export[2]; /* ... and for exports, which number what is asked for */
};

static void check(struct process first, struct process second, struct expected expected)
{
	struct gp_model *models[] = {model_of(first), model_of(second)};
	const struct process processes[] = {first, second};
	struct gp_device_list devices = {0};
	struct gp_gpu_numbers numbers = {0};

	assert_int_equal(gp_device_list_all(&devices, models, 2), 0);
	assert_int_equal(devices.count, expected.count);
	for (size_t i = 0; i < 2; i++) {
		size_t at = gp_device_list_known(&devices, models[i], processes[i].works);

		assert_in_range(at, 0, devices.count - 1);
		assert_int_equal(devices.entries[at].number, expected.of[i]);
		assert_int_equal(gp_device_list_find(&devices, models[i], processes[i].works), at);
	}
	for (size_t i = 0; i < 2; i++) {
		gp_gpu_numbers_next(&numbers);
		assert_int_equal(gp_gpu_numbers_find(&numbers, models[i], processes[i].works, NULL),
				 expected.export[i]);
		gp_model_free(models[i]);
	}
	gp_device_list_free(&devices);
	gp_gpu_numbers_free(&numbers);
}

static void ranks_that_work_have_a_gpu_each(void **state)
{
	check((struct process){.rank = "0"}, (struct process){.rank = "1"},
	      (struct expected){3, {0, 2}, {0, 1}});
}

/* All ranks of a machine list all of its GPUs. */
static void what_a_rank_only_sees_is_the_gpu_of_who_works_on_it(void **state)
{
	check((struct process){.rank = "0"}, (struct process){.rank = "1", .works = 1},
	      (struct expected){2, {0, 1}, {0, 1}});
	check((struct process){.rank = "0", .works = 1}, (struct process){.rank = "1"},
	      (struct expected){2, {1, 0}, {1, 0}});
}

static void numbers_do_where_no_two_ranks_are_told(void **state)
{
	check((struct process){.rank = "3"}, (struct process){.rank = "3"},
	      (struct expected){2, {0, 0}, {0, 0}});
	check((struct process){.rank = "3"}, (struct process){0},
	      (struct expected){2, {0, 0}, {0, 0}});
	check((struct process){0}, (struct process){0}, (struct expected){2, {0, 0}, {0, 0}});
}

static void machines_that_are_two_have_no_gpu_together(void **state)
{
	check((struct process){.host = "a"}, (struct process){.host = "b"},
	      (struct expected){4, {0, 2}, {0, 1}});
	check((struct process){.host = "a"}, (struct process){.host = "a"},
	      (struct expected){2, {0, 0}, {0, 0}});
}

/* Ranks that share a GPU, and containers of one machine. */
static void uuids_tell_more_than_ranks_and_machines(void **state)
{
	check((struct process){.rank = "0", .host = "a", .uuid = 5},
	      (struct process){.rank = "1", .host = "b", .uuid = 5},
	      (struct expected){2, {0, 0}, {0, 0}});
	check((struct process){.rank = "0", .uuid = 5}, (struct process){.rank = "0", .uuid = 8},
	      (struct expected){4, {0, 2}, {0, 1}});
}

static void check_which(struct process process, const char *expected)
{
	struct gp_model *model = model_of(process);
	struct gp_gpu gpu = gp_gpu_of(model, process.works);
	char which[GP_GPU_WHICH_BYTES];

	gp_gpu_which(&gpu, which);
	assert_string_equal(which, expected);
	gp_model_free(model);
}

static void what_tells_a_gpu_apart_is_said_as_far_as_it_is_known(void **state)
{
	check_which((struct process){"1", "node7", 0xab, 0}, "GPU-abababab");
	check_which((struct process){"1", "node7", 0, 1}, "device 1 of rank 1");
	check_which((struct process){NULL, "node7", 0, 1}, "device 1 on node7");
	check_which((struct process){NULL, NULL, 0, 1}, "");
	check_which(
		(struct process){
			NULL,
			"a name that is longer than any that a machine can have, which is of sixty-four characters",
			0, 0},
		"device 0 on a name that is longer than any that a machine can have, which is");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tells_a_gpu_apart_is_said_as_far_as_it_is_known),
		cmocka_unit_test(ranks_that_work_have_a_gpu_each),
		cmocka_unit_test(what_a_rank_only_sees_is_the_gpu_of_who_works_on_it),
		cmocka_unit_test(numbers_do_where_no_two_ranks_are_told),
		cmocka_unit_test(machines_that_are_two_have_no_gpu_together),
		cmocka_unit_test(uuids_tell_more_than_ranks_and_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
