#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "report/advice/advice_print.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/*
 * So often: a kernel of 1 ms; when it is done, the host goes on making data for so long, and copies
 * it in a call of 1 ms that begins the copies, a small and a large one, when it is nearly over.  By
 * turns in so many threads.
 */
static struct gp_model *load_data_in(uint32_t threads, uint32_t times, uint64_t host_ns)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= times; i++) {
		struct gp_op *op;

		build_call(&b, 100 + i % threads, BUILD_LAUNCH, at_ns, 10000, 2 * i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 20000 + MS, 2 * i);
		at_ns += MS + 20000 + host_ns;
		build_call(&b, 100 + i % threads, 31, at_ns, MS, 2 * i + 1);
		at_ns += MS;
		op = build_op(&b, GP_OP_COPY, 7, at_ns - 20000, at_ns - 19000, 2 * i + 1);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 16;
		op = build_op(&b, GP_OP_COPY, 7, at_ns - 19000, at_ns, 2 * i + 1);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 1 << 20;
	}
	return build_end(&b);
}

static struct gp_model *load_data(uint32_t times, uint64_t host_ns)
{
	return load_data_in(1, times, host_ns);
}

/* As a server's do, which wait for requests; of one thread nothing is known. */
static void test_threads_that_take_turns(void **state)
{
	struct gp_model *models[] = {load_data(20, MS), load_data_in(3, 20, MS)};

	for (size_t i = 0; i < 2; i++) {
		struct gp_advice advice = ask(&models[i], 1);
		const struct gp_finding *found = find(&advice, "data-loading");

		assert_non_null(found);
		assert_int_equal(strstr(found->found, ", in several threads alternately") != NULL,
				 i == 1);
		assert_int_equal(
			strstr(found->change,
			       "wait for requests, process several together; if the host") != NULL,
			i == 1);
		assert_int_equal(
			strstr(found->change,
			       "; if the host waits for requests, process several together") !=
				NULL,
			i == 0);
		gp_advice_free(&advice);
		gp_model_free(models[i]);
	}
}

/*
 * Of idle times in which a slow copy follows, the host's part is that of loading data; the first of
 * 20 lies before the loop.
 */
static void test_data_before_slow_copies(void **state)
{
	struct gp_model *model = load_data(20, MS);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "data-loading");

	assert_non_null(found);
	assert_int_equal(found->count, 19);
	assert_non_null(strstr(
		found->found,
		"until the host copies 1.000MiB to it; meanwhile the host was in no recorded call from "));
	assert_in_range(found->saves_ns, 19 * (MS - 20000), 19 * (MS + 20000));
	assert_int_equal(found->time_ns, found->saves_ns);
	assert_in_range(found->show_ns, 2 * MS - 40000,
			2 * MS); /* one of the idle times, its copy too */
	gp_advice_free(&advice);
	gp_model_free(model);
	model = load_data(20, 100000); /* hardly any */
	advice = ask(&model, 1);
	assert_null(find(&advice, "data-loading"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * A result is copied back while the host waits for the kernel, in a copy or, behind it, in a
 * synchronization; then the host makes data for half as long again.
 */
static struct gp_model *load_data_behind_waits(bool is_sync)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	build_api(&b, 32, "cudaStreamSynchronize", GP_API_SYNC);
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t done_ns = at_ns + 2 * MS;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, 3 * i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, done_ns, 3 * i);
		build_call(&b, 100, 31, at_ns + 30000, is_sync ? 5000 : 2 * MS, 3 * i + 1);
		op = build_op(&b, GP_OP_COPY, 7, done_ns, done_ns + 2000, 3 * i + 1);
		op->copy_kind = GP_COPY_DTOH;
		op->flags = is_sync ? GP_COPY_ASYNC : 0;
		op->bytes = 1024;
		if (is_sync)
			build_call(&b, 100, 32, at_ns + 40000, 2 * MS - 10000, 0);
		at_ns = done_ns + 30000 + 3 * MS;
		build_call(&b, 100, 31, at_ns, MS / 10, 3 * i + 2);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 20000, at_ns + MS / 10, 3 * i + 2);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 4 << 20;
		at_ns += MS / 10;
	}
	return build_end(&b);
}

