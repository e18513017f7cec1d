/* What slow steps did that others did not. */
#include <stdlib.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define US    1000ull
#define MS    1000000ull
#define STEPS 40u

/* A program with a loop of 2 ms a step, and so much more in the eleventh and the thirty-first. */
struct program {
	struct build b;
	struct gp_model *model;
	struct gp_sample samples[4 * STEPS];
	uint64_t more_ns;
	uint32_t more_operations;
	uint32_t sample; /* the stack of samples in these steps; GP_NONE: there are none */
	uint32_t sample_count;
	uint32_t usual;    /* the stack of three samples in the usual work of each step; GP_NONE */
	uint32_t launch;   /* of launches; GP_NONE: they have none */
	uint32_t call;     /* an API function that takes that time; 0: the host's own work */
	uint32_t stack;    /* of that call */
	bool calls_once;   /* it is in the first of these steps only */
	uint64_t usual_ns; /* of that function in every step ... */
	uint32_t usual_stack; /* ... and the stack of that call */
	bool has_blocks;      /* every step allocates a block and frees it, which takes that time */
};

static struct program begin(uint64_t more_ns)
{
	struct program p = {.b = build_begin(1),
			    .more_ns = more_ns,
			    .sample = GP_NONE,
			    .usual = GP_NONE,
			    .launch = GP_NONE,
			    .stack = GP_NONE,
			    .usual_stack = GP_NONE};

	build_device(&p.b, 0, "GPU");
	build_name(&p.b, "scale");
	build_name(&p.b, "add");
	build_name(&p.b, "other");
	return p;
}

static void kernel(struct build *b, uint64_t at_ns, uint32_t name, uint64_t ns)
{
	uint32_t id = b->model->call_count + 1;

	build_call(b, 100, BUILD_LAUNCH, at_ns, 5 * US, id);
	build_op(b, GP_OP_KERNEL, 7, at_ns + 6 * US, at_ns + 6 * US + ns, id)->name = name;
}

static void block(struct build *b, uint64_t at_ns, uint64_t ns)
{
	struct gp_call *call;

	build_memory(b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns + ns, 0x1000, 64);
	call = &b->model->calls[b->model->call_count - 1];
	call->start_ns = at_ns;
	call->duration_ns = ns;
	build_memory(b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + ns + US, 0x1000, 0);
}

static void sample(struct program *p, uint64_t at_ns, uint32_t stack)
{
	if (stack != GP_NONE)
		p->samples[p->sample_count++] = (struct gp_sample){.thread_id = 100,
								   .count = 1,
								   .stack = stack,
								   .start_ns = at_ns,
								   .end_ns = at_ns};
}

static struct gp_advice ask_about(struct program *p)
{
	uint64_t at_ns = MS;
	struct gp_advice advice;

	for (uint32_t i = 0; i < STEPS; i++, at_ns += 2 * MS) {
		kernel(&p->b, at_ns, 0, 900 * US);
		kernel(&p->b, at_ns + MS, 1, 900 * US);
		if (p->launch != GP_NONE)
			build_stack_of_last(&p->b, p->launch);
		for (uint32_t k = 0; k < 3; k++)
			sample(p, at_ns + (k + 1) * 500 * US, p->usual);
		if (p->usual_ns > 0)
			build_call(&p->b, 100, p->call, at_ns + 2 * MS, p->usual_ns, 0)->stack =
				p->usual_stack;
		at_ns += p->usual_ns;
		if (p->has_blocks)
			block(&p->b, at_ns + 2 * MS - 50 * US, i % 20 == 10 ? p->more_ns : 40 * US);
		if (i % 20 != 10)
			continue;
		for (uint32_t k = 0; k < p->more_operations; k++)
			kernel(&p->b, at_ns + 2 * MS + k * MS, 2, 900 * US);
		if (p->call && (p->usual_ns == 0 || p->stack != GP_NONE) &&
		    !(p->calls_once && i > 20))
			build_call(&p->b, 100, p->call, at_ns + 2 * MS, p->more_ns, 0)->stack =
				p->stack;
		sample(p, at_ns + 5 * MS, p->sample);
		at_ns += p->more_ns;
	}
	if (p->sample_count > 0 || p->launch != GP_NONE)
		build_stacks_end(&p->b);
	p->model = build_end(&p->b);
	p->model->samples = p->sample_count > 0 ? p->samples : NULL;
	p->model->sample_count = p->sample_count;
	advice = ask(&p->model, 1);
	return advice;
}

static void end(struct program *p, struct gp_advice *advice)
{
	gp_advice_free(advice);
	p->model->samples = NULL;
	p->model->sample_count = 0;
	gp_model_free(p->model);
}

