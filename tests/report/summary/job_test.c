/* The ranks of a job in the summary: which are missing, which differ in what, and its clocks. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/summary/part.h"
#include "report/summary/summary_document.h"
#include "tests/report/expect.h"
#include "tests/report/model_builder.h"

#define US    1000u
#define STEPS 8u

/* Ranks 3, 5 and 6 of twelve left no trace. */
static const char *const ranks[] = {"0", "1", "2", "4", "7", "8", "9", "10", "11"};
enum { RANKS = COUNT(ranks), HOSTS = 5, AT_4 = 3, AT_8 = 5, AT_9 = 6 };

/* Each step computes for 400 us, and communicates until all are there. */
static struct build begin_rank(uint32_t at, uint64_t gemm_us, uint64_t bytes)
{
	struct build b = build_begin(100 + at);
	uint32_t names[] = {build_name(&b, "gemm"),
			    build_name(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")};
	uint32_t host = at / 2;
	char name[16];

	snprintf(name, sizeof(name), "node%u", host);
	build_info(&b, GP_INFO_HOST, name);
	build_info(&b, GP_INFO_RANK, ranks[at]);
	build_info(&b, GP_INFO_WORLD_SIZE, "12");
	build_device(&b, (uint16_t)at, "GPU");
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, bytes);
	b.model->clock = (struct gp_host_clock){.is_known = true,
						.ahead_ns = 10 * host,
						.error_ns = 2 * host,
						.drift = 0.5 * host,
						.operations = 7 * host};
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t start_ns = (i + 1) * 1000 * US, gemm_ns = start_ns + gemm_us * US;

		build_range(&b, 1, "step", start_ns, start_ns + 900 * US);
		for (uint32_t k = 0; k < 2; k++) {
			struct gp_op *op =
				build_op(&b, GP_OP_KERNEL, 7, k ? gemm_ns : start_ns,
					 k ? start_ns + 900 * US : gemm_ns, 2 * i + k + 1);

			op->name = names[k];
			op->device_id = at;
			build_call(&b, 1, BUILD_LAUNCH, start_ns + k * US, 500, 2 * i + k + 1);
		}
	}
	return b;
}

/* Rank 4 is slow, rank 8 has more memory, the trace of rank 9 has no end. */
static void build_job(struct gp_model *models[RANKS])
{
	for (uint32_t i = 0; i < RANKS; i++) {
		struct build b =
			begin_rank(i, i == AT_4 ? 600 : 400, i == AT_8 ? 3 << 20 : 2 << 20);

		models[i] = build_end(&b);
	}
	models[AT_9]->losses.closed = false;
}

static void free_job(struct gp_model *models[RANKS])
{
	for (uint32_t i = 0; i < RANKS; i++)
		gp_model_free(models[i]);
}

/* The section of the ranks; the document is the caller's. */
static const struct gp_section *describe(struct gp_document *document,
					 struct gp_model *const *models, size_t count)
{
	struct gp_summary summary;

	*document = (struct gp_document){0};
	assert_int_equal(gp_summary_open(&summary, models, count, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, document), 0);
	gp_summary_close(&summary);
	return gp_document_section(document, "ranks");
}

static uint64_t whole(const struct gp_fields *row, const char *id)
{
	const struct gp_value *value = gp_fields_value(row, id);

	if (!value)
		fail_msg("there is no %s", id);
	return value ? value->whole : 0;
}