/* Such a wait explains the idle time; that the host makes data then is told beside it. */
static void test_data_behind_a_wait(void **state)
{
	static const char *const waits[] = {"hidden-wait", "sync-in-loop"};

	for (size_t i = 0; i < 2; i++) {
		struct gp_model *model = load_data_behind_waits(i == 1);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "data-loading");

		assert_non_null(find(&advice, waits[i]));
		assert_non_null(found);
		assert_int_equal(found->count, 20);
		assert_in_range(found->saves_ns, 20 * (3 * MS - 60000), 20 * (3 * MS + 60000));
		assert_null(find(&advice, "gpu-gaps"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* One batch of thirty takes twelve times as long as the others, or thirty times: a slow step. */
static void test_one_slow_batch(void **state)
{
	for (uint32_t slow_ms = 120; slow_ms <= 300; slow_ms += 180) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
		for (uint32_t i = 1; i <= 31; i++) {
			struct gp_op *op;

			build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, 2 * i);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + MS, 2 * i);
			at_ns += MS + (i == 9 ? slow_ms : 10) * MS;
			build_call(&b, 100, 31, at_ns, MS / 10, 2 * i + 1);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 10000, at_ns + MS / 10, 2 * i + 1);
			op->copy_kind = GP_COPY_HTOD;
			op->bytes = 1 << 20;
			at_ns += MS / 10;
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "data-loading");
		assert_non_null(found);
		assert_int_equal(found->count, 30);
		assert_in_range(found->saves_ns, 299 * MS, 301 * MS);
		found = find(&advice, "slow-steps");
		assert_non_null(found);
		assert_int_equal(found->count, 1);
		assert_in_range(found->saves_ns, (slow_ms - 11) * MS, (slow_ms - 9) * MS);
		assert_null(find(&advice, "gpu-gaps"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* A copy to the device and one back, twice; then the host makes data for 2 ms. */
static struct gp_model *fetch_results(void)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;
	uint32_t id = 0;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 0; i < 20; i++, at_ns += 2 * MS)
		for (uint32_t k = 0; k < 4; k++, at_ns += MS / 10) {
			struct gp_op *op;

			build_call(&b, 100, 31, at_ns, MS / 20, ++id);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 1000, at_ns + MS / 20, id);
			op->copy_kind = k % 2 == 0 ? GP_COPY_HTOD : GP_COPY_DTOH;
			op->bytes = 1 << 20;
		}
	return build_end(&b);
}

/*
 * Kernels of 1 ms, which one thread launches; another one makes data for 2 ms, between two of them,
 * and copies it.
 */
static struct gp_model *copy_from_a_thread(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t at_ns = (1 + 4ull * i) * MS;
		struct gp_op *op;

		build_call(&b, 200, BUILD_LAUNCH, at_ns, 10000, 2 * i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + MS, 2 * i + 1);
		build_call(&b, 100, 31, at_ns + 3 * MS, MS / 20, 2 * i + 2);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 3 * MS + 1000, at_ns + 3 * MS + MS / 20,
			      2 * i + 2);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 1 << 20;
	}
	return build_end(&b);
}

/*
 * Where the thread that copies launches nothing, what it copies after other data is no part of
 * that.
 */
static void test_batches_without_launches(void **state)
{
	struct gp_model *models[] = {fetch_results(), copy_from_a_thread()};

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct gp_advice advice = ask(&models[i], 1);
		const struct gp_finding *found = find(&advice, "data-loading");

		assert_non_null(found);
		assert_non_null(strstr(
			found->found,
			"until the host copies 1.000MiB to it; meanwhile the host was in no recorded call from "));
		gp_advice_free(&advice);
		gp_model_free(models[i]);
	}
}

/*
 * Of looks at Python those count that fell between the calls, and these say so; nobody need record
 * the calls' stacks to know.
 */
