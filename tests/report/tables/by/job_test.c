/* job: ranks that are compared one after the other have the values of ranks in memory together. */
#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/memstream.h"
#include "report/tables/by/job.h"
#include "report/tables/summary_by.h"
#include "tests/report/model_builder.h"

#define RANKS 12u
#define LATE  7u
#define STEPS 3u

/* Rank 7 comes 700 ns late to the second and the third operation. */
static struct gp_model *rank_of(uint32_t rank)
{
	struct build b = build_begin(rank + 1);
	uint32_t work = build_name(&b, "work"),
		 reduce = build_name(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	struct gp_model *model;
	char text[8];

	build_device(&b, 0, "GPU");
	snprintf(text, sizeof(text), "%u", rank);
	build_info(&b, GP_INFO_RANK, text);
	build_info(&b, GP_INFO_WORLD_SIZE, "12");
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t start_ns = 1000 + 10000 * i + (rank == LATE && i > 0 ? 700 : 0);

		build_op(&b, GP_OP_KERNEL, 7, start_ns, start_ns + 500, 0)->name = work;
		build_op(&b, GP_OP_KERNEL, 7, start_ns + 500, 3000 + 10000 * i, 0)->name = reduce;
	}
	model = build_end(&b);
	model->first_ns = 1000;
	model->last_ns = 3000 + 10000 * (STEPS - 1);
	return model;
}

static void ranks_are_compared_as_together(void **state)
{
	struct gp_model *models[RANKS];
	struct gp_job job = {0};
	struct gp_ranks together;
	struct gp_scope scope;

	(void)state;
	for (uint32_t i = 0; i < RANKS; i++) {
		models[i] = rank_of(i);
		/* in another order */
		assert_int_equal(gp_job_add(&job, rank_of(RANKS - 1 - i)), 0);
	}
	assert_int_equal(gp_job_end(&job), 0);
	assert_int_equal(gp_scope_open(&scope, models, RANKS, false), 0);
	assert_int_equal(gp_ranks_gather(&scope, &together), 0);
	assert_int_equal(job.ranks.count, RANKS);
	for (uint32_t i = 0; i < RANKS; i++) {
		const struct gp_rank_row *row = &job.ranks.rows[i];

		assert_int_equal(row->rank, i);
		for (size_t k = 0; k < GP_RANK_MEASURES; k++) {
			assert_int_equal(row->values[k].kind, together.rows[i].values[k].kind);
			assert_int_equal(row->values[k].whole, together.rows[i].values[k].whole);
		}
		assert_int_equal(row->values[GP_RANK_HELD_UP].whole, i == LATE ? 1400 : 0);
		assert_int_equal(row->values[GP_RANK_COMPUTING].whole, STEPS * 500);
		assert_int_equal(job.models[i]->op_count, 0);
	}
	gp_ranks_free(&together);
	gp_scope_close(&scope);
	for (uint32_t i = 0; i < RANKS; i++)
		gp_model_free(models[i]);
	gp_job_free(&job);
}

static void the_late_rank_is_shown_with_ranks_that_wait(void **state)
{
	struct gp_job job = {0};
	uint32_t ranks[GP_JOB_SHOWN];

	(void)state;
	for (uint32_t i = 0; i < RANKS; i++)
		assert_int_equal(gp_job_add(&job, rank_of(i)), 0);
	assert_int_equal(gp_job_end(&job), 0);
	assert_int_equal(job.shown_count, GP_JOB_SHOWN);
	for (uint32_t i = 0; i < GP_JOB_SHOWN; i++) {
		ranks[i] = job.shown[i]; /* the number of a model is its rank here */
		assert_true(i == 0 || ranks[i] > ranks[i - 1]);
	}
	assert_int_equal(ranks[0], 0);
	assert_int_equal(ranks[GP_JOB_SHOWN - 1], LATE);
	gp_job_free(&job);
}

