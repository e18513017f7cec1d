/* What takes time before the first operation: what is told of the program's own part. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/* Two calls with so long between them, and a kernel for a second; load() calls the second one. */
static struct build wait(uint64_t between_ns)
{
	struct build b = build_begin(1);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "load", 7);

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_MALLOC, 0, MS, 0);
	build_call(&b, 100, BUILD_LAUNCH, MS + between_ns, MS, 1);
	build_stack_of_last(&b, load);
	build_op(&b, GP_OP_KERNEL, 7, 2 * MS + between_ns, 1002 * MS + between_ns, 1)->name = 0;
	build_call(&b, 100, BUILD_DEVICE_SYNC, 3 * MS + between_ns, 1000 * MS, 0);
	return b;
}

/* NULL: nothing is to be told, no part is to be absent, or the place may be any. */
static void check_all(struct build *b, const char *found_part, const char *absent,
		      const char *place)
{
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_stacks_end(b);
	model = build_end(b);
	advice = ask(&model, 1);
	found = find(&advice, "start-up");
	assert_int_equal(found != NULL, found_part != NULL);
	if (found) {
		assert_non_null(strstr(found->found, found_part));
		assert_true(!absent || !strstr(found->found, absent));
		assert_true(found->rule->is_once);
		if (place)
			assert_string_equal(found->place, place);
	}
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void check_parts(struct build *b, const char *found_part, const char *absent)
{
	check_all(b, found_part, absent, NULL);
}

static void check(struct build *b, const char *found_part)
{
	check_parts(b, found_part, NULL);
}

static void the_calls_around_the_longest_time_are_named(void **state)
{
	struct build b = wait(400 * MS);

	check(&b,
	      "for 400.0ms of 402.0ms, the program was in no recorded CUDA call; the longest time between calls is 400.0ms, from cudaMalloc to cudaLaunchKernel at load (train.py:7)");
}

/* Another thread launches, as a worker does; a third one's call is no time of the program's own. */
static void calls_of_all_threads_count(void **state)
{
	struct build b = wait(400 * MS);

	b.model->calls[1].thread_id = 101;
	build_call(&b, 102, BUILD_MALLOC, 11 * MS, 50 * MS, 0);
	check(&b,
	      "for 350.0ms of 402.0ms, the program was in no recorded CUDA call; the longest time between calls is 340.0ms, from cudaMalloc to cudaLaunchKernel at load");
}

static void looks_at_python_tell_more(void **state)
{
	struct build b = wait(400 * MS);
	uint32_t read = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "read", 3);
	uint32_t index = BUILD_GROW(&b, samples, sample_count);

	b.model->samples[index] = build_sample(100, read, 20, 380);
	check(&b, "no recorded CUDA call; meanwhile the host was in read (train.py:3) for");
}

/*
 * What helps is of what the looks found: a cache of what was compiled, fewer imports, or to do it
 * elsewhere.
 */
