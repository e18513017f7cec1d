/*
 * tracks: every kind of event has a track of its own, and each slice lies in the track of its kind.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "report/html/tracks.h"
#include "tests/report/trace_builder.h"

#define MOST 16u

/* What was handed over, in its order. */
struct taken {
	struct {
		char kind[16], name[64];
		uint64_t id, start_ns[8], end_ns[8], aux[8];
		uint32_t count;
	} tracks[MOST];
	uint32_t count;
};

static int take(void *context, const struct gp_html_track *track,
		const struct gp_html_gather *gather)
{
	struct taken *taken = context;
	uint32_t at = taken->count++;

	assert_true(at < MOST && gather->count <= 8);
	snprintf(taken->tracks[at].kind, sizeof(taken->tracks[at].kind), "%s", track->kind);
	snprintf(taken->tracks[at].name, sizeof(taken->tracks[at].name), "%s", track->name);
	taken->tracks[at].id = track->id;
	taken->tracks[at].count = gather->count;
	for (uint32_t i = 0; i < gather->count; i++) {
		taken->tracks[at].start_ns[i] = gather->events[i].start_ns;
		taken->tracks[at].end_ns[i] = gather->events[i].end_ns;
		taken->tracks[at].aux[i] = gather->events[i].aux;
	}
	return 0;
}

static void walk(struct gp_builder *b, struct taken *taken)
{
	struct gp_model *model = gp_builder_finish(b);
	struct gp_scope scope;
	struct gp_html_tracks tracks = {.scope = &scope, .take = take, .context = taken};

	memset(taken, 0, sizeof(*taken));
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_html_tracks_walk(&tracks), 0);
	gp_html_tracks_free(&tracks);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/* By its kind, or its name where there are several of a kind. */
static uint32_t find(const struct taken *taken, const char *wanted)
{
	uint32_t found = MOST;

	for (uint32_t i = 0; i < taken->count; i++) {
		if (strcmp(taken->tracks[i].kind, wanted) != 0 &&
		    strcmp(taken->tracks[i].name, wanted) != 0)
			continue;
		assert_int_equal(found, MOST); /* there is one of each */
		found = i;
	}
	if (found == MOST)
		fail_msg("there is no track %s", wanted);
	return found;
}

static void expect(const struct taken *taken, const char *kind, uint32_t count, uint64_t start_ns,
		   uint64_t end_ns, uint64_t aux)
{
	uint32_t at = find(taken, kind);

	if (taken->tracks[at].id != 0 && strcmp(kind, "thread") != 0)
		fail_msg("%s has the id %lu", kind, taken->tracks[at].id);
	if (taken->tracks[at].count != count || taken->tracks[at].start_ns[0] != start_ns ||
	    taken->tracks[at].end_ns[0] != end_ns || taken->tracks[at].aux[0] != aux)
		fail_msg("%s: %u events, the first from %lu to %lu, %lu", kind,
			 taken->tracks[at].count, taken->tracks[at].start_ns[0],
			 taken->tracks[at].end_ns[0], taken->tracks[at].aux[0]);
}

/* One event of each kind, each of another time and length. */
static void add_one_of_each(struct gp_builder *b)
{
	gp_builder_call(b, GP_TEST_LAUNCH, 7, 1000, 50);
	gp_builder_kernel(b, 7, 1100, 1200);
	gp_builder_add(b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
						      .counter_kind = GP_UNIFIED_HTOD,
						      .start_ns = GP_TEST_CUPTI(2000),
						      .end_ns = GP_TEST_CUPTI(2300),
						      .value = 4096});
	gp_builder_add(b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
						      .counter_kind = GP_UNIFIED_CPU_FAULT,
						      .start_ns = GP_TEST_CUPTI(2500)});
	gp_builder_add(b, &(struct gp_record_overhead){.kind = GP_RECORD_OVERHEAD,
						       .overhead_kind = 1,
						       .start_ns = GP_TEST_CUPTI(3000),
						       .end_ns = GP_TEST_CUPTI(3400)});
	gp_builder_add(b, &(struct gp_record_host_function){.kind = GP_RECORD_HOST_FUNCTION,
							    .correlation_id = 7,
							    .start_ns = GP_TEST_CUPTI(4000),
							    .end_ns = GP_TEST_CUPTI(4500),
							    .context_id = 1,
							    .stream_id = 7});
	gp_builder_add(b, &(struct gp_record_jit){.kind = GP_RECORD_JIT,
						  .start_ns = GP_TEST_CUPTI(5000),
						  .end_ns = GP_TEST_CUPTI(5600),
						  .op_kind = 3,
						  .entry_kind = 1,
						  .cache_bytes = 77});
}

static void each_kind_has_a_track_of_its_own(void **state)
{
	struct gp_builder b;
	struct taken taken;
	uint64_t call_ns;

	gp_builder_begin(&b, 100);
	add_one_of_each(&b);
	walk(&b, &taken);
	call_ns = taken.tracks[find(&taken, "thread")].start_ns[0];
	expect(&taken, "thread", 1, call_ns, call_ns + 50, 0);
	assert_int_equal(taken.tracks[find(&taken, "thread")].id, 100);
	expect(&taken, "stream", 1, call_ns + 100, call_ns + 200, 1); /* its shape */
	expect(&taken, "unified", 2, call_ns + 1000, call_ns + 1300, 4096);
	expect(&taken, "overhead", 1, call_ns + 2000, call_ns + 2400, 0);
	expect(&taken, "host functions", 1, call_ns + 3000, call_ns + 3500, 0);
	expect(&taken, "compiling", 1, call_ns + 4000, call_ns + 4600, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_a_track_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
