#include <stdlib.h>

#include "report/trace/clock_sync.h"
#include "tests/unit.h"

#define SECOND     INT64_C(1000000000)
#define TICK_START UINT64_C(123456789012)
#define MONO_START UINT64_C(55000000000)
#define UNIX_START UINT64_C(1700000000000000000)

/* An anchor ns after the start on a machine with three ticks per ns, whose wall clock was set
 * forward by `set_ns`. */
static struct gp_record_anchor anchor_at(int64_t ns, int64_t set_ns)
{
	uint64_t ticks = TICK_START + (uint64_t)(3 * ns);
	uint64_t wall_ns = UNIX_START + (uint64_t)(ns + set_ns);

	return (struct gp_record_anchor){.kind = GP_RECORD_ANCHOR,
					 .gap_ticks = 100,
					 .ticks = ticks,
					 .monotonic_ns = MONO_START + (uint64_t)ns,
					 .realtime_ns = wall_ns,
					 .cupti_ns = wall_ns,
					 .cupti_ticks = ticks};
}

static struct gp_clock_sync *make(const struct gp_record_anchor *anchors, uint32_t count)
{
	struct gp_clock_sync *t = gp_clock_sync_new(anchors, count, 0);

	assert_non_null(t);
	return t;
}

static int64_t from_ns(struct gp_clock_sync *t, int64_t ns)
{
	return gp_clock_sync_from_ticks(t, TICK_START + (uint64_t)(3 * ns));
}

static int64_t from_cupti(struct gp_clock_sync *t, int64_t ns)
{
	return gp_clock_sync_from_cupti(t, UNIX_START + (uint64_t)ns, UINT32_MAX);
}

/* A second each; from `step_at` on the ticks are ahead by so many ns. */
static uint32_t misfits_of(uint32_t count, uint32_t step_at, int64_t ahead_ns)
{
	struct gp_record_anchor anchors[20];
	struct gp_clock_sync *t;
	uint32_t misfits;

	for (uint32_t i = 0; i < count; i++) {
		anchors[i] = anchor_at(i * SECOND, 0);
		anchors[i].ticks += i >= step_at ? (uint64_t)(3 * ahead_ns) : 0;
	}
	t = make(anchors, count);
	misfits = gp_clock_sync_misfits(t);
	gp_clock_sync_free(t);
	return misfits;
}

static void test_ticks_that_contradict_the_system(void **state)
{
	assert_int_equal(misfits_of(10, 10, 0), 0);
	assert_int_equal(misfits_of(10, 5, 500000), 0); /* as clocks differ */
	assert_int_equal(misfits_of(10, 5, 20 * SECOND), 1);
	assert_int_equal(misfits_of(10, 5, -SECOND / 2), 1);
	assert_int_equal(misfits_of(10, 5, -3 * SECOND),
			 3); /* went back; then the same until it has caught up */
	assert_int_equal(misfits_of(3, 1, 20 * SECOND), 0); /* nobody can tell which is right */
	assert_int_equal(misfits_of(1, 1, 0), 0);
}

static void test_between_and_outside_anchors(void **state)
{
	const struct gp_record_anchor anchors[] = {anchor_at(0, 0), anchor_at(SECOND, 0),
						   anchor_at(5 * SECOND, 0)};
	const int64_t times[] = {0,          1,          999999999,      SECOND,
				 SECOND + 1, 4 * SECOND, 36000 * SECOND, -2 * SECOND,
				 5 * SECOND, 12345678901};
	struct gp_clock_sync *t = make(anchors, 3);

	assert_int_equal(gp_clock_sync_base_unix_ns(t), UNIX_START);
	assert_true(gp_clock_sync_ns_per_tick(t) > 0.333333 &&
		    gp_clock_sync_ns_per_tick(t) < 0.333334);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(from_ns(t, times[i]), times[i]);
		assert_int_equal(from_cupti(t, times[i]), times[i]);
	}
	gp_clock_sync_free(t);
}

