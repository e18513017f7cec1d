/* what_if: what a job gains without late ranks is the recorded time less that of equal ranks. */
#include "tests/unit.h"

#include <string.h>

#include "report/base/array.h"
#include "report/tables/by/what_if.h"

#define GPUS     4u
#define STEPS    5u
#define TRANSFER 20u
#define OWN      100u
#define LATE     2u

static void add(struct gp_collectives *c, uint16_t process, uint64_t start_ns, uint64_t end_ns,
		uint64_t communicator, uint32_t ranks)
{
	assert_int_equal(gp_array_grow_spill(&c->parts, &c->capacity, c->count, sizeof(*c->parts)),
			 0);
	c->parts[c->count++] = (struct gp_collective_part){.start_ns = start_ns,
							   .duration_ns = end_ns - start_ns,
							   .communicator = communicator,
							   .ranks = ranks,
							   .process = process,
							   .kind = GP_ALL_REDUCE};
}

static struct gp_what_if what_if_of(struct gp_collectives *c)
{
	struct gp_what_if what_if;

	assert_int_equal(gp_what_if_of(c, &what_if), 0);
	gp_collectives_free(c);
	return what_if;
}

/* Rank 2 works for longer before each operation; all clocks differ. */
static void the_gain_is_the_time_beyond_the_median(void **state)
{
	struct gp_collectives c = {0};
	struct gp_what_if what_if;

	(void)state;
	for (uint16_t gpu = 0; gpu < GPUS; gpu++)
		for (uint32_t i = 0; i < STEPS; i++) {
			uint64_t step_ns = 1000000 * gpu + i * (OWN + 50 + TRANSFER);
			uint64_t own_ns = gpu == LATE ? OWN + 50 : OWN - gpu;

			add(&c, gpu, step_ns + own_ns, step_ns + OWN + 50 + TRANSFER, 7, GPUS);
		}
	what_if = what_if_of(&c);
	assert_int_equal(what_if.recorded_ns, (STEPS - 1) * (OWN + 50 + TRANSFER));
	assert_int_equal(what_if.replayed_ns, what_if.recorded_ns);
	assert_int_equal(what_if.median_ns, (STEPS - 1) * (OWN - 1 + TRANSFER));
}

/*
 * Two pairs, then an operation of all.  Rank 1 is late by 50, and rank 3 by 30, each in its pair:
 * without one of them, the other one would still be late.
 */
static void late_ranks_of_several_groups_do_not_add_up(void **state)
{
	static const uint64_t late_ns[GPUS] = {0, 50, 0, 30};
	struct gp_collectives c = {0};
	struct gp_what_if what_if;
	uint64_t at_ns = 0;

	(void)state;
	for (uint32_t i = 0; i < STEPS; i++, at_ns += OWN + 50 + 2 * TRANSFER)
		for (uint16_t gpu = 0; gpu < GPUS; gpu++) {
			uint64_t own_ns = OWN + (i > 0 ? late_ns[gpu] : 0);
			uint64_t pair_ns = at_ns + OWN + (i > 0 ? late_ns[gpu | 1] : 0);

			add(&c, gpu, at_ns + own_ns, pair_ns + TRANSFER, 10 + gpu / 2, 2);
			add(&c, gpu, pair_ns + TRANSFER, at_ns + OWN + 50 + 2 * TRANSFER, 20, GPUS);
		}
	what_if = what_if_of(&c);
	assert_int_equal(what_if.replayed_ns, what_if.recorded_ns);
	assert_int_equal(what_if.replayed_ns - what_if.median_ns, (STEPS - 1) * 50);
}

/* The last rank of one operation has no trace: the others' time there is mostly a wait for it. */
static void the_wait_for_a_lost_rank_is_no_transfer(void **state)
{
	struct gp_collectives c = {0};
	struct gp_what_if what_if;
	uint64_t at_ns = 0;

	(void)state;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t late_ns = i == STEPS - 1 ? 500 : 0;

		for (uint16_t gpu = 0; gpu < GPUS - (late_ns > 0); gpu++)
			add(&c, gpu, at_ns + OWN, at_ns + OWN + late_ns + TRANSFER, 7, GPUS);
		at_ns += OWN + TRANSFER;
	}
	for (uint32_t i = 0; i < c.count; i++)
		c.parts[i].may_lack_last = c.parts[i].process == GPUS - 1;
	what_if = what_if_of(&c);
	assert_int_equal(what_if.recorded_ns, (STEPS - 1) * (OWN + TRANSFER) + 500);
	assert_int_equal(what_if.median_ns, (STEPS - 1) * (OWN + TRANSFER));
}

static void without_operations_nothing_is_known(void **state)
{
	struct gp_collectives c = {0};

	(void)state;
	assert_int_equal(what_if_of(&c).recorded_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gain_is_the_time_beyond_the_median),
		cmocka_unit_test(late_ranks_of_several_groups_do_not_add_up),
		cmocka_unit_test(the_wait_for_a_lost_rank_is_no_transfer),
		cmocka_unit_test(without_operations_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
