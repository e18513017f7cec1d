/* Graphs that the GPU waits for. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define US 1000u
#define MS 1000000u

/* Calls before a launch. */
#define BUILD_INSTANTIATE   310
#define BUILD_EXEC_UPDATE   335
#define BUILD_STREAM_CREATE 99

struct step {
	uint16_t api; /* of a call before the launch; 0 = there is none */
	uint64_t call_us, launch_us;
	uint32_t operations; /* 0: the graph is recorded whole */
	uint32_t graphs;     /* launched one after the other */
	uint64_t first_us;   /* that the first launch of each takes longer */
	bool is_pageable;    /* its last operation copies a result to such memory */
	uint32_t every;      /* of so many steps the GPU waits for the last alone; 0 = 1 */
};

/* 100 steps: that call, the launch of a graph, and 10 us after it 20 us of its operations. */
static struct gp_model *take_steps(const struct step *step)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS, ended_ns = 0;

	build_api(&b, BUILD_INSTANTIATE, "cudaGraphInstantiate", GP_API_CONTROL);
	build_api(&b, BUILD_EXEC_UPDATE, "cudaGraphExecUpdate", GP_API_CONTROL);
	build_api(&b, BUILD_STREAM_CREATE, "cudaStreamCreate", GP_API_CONTROL);
	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t count = step->operations > 0 ? step->operations : 1;
		uint64_t launch_ns =
			(step->launch_us + (i < step->graphs ? step->first_us : 0)) * US;

		if (step->api != 0)
			build_call(&b, 100, step->api, at_ns, step->call_us * US, 0);
		at_ns += step->call_us * US;
		build_call(&b, 100, BUILD_GRAPH_LAUNCH, at_ns, launch_ns, i + 1);
		at_ns += launch_ns + 10 * US;
		for (uint32_t k = 0; k < count; k++) {
			struct gp_op *op =
				build_op(&b, step->operations > 0 ? GP_OP_KERNEL : GP_OP_GRAPH, 7,
					 at_ns + k * 20 * US / count,
					 at_ns + (k + 1) * 20 * US / count, i + 1);

			op->graph_id = 1 + i % step->graphs;
			if (step->is_pageable && k + 1 == count) {
				op->kind = GP_OP_COPY;
				op->copy_kind = GP_COPY_DTOH;
				op->destination_kind = GP_COPY_PAGEABLE;
			}
		}
		if (step->every > 0 && i % step->every != 0 && ended_ns > 0)
			b.model->ops[b.model->op_count - count].start_ns = ended_ns;
		at_ns += 20 * US;
		ended_ns = at_ns;
	}
	return build_end(&b);
}

/* NULL: nothing is to be told. */
static void check(const struct step *step, const char *found_part, const char *change,
		  uint64_t saves_us)
{
	struct gp_model *model = take_steps(step);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "graph-launch");

	assert_int_equal(found != NULL, found_part != NULL);
	if (found) {
		assert_non_null(strstr(found->found, found_part));
		assert_non_null(strstr(found->change, change));
		assert_in_range(found->saves_ns, saves_us * US * 98 / 100,
				saves_us * US * 102 / 100);
		assert_null(find(&advice, "idle-rest"));
	}
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void launches_are_told_with_what_each_operation_takes(void **state)
{
	check(&(struct step){.launch_us = 200, .operations = 50, .graphs = 2},
	      "the GPU waits for the launches of 99 graphs of 50 operations on average, which take 200.0us each, 4.000us an operation; that includes the recording of each operation (--graphs=graph avoids it)",
	      "fuse kernels", 99 * 209);
	check(&(struct step){.launch_us = 100, .operations = 4, .graphs = 2},
	      "of 4 operations on average, which take 100.0us each",
	      "for example several iterations", 99 * 109);
	check(&(struct step){.launch_us = 100, .operations = 4, .graphs = 2, .is_pageable = true},
	      "of 4 operations on average",
	      "copy from and to page-locked memory in the graph (cudaMallocHost): with pageable memory each launch lasts until the copies are done; put more into a graph",
	      99 * 109);
	check(&(struct step){.launch_us = 100, .graphs = 2},
	      "of 99 graphs, which take 100.0us each", "fuse kernels", 99 * 109);
}

/* 40 of them for a millisecond; all for 20 us. */
static void what_only_first_launches_take_is_to_be_uploaded(void **state)
{
	check(&(struct step){.launch_us = 20, .operations = 50, .graphs = 40, .first_us = 980},
	      "; 97.1 % of that are the first launches of 40 of them", "cudaGraphUpload",
	      99 * 29 + 39 * 980);
}

static void graphs_that_are_made_in_the_loop_are_told(void **state)
{
	check(&(struct step){BUILD_INSTANTIATE, 300, 50, .operations = 50, .graphs = 100},
	      "the GPU waits 99 times for a graph to be created, for 359.9us on average; 83.4 % of that is cudaGraphInstantiate, in 99 calls",
	      "create each graph once", 99 * 359);
	check(&(struct step){BUILD_EXEC_UPDATE, 300, 50, .operations = 50, .graphs = 1},
	      "cudaGraphExecUpdate, in 99 calls", "cudaGraphExecKernelNodeSetParams", 99 * 359);
}

/* Nor is what a launch takes that is as short as they are, in all. */
static void what_is_set_up_besides_is_not(void **state)
{
	check(&(struct step){BUILD_STREAM_CREATE, 300, 50, .operations = 50, .graphs = 100}, NULL,
	      NULL, 0);
	check(&(struct step){.launch_us = 35, .operations = 50, .graphs = 1}, NULL, NULL, 0);
}

/* In between it has work until the next graph comes: of 100 launches, it waits for 33 or for 19. */
static void what_is_seldom_waited_for_is_not(void **state)
{
	struct step step = {BUILD_INSTANTIATE, 900, 50, .operations = 1, .graphs = 1};

	step.every = 3;
	check(&step, "the GPU waits 33 times for a graph to be created", "create each graph once",
	      33 * 959);
	step.every = 5;
	check(&step, NULL, NULL, 0);
	step = (struct step){.launch_us = 900, .operations = 1, .graphs = 1, .every = 3};
	check(&step, "the launches of 33 graphs", "several iterations", 33 * 909);
	step.every = 5;
	check(&step, NULL, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_are_told_with_what_each_operation_takes),
		cmocka_unit_test(what_only_first_launches_take_is_to_be_uploaded),
		cmocka_unit_test(graphs_that_are_made_in_the_loop_are_told),
		cmocka_unit_test(what_is_set_up_besides_is_not),
		cmocka_unit_test(what_is_seldom_waited_for_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
