/* Copies that hold up the host: what is said of a few bytes, and of what can be saved. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US     1000u
#define TIMES  40
#define THREAD 100

/*
 * Copies of so many bytes to the host, 10 us each, in calls of 40 us; before each a kernel of so
 * long, of which the call waits for what is left of it after 10 us; and after it the host does
 * something else for 500 us.
 */
static struct gp_model *copy_back_after(uint64_t bytes, uint64_t kernel_ns, uint64_t launch_ns)
{
	struct build b = build_begin(1);
	uint64_t at_ns = 1000 * US;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= 2 * TIMES; i += 2) {
		uint64_t end_ns = at_ns + kernel_ns + 10 * US;
		struct gp_op *op;

		build_call(&b, THREAD, BUILD_LAUNCH, at_ns - launch_ns, 10 * US, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + kernel_ns, i);
		build_call(&b, THREAD, 31, at_ns + 10 * US, kernel_ns + 30 * US, i + 1);
		op = build_op(&b, GP_OP_COPY, 7, end_ns, end_ns + 10 * US, i + 1);
		op->copy_kind = 2; /* device to host */
		op->bytes = bytes;
		at_ns = end_ns + 530 * US;
	}
	return build_end(&b);
}

static struct gp_model *copy_back(uint64_t bytes, uint64_t kernel_ns)
{
	return copy_back_after(bytes, kernel_ns, 20 * US);
}

static void check(uint64_t bytes, uint64_t kernel_ns, const char *rule, const char *found_part,
		  const char *change_part, uint64_t saves_ns)
{
	struct gp_model *model = copy_back(bytes, kernel_ns);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, rule);

	assert_non_null(found);
	assert_non_null(strstr(found->found, found_part));
	assert_non_null(strstr(found->change, change_part));
	assert_int_equal(found->saves_ns, saves_ns);
	assert_true((strstr(found->found, "GB/s") != NULL) == (bytes > 4096));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void a_number_is_read_less_often(void **state)
{
	check(4, 10 * US, "sync-copy",
	      "synchronous DtoH copies block the host for 40.00us in each step (1 time, 4B)",
	      "read results less often", 1600 * US);
	check(1 << 16, 10 * US, "sync-copy", "; these at 6.554 GB/s",
	      "copy with cudaMemcpyAsync in a", 1600 * US);
}

/*
 * The calls have no stacks, and looks at Python's found its line while they were made: nobody need
 * record them to know.  Looks beside the calls tell nothing of them, nor do fewer than five.
 */