/* A clock that runs at changing speed is followed piece by piece. */
static void test_each_piece_has_its_own_rate(void **state)
{
	struct gp_record_anchor anchors[3] = {anchor_at(0, 0), anchor_at(SECOND, 0),
					      anchor_at(2 * SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[1].ticks -= 30000; /* 10 us fewer than even */
	anchors[1].cupti_ticks -= 30000;
	t = make(anchors, 3);
	assert_int_equal(gp_clock_sync_from_ticks(t, anchors[1].ticks), SECOND);
	assert_int_equal(gp_clock_sync_from_ticks(t, anchors[1].ticks / 2 + TICK_START / 2),
			 SECOND / 2);
	assert_int_equal(gp_clock_sync_from_ticks(t, anchors[2].ticks), 2 * SECOND);
	assert_int_equal(from_cupti(t, SECOND), SECOND);
	gp_clock_sync_free(t);
}

static void test_one_anchor_uses_the_estimate(void **state)
{
	const struct gp_record_anchor anchor = anchor_at(0, 0);
	struct gp_clock_sync *t = gp_clock_sync_new(&anchor, 1, 3e9);

	assert_non_null(t);
	assert_int_equal(from_ns(t, SECOND), SECOND);
	assert_int_equal(from_cupti(t, SECOND), SECOND);
	gp_clock_sync_free(t);
}

/* A damaged trace may claim any frequency. */
static void test_one_anchor_and_no_frequency(void **state)
{
	const struct gp_record_anchor anchor = anchor_at(0, 0);
	const double absurd[] = {0, -1, 1e-300, 0.0 / 0.0};

	for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
		struct gp_clock_sync *t = gp_clock_sync_new(&anchor, 1, absurd[i]);

		assert_non_null(t);
		assert_int_equal(gp_clock_sync_from_ticks(t, TICK_START), 0);
		assert_int_equal(gp_clock_sync_from_ticks(t, TICK_START + 7), 7);
		gp_clock_sync_free(t);
	}
}

static void test_coarse_anchors_are_left_out(void **state)
{
	struct gp_record_anchor anchors[3] = {anchor_at(0, 0), anchor_at(SECOND, 0),
					      anchor_at(2 * SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[1].gap_ticks = 3000000; /* a millisecond, in which the thread did not run */
	anchors[1].monotonic_ns += 900000;
	anchors[1].cupti_ns += 900000;
	t = make(anchors, 3);
	assert_int_equal(from_ns(t, SECOND), SECOND);
	assert_int_equal(from_cupti(t, SECOND), SECOND);
	gp_clock_sync_free(t);
}

/* It is in use nevertheless if no other one has CUPTI's clock. */
static void test_coarse_anchor_that_is_the_only_one_of_cupti(void **state)
{
	struct gp_record_anchor anchors[3] = {anchor_at(0, 0), anchor_at(SECOND, 0),
					      anchor_at(2 * SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[0].cupti_ns = anchors[2].cupti_ns = 0;
	anchors[1].gap_ticks = 3000000;
	anchors[1].cupti_ns += 7;
	t = make(anchors, 3);
	assert_int_equal(from_cupti(t, SECOND), SECOND - 7);
	gp_clock_sync_free(t);
}

/*
 * A run of 300 ms reads CUPTI's clock twice shortly after its start, and no longer at its end. The
 * two readings, 15 us apart, differ by 5 ns: taken for a rate, that is 100 us at the end.
 */
static void test_close_readings_of_cupti_tell_no_rate(void **state)
{
	const int64_t close = 3 * SECOND / 1000 + 15000, end = 3 * SECOND / 10;

	for (int64_t off_ns = -30; off_ns <= 30; off_ns += 5) {
		struct gp_record_anchor anchors[4] = {
			anchor_at(0, 0),
			anchor_at(3 * SECOND / 1000, 0),
			anchor_at(close, 0),
			anchor_at(end, 0),
		};
		struct gp_clock_sync *t;

		anchors[0].cupti_ns = anchors[3].cupti_ns = 0;
		anchors[2].cupti_ns += (uint64_t)off_ns;
		t = make(anchors, 4);
		assert_int_equal(from_cupti(t, end + off_ns), end);
		assert_int_equal(from_cupti(t, 0), 0);
		assert_int_equal(from_ns(t, end), end);
		gp_clock_sync_free(t);
	}
}

/* A difference beyond the error of the anchors is one of the clocks, and goes on. */
static void test_rate_beyond_the_error_of_the_anchors(void **state)
{
	struct gp_record_anchor anchors[2] = {anchor_at(0, 0), anchor_at(SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[1].cupti_ns += 100; /* both anchors are exact to 100 ticks, 33 ns, of each clock */
	t = make(anchors, 2);
	assert_int_equal(from_cupti(t, 10 * (SECOND + 100)), 10 * SECOND);
	gp_clock_sync_free(t);
}

static void test_anchors_that_contradict_are_left_out(void **state)
{
	struct gp_record_anchor anchors[4] = {anchor_at(0, 0), anchor_at(SECOND, 0),
					      anchor_at(SECOND, 0), anchor_at(2 * SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[2].ticks -= 5; /* back in time */
	t = make(anchors, 4);
	assert_int_equal(from_ns(t, SECOND + 7), SECOND + 7);
	assert_int_equal(from_ns(t, 2 * SECOND), 2 * SECOND);
	gp_clock_sync_free(t);
}

static void test_wall_clock_stands_in_for_cupti(void **state)
{
	struct gp_record_anchor anchors[2] = {anchor_at(0, 0), anchor_at(SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[0].cupti_ns = anchors[1].cupti_ns = 0;
	t = make(anchors, 2);
	assert_int_equal(from_cupti(t, SECOND / 4), SECOND / 4);
	gp_clock_sync_free(t);
}

/* CUPTI's clock was read for the first time long after the start. */
static void test_cupti_clock_that_comes_later(void **state)
{
	struct gp_record_anchor anchors[3] = {anchor_at(0, 0), anchor_at(SECOND, 0),
					      anchor_at(2 * SECOND, 0)};
	struct gp_clock_sync *t;

	anchors[0].cupti_ns = 0;
	t = make(anchors, 3);
	assert_int_equal(from_cupti(t, SECOND / 2), SECOND / 2);
	assert_int_equal(from_cupti(t, 3 * SECOND / 2), 3 * SECOND / 2);
	gp_clock_sync_free(t);
}

/* A clock that is slewed, by 0.05 %, is not one that was set. */
static void test_slewed_clock_stays_one_piece(void **state)
{
	struct gp_record_anchor anchors[3];
	struct gp_clock_sync *t;

	for (int i = 0; i < 3; i++)
		anchors[i] = anchor_at(i * 10 * SECOND, i * 5000000);
	t = make(anchors, 3);
	assert_int_equal(from_cupti(t, 5 * SECOND + 2500000), 5 * SECOND);
	assert_int_equal(from_cupti(t, 15 * SECOND + 7500000), 15 * SECOND);
	gp_clock_sync_free(t);
}

static void test_clock_set_forward(void **state)
{
	const int64_t hour = 3600 * SECOND;
	const struct gp_record_anchor anchors[] = {anchor_at(0, 0), anchor_at(SECOND, 0),
						   anchor_at(2 * SECOND, hour),
						   anchor_at(3 * SECOND, hour)};
	struct gp_clock_sync *t = make(anchors, 4);

	assert_int_equal(from_cupti(t, SECOND / 2), SECOND / 2);
	assert_int_equal(from_cupti(t, SECOND + SECOND / 2), SECOND + SECOND / 2);
	assert_int_equal(from_cupti(t, hour + SECOND + SECOND / 2), SECOND + SECOND / 2);
	assert_int_equal(from_cupti(t, hour + 5 * SECOND / 2), 5 * SECOND / 2);
	assert_int_equal(from_cupti(t, hour + 4 * SECOND), 4 * SECOND);
	/* the host's clock does not care */
	assert_int_equal(from_ns(t, 5 * SECOND / 2), 5 * SECOND / 2);
	gp_clock_sync_free(t);
}

/* Set back by an hour: the hour comes twice, and the place of a record in the file tells which is
 * meant. */
static void test_clock_set_back(void **state)
{
	const int64_t hour = 3600 * SECOND;
	struct gp_record_anchor anchors[10];
	struct gp_clock_sync *t;

	for (int i = 0; i < 10; i++) /* one in 20 minutes, set back before the fifth */
		anchors[i] = anchor_at(i * hour / 3, i < 5 ? 0 : -hour);
	t = make(anchors, 10);
	assert_int_equal(gp_clock_sync_from_cupti(t, UNIX_START + (uint64_t)hour, 4), hour);
	assert_int_equal(gp_clock_sync_from_cupti(t, UNIX_START + (uint64_t)hour, 8), 2 * hour);
	assert_int_equal(gp_clock_sync_from_cupti(t, UNIX_START + (uint64_t)(hour / 10), 8),
			 hour / 10);
	gp_clock_sync_free(t);
}

/*
 * Wherever it was between two anchors: records are in the file a tenth of a second after their
 * time.
 */
static void assert_set_back(int64_t by, int64_t at, int64_t delivered_ns)
{
	struct gp_record_anchor anchors[5];
	struct gp_clock_sync *t;

	for (int i = 0; i < 5; i++)
		anchors[i] = anchor_at(i * SECOND, i * SECOND < at ? 0 : -by);
	t = make(anchors, 5);
	for (int64_t ns = 0; ns < 4 * SECOND; ns += SECOND / 100) {
		uint64_t cupti_ns = UNIX_START + (uint64_t)(ns < at ? ns : ns - by);
		uint32_t anchors_before = (uint32_t)((ns + delivered_ns) / SECOND + 1);

		assert_int_equal(gp_clock_sync_from_cupti(t, cupti_ns, anchors_before), ns);
	}
	gp_clock_sync_free(t);
}

static void test_clock_set_back_at_any_moment(void **state)
{
	for (int64_t at = SECOND + SECOND / 20; at < 2 * SECOND; at += SECOND / 10) {
		assert_set_back(2 * SECOND, at, SECOND / 20);
		assert_set_back(3600 * SECOND, at, SECOND / 20);
		assert_set_back(3600 * SECOND, at, 10 * SECOND);
	}
}

/* Anything at all as an anchor must give some answer. */
static void test_hostile_anchors(void **state)
{
	static const uint64_t values[] = {0, 1, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, 12345};
	struct gp_record_anchor anchors[8];
	uint64_t seed = 1;

	for (int round = 0; round < 2000; round++) {
		struct gp_clock_sync *t;

		for (int i = 0; i < 8; i++) {
			uint64_t *fields[] = {&anchors[i].ticks, &anchors[i].monotonic_ns,
					      &anchors[i].realtime_ns, &anchors[i].cupti_ns,
					      &anchors[i].cupti_ticks};

			anchors[i] = anchor_at(i, 0);
			for (int f = 0; f < 5; f++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				*fields[f] = values[(seed >> 33) % 6];
			}
			anchors[i].gap_ticks = (uint32_t)(seed >> 40);
		}
		t = make(anchors, 8);
		for (int i = 0; i < 6; i++) {
			int64_t time = gp_clock_sync_from_ticks(t, values[i]);

			assert_true(time > -5 * INT64_C(1000000000000000000));
			time = gp_clock_sync_from_cupti(t, values[i], (uint32_t)i);
			assert_true(time < 5 * INT64_C(1000000000000000000));
		}
		gp_clock_sync_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks_that_contradict_the_system),
		cmocka_unit_test(test_between_and_outside_anchors),
		cmocka_unit_test(test_each_piece_has_its_own_rate),
		cmocka_unit_test(test_one_anchor_uses_the_estimate),
		cmocka_unit_test(test_coarse_anchors_are_left_out),
		cmocka_unit_test(test_coarse_anchor_that_is_the_only_one_of_cupti),
		cmocka_unit_test(test_close_readings_of_cupti_tell_no_rate),
		cmocka_unit_test(test_rate_beyond_the_error_of_the_anchors),
		cmocka_unit_test(test_anchors_that_contradict_are_left_out),
		cmocka_unit_test(test_wall_clock_stands_in_for_cupti),
		cmocka_unit_test(test_cupti_clock_that_comes_later),
		cmocka_unit_test(test_slewed_clock_stays_one_piece),
		cmocka_unit_test(test_one_anchor_and_no_frequency),
		cmocka_unit_test(test_clock_set_forward),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_clock_set_back_at_any_moment),
		cmocka_unit_test(test_hostile_anchors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