static void check_reason(struct program *p, const char *reason)
{
	struct gp_advice advice = ask_about(p);
	const struct gp_finding *found = find(&advice, "slow-steps");

	assert_non_null(found);
	assert_int_equal(found->count, 2);
	assert_string_equal(text_of(found, "reason"), reason);
	assert_string_equal(text_of(found, "numbers"), "11, 31");
	assert_int_equal(value_of(found, "median_ns"), 2 * MS);
	assert_int_equal(value_of(found, "longest_ns"), 2 * MS + p->more_ns);
	assert_int_equal(found->saves_ns, 2 * p->more_ns);
	assert_true(found->recurs);
	assert_null(find(&advice, "gpu-gaps"));
	end(p, &advice);
}

static void unknown_host_work_has_the_place_of_the_next_call(void **state)
{
	struct program p = begin(60 * MS);
	struct gp_advice advice;

	check_reason(&p, "unknown");
	p = begin(45 * MS); /* 90 ms in all may be a busy machine's */
	advice = ask_about(&p);
	assert_null(find(&advice, "slow-steps"));
	end(&p, &advice);
}

static void samples_show_the_reason(void **state)
{
	static const struct {
		const char *path, *function, *reason;
	} cases[] = {
		{"/usr/lib/python3/site-packages/torch/utils/data/dataloader.py",
		 "_MultiProcessingDataLoaderIter.__init__", "workers"},
		{"/usr/lib/python3/site-packages/torch/serialization.py", "_save", "checkpoint"},
		{"/home/me/train.py", "evaluate", "evaluation"},
		{"/home/me/train.py", "run", "unknown"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct program p = begin(20 * MS);

		p.sample = build_python(&p.b, BUILD_OUTERMOST, cases[i].path, cases[i].function, 7);
		check_reason(&p, cases[i].reason);
	}
}

/* The host's work in the gap, not the usual work of the step, and not the call that ends the gap. */
static void the_place_is_that_of_the_samples_in_the_gap(void **state)
{
	struct program p = begin(60 * MS);
	const struct gp_finding *found;
	struct gp_advice advice;

	p.launch = build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", "step", 7);
	p.usual = build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", "forward", 8);
	p.sample = build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", "collect", 9);
	advice = ask_about(&p);
	found = find(&advice, "slow-steps");
	assert_non_null(found);
	assert_string_equal(found->place, "collect (train.py:9)");
	assert_string_equal(found->callers, "");
	assert_non_null(strstr(text_of(found, "samples"), "collect (train.py:9)"));
	assert_int_equal(value_of(found, "pause_ns"), 0);
	end(&p, &advice);
}

/* Without samples: from the last call before it to the next one. */
static void the_place_of_unknown_work_is_the_call_before(void **state)
{
	struct program p = begin(60 * MS);
	const struct gp_finding *found;
	struct gp_advice advice;

	p.launch = build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", "step", 7);
	advice = ask_about(&p);
	found = find(&advice, "slow-steps");
	assert_non_null(found);
	assert_string_equal(found->place, "step (train.py:7)");
	assert_string_equal(text_of(found, "before_place"), "step (train.py:7)");
	assert_int_equal(value_of(found, "pause_ns"), 60 * MS + 995 * US);
	end(&p, &advice);
}

/* A call that neither allocates nor copies, such as one that waits for another process. */
static void a_long_call_of_another_kind_is_named(void **state)
{
	struct program p = begin(60 * MS);
	const struct gp_finding *found;
	struct gp_advice advice;

	p.call = 40;
	build_api(&p.b, p.call, "cudaIpcOpenMemHandle", GP_API_OTHER);
	p.stack = build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", "share", 7);
	build_stacks_end(&p.b);
	advice = ask_about(&p);
	found = find(&advice, "slow-steps");
	assert_non_null(found);
	assert_string_equal(text_of(found, "reason"), "unknown");
	assert_string_equal(found->place, "share (train.py:7)");
	assert_string_equal(text_of(found, "call"), "cudaIpcOpenMemHandle");
	assert_int_equal(value_of(found, "call_ns"), 60 * MS);
	end(&p, &advice);
}

/* Of the two slow steps one allocates, which another finding is about or none. */
static void a_finding_about_some_slow_steps_says_of_how_many(void **state)
{
	struct program p = begin(120 * MS);
	const struct gp_finding *found;
	struct gp_advice advice;

	p.call = 40;
	p.calls_once = true;
	build_api(&p.b, p.call, "cudaMalloc", GP_API_ALLOC);
	advice = ask_about(&p);
	for (uint32_t i = 0; i < advice.count; i++) {
		found = &advice.findings[i];
		if (strcmp(found->rule->id, "slow-steps") != 0)
			continue;
		assert_int_equal(found->count, 1);
		assert_int_equal(value_of(found, "all_count"), 2);
	}
	assert_non_null(find(&advice, "slow-steps"));
	end(&p, &advice);
}

static void calls_with_half_of_the_time_are_the_reason(void **state)
{
	struct program p = begin(60 * MS);

	p.call = 40;
	build_api(&p.b, p.call, "cudaMalloc", GP_API_ALLOC);
	p.sample = build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", "evaluate", 7);
	check_reason(&p, "allocation");
}

static void calls_of_usual_steps_are_no_reason(void **state)
{
	struct program p = begin(60 * MS);
	const struct gp_finding *found;
	struct gp_advice advice;

	p.call = 40;
	p.usual_ns = 40 * MS;
	build_api(&p.b, p.call, "cudaMalloc", GP_API_ALLOC);
	advice = ask_about(&p);
	found = find(&advice, "slow-steps");
	assert_non_null(found);
	assert_int_equal(found->count, 2);
	assert_int_equal(value_of(found, "median_ns"), 42 * MS);
	assert_string_equal(text_of(found, "reason"), "unknown");
	end(&p, &advice);
}

/* Each step has a call of 80 ms; slow steps have one of 60 ms more at another place. */
static void a_usual_call_is_not_named(void **state)
{
	static const struct {
		uint8_t class;
		const char *reason;
	} cases[] = {{GP_API_COPY, "copying"}, {GP_API_OTHER, "unknown"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct program p = begin(60 * MS);
		const struct gp_finding *found;
		struct gp_advice advice;

		p.call = 40;
		p.usual_ns = 80 * MS;
		build_api(&p.b, p.call, "cudaCall", cases[i].class);
		p.usual_stack = build_python(&p.b, BUILD_OUTERMOST, "/home/me/a.py", "read", 7);
		p.stack = build_python(&p.b, BUILD_OUTERMOST, "/home/me/a.py", "save", 9);
		build_stacks_end(&p.b);
		advice = ask_about(&p);
		found = find(&advice, "slow-steps");
		assert_non_null(found);
		assert_int_equal(found->count, 2);
		assert_int_equal(value_of(found, "median_ns"), 82 * MS);
		assert_string_equal(text_of(found, "reason"), cases[i].reason);
		assert_string_equal(found->place, "save (a.py:9)");
		end(&p, &advice);
	}
}

/* The host's usual work is sampled more often than the work of the slow steps. */
static void usual_samples_are_left_out(void **state)
{
	struct program p = begin(4 * MS);
	const struct gp_finding *found;
	struct gp_advice advice;

	p.more_operations = 4;
	p.usual = build_python(&p.b, BUILD_OUTERMOST, "/home/me/a.py", "forward", 8);
	p.sample = build_python(&p.b, BUILD_OUTERMOST, "/home/me/a.py", "collect", 9);
	advice = ask_about(&p);
	found = find(&advice, "slow-steps");
	assert_non_null(found);
	assert_string_equal(found->place, "collect (a.py:9)");
	end(&p, &advice);
}

/* alloc-in-loop has the idle time of the blocks in all steps. */
static void a_cause_is_told_once(void **state)
{
	struct program p = begin(60 * MS);
	struct gp_advice advice;

	p.has_blocks = true;
	advice = ask_about(&p);
	assert_non_null(find(&advice, "alloc-in-loop"));
	assert_int_equal(find(&advice, "alloc-in-loop")->count, STEPS - 1);
	assert_null(find(&advice, "slow-steps"));
	end(&p, &advice);
}

static void the_place_of_calls_is_theirs(void **state)
{
	static const char *const files[] = {"/home/me/solve.py",
					    "/v/site-packages/torch/nn/linear.py"};
	static const bool has_hint[] = {false, true};

	for (size_t i = 0; i < 2; i++) {
		struct program p = begin(60 * MS);
		const struct gp_finding *found;
		struct gp_advice advice;
		uint32_t stack = build_python(&p.b, BUILD_OUTERMOST, "/home/me/a.py", "grow", 7);

		p.call = 40;
		build_api(&p.b, p.call, "cudaMalloc", GP_API_ALLOC);
		build_python(&p.b, BUILD_OUTERMOST, files[i], "other", 8);
		p.stack = stack;
		build_stacks_end(&p.b);
		advice = ask_about(&p);
		found = find(&advice, "slow-steps");
		assert_non_null(found);
		assert_string_equal(found->place, "grow (a.py:7)");
		assert_int_equal(strstr(found->change, "PYTORCH_") != NULL, has_hint[i]);
		end(&p, &advice);
	}
}

static void more_operations_are_more_work(void **state)
{
	struct program p = begin(10 * MS);

	p.more_operations = 10;
	check_reason(&p, "more work");
}

/* In no step more than in others. */
static void usual_steps_have_no_finding(void **state)
{
	struct program p = begin(0);
	struct gp_advice advice = ask_about(&p);

	assert_null(find(&advice, "slow-steps"));
	end(&p, &advice);
}

#define MANY_STEPS 60000u
#define SLOW_EACH  6u
#define FUNCTIONS  8u

/* A copy with a stack, and a launch of PyTorch's backward pass; every sixth step is slow. */
static void build_many(struct build *b)
{
	uint32_t copy = build_python(b, BUILD_OUTERMOST, "/home/me/train.py", "main", 7);
	uint32_t backward =
		build_python(b, copy, "/v/site-packages/torch/_tensor.py", "Tensor.backward", 7);
	uint64_t at_ns = MS;

	build_device(b, 0, "GPU");
	build_name(b, "scale");
	for (uint32_t i = 0; i < MANY_STEPS; i++, at_ns += 2 * MS) {
		struct gp_op *op;
		uint32_t id = b->model->call_count + 1;

		build_call(b, 100, BUILD_MEMCPY_ASYNC, at_ns, 5 * US, id);
		build_stack_of_last(b, copy);
		op = build_op(b, GP_OP_COPY, 7, at_ns + 6 * US, at_ns + 900 * US, id);
		op->copy_kind = GP_COPY_HTOD;
		kernel(b, at_ns + MS, 0, 900 * US);
		build_stack_of_last(b, backward);
		at_ns += i % SLOW_EACH == 1 ? 20 * MS : 0;
	}
}

/* One of each function in each slow step; sorted by time. */
static uint32_t build_samples(struct gp_sample *samples, const uint32_t *stacks)
{
	uint64_t at_ns = MS;
	uint32_t count = 0;

	for (uint32_t i = 0; i < MANY_STEPS; i++, at_ns += 2 * MS) {
		if (i % SLOW_EACH != 1)
			continue;
		for (uint32_t k = 0; k < FUNCTIONS; k++)
			samples[count++] = (struct gp_sample){.thread_id = 100,
							      .count = 1,
							      .stack = stacks[k],
							      .start_ns = at_ns + (3 + 2 * k) * MS,
							      .end_ns = at_ns + (3 + 2 * k) * MS};
		at_ns += 20 * MS;
	}
	return count;
}

static void check_many_slow_steps(bool has_samples)
{
	static struct gp_sample samples[MANY_STEPS / SLOW_EACH * FUNCTIONS];
	static const char *const functions[FUNCTIONS] = {"load_a", "load_b", "load_c", "load_d",
							 "load_e", "load_f", "load_g", "load_h"};
	struct program p = {.b = build_begin(1)};
	uint32_t stacks[FUNCTIONS];
	struct gp_advice advice;

	build_many(&p.b);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		stacks[i] =
			build_python(&p.b, BUILD_OUTERMOST, "/home/me/train.py", functions[i], i);
	build_stacks_end(&p.b);
	p.model = build_end(&p.b);
	p.model->samples = samples;
	p.model->sample_count = has_samples ? build_samples(samples, stacks) : 0;
	advice = ask(&p.model, 1);
	assert_int_equal(find(&advice, "slow-steps")->count, MANY_STEPS / SLOW_EACH);
	end(&p, &advice);
}

static void many_slow_steps_are_one_finding(void **state)
{
	check_many_slow_steps(false);
}

static void many_sampled_steps_are_one_finding(void **state)
{
	check_many_slow_steps(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_host_work_has_the_place_of_the_next_call),
		cmocka_unit_test(samples_show_the_reason),
		cmocka_unit_test(the_place_is_that_of_the_samples_in_the_gap),
		cmocka_unit_test(the_place_of_unknown_work_is_the_call_before),
		cmocka_unit_test(a_long_call_of_another_kind_is_named),
		cmocka_unit_test(a_finding_about_some_slow_steps_says_of_how_many),
		cmocka_unit_test(calls_with_half_of_the_time_are_the_reason),
		cmocka_unit_test(calls_of_usual_steps_are_no_reason),
		cmocka_unit_test(a_usual_call_is_not_named),
		cmocka_unit_test(usual_samples_are_left_out),
		cmocka_unit_test(a_cause_is_told_once),
		cmocka_unit_test(the_place_of_calls_is_theirs),
		cmocka_unit_test(more_operations_are_more_work),
		cmocka_unit_test(usual_steps_have_no_finding),
		cmocka_unit_test(many_slow_steps_are_one_finding),
		cmocka_unit_test(many_sampled_steps_are_one_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