static void looks_in_the_calls_tell_the_line(void **state)
{
	static const struct {
		uint32_t looks;
		bool beside;
	} cases[] = {{401, false}, {31, false}, {401, true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = copy_back(4, 10 * US);
		struct build b = {.model = model};
		uint32_t line = build_python(&b, BUILD_OUTERMOST, "/home/me/loss.py", "step", 7);
		uint32_t index = BUILD_GROW(&b, samples, sample_count);
		const struct gp_finding *found;
		struct gp_advice advice;
		bool is_told = i == 0;

		build_stacks_end(&b);
		model->samples[index] = build_sample(THREAD, line, 0, 30);
		model->samples[index].count = cases[i].looks;
		if (cases[i].beside)
			model->samples[index].start_ns = 29999 * US;
		advice = ask(&model, 1);
		found = find(&advice, "sync-copy");
		assert_string_equal(found->place, is_told ? "step (loss.py:7)" : "");
		assert_true((strstr(found->found, "; the line is that of 13 Python samples") !=
			     NULL) == is_told);
		assert_true(advice.lacks_stacks == !is_told);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Of three lines of a function none has half of the looks: the function is told, and how the line
 * can be known.
 */
static void looks_at_several_lines_tell_the_function(void **state)
{
	struct gp_model *model = copy_back(4, 10 * US);
	struct build b = {.model = model};
	uint32_t first = model->sample_count;
	const struct gp_finding *found;
	struct gp_advice advice;

	for (uint8_t line = 0; line < 3; line++) {
		uint32_t stack =
			build_python(&b, BUILD_OUTERMOST, "/home/me/loss.py", "step", 7 + line);
		uint32_t index = BUILD_GROW(&b, samples, sample_count);

		model->samples[index] = build_sample(THREAD, stack, 10 * line, 10 * line + 10);
		model->samples[index].count = 134;
	}
	assert_int_equal(model->sample_count, first + 3);
	build_stacks_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "sync-copy");
	assert_string_equal(found->place, "step (loss.py)");
	assert_non_null(strstr(found->found, "; the function is that of "));
	assert_true(advice.lacks_stacks);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Asynchronous ones of pageable memory are no different. */
static void a_number_is_no_matter_of_bandwidth(void **state)
{
	struct gp_model *model = copy_back(4, 10 * US);
	const struct gp_finding *found;
	struct gp_advice advice;

	for (uint32_t i = 0; i < model->op_count; i++) {
		model->ops[i].flags |= GP_COPY_ASYNC;
		model->ops[i].destination_kind = GP_COPY_PAGEABLE;
	}
	advice = ask(&model, 1);
	found = find(&advice, "pageable-async");
	assert_non_null(found);
	assert_null(strstr(found->found, "GB/s"));
	assert_non_null(strstr(found->change, "read results less often"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Of 39 waits of 190 us: in the 40 steps that the saving is told of. */
static void what_can_be_saved_is_among_the_times_that_are_told(void **state)
{
	check(4, 200 * US, "hidden-wait",
	      "DtoH copies block the host for 185.2us in each step (1 time, 4B) while earlier kernels run; then the GPU waits for the host",
	      "read results less often", 7410 * US);
}

/*
 * To the device nothing is read: other data can be copied while the kernels run, into a second
 * buffer, from memory that is page-locked, or is to be.
 */
static void what_is_copied_to_the_device_need_not_wait(void **state)
{
	static const struct {
		uint8_t memory;
		const char *recorder;
		const char *change;
	} cases[] = {
		{GP_COPY_PINNED, NULL,
		 "copy the next data with cudaMemcpyAsync, in its own stream and into a second buffer, while these kernels run"},
		{GP_COPY_PAGEABLE, NULL,
		 "copy the next data with cudaMemcpyAsync from page-locked memory (cudaMallocHost), in its own stream and into a second buffer, while these kernels run"},
		{GP_COPY_PAGEABLE, "torch.profiler",
		 "copy the next data from page-locked memory (pin_memory=True) with .to(\"cuda\", non_blocking=True) while these kernels run, in its own stream (torch.cuda.Stream())"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = copy_back(1 << 20, 200 * US);
		const struct gp_finding *found;
		struct gp_advice advice;

		for (uint32_t k = 0; k < model->op_count; k++) {
			model->ops[k].copy_kind = GP_COPY_HTOD;
			model->ops[k].source_kind = cases[i].memory;
			model->ops[k].destination_kind = GP_COPY_DEVICE;
		}
		model->recorder = cases[i].recorder;
		advice = ask(&model, 1);
		found = find(&advice, "hidden-wait");
		assert_non_null(found);
		assert_int_equal(found->count, 39);
		assert_non_null(strstr(found->found, "HtoD copies block the host for 185."));
		assert_string_equal(found->change, cases[i].change);
		gp_advice_free(&advice);
		model->recorder = NULL;
		gp_model_free(model);
	}
}

/*
 * The next kernel is launched 20 us after the copy's call, and begins 470 us later, as where
 * another process has the GPU: that is not the host's.
 */
static void what_was_launched_does_not_wait_for_the_host(void **state)
{
	struct gp_model *model = copy_back_after(4, 200 * US, 480 * US);
	const struct gp_finding *found;
	struct gp_advice advice;

	advice = ask(&model, 1);
	found = find(&advice, "hidden-wait");
	assert_non_null(found);
	assert_in_range(found->saves_ns, 39 * 45 * US, 39 * 65 * US);
	assert_int_equal(found->time_ns, 39 * 190 * US);
	assert_int_equal(value_of(found, "calls_ns"), 39 * 230 * US);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Copies of pageable memory by three threads, each from 100 us after the one before it: 600 us of
 * every 1000, in calls of 400 us.
 */
static void threads_that_copy_at_once_save_the_time_once(void **state)
{
	struct build b = build_begin(1);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;
	uint32_t id = 0;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpyAsync", GP_API_COPY);
	for (uint64_t i = 0; i < TIMES; i++)
		for (uint32_t thread = 0; thread < 3; thread++) {
			uint64_t at_ns = (1 + i) * 1000 * US + thread * 100 * US;
			struct gp_op *op;

			build_call(&b, THREAD + thread, 31, at_ns, 400 * US, ++id);
			op = build_op(&b, GP_OP_COPY, 7 + thread, at_ns + 10 * US, at_ns + 390 * US,
				      id);
			op->copy_kind = GP_COPY_HTOD;
			op->source_kind = GP_COPY_PAGEABLE;
			op->flags = GP_COPY_ASYNC;
			op->bytes = 1 << 20;
		}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "pageable-async");
	assert_non_null(found);
	assert_int_equal(found->count, 3 * TIMES);
	assert_int_equal(found->time_ns, 3ull * TIMES * 400 * US);
	/* and 10 us that two of the calls wait for the copies of others */
	assert_in_range(found->saves_ns, TIMES * 600ull * US, TIMES * 620ull * US);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* In each of so many steps a kernel, and two arrays that a line of that library's copies to the host. */
static struct gp_model *fetch_arrays(const char *library)
{
	struct build b = build_begin(1);
	uint32_t stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 7);
	uint64_t at_ns = 1000 * US;
	uint32_t id = 0;

	stack = build_python(&b, stack, library, "f", 2);
	build_device(&b, 0, "GPU");
	build_name(&b, "k");
	build_api(&b, 31, "cudaMemcpyAsync", GP_API_COPY);
	for (uint32_t i = 0; i < TIMES; i++, at_ns += 100 * US) {
		build_call(&b, THREAD, BUILD_LAUNCH, at_ns, 10 * US, ++id);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + 60 * US, id)->name = 0;
		at_ns += 100 * US;
		for (uint32_t k = 0; k < 2; k++, at_ns += 400 * US) {
			struct gp_op *op;

			build_call(&b, THREAD, 31, at_ns, 400 * US, ++id);
			build_stack_of_last(&b, stack);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 10 * US, at_ns + 390 * US, id);
			op->copy_kind = GP_COPY_DTOH;
			op->destination_kind = GP_COPY_PAGEABLE;
			op->flags = GP_COPY_ASYNC;
			op->bytes = (k + 1) << 20;
		}
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/* What is fetched, and what a program of that library can do: not with functions of CUDA. */
static void arrays_are_fetched_in_each_step(void **state)
{
	static const struct {
		const char *library, *found, *change;
	} cases[] = {
		{"/x/site-packages/jax/_src/array.py",
		 "each step fetches 2 arrays (3.000MiB together) to pageable memory, which blocks the host for 800.0us",
		 "compute on the device what the host makes of it (jax.numpy"},
		{"/x/site-packages/torch/_tensor.py",
		 "each step fetches 2 arrays (3.000MiB together) to pageable memory, which blocks the host for 800.0us",
		 "compute on the GPU what the host makes of it, and fetch the result, or copy to page-locked memory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = fetch_arrays(cases[i].library);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "pageable-async");

		assert_non_null(found);
		assert_non_null(strstr(found->found, cases[i].found));
		assert_null(strstr(found->found, "not asynchronous"));
		assert_int_equal(strncmp(found->change, cases[i].change, strlen(cases[i].change)),
				 0);
		assert_null(strstr(found->change, "cudaMallocHost"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Two copies of so many bytes in a second each, of a link of 16 GB/s, and 7 s of other work, for
 * which 100 MB of page-locked memory may have been allocated in so long.
 */
static struct gp_advice copy_twice(uint64_t bytes, uint8_t memory, bool link_is_known,
				   uint64_t locking_ms, struct gp_model **model)
{
	static struct gp_record_link link = {
		.device_id = 0, .generation = 3, .lanes = 16, .link_kind = GP_LINK_PCIE};
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= 2; i++) {
		uint64_t at_ns = i * 1010000ull * US;
		struct gp_op *op;

		build_call(&b, THREAD, 31, at_ns - 10 * US, 1000020ull * US, i);
		op = build_op(&b, GP_OP_COPY, 7, at_ns, at_ns + 1000000ull * US, i);
		op->copy_kind = GP_COPY_DTOH;
		op->source_kind = GP_COPY_DEVICE;
		op->destination_kind = memory;
		op->bytes = bytes;
	}
	build_call(&b, THREAD, BUILD_LAUNCH, 3100000ull * US, 10 * US, 3);
	build_op(&b, GP_OP_KERNEL, 7, 3101000ull * US, 10101000ull * US, 3);
	build_call(&b, THREAD, BUILD_DEVICE_SYNC, 3102000ull * US, 6999010ull * US, 4);
	if (locking_ms > 0) {
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 3102000ull * US, 0x1000,
			     100000000);
		b.model->calls[b.model->call_count - 1].duration_ns = locking_ms * 1000 * US;
	}
	if (link_is_known) {
		b.model->links = &link;
		b.model->link_count = 1;
	}
	*model = build_end(&b);
	return ask(model, 1);
}

/*
 * Few copies are input and output, but for what takes longer than with page-locked memory, which
 * takes 0.5 s a GB to be allocated, or as long as the program's own.
 */
static void few_slow_copies_are_told(void **state)
{
	static const struct {
		uint64_t bytes;
		uint8_t memory;
		bool link_is_known;
		uint64_t locking_ms, saves_ms; /* 0: it is not told */
		const char *change;
	} cases[] = {
		{800000000, GP_COPY_PAGEABLE, true, 0, 1098,
		 "allocated once: 0.5 s for each GB of it are subtracted"},
		{800000000, GP_COPY_PAGEABLE, false, 0, 0, NULL},
		{800000000, GP_COPY_PINNED, true, 0, 0, NULL},
		{1000000000, GP_COPY_PAGEABLE, true, 0, 0, NULL},
		{2000000000, GP_COPY_PAGEABLE, true, 0, 0, NULL},
		{800000000, GP_COPY_PAGEABLE, true, 20, 1578,
		 "allocated once: 0.2 s for each GB of it, as measured in this program, are subtracted"},
		{800000000, GP_COPY_PAGEABLE, true, 90, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model;
		struct gp_advice advice =
			copy_twice(cases[i].bytes, cases[i].memory, cases[i].link_is_known,
				   cases[i].locking_ms, &model);
		const struct gp_finding *found = find(&advice, "sync-copy");

		assert_true((found != NULL) == (cases[i].saves_ms > 0));
		if (found) {
			assert_string_equal(
				found->found,
				"2 synchronous DtoH copies, 1.490GiB in all, blocked the host for 2.000s; all of pageable memory; these at 0.800 GB/s, 5.1 % of the link's peak");
			assert_int_equal(found->saves_ns / 1000 / US, cases[i].saves_ms);
			assert_non_null(
				strstr(found->change,
				       "page-locked memory (cudaMallocHost), allocated once"));
			assert_non_null(strstr(found->change, cases[i].change));
		}
		gp_advice_free(&advice);
		model->links = NULL;
		model->link_count = 0;
		gp_model_free(model);
	}
}

/*
 * Of page-locked copies one after the other, 1 ms each in a call of 1.02 ms, no more can be hidden
 * than there is beside them, from 100 us to 2 ms each; of pageable ones what they take more than
 * the link's peak, 0.1 ms, is saved as well.
 */
static void no_more_is_hidden_than_there_is_beside(void **state)
{
	static struct gp_record_link link = {
		.device_id = 0, .generation = 3, .lanes = 16, .link_kind = GP_LINK_PCIE};
	static const struct {
		uint8_t memory;
		uint64_t beside_us, saves_us;
	} cases[] = {
		{GP_COPY_PINNED, 100, TIMES * (20 + 100)},
		{GP_COPY_PINNED, 2000, TIMES * 1020},
		{GP_COPY_PAGEABLE, 50, TIMES * (1020 - 100 + 50)},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&b, 0, "GPU");
		build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
		for (uint32_t k = 1; k <= TIMES; k++) {
			uint64_t at_ns = k * (1020 + cases[i].beside_us) * US;
			struct gp_op *op;

			build_call(&b, THREAD, 31, at_ns, 1020 * US, k);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 20 * US, at_ns + 1020 * US, k);
			op->copy_kind = GP_COPY_DTOH;
			op->source_kind = GP_COPY_DEVICE;
			op->destination_kind = cases[i].memory;
			op->bytes = 1575385; /* 0.1 ms at 15.75 GB/s */
		}
		b.model->links = &link;
		b.model->link_count = 1;
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "sync-copy");
		assert_non_null(found);
		assert_in_range(found->saves_ns / US, cases[i].saves_us - 20,
				cases[i].saves_us + 20);
		assert_true(found->saves_in_loop_ns <= found->saves_ns);
		gp_advice_free(&advice);
		model->links = NULL;
		model->link_count = 0;
		gp_model_free(model);
	}
}

/*
 * In each of a few passes, two copies of different sizes to the device and a kernel, and so long
 * the host does something of its own.
 */
static struct gp_model *copy_two_again(uint32_t passes, uint64_t host_us)
{
	static const uint64_t bytes[] = {512u << 20, 1u << 20};
	struct build b = build_begin(1);
	uint32_t id = 0;
	uint64_t at_ns = 1000 * US;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 0; i < passes; i++) {
		for (size_t k = 0; k < 2; k++) {
			struct gp_op *op;

			build_call(&b, THREAD, 31, at_ns, 80000 * US, ++id);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 100 * US, at_ns + 80000 * US, id);
			op->copy_kind = GP_COPY_HTOD;
			op->source_kind = GP_COPY_PAGEABLE;
			op->destination_kind = GP_COPY_DEVICE;
			op->bytes = bytes[k];
			at_ns += 80000 * US;
		}
		build_call(&b, THREAD, BUILD_LAUNCH, at_ns, 10 * US, ++id);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20 * US, at_ns + 500 * US, id);
		build_call(&b, THREAD, BUILD_DEVICE_SYNC, at_ns + 10 * US, 500 * US, 0);
		at_ns += (600 + host_us) * US;
	}
	return build_end(&b);
}

/*
 * Which of them is the last one matters not; three of 80 ms are enough, and each of the sizes
 * counts for itself; in 20 ms 512 MiB are written, and 1 MiB.
 */
static void of_several_copies_each_may_come_again(void **state)
{
	static const struct {
		uint32_t passes;
		uint64_t host_us;
		uint32_t count; /* of each; 0: none is told */
	} cases[] = {{4, 10, 3}, {3, 10, 0}, {6, 20000, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = copy_two_again(cases[i].passes, cases[i].host_us);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "repeated-copy");

		assert_true((found != NULL) == (cases[i].count > 0));
		if (found) {
			assert_non_null(strstr(found->found, "3 copies of "));
			assert_in_range(found->saves_ns / US, 3 * 79000, 3 * 80000);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* The image goes up and comes back in each step: faster copies help less than none. */
static void what_goes_both_ways_can_stay_on_the_gpu(void **state)
{
	static const struct {
		uint64_t back_bytes;
		uint32_t each; /* it comes back in each step, or each third */
		bool stays;
	} cases[] = {{1 << 20, 1, true}, {1 << 19, 1, false}, {1 << 20, 3, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;
		uint64_t at_ns = 1000 * US;
		uint32_t id = 0;

		build_device(&b, 0, "GPU");
		build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
		for (uint32_t k = 0; k < 2 * TIMES; k++, at_ns += 1000 * US) {
			bool is_back = k % 2;
			struct gp_op *op;

			if (is_back && k / 2 % cases[i].each != 0)
				continue;
			build_call(&b, THREAD, 31, at_ns, 400 * US, ++id);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 10 * US, at_ns + 390 * US, id);
			op->copy_kind = is_back ? GP_COPY_DTOH : GP_COPY_HTOD;
			op->source_kind = is_back ? GP_COPY_DEVICE : GP_COPY_PAGEABLE;
			op->destination_kind = is_back ? GP_COPY_PAGEABLE : GP_COPY_DEVICE;
			op->bytes = is_back ? cases[i].back_bytes : 1 << 20;
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "sync-copy");
		assert_non_null(found);
		assert_int_equal(value_of(found, "is_both_ways"), cases[i].stays);
		assert_int_equal(strncmp(found->change, "keep the data on the GPU", 24) == 0,
				 cases[i].stays);
		assert_non_null(strstr(found->change, "page-locked memory"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_read_less_often),
		cmocka_unit_test(looks_in_the_calls_tell_the_line),
		cmocka_unit_test(looks_at_several_lines_tell_the_function),
		cmocka_unit_test(a_number_is_no_matter_of_bandwidth),
		cmocka_unit_test(what_can_be_saved_is_among_the_times_that_are_told),
		cmocka_unit_test(what_is_copied_to_the_device_need_not_wait),
		cmocka_unit_test(what_was_launched_does_not_wait_for_the_host),
		cmocka_unit_test(few_slow_copies_are_told),
		cmocka_unit_test(what_goes_both_ways_can_stay_on_the_gpu),
		cmocka_unit_test(of_several_copies_each_may_come_again),
		cmocka_unit_test(no_more_is_hidden_than_there_is_beside),
		cmocka_unit_test(arrays_are_fetched_in_each_step),
		cmocka_unit_test(threads_that_copy_at_once_save_the_time_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