static void ranks_that_differ_are_named(void **state)
{
	static const struct {
		uint64_t rank;
		const char *host, *ended, *words;
		uint64_t computing_us, communicating_us, held_up_us, waited_us, peak_mib;
	} differing[] = {
		{4, "node1", "-", "compute +50 %, held up +35 %", 4800, 2400, 1400, 0, 2},
		{8, "node2", "-", "memory +50 %", 3200, 4000, 0, 1400, 3},
		{9, "node3", "incomplete", "", 3200, 4000, 0, 1400, 2},
	};
	struct gp_model *models[RANKS];
	const struct gp_section *section;
	struct gp_document document;

	(void)state;
	build_job(models);
	section = describe(&document, models, RANKS);
	assert_string_equal(gp_fields_text(&section->rows[0], "id"), "job");
	assert_int_equal(whole(&section->rows[0], "ranks"), RANKS);
	assert_int_equal(whole(&section->rows[0], "world_size"), 12);
	assert_string_equal(gp_fields_text(&section->rows[0], "without_trace"), "3, 5-6");
	assert_int_equal(whole(&section->rows[0], "gain_ns"), (STEPS - 1) * 200 * US);
	assert_int_equal(whole(&section->rows[0], "gain_of_ns"), (STEPS - 1) * 1000 * US);
	assert_int_equal(whole(&section->rows[0], "gain_error_ns"), 0);
	for (size_t i = 0; i < COUNT(differing); i++) {
		const struct gp_fields *row = &section->rows[1 + i];

		assert_string_equal(gp_fields_text(row, "id"), "differs");
		assert_int_equal(whole(row, "rank"), differing[i].rank);
		assert_int_equal(whole(row, "step_ns"), 1000 * US);
		assert_int_equal(whole(row, "computing_ns"), differing[i].computing_us * US);
		assert_int_equal(whole(row, "communicating_ns"),
				 differing[i].communicating_us * US);
		assert_int_equal(whole(row, "held_up_ns"), differing[i].held_up_us * US);
		assert_int_equal(whole(row, "waited_ns"), differing[i].waited_us * US);
		assert_int_equal(whole(row, "peak_bytes"), differing[i].peak_mib << 20);
		assert_string_equal(gp_fields_text(row, "host"), differing[i].host);
		assert_string_equal(gp_fields_text(row, "ended"), differing[i].ended);
		assert_string_equal(gp_fields_text(row, "text"), differing[i].words);
	}
	gp_document_free(&document);
	free_job(models);
}

/* Of hosts and not of ranks; the one of rank 0 by its own clock. */
static void each_host_has_its_clock(void **state)
{
	struct gp_model *models[RANKS];
	const struct gp_section *section;
	struct gp_document document;

	(void)state;
	build_job(models);
	for (uint32_t i = 0; i < RANKS; i++)
		if (i / 2 == 3)
			models[i]->clock.is_known = false;
	section = describe(&document, models, RANKS);
	assert_int_equal(section->count, 1 + 3 + HOSTS);
	for (uint32_t host = 0; host < HOSTS; host++) {
		const struct gp_fields *row = &section->rows[1 + 3 + host];
		const char name[] = {'n', 'o', 'd', 'e', (char)('0' + host), '\0'};

		assert_string_equal(gp_fields_text(row, "id"), "clock");
		assert_string_equal(gp_fields_text(row, "host"), name);
		assert_int_equal(gp_fields_value(row, "ahead_ns")->kind,
				 host == 3 ? GP_VALUE_NONE : GP_VALUE_WHOLE);
		if (host == 3)
			continue;
		assert_int_equal(gp_fields_value(row, "ahead_ns")->whole, 10 * host);
		assert_int_equal(whole(row, "error_ns"), 2 * host);
		assert_true(gp_fields_value(row, "drift_ratio")->real == -0.5 * host);
		assert_int_equal(whole(row, "operations"), 7 * host);
	}
	gp_document_free(&document);
	free_job(models);
}

/* A number that the ranks do not agree on, or that is too small for one of them, says nothing. */
static void the_size_of_the_job_needs_all_to_agree(void **state)
{
	static const struct {
		const char *of_first, *of_last;
		bool is_known;
	} cases[] = {{"12", "12", true},  {"12", "13", false}, {"13", "12", false},
		     {"11", "11", false}, {"12", "x", false},  {"16777217", "16777217", false}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gp_model *models[2];
		struct gp_document document;
		const struct gp_section *section;

		for (uint32_t k = 0; k < 2; k++) {
			struct build b = begin_rank(k ? RANKS - 1 : 0, 400, 4096);

			build_info(&b, GP_INFO_WORLD_SIZE,
				   k ? cases[i].of_last : cases[i].of_first);
			models[k] = build_end(&b);
		}
		section = describe(&document, models, 2);
		assert_int_equal(gp_fields_value(&section->rows[0], "world_size") != NULL,
				 cases[i].is_known);
		assert_string_equal(gp_fields_text(&section->rows[0], "without_trace"),
				    cases[i].is_known ? "1-10" : "");
		gp_document_free(&document);
		gp_model_free(models[0]);
		gp_model_free(models[1]);
	}
}

/* A part of one screen or of the whole page, each run of spaces one space. */
static char *print(int (*part)(const struct gp_summary *), struct gp_model *const *models,
		   size_t count, bool brief)
{
	const struct gp_summary_options options = {.brief = brief};
	struct gp_summary summary;
	char *text = NULL;
	size_t bytes;

	assert_int_equal(gp_summary_open(&summary, models, count, NULL), 0);
	summary.options = &options;
	summary.out = open_memstream(&text, &bytes);
	assert_int_equal(part(&summary), 0);
	fclose(summary.out);
	summary.out = NULL;
	gp_summary_close(&summary);
	squeeze(text, " ");
	return text;
}