static void what_helps_is_of_what_was_seen(void **state)
{
	static const struct {
		const char *file, *function, *change;
	} cases[] = {
		{"/x/cupy/cuda/compiler.py", "f", "keep CUPY_CACHE_DIR"},
		{"<frozen importlib._bootstrap>", "_find_and_load",
		 "import only the needed modules (python3 -X importtime lists"},
		{"/home/me/train.py", "read",
		 "let the GPU begin with work that does not need this host work"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = wait(400 * MS);
		uint32_t main = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 9);
		uint32_t index = BUILD_GROW(&b, samples, sample_count);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		b.model->samples[index] = build_sample(
			100, build_python(&b, main, cases[i].file, cases[i].function, 3), 20, 380);
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "start-up");
		assert_non_null(found);
		assert_non_null(strstr(found->change, cases[i].change));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * From 20 to 380 ms: looks at two lines of a function by turns; or again and again at one of them.
 */
static void look_on(struct build *b, uint32_t thread, const uint32_t lines[2], bool moves)
{
	for (uint64_t at_ms = 20; at_ms <= 380; at_ms += 20) {
		uint32_t index = BUILD_GROW(b, samples, sample_count);
		bool is_second = moves && at_ms % 40 == 0;

		b->model->samples[index] =
			build_sample(thread, lines[is_second], at_ms, moves ? at_ms : 380);
		if (!moves)
			break;
	}
}

/*
 * One that computes may keep the others from running; one that waits does not, nor one that is in a
 * call of what is not Python's, as time.sleep is; nor is one kept from running that waits itself,
 * and who waits for a process waits for no thread.
 */
static void another_thread_of_python_s_is_told(void **state)
{
	static const struct {
		const char *own_file, *own, *file, *function;
		bool moves;
		const char *found_part, *absent;
	} cases[] = {
		{"/home/me/train.py", "read", "/home/me/data.py", "parse", true,
		 "; another thread was in parse (data.py:6) for 180.0ms (all lines: 360.0ms), and may have blocked this one",
		 "busiest"},
		{"/home/me/train.py", "read", "/usr/lib/python3.12/threading.py", "Condition.wait",
		 true, "read (train.py:3) for", "another"},
		{"/home/me/train.py", "read", "/home/me/data.py", "parse", false,
		 "; another thread was in parse (data.py:6) for 360.0ms, at the same instruction in each sample (a long call, or a short loop)",
		 "blocked"},
		{"/usr/lib/python3.12/threading.py", "Condition.wait",
		 "/usr/lib/python3.12/multiprocessing/pool.py", "Pool._handle_tasks", false,
		 "the host was waiting in Condition.wait (threading.py) for 360.0ms; all other Python threads waited, too, for example for a process or for external data",
		 "another"},
		{"/usr/lib/python3.12/queue.py", "Queue.get", "/home/me/data.py", "parse", true,
		 "; another thread was in parse (data.py:6) for 180.0ms (all lines: 360.0ms); meanwhile the host was waiting in Queue.get (queue.py) for 360.0ms",
		 "blocked"},
		{"/usr/lib/python3.12/subprocess.py", "Popen._try_wait", "/home/me/data.py",
		 "parse", true, "waiting in Popen._try_wait (subprocess.py) for 360.0ms",
		 "another"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = wait(400 * MS);
		uint32_t own =
			build_python(&b, BUILD_OUTERMOST, cases[i].own_file, cases[i].own, 3);
		const uint32_t lines[] = {
			build_python(&b, BUILD_OUTERMOST, cases[i].file, cases[i].function, 6),
			build_python(&b, BUILD_OUTERMOST, cases[i].file, cases[i].function, 7),
		};
		uint32_t first = BUILD_GROW(&b, samples, sample_count);

		b.model->samples[first] = build_sample(100, own, 20, 380);
		look_on(&b, 101, lines, cases[i].moves);
		check_parts(&b, cases[i].found_part, cases[i].absent);
	}
}

/* Their times are not added: no more is told than one of them can have. */
static void of_several_others_the_busiest_is_told(void **state)
{
	struct build b = wait(400 * MS);
	uint32_t read = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "read", 3);
	uint32_t parse = build_python(&b, BUILD_OUTERMOST, "/home/me/data.py", "parse", 6);
	uint32_t first = BUILD_GROW(&b, samples, sample_count);

	b.model->samples[first] = build_sample(100, read, 20, 380);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t index = BUILD_GROW(&b, samples, sample_count);

		b.model->samples[index] = build_sample(101 + i, parse, 20, 300 + 10 * i);
	}
	check(&b, "; another thread, the busiest of 8, was in parse (data.py:6) for 350.0ms, ");
}

/*
 * A thread of the library's own, as PyTorch's of a backward pass, has no stack of Python's: the
 * main thread is told, and once.
 */
static void a_thread_is_not_its_own_other(void **state)
{
	struct build b = wait(400 * MS);
	uint32_t backward = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "backward", 3);
	uint32_t index = BUILD_GROW(&b, samples, sample_count);

	b.model->pid = 99;
	b.model->samples[index] = build_sample(99, backward, 20, 380);
	check_parts(&b, "meanwhile the host was in backward (train.py:3) for", "another");
}