static void test_what_the_host_did(void **state)
{
	struct gp_model *model = load_data(21, MS);
	struct build b = {.model = model};
	struct gp_sample samples[3] = {{.thread_id = 100, .count = 1},
				       {.thread_id = 100, .count = 1},
				       {.thread_id = 100, .count = 1}};
	const struct gp_finding *found;
	struct gp_advice advice = ask(&model, 1);

	assert_null(strstr(find(&advice, "data-loading")->found, "load_batch"));
	assert_true(advice.lacks_stacks);
	gp_advice_free(&advice);
	samples[0].stack = samples[2].stack =
		build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "load_batch", 11);
	samples[1].stack = build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "copy", 12);
	build_stacks_end(&b);
	/* two before a copy's call, and one in it, however near to them */
	for (uint32_t i = 0; i < 3; i++) {
		const struct gp_call *copy = &model->calls[2 * i + 3];

		samples[i].start_ns = samples[i].end_ns =
			i == 1 ? copy->start_ns + MS / 2 : copy->start_ns - MS / 2;
	}
	model->samples = samples;
	model->sample_count = 3;
	advice = ask(&model, 1);
	found = find(&advice, "data-loading");
	assert_non_null(strstr(
		found->found,
		"copies 1.000MiB to it; meanwhile, in 2 samples, the host was in load_batch (pipe.py:11) 2 times"));
	assert_null(strstr(found->found, "in copy"));
	assert_true(found->names_place);
	assert_false(advice.lacks_stacks);
	gp_advice_free(&advice);
	/* the last one was in the call before, which waited */
	model->calls[6].duration_ns = 20000 + MS + MS * 3 / 4;
	advice = ask(&model, 1);
	assert_non_null(strstr(find(&advice, "data-loading")->found,
			       "in 1 sample, the host was in load_batch (pipe.py:11) once"));
	gp_advice_free(&advice);
	model->samples = NULL; /* our own */
	gp_model_free(model);
}

/*
 * In each of twenty times one look, so many of which find a compiler at work, or no more than a
 * function of the program's; by turns in so many threads.
 */
static struct gp_model *sample_before_copies(struct build b, uint32_t threads, uint32_t load,
					     uint32_t compiling, uint32_t compile)
{
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= 20; i++) {
		uint32_t thread = 100 + i % threads, index;
		struct gp_op *op;

		build_call(&b, thread, BUILD_LAUNCH, at_ns, 10000, 2 * i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + MS, 2 * i);
		index = BUILD_GROW(&b, samples, sample_count);
		b.model->samples[index] =
			build_sample(thread, i <= compiling ? compile : load, 0, 0);
		b.model->samples[index].start_ns = b.model->samples[index].end_ns = at_ns + 5 * MS;
		at_ns += 11 * MS;
		build_call(&b, thread, 31, at_ns, 100000, 2 * i + 1);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 10000, at_ns + 100000, 2 * i + 1);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 1 << 20;
		at_ns += 110000;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static struct gp_model *load_with_samples(uint32_t threads, uint32_t compiling,
					  const char *compiler)
{
	struct build b = build_begin(1);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "load_batch", 11);

	return sample_before_copies(b, threads, load, compiling,
				    build_python(&b, load, compiler, "f", 2));
}

/* In a function of the program's instead, beside one that loads. */
static struct gp_model *build_with_samples(const char *function, uint32_t building)
{
	struct build b = build_begin(1);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "load_batch", 11);

	return sample_before_copies(
		b, 1, load, building,
		build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", function, 12));
}

/* What comes then is a copy by chance: what helps is a cache of what was compiled. */
static void test_compiling_is_no_loading(void **state)
{
	for (uint32_t compiling = 9; compiling <= 10; compiling++) {
		struct gp_model *model =
			load_with_samples(1, compiling, "/x/cupy/cuda/compiler.py");
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "gpu-gaps");

		assert_true((find(&advice, "data-loading") != NULL) == (compiling == 9));
		assert_true((found != NULL) == (compiling == 10));
		assert_true(!found || strstr(found->change, "CUPY_CACHE_DIR"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * A result is copied back, the host works for 10 ms, and the next data is copied; the samples are of
 * another line of the function that read the result, or of one that loads.
 */
static struct gp_model *work_with_results(bool with_result)
{
	struct build b = build_begin(1);
	uint32_t read = build_python(&b, BUILD_OUTERMOST, "/home/me/metrics.py", "update", 20);
	uint32_t count = build_python(&b, BUILD_OUTERMOST, "/home/me/metrics.py", "update", 22);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "load_batch", 11);
	uint32_t step = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 39);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= 20; i++) {
		uint32_t sample = BUILD_GROW(&b, samples, sample_count);
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, 3 * i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + MS, 3 * i);
		build_call(&b, 100, 31, at_ns + MS, 200000, 3 * i + 1);
		build_stack_of_last(&b, read);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + MS, at_ns + MS + 190000, 3 * i + 1);
		op->copy_kind = GP_COPY_DTOH;
		op->bytes = 1 << 20;
		at_ns += 11 * MS;
		b.model->samples[sample] = build_sample(100, with_result ? count : load, 0, 0);
		b.model->samples[sample].start_ns = b.model->samples[sample].end_ns =
			at_ns - 5 * MS;
		build_call(&b, 100, 31, at_ns, 100000, 3 * i + 2);
		build_stack_of_last(&b, step);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 10000, at_ns + 100000, 3 * i + 2);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 1 << 20;
		at_ns += 110000;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/* A faster loader would not help. */