static void one_screen_has_the_ranks_that_differ(void **state)
{
	struct gp_model *models[RANKS];
	char *text;

	(void)state;
	build_job(models);
	text = print(gp_summary_print_ranks, models, RANKS, true);
	expect(text,
	       "\nRanks: 9 of 12 on 5 hosts: node0, node1, node2, node3, ...; no trace of ranks 3, 5-6; incomplete: rank 9\n");
	expect(text,
	       "\n median 1.000ms 3.200ms 4.000ms 0ns 2.000MiB - - -\n"
	       " 4 1.000ms 4.800ms 2.400ms 1.400ms 2.000MiB node1 - compute +50 %, h...up +35 %\n"
	       " 8 1.000ms 3.200ms 4.000ms 0ns 3.000MiB node2 - memory +50 %\n"
	       " 9 1.000ms 3.200ms 4.000ms 0ns 2.000MiB node3 incomplete -\n"
	       " the other ranks ");
	expect(text, ", within 8ns; largest offset 40ns: node4 is ahead\n");
	free(text);
	text = print(gp_summary_print_ranks, models, RANKS, false);
	expect(text, "\n 9 1.000ms 3.200ms 4.000ms 0ns 2.000MiB node3 incomplete -\n 0 1.000ms ");
	expect(text, "\n 11 1.000ms ");
	free(text);
	for (uint32_t i = 0; i < RANKS; i++) {
		models[i]->clock.ahead_ns *= -1;
		models[i]->shares_rank = i < 2;
	}
	models[RANKS - 1]->clock.is_known = false;
	text = print(gp_summary_print_ranks, models, RANKS, true);
	expect(text,
	       "\nRanks: 9 on 5 hosts: node0, node1, node2, node3, ...; 2 of them share a rank");
	expect(text, " clocks of 1 of 5 hosts ");
	expect(text, ": node4\n");
	free(text);
	free_job(models);
}

static void a_few_ranks_are_all_shown_in_their_order(void **state)
{
	struct gp_model *models[RANKS];
	char *text;

	(void)state;
	build_job(models);
	for (uint32_t i = 0; i < RANKS; i++)
		models[i]->clock.ahead_ns *= -1;
	text = print(gp_summary_print_ranks, models, RANKS - 1, true);
	expect(text, "; no trace of ranks 3, 5-6, 11; incomplete: rank 9\n");
	expect(text, " Differs in\n 0 1.000ms ");
	expect(text,
	       "\n 4 1.000ms 4.800ms 2.400ms 1.400ms 2.000MiB node1 - compute +50 %, held up +35 %\n 7 1.000ms ");
	expect(text, "\n 10 1.000ms 3.200ms 4.000ms 0ns 2.000MiB node3 - -\n if no rank ");
	/* rank 4 computes for 200 us more */
	expect(text, ": 200.0us less a step, 20.0 % (+-0.0 %)\n clocks ");
	expect(text, ", within 6ns; largest offset 30ns: node3 is behind\n");
	expect_not(text, "\n median ");
	free(text);
	free_job(models);
}

/* Rank 7 communicates for the shortest time, rank 1 for the longest. */
static void many_gpus_are_summed_up(void **state)
{
	struct gp_model *models[RANKS];
	char *text;

	(void)state;
	build_job(models);
	for (uint32_t i = 0; i < STEPS; i++) {
		models[4]->ops[2 * i + 1].end_ns -= 200 * US;
		models[1]->ops[2 * i + 1].end_ns += 50 * US;
	}
	text = print(gp_summary_print_busy, models, RANKS, true);
	expect(text, " 9 GPUs at least 77.3 % busy; least: rank 7 (61.3 %), most: rank 1 (83.1 %)\n"
		     " idle host-bound 22.7 %\n");
	free(text);
	models[AT_9]->losses.closed = true;
	text = print(gp_summary_print_busy, models, RANKS, true);
	expect(text, " 9 GPUs 77.3 % busy; ");
	free(text);
	text = print(gp_summary_print_busy, models, RANKS - 1, true);
	expect(text, " GPU 0, rank 0 78.8 % busy");
	expect_not(text, "GPUs");
	free(text);
	free_job(models);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_that_differ_are_named),
		cmocka_unit_test(each_host_has_its_clock),
		cmocka_unit_test(the_size_of_the_job_needs_all_to_agree),
		cmocka_unit_test(one_screen_has_the_ranks_that_differ),
		cmocka_unit_test(a_few_ranks_are_all_shown_in_their_order),
		cmocka_unit_test(many_gpus_are_summed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