/* The first call allocates for 300 ms; it may have made the context first, for 120 of these. */
static struct build lock(bool makes_context)
{
	struct build b = wait(400 * MS);
	struct gp_call *call = &b.model->calls[0];
	uint32_t index = BUILD_GROW(&b, memory, memory_count);

	call->duration_ns = 300 * MS;
	call->memory = index;
	call->correlation_id = 9;
	b.model->memory[index] = (struct gp_memory_event){.time_ns = 300 * MS,
							  .bytes = 2ull << 30,
							  .other = GP_NONE,
							  .op = GP_MEMORY_ALLOC,
							  .memory_kind = GP_MEMORY_PINNED};
	if (makes_context) {
		build_context_made_by(&b, 1, 7, 9);
		build_overhead(&b, 3u << 16, 110 * MS, 120 * MS);
		b.model->overheads[0].thread_id = call->thread_id;
	}
	return b;
}

static void page_locked_memory_takes_its_time(void **state)
{
	struct build alone = lock(false), first = lock(true), device = lock(false);
	struct build placed = lock(false);

	placed.model->calls[0].stack = placed.model->calls[1].stack;
	check_all(&placed, "allocating 2.000GiB of page-locked memory took", NULL,
		  "load (train.py:7)");
	check(&alone, "allocating 2.000GiB of page-locked memory took 300.0ms before the first");
	check(&first, "allocating 2.000GiB of page-locked memory took 180.0ms before the first");
	device.model->memory[0].memory_kind = GP_MEMORY_DEVICE;
	check_parts(
		&device,
		"until the first operation, for 101.0ms of 402.0ms, the program was in no recorded CUDA call",
		"page-locked");
}

/*
 * 2 GiB in 300 ms: where they are copied once, none of it is needed; twice, and a thread can lock
 * them in the 101 ms that the rest takes.
 */