static void test_work_with_results_is_no_loading(void **state)
{
	for (int with_result = 0; with_result <= 1; with_result++) {
		struct gp_model *model = work_with_results(with_result);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "gpu-gaps");

		assert_true((find(&advice, "data-loading") != NULL) == !with_result);
		assert_true((found != NULL) == with_result);
		assert_true(!found || strstr(found->change, "compute this on the GPU"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* By the same time, the host builds what it copies in a function that is no loader's. */
static void test_building_is_no_loading(void **state)
{
	for (uint32_t building = 9; building <= 20; building += 11) {
		struct gp_model *model = build_with_samples("make_mask", building);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *loading = find(&advice, "data-loading");
		const struct gp_finding *found = find(&advice, "gpu-gaps");

		assert_true((loading != NULL) == (building == 9));
		assert_true((found != NULL) == (building == 20));
		found = found ? found : loading;
		assert_in_range(found->saves_ns, 19 * 10 * MS, 19 * 11 * MS);
		assert_non_null(strstr(found->found, "in make_mask (pipe.py:12)"));
		assert_true((strstr(found->change, ", on the GPU, or in another") != NULL) ==
			    (building == 20));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* XLA copies in threads of its own, which are no server's. */
static void test_threads_of_jax_wait_for_no_requests(void **state)
{
	static const char *const libraries[] = {"/x/site-packages/jax/_src/array.py",
						"/home/me/serve.py"};

	for (size_t i = 0; i < 2; i++) {
		struct gp_model *model = load_with_samples(3, 20, libraries[i]);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "data-loading");

		assert_non_null(found);
		assert_non_null(strstr(found->found, ", in several threads alternately"));
		assert_true((strstr(found->change, "wait for requests") != NULL) == (i == 1));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * The host waits for a kernel, is in a range for 3 ms or in none, and copies a batch, which is
 * untouched; every second batch is larger.
 */
static struct gp_model *copy_after(const char *range)
{
	struct build b = build_begin(1);
	uint32_t wait = build_python(&b, BUILD_OUTERMOST, "main.py", "wait", 28);
	uint32_t copy = build_python(&b, BUILD_OUTERMOST, "main.py", "copy", 23);

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t at_ns = (1 + 4ull * i) * MS;
		struct gp_op *op;

		build_call(&b, 100, 31, at_ns, 50000, 2 * i + 1);
		build_stack_of_last(&b, copy);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 1000, at_ns + 50000, 2 * i + 1);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = (i % 2 + 1) << 20;
		build_call(&b, 100, BUILD_LAUNCH, at_ns + 60000, 10000, 2 * i + 2);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 70000, at_ns + MS, 2 * i + 2);
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 80000, MS - 75000, 0);
		build_stack_of_last(&b, wait);
		if (range)
			build_range(&b, 100, range, at_ns + MS + 10000, at_ns + 4 * MS - 10000);
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/*
 * Then nothing is said of data that is prepared; who samples is named where no range says what it
 * was.
 */
static void test_what_is_not_known_is_not_said(void **state)
{
	for (int named = 0; named <= 1; named++) {
		struct gp_model *model = copy_after(named ? "postprocess" : NULL);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "data-loading");
		char page[4000] = "";
		FILE *out = fmemopen(page, sizeof(page), "w");

		assert_non_null(found);
		assert_non_null(out);
		assert_non_null(strstr(found->found, "copies between 1.000MiB and 2.000MiB to it"));
		assert_non_null(strstr(
			found->found,
			named ? "; meanwhile the host was in range postprocess; in no recorded call from cudaDeviceSynchronize at wait (main.py:28) to cudaMemcpy at copy (main.py:23)"
			      : "; meanwhile the host was in no recorded call from cudaDeviceSynchronize at wait (main.py:28) to cudaMemcpy at copy (main.py:23)"));
		assert_null(strstr(found->found, "has made"));
		assert_true(strncmp(found->change, "if the host prepares", 20) == 0);
		assert_true((strstr(found->change, "` shows the host's work") == NULL) == named);
		/* there is room for both lines, or for the range */
		gp_advice_print_brief(out, &advice, 4, 2);
		assert_int_equal(fclose(out), 0);
		assert_non_null(strstr(page, "wait (main.py:28) to"));
		assert_non_null(strstr(page, "copy (main.py:23)"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * A thread fetches 64 KiB, for 10 ms, and this one asks every now and then whether it has; then it
 * copies them and clears memory behind them.  However little that is, it is not this thread's work
 * that is to go elsewhere.
 */
static void test_a_thread_that_polls_for_data(void **state)
{
	struct build b = build_begin(1);
	uint32_t poll = build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "consume", 15);
	uint32_t fetch = build_python(&b, BUILD_OUTERMOST, "/home/me/pipe.py", "fetch", 8);
	uint32_t first = BUILD_GROW(&b, samples, sample_count);
	uint32_t second = BUILD_GROW(&b, samples, sample_count);
	const struct gp_finding *found;
	struct gp_advice advice;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpyAsync", GP_API_COPY);
	build_api(&b, 32, "cudaMemsetAsync", GP_API_MEMSET);
	for (uint32_t i = 1; i <= 40; i += 2) {
		uint64_t at_ns = 6ull * i * MS;
		struct gp_op *op;

		build_call(&b, 100, 31, at_ns, 10000, i);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 5000, at_ns + 15000, i);
		op->copy_kind = GP_COPY_HTOD;
		op->bytes = 65536;
		build_call(&b, 100, 32, at_ns + 20000, 10000, i + 1);
		build_op(&b, GP_OP_SET, 7, at_ns + 35000, at_ns + 2 * MS, i + 1);
	}
	b.model->samples[first] = build_sample(100, poll, 0, 240);
	b.model->samples[second] = build_sample(101, fetch, 0, 240);
	b.model->samples[first].count = b.model->samples[second].count = 25;
	build_stacks_end(&b);
	b.model = build_end(&b);
	advice = ask(&b.model, 1);
	found = find(&advice, "data-loading");
	assert_non_null(found);
	assert_non_null(strstr(found->found, "until the host copies 64.00KiB to it"));
	assert_non_null(strstr(found->found, "another thread was in fetch (pipe.py:8) 19 times"));
	assert_null(strstr(found->found, "blocked"));
	assert_non_null(
		strstr(found->change, "if the host prepares the next data, do it in other"));
	assert_null(find(&advice, "gpu-gaps"));
	gp_advice_free(&advice);
	gp_model_free(b.model);
}

/* Nobody is told to have workers who has them. */
static void test_workers_that_load_data(void **state)
{
	for (int workers = 0; workers <= 1; workers++) {
		struct gp_model *model = load_data(20, MS);
		struct build b = {.model = model};
		const struct gp_finding *found;
		struct gp_advice advice;

		build_thread(&b, 7, workers ? "pt_data_pin" : "python3");
		advice = ask(&model, 1);
		found = find(&advice, "data-loading");
		assert_non_null(found);
		assert_true((strstr(found->change, "DataLoader's workers") != NULL) == workers);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Nor is somebody told so of another process's. */
static void test_workers_of_another_process(void **state)
{
	for (int both = 0; both <= 1; both++) {
		struct gp_model *models[] = {load_data(20, MS), load_data(20, both ? MS : 0)};
		struct build other = {.model = models[1]};
		const struct gp_finding *found;
		struct gp_advice advice;

		models[1]->pid = 2;
		models[1]->base_unix_ns += 70 * MS; /* the GPU is the first one's until it ends */
		build_thread(&other, 7, "pt_data_pin");
		advice = ask(models, 2);
		found = find(&advice, "data-loading");
		assert_non_null(found);
		assert_null(strstr(found->change, "DataLoader's workers"));
		gp_advice_free(&advice);
		gp_model_free(models[0]);
		gp_model_free(models[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_before_slow_copies),
		cmocka_unit_test(test_threads_that_take_turns),
		cmocka_unit_test(test_data_behind_a_wait),
		cmocka_unit_test(test_one_slow_batch),
		cmocka_unit_test(test_batches_without_launches),
		cmocka_unit_test(test_what_the_host_did),
		cmocka_unit_test(test_what_is_not_known_is_not_said),
		cmocka_unit_test(test_a_thread_that_polls_for_data),
		cmocka_unit_test(test_workers_that_load_data),
		cmocka_unit_test(test_compiling_is_no_loading),
		cmocka_unit_test(test_building_is_no_loading),
		cmocka_unit_test(test_work_with_results_is_no_loading),
		cmocka_unit_test(test_threads_of_jax_wait_for_no_requests),
		cmocka_unit_test(test_workers_of_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