/* ---- tables ---- */

/* As CSV, with one rank in memory at a time, or all; free it. */
static char *print(const char *words, bool is_job)
{
	const struct gp_table_format *csv = gp_table_format_find("csv");
	struct gp_model *models[RANKS];
	struct gp_job job = {0};
	struct gp_summary_by by = {.words = words, .format = csv, .job = is_job ? &job : NULL};
	struct gp_summary_by_job tables;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (uint32_t i = 0; i < RANKS; i++) {
		models[i] = rank_of(i);
		assert_int_equal(gp_job_add(&job, rank_of(i)), 0);
	}
	assert_int_equal(gp_job_end(&job), 0);
	if (is_job) {
		assert_int_equal(gp_summary_by_job_open(&tables, &by), 0);
		for (uint32_t i = 0; gp_summary_by_job_needs_ranks(&tables) && i < RANKS; i++)
			assert_int_equal(gp_summary_by_job_add(&tables, models[i]), 0);
		assert_int_equal(gp_summary_by_job_print(&tables, out), 0);
		gp_summary_by_job_close(&tables);
	} else {
		assert_int_equal(gp_summary_by_print(out, models, RANKS, &by), 0);
	}
	assert_int_equal(gp_memstream_close(out, &text), 0);
	for (uint32_t i = 0; i < RANKS; i++)
		gp_model_free(models[i]);
	gp_job_free(&job);
	return text;
}

static void tables_of_one_rank_after_the_other_are_those_of_all_together(void **state)
{
	static const char *const words[] = {"kernel",          "gpu",     "kind",
					    "stream",          "process", "rank",
					    "collective-rank", "axis",    "missing"};

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		char *of_job = print(words[i], true), *together = print(words[i], false);

		assert_string_equal(of_job, together);
		free(of_job);
		free(together);
	}
}

static void a_table_of_single_events_has_no_rows(void **state)
{
	char *of_job = print("gap", true), *together = print("gap", false);
	const char *lines = strchr(of_job, '\n');

	(void)state;
	assert_string_equal(lines, "\n"); /* its head only */
	assert_true(strlen(together) > strlen(of_job));
	free(of_job);
	free(together);
}

static void only_added_tables_need_the_ranks(void **state)
{
	static const struct {
		const char *words;
		bool need;
	} cases[] = {{"rank,axis,collective-rank,bus-bandwidth", false},
		     {"gap,iteration", false},
		     {"rank,kernel", true}};
	struct gp_job job = {0};

	(void)state;
	for (uint32_t i = 0; i < RANKS; i++)
		assert_int_equal(gp_job_add(&job, rank_of(i)), 0);
	assert_int_equal(gp_job_end(&job), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gp_summary_by by = {.words = cases[i].words,
					   .format = gp_table_format_find("csv"),
					   .job = &job};
		struct gp_summary_by_job tables;

		assert_int_equal(gp_summary_by_job_open(&tables, &by), 0);
		assert_int_equal(gp_summary_by_job_needs_ranks(&tables), cases[i].need);
		gp_summary_by_job_close(&tables);
	}
	gp_job_free(&job);
}

static void a_process_without_a_rank_makes_no_job(void **state)
{
	struct gp_job job = {0};
	struct build b = build_begin(1);

	(void)state;
	build_device(&b, 0, "GPU");
	assert_int_equal(gp_job_add(&job, build_end(&b)), -ENODATA);
	assert_int_equal(job.count, 0);
	gp_job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_compared_as_together),
		cmocka_unit_test(the_late_rank_is_shown_with_ranks_that_wait),
		cmocka_unit_test(tables_of_one_rank_after_the_other_are_those_of_all_together),
		cmocka_unit_test(a_table_of_single_events_has_no_rows),
		cmocka_unit_test(only_added_tables_need_the_ranks),
		cmocka_unit_test(a_process_without_a_rank_makes_no_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