static void memory_that_is_copied_again_is_to_be_locked_meanwhile(void **state)
{
	for (uint32_t times = 1; times <= 2; times++) {
		struct build b = lock(false);
		struct gp_model *model;
		const struct gp_finding *found;
		struct gp_advice advice;

		for (uint32_t i = 0; i < times; i++) {
			struct gp_op *op =
				build_op(&b, GP_OP_COPY, 7, (1100 + i) * MS, (1101 + i) * MS, 0);

			op->bytes = 2ull << 30;
			op->copy_kind = GP_COPY_HTOD;
			op->source_kind = GP_COPY_PINNED;
		}
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "start-up");
		assert_non_null(found);
		assert_int_equal(found->saves_ns, (times == 1 ? 300 : 102) * MS);
		assert_true((strstr(found->change, "in another thread") != NULL) == (times == 2));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Less than a fifth is not what it takes so long for. */
static void a_fifth_of_the_time_is_worth_a_word(void **state)
{
	static const struct {
		uint64_t between_ms, called_ms;
		const char *found_part;
	} cases[] = {
		{600, 475, "for 125.0ms of 602.0ms, the program was in no recorded CUDA call"},
		{600, 485, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = wait(cases[i].between_ms * MS);

		build_call(&b, 100, BUILD_MALLOC, MS, cases[i].called_ms * MS, 0);
		check(&b, cases[i].found_part);
	}
}

/* Operations before it may be in what cannot be read. */
static void what_was_first_nobody_knows_of_a_damaged_trace(void **state)
{
	struct build b = wait(400 * MS);

	b.model->losses.damaged_bytes = 1;
	check(&b, NULL);
}

static void what_is_short_is_nothing(void **state)
{
	struct build b = wait(90 * MS);

	check(&b, NULL);
}

/*
 * 100 to 300 ms are what a context takes: of 500 ms on it is told; the idle time of a process
 * beside it is told with it.
 */
static void a_context_that_takes_half_a_second_is_told(void **state)
{
	for (uint32_t ms = 499; ms <= 500; ms++) {
		struct build b = build_begin(1);

		build_api(&b, 98, "cudaIpcOpenEventHandle", GP_API_CONTROL);
		build_device(&b, 0, "GPU");
		build_context_made_by(&b, 1, 7, 9);
		build_call(&b, 100, 98, 0, ms * MS, 9);
		build_call(&b, 100, BUILD_LAUNCH, ms * MS, MS, 1);
		build_op(&b, GP_OP_KERNEL, 7, (ms + 1) * MS, (ms + 201) * MS, 1)->name = 0;
		build_call(&b, 100, BUILD_DEVICE_SYNC, (ms + 1) * MS, 200 * MS, 0);
		check(&b, ms == 500 ? "creating contexts took 500.0ms before the first operation"
				    : NULL);
	}
}

/*
 * Of one that takes long 100 ms stay; of four GPUs' the longest, and the driver is loaded, as it is
 * where others hold memory; two of one GPU need not be.
 */
static void what_any_context_takes_is_not_claimed(void **state)
{
	static const struct {
		uint32_t contexts, gpus;
		uint64_t each_ms, saves_ms, used_gib;
		const char *change;
		bool loads_driver;
	} cases[] = {
		{1, 1, 700, 600, 1, "a context takes 100.0ms at least", true},
		{1, 1, 700, 600, 4,
		 "without other programs: they held up to 4.000GiB of the GPU's memory", false},
		{4, 4, 200, 600, 1, "each in a thread", false},
		{2, 2, 600, 1100, 1, "; and keep the driver loaded", true},
		{2, 1, 200, 0, 1, NULL, false},
		{2, 1, 600, 1100, 1, "use one context of a GPU: cuDevicePrimaryCtxRetain", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t made_ns = cases[i].contexts * cases[i].each_ms * MS;
		struct build b = build_begin(1);
		struct gp_model *model;
		const struct gp_finding *found;
		struct gp_advice advice;

		build_api(&b, 98, "cudaSetDevice", GP_API_CONTROL);
		for (uint32_t k = 0; k < cases[i].contexts; k++) {
			build_device(&b, (uint16_t)k, "GPU");
			build_context_made_by(&b, 1 + k, 7 + k, 100 + k);
			b.model->contexts[k].device_id = (uint16_t)(k % cases[i].gpus);
			build_call(&b, 100, 98, k * cases[i].each_ms * MS, cases[i].each_ms * MS,
				   100 + k);
		}
		build_call(&b, 100, BUILD_LAUNCH, made_ns, MS, 1);
		build_op(&b, GP_OP_KERNEL, 7, made_ns + MS, made_ns + 201 * MS, 1)->name = 0;
		build_call(&b, 100, BUILD_DEVICE_SYNC, made_ns + MS, 200 * MS, 0);
		build_usage(&b, 0, made_ns + 202 * MS, (80 - cases[i].used_gib) << 30, 80ull << 30);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "start-up");
		assert_int_equal(found != NULL, cases[i].change != NULL);
		if (found) {
			assert_int_equal(found->saves_ns, cases[i].saves_ms * MS);
			assert_non_null(strstr(found->change, cases[i].change));
			assert_true((strstr(found->change, "nvidia-smi -pm 1") != NULL) ==
				    cases[i].loads_driver);
			assert_true((strstr(found->found, "of the same GPU") != NULL) ==
				    (cases[i].contexts > cases[i].gpus));
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Half a second for each; the call of 400 ms between them ends the first, or something else; or the
 * second is another GPU's.
 */
static void a_context_that_is_ended_and_made_again_is_told(void **state)
{
	for (uint32_t way = 0; way <= 2; way++) {
		bool is_ended = way == 1;
		struct build b = build_begin(1);
		struct gp_model *model;
		const struct gp_finding *found;
		struct gp_advice advice;

		build_api(&b, 97, way > 0 ? "cudaDeviceReset" : "cudaGetDeviceCount",
			  GP_API_CONTROL);
		build_api(&b, 98, "cudaIpcOpenEventHandle", GP_API_CONTROL);
		build_device(&b, 0, "GPU");
		build_context_made_by(&b, 1, 7, 8);
		build_context_made_by(&b, 2, 7, 9);
		b.model->contexts[1].device_id = way == 2;
		build_call(&b, 100, 98, 0, 500 * MS, 8);
		build_call(&b, 100, 97, 500 * MS, 400 * MS, 0);
		build_call(&b, 100, 98, 900 * MS, 550 * MS, 9);
		build_call(&b, 100, BUILD_LAUNCH, 1450 * MS, MS, 1);
		build_op(&b, GP_OP_KERNEL, 7, 1451 * MS, 1651 * MS, 1)->name = 0;
		build_call(&b, 100, BUILD_DEVICE_SYNC, 1451 * MS, 200 * MS, 0);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "start-up");
		assert_non_null(found);
		assert_string_equal(
			found->found,
			is_ended
				? "creating contexts took 1.050s before the first operation, 550.0ms of it after cudaDeviceReset had destroyed earlier contexts in 400.0ms"
			: way == 2
				? "creating contexts took 1.050s before the first operation: 2 of them, the longest for 550.0ms"
				: "creating contexts took 1.050s before the first operation: 2 of them, of the same GPU, the longest for 550.0ms");
		assert_int_equal(found->saves_ns, 950 * MS);
		assert_true((strstr(found->change, "remove cudaDeviceReset there") != NULL) ==
			    is_ended);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Half a second until the first kernel for GPU 0's context, and 640 ms amid the work, 600 of them
 * in a call: for another GPU's context, for one more of GPU 0, or it sets something else up.
 */
static void a_context_amid_the_work_is_a_gap_of_its_own(void **state)
{
	static const struct {
		uint32_t contexts;
		uint16_t device_id;
		const char *found, *change;
		uint64_t saves_ns;
	} cases[] = {
		{1, 0, "startup; cudaDeviceEnablePeerAccess took 600.0ms of it;",
		 "before the work begins: a run becomes shorter only by objects that it does not create",
		 641 * MS},
		{2, 1,
		 "startup (cudaDeviceEnablePeerAccess created a context on GPU 1 in 600.0ms of it);",
		 "in parallel before the work begins", 600 * MS},
		{2, 0,
		 "startup (cudaDeviceEnablePeerAccess created another context on GPU 0 in 600.0ms of it);",
		 "use one context of a GPU from start", 641 * MS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		const struct gp_finding *found;
		struct gp_advice advice;

		build_api(&b, 97, "cudaDeviceEnablePeerAccess", GP_API_CONTROL);
		build_device(&b, 0, "GPU");
		build_device(&b, 1, "GPU");
		build_context_made_by(&b, 1, 7, 8);
		build_call(&b, 100, 97, 0, 500 * MS, 8);
		build_call(&b, 100, BUILD_LAUNCH, 500 * MS, MS, 1);
		build_op(&b, GP_OP_KERNEL, 7, 501 * MS, 601 * MS, 1)->name = 0;
		if (cases[i].contexts == 2) {
			build_context_made_by(&b, 2, 17, 9);
			b.model->contexts[1].device_id = cases[i].device_id;
		}
		build_call(&b, 100, 97, 601 * MS, 600 * MS, 9);
		build_call(&b, 100, BUILD_LAUNCH, 1241 * MS, MS, 2);
		build_op(&b, GP_OP_KERNEL, 7, 1242 * MS, 1342 * MS, 2)->name = 0;
		model = build_end(&b);
		advice = ask(&model, 1);
		assert_string_equal(find(&advice, "start-up")->found,
				    "creating contexts took 500.0ms before the first operation");
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_non_null(strstr(found->found, cases[i].found));
		assert_non_null(strstr(found->change, cases[i].change));
		assert_int_equal(found->saves_ns, cases[i].saves_ns);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

#define CUPY "/x/cupy/cuda/compiler.py"

/*
 * The first process has work, then a second one makes its context, and works: the idle time of both
 * is told once.
 */
static void a_context_beside_another_process_is_told_once(void **state)
{
	for (uint32_t is_long = 0; is_long <= 1; is_long++) {
		struct build first = build_begin(1), second = build_begin(2);
		uint64_t made_ns = is_long ? 1100ull * MS : 500 * MS;
		const struct gp_finding *found;
		struct gp_model *models[2];
		struct gp_advice advice;

		build_device(&first, 0, "GPU");
		build_call(&first, 100, BUILD_LAUNCH, MS, MS, 1);
		build_op(&first, GP_OP_KERNEL, 7, 2 * MS, 200 * MS, 1)->name = 0;
		build_call(&first, 100, BUILD_LAUNCH, made_ns + 150 * MS, MS, 2);
		build_op(&first, GP_OP_KERNEL, 7, made_ns + 200 * MS, made_ns + 400 * MS, 2)->name =
			0;
		build_api(&second, 98, "cudaIpcOpenEventHandle", GP_API_CONTROL);
		build_device(&second, 0, "GPU");
		build_context_made_by(&second, 1, 7, 9);
		build_call(&second, 100, 98, 100 * MS, made_ns - 100 * MS, 9);
		build_call(&second, 100, BUILD_LAUNCH, made_ns, MS, 1);
		build_stack_of_last(&second, build_python(&second, BUILD_OUTERMOST, CUPY, "f", 2));
		build_op(&second, GP_OP_KERNEL, 7, made_ns + MS, made_ns + 200 * MS, 1)->name = 0;
		build_call(&second, 100, BUILD_DEVICE_SYNC, made_ns + MS, 200 * MS, 0);
		build_stacks_end(&second);
		models[0] = build_end(&first);
		models[1] = build_end(&second);
		models[1]->pid = 2;
		advice = ask(models, 2);
		found = find(&advice, is_long ? "start-up" : "gpu-gaps");
		assert_non_null(found);
		assert_null(find(&advice, is_long ? "gpu-gaps" : "start-up"));
		if (is_long) {
			assert_string_equal(
				found->found,
				"creating contexts took 1.000s before the first operation");
		} else {
			assert_non_null(
				strstr(found->found,
				       "(cudaIpcOpenEventHandle created the process's context)"));
			/* that took the time, and not what begins behind it */
			assert_non_null(strstr(found->found, "CuPy was compiling"));
			assert_non_null(strstr(found->change, "create the context earlier"));
		}
		gp_advice_free(&advice);
		gp_model_free(models[0]);
		gp_model_free(models[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_that_takes_half_a_second_is_told),
		cmocka_unit_test(what_any_context_takes_is_not_claimed),
		cmocka_unit_test(memory_that_is_copied_again_is_to_be_locked_meanwhile),
		cmocka_unit_test(a_context_that_is_ended_and_made_again_is_told),
		cmocka_unit_test(a_context_beside_another_process_is_told_once),
		cmocka_unit_test(a_context_amid_the_work_is_a_gap_of_its_own),
		cmocka_unit_test(the_calls_around_the_longest_time_are_named),
		cmocka_unit_test(calls_of_all_threads_count),
		cmocka_unit_test(looks_at_python_tell_more),
		cmocka_unit_test(what_helps_is_of_what_was_seen),
		cmocka_unit_test(another_thread_of_python_s_is_told),
		cmocka_unit_test(of_several_others_the_busiest_is_told),
		cmocka_unit_test(a_thread_is_not_its_own_other),
		cmocka_unit_test(page_locked_memory_takes_its_time),
		cmocka_unit_test(a_fifth_of_the_time_is_worth_a_word),
		cmocka_unit_test(what_was_first_nobody_knows_of_a_damaged_trace),
		cmocka_unit_test(what_is_short_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
