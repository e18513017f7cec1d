/* What many threads did, told from looking at each of them. */
#include "report/analysis/idle/toplevel_calls.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define THREADS  12u
#define END_NS   300u /* so short that many things happen at once */
#define LONGEST  20u
#define QUESTION 40u

static uint64_t random_below(uint64_t end)
{
	return (uint64_t)rand() % end;
}

/* Calls within calls, some of no length, and threads that begin late and end early. */
static struct gp_model *make_any(unsigned seed)
{
	struct build b = build_begin(100);

	srand(seed);
	for (uint32_t thread = 100; thread < 100 + THREADS; thread++) {
		uint64_t end_ns = random_below(END_NS);

		for (uint64_t at = random_below(END_NS); at < end_ns; at += random_below(LONGEST)) {
			uint64_t length_ns = random_below(LONGEST);

			build_call(&b, thread, BUILD_LAUNCH, at, length_ns, 0);
			if (length_ns > 4)
				build_call(&b, thread, BUILD_LAUNCH, at + 1, length_ns - 2, 0);
			at += length_ns;
		}
	}
	return build_end(&b);
}

/* The thread's first and last call that were under way in that time; whether it made no other. */
struct seen {
	const struct gp_call *first, *last;
	bool are_all;
};

static struct seen look_at(const struct gp_model *model, uint32_t thread, uint64_t from_ns,
			   uint64_t to_ns)
{
	struct seen seen = {.are_all = true};
	uint64_t reached_ns = 0;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (call->thread_id != thread || call->start_ns < reached_ns)
			continue;
		reached_ns = gp_call_end_ns(call);
		seen.are_all &= call->start_ns >= from_ns && call->start_ns < to_ns;
		if (call->start_ns >= to_ns || (call->start_ns < from_ns && reached_ns <= from_ns))
			continue;
		seen.first = seen.first ? seen.first : call;
		seen.last = call;
	}
	return seen;
}

static const struct gp_call *last_within(const struct gp_model *model, uint64_t from_ns,
					 uint64_t to_ns)
{
	const struct gp_call *latest = NULL;

	for (uint32_t thread = 100; thread < 100 + THREADS; thread++) {
		struct seen seen = look_at(model, thread, from_ns, to_ns);

		if (seen.last && seen.are_all && gp_call_end_ns(seen.last) <= to_ns &&
		    (!latest || gp_call_end_ns(seen.last) > gp_call_end_ns(latest)))
			latest = seen.last;
	}
	return latest;
}

static bool is_busy(const struct gp_model *model, uint64_t from_ns, uint64_t to_ns,
		    uint64_t least_ns)
{
	for (uint32_t thread = 100; thread < 100 + THREADS; thread++) {
		struct seen seen = look_at(model, thread, from_ns, to_ns);
		uint64_t start_ns, end_ns;

		if (!seen.first)
			continue;
		start_ns = seen.first->start_ns > from_ns ? seen.first->start_ns : from_ns;
		end_ns = gp_call_end_ns(seen.last) < to_ns ? gp_call_end_ns(seen.last) : to_ns;
		if (end_ns - start_ns >= least_ns)
			return true;
	}
	return false;
}

static const struct gp_call *last(const struct gp_model *model, uint64_t time_ns)
{
	const struct gp_call *latest = NULL;

	for (uint32_t thread = 100; thread < 100 + THREADS; thread++) {
		const struct gp_call *call = look_at(model, thread, 0, time_ns).last;

		if (call && (!latest || call->start_ns > latest->start_ns))
			latest = call;
	}
	return latest;
}

/* From the end to the start, as whoever goes back asks. */
static void what_is_found_is_what_a_look_at_each_thread_finds(void **state)
{
	uint32_t busy = 0, within = 0, asked = 0;

	for (unsigned seed = 0; seed < 300; seed++) {
		struct gp_model *model = make_any(seed);
		struct gp_toplevel_calls outer;

		gp_toplevel_calls_of(&outer, model);
		for (uint64_t to_ns = END_NS, from_ns; to_ns > 0; to_ns = from_ns) {
			uint64_t least_ns;

			from_ns = to_ns - 1 - random_below(to_ns < QUESTION ? to_ns : QUESTION);
			least_ns = (to_ns - from_ns + 1) / 2;
			assert_ptr_equal(gp_outer_last(&outer, to_ns), last(model, to_ns));
			assert_ptr_equal(gp_outer_last_within(&outer, from_ns, to_ns),
					 last_within(model, from_ns, to_ns));
			assert_int_equal(gp_outer_is_busy(&outer, from_ns, to_ns, least_ns),
					 is_busy(model, from_ns, to_ns, least_ns));
			busy += is_busy(model, from_ns, to_ns, least_ns);
			within += last_within(model, from_ns, to_ns) != NULL;
			asked++;
		}
		gp_toplevel_calls_free(&outer);
		gp_model_free(model);
	}
	/* both answers were given */
	assert_in_range(busy, asked / 10, asked - asked / 10);
	assert_in_range(within, asked / 100, asked / 2);
}

static void without_calls_there_is_nothing(void **state)
{
	struct build b = build_begin(100);
	struct gp_model *model = build_end(&b);
	struct gp_toplevel_calls outer;

	gp_toplevel_calls_of(&outer, model);
	assert_null(gp_outer_last(&outer, UINT64_MAX));
	assert_null(gp_outer_last_of(&outer, 100, UINT64_MAX));
	assert_null(gp_outer_last_within(&outer, 0, UINT64_MAX));
	assert_false(gp_outer_is_busy(&outer, 0, UINT64_MAX, 1));
	gp_toplevel_calls_free(&outer);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_is_what_a_look_at_each_thread_finds),
		cmocka_unit_test(without_calls_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
