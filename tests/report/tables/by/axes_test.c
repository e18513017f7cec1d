/* axes: what the communicators of a job tell about its parallelism. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/spill_memory.h"
#include "report/tables/by/axes.h"
#include "tests/report/model_builder.h"

#define RANKS 16u

/* An axis of a job. */
struct plan {
	uint32_t ranks, distance;
	enum gp_collective_kind kind;
	uint64_t ns;
};

struct scene {
	struct gp_model *models[RANKS];
	struct gp_groups names;
	struct gp_collectives c;
	struct gp_axes axes;
};

static void add(struct scene *scene, const struct plan *plan, uint32_t number, uint32_t rank)
{
	uint32_t block = plan->ranks * plan->distance;
	uint32_t first = rank / block * block + rank % plan->distance;

	assert_int_equal(gp_array_grow_spill(&scene->c.parts, &scene->c.capacity, scene->c.count,
					     sizeof(*scene->c.parts)),
			 0);
	scene->c.parts[scene->c.count++] =
		(struct gp_collective_part){.start_ns = 1000 * number + (rank == first ? 10 : 0),
					    .duration_ns = plan->ns - (rank == first ? 10 : 0),
					    .communicator = 100 * (number + 1) + first,
					    .ranks = plan->ranks,
					    .process = (uint16_t)rank,
					    .kind = (uint8_t)plan->kind};
}

/* without: this rank has no trace. */
static void begin(struct scene *scene, const struct plan *plans, uint32_t count, uint32_t without)
{
	memset(scene, 0, sizeof(*scene));
	scene->c.names = &scene->names;
	for (uint32_t i = 0; i < RANKS; i++) {
		struct build b = build_begin(i + 1);
		char text[8];

		snprintf(text, sizeof(text), "%u", i);
		build_info(&b, GP_INFO_RANK, text);
		build_info(&b, GP_INFO_WORLD_SIZE, "16");
		scene->models[i] = build_end(&b);
		for (uint32_t k = 0; k < count && i != without; k++)
			add(scene, &plans[k], k, i);
	}
	assert_int_equal(gp_axes_find(&scene->axes, scene->models, RANKS, &scene->c), 0);
}

static void end(struct scene *scene)
{
	gp_axes_free(&scene->axes);
	gp_collectives_free(&scene->c);
	for (uint32_t i = 0; i < RANKS; i++)
		gp_model_free(scene->models[i]);
}

static void check(const struct gp_axis *axis, const char *name, uint32_t groups, uint32_t ranks,
		  uint32_t distance)
{
	assert_string_equal(axis->name, name);
	assert_int_equal(axis->groups, groups);
	assert_int_equal(axis->ranks, ranks);
	assert_int_equal(axis->distance, distance);
}

static const struct plan three_axes[] = {
	{2, 1, GP_ALL_REDUCE, 500}, {2, 2, GP_SEND_RECV, 400},   {4, 4, GP_REDUCE_SCATTER, 300},
	{4, 1, GP_ALL_REDUCE, 200}, {16, 1, GP_ALL_REDUCE, 100},
};

static void axes_are_named_by_members_and_operations(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, three_axes, 5, RANKS);
	assert_int_equal(scene.axes.count, 5);
	check(&scene.axes.all[0], "TP", 8, 2, 1);
	check(&scene.axes.all[1], "PP", 8, 2, 2);
	check(&scene.axes.all[2], "DP", 4, 4, 4);
	check(&scene.axes.all[3], "TP x PP", 4, 4, 1);
	check(&scene.axes.all[4], "all", 1, 16, 1);
	assert_int_equal(scene.axes.all[0].operations, 16);
	assert_int_equal(scene.axes.all[0].total_ns, 16 * 500 - 8 * 10);
	assert_int_equal(scene.axes.all[0].waited_ns, 8 * 10); /* for the first of each group */
	assert_int_equal(scene.axes.all[1].waited_ns, 0);      /* a send waits for one rank */
	assert_int_equal(scene.axes.all[2].waited_ns, 4 * 3 * 10);
	end(&scene);
}

/* Of the groups of two, one has a single trace: its distance is not known. */
static void a_lost_rank_changes_no_axis(void **state)
{
	const struct plan plans[] = {{2, 1, GP_ALL_REDUCE, 500}, {8, 2, GP_ALL_REDUCE, 300}};
	struct scene scene;

	(void)state;
	begin(&scene, plans, 2, 5);
	assert_int_equal(scene.axes.count, 2);
	check(&scene.axes.all[0], "TP", 8, 2, 1);
	check(&scene.axes.all[1], "DP", 2, 8, 2);
	assert_int_equal(scene.axes.all[0].operations, 15);
	end(&scene);
}

static void what_is_not_known_has_no_name(void **state)
{
	const struct plan all[] = {{16, 1, GP_ALL_REDUCE, 100}};
	const struct plan one[] = {{8, 1, GP_ALL_REDUCE, 100}, {2, 8, GP_SEND_RECV, 50}};
	const struct plan experts[] = {{8, 1, GP_ALL_TO_ALL, 100}, {16, 1, GP_ALL_REDUCE, 50}};
	struct scene scene;

	(void)state;
	begin(&scene, all, 1, RANKS);
	check(&scene.axes.all[0], "DP", 1, 16, 1);
	end(&scene);
	begin(&scene, one, 2, RANKS);
	check(&scene.axes.all[0], "", 2, 8, 1); /* of tensors, or of data */
	check(&scene.axes.all[1], "PP", 8, 2, 8);
	end(&scene);
	begin(&scene, experts, 2, RANKS);
	check(&scene.axes.all[0], "EP", 2, 8, 1);
	check(&scene.axes.all[1], "all", 1, 16, 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_are_named_by_members_and_operations),
		cmocka_unit_test(a_lost_rank_changes_no_axis),
		cmocka_unit_test(what_is_not_known_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
