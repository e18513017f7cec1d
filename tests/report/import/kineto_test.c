#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "report/model/model.h"
#include "report/symbols/python_code.h"
#include "report/model/recorded.h"
#include "tests/report/import/kineto_file.h"

#define LAUNCH                                                                                     \
	X("cuda_runtime", "cudaLaunchKernel",                                                      \
	  HOST("10.5", "2.25") ",\"args\":{\"cbid\":211,\"correlation\":40}")
#define KERNEL                                                                                     \
	X("kernel", "void k<int>(int)",                                                            \
	  GPU("14.001", "3",                                                                       \
	      "\"registers per thread\":64,\"shared "                                              \
	      "memory\":2304,\"grid\":[450,2,1],\"block\":[8,"                                     \
	      "8,1],\"graph id\":3,\"graph node "                                                  \
	      "id\":12884901888,\"channel\":8,\"channel_type\":1"))

static void a_kernel_has_what_the_event_says(void **state)
{
	struct gp_model *m = load(EVENTS(KERNEL "," LAUNCH));
	const struct gp_record_shape *shape;

	assert_string_equal(m->recorder, "torch.profiler");
	assert_int_equal(m->pid, 9);
	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->ops[0].kind, GP_OP_KERNEL);
	assert_int_equal(m->ops[0].start_ns, 3501); /* after the call, with which time begins */
	assert_int_equal(m->ops[0].end_ns, 6501);
	assert_int_equal(m->ops[0].device_id, 1);
	assert_int_equal(m->ops[0].context_id, 2);
	assert_int_equal(m->ops[0].stream_id, 7);
	assert_int_equal(m->ops[0].graph_id, 3);
	assert_int_equal(gp_model_detail(m, &m->ops[0])->graph_node_id, 12884901888);
	assert_int_equal(gp_model_detail(m, &m->ops[0])->channel_id, 8);
	assert_string_equal(gp_model_kernel_name(m, &m->ops[0]), "void k<int>(int)");
	shape = &m->shapes[m->ops[0].shape];
	assert_int_equal(shape->registers, 64);
	assert_int_equal(shape->static_shared_bytes + shape->dynamic_shared_bytes, 2304);
	assert_int_equal(shape->grid[0], 450);
	assert_int_equal(shape->grid[1], 2);
	assert_int_equal(shape->block[1], 8);
	assert_int_equal(m->ops[0].call, 0);
	assert_true(m->losses.closed);
	gp_model_free(m);
}

static void a_call_has_what_the_event_says(void **state)
{
	struct gp_model *m = load(EVENTS(LAUNCH "," KERNEL "," X(
		"cuda_driver", "cuLaunchKernel", HOST("20", "1") ",\"args\":{\"cbid\":307}")));

	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->calls[0].start_ns, 0);
	assert_int_equal(m->calls[0].duration_ns, 2250);
	assert_int_equal(m->calls[0].thread_id, 5);
	assert_int_equal(m->calls[0].correlation_id, 40);
	assert_int_equal(m->calls[0].api, 211);
	assert_int_equal(m->calls[0].first_op, 0);
	assert_string_equal(gp_model_api(m, m->calls[0].api).name, "cudaLaunchKernel");
	assert_int_equal(gp_model_api(m, m->calls[0].api).class, GP_API_LAUNCH);
	assert_int_equal(m->calls[1].api, 307 | GP_API_DRIVER);
	assert_int_equal(m->losses.launches_without_op, 1);
	gp_model_free(m);
}

#define DEVICE(id, args)                                                                           \
	"\"pid\":1,\"tid\":7,\"ts\":20,\"dur\":3,\"args\":{\"device\":" id                         \
	",\"context\":2,\"stream\":7,\"correlation\":41," args "}"
#define LISTED(id) "{\"deviceProperties\": [{\"id\": " id ", \"name\": \"GPU\"}], "

/* The only device of the list is that of the operations, unless they are of several. */
static void a_device_may_have_two_numbers(void **state)
{
	struct gp_model *m = load(
		LISTED("3") "\"traceEvents\": [" X("kernel", "k", DEVICE("1", "\"a\":0")) "]}");

	assert_int_equal(m->device_count, 1);
	assert_int_equal(m->devices[0].device_id, 1);
	assert_string_equal(m->device_names[0], "GPU");
	gp_model_free(m);
	m = load(LISTED("3") "\"traceEvents\": [" X("kernel", "k", DEVICE("1", "\"a\":0")) "," X(
		"kernel", "k", DEVICE("0", "\"a\":0")) "]}");
	assert_int_equal(m->device_count, 1);
	assert_int_equal(m->devices[0].device_id, 3);
	gp_model_free(m);
}

static void overheads_have_kinds(void **state)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} rows[] = {
		{"Driver Compiler", 1},
		{"Buffer Flush", 1u << 16},
		{"UVM Activity Init", 8u << 16},
		{"something newer", 0},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), EVENTS(X("overhead", "%s", HOST("10", "2"))),
			 rows[i].name);
		struct gp_model *m = load(text);

		assert_int_equal(m->overhead_count, 1);
		assert_int_equal(m->overheads[0].overhead_kind, rows[i].kind);
		assert_int_equal(m->overheads[0].end_ns - m->overheads[0].start_ns, 2000);
		gp_model_free(m);
	}
}

/* Whatever it is; the first one is the call of LAUNCH. */
/* One event of each kind that is read. */
#define ALL_KINDS(ts, dur)                                                                         \
	X("kernel", "k", GPU(ts, dur, "\"grid\":[1,1,1]")),                                        \
		X("gpu_memcpy", "Memcpy DtoH", GPU(ts, dur, "\"bytes\":4")),                       \
		X("gpu_memset", "Memset (Device)", GPU(ts, dur, "\"bytes\":4")),                   \
		X("gpu_graph", "graph 3", GPU(ts, dur, "\"graph id\":3")),                         \
		X("cuda_sync", "Stream Sync", GPU(ts, dur, "\"x\":1")),                            \
		X("cuda_driver", "cuLaunchKernel", HOST(ts, dur) ",\"args\":{\"cbid\":307}"),      \
		X("cpu_op", "aten::mm", HOST(ts, dur)),                                            \
		X("user_annotation", "step", HOST(ts, dur)),                                       \
		X("overhead", "Buffer Flush", HOST(ts, dur)),                                      \
		X("jit", "compile to measure", HOST(ts, dur)),                                     \
		X("host_function", "host function",                                                \
		  HOST(ts, dur) ",\"args\":{\"device\":1,\"context\":2,\"stream\":14}"),           \
		X("unified_memory", "migration HtoD",                                              \
		  HOST(ts, dur) ",\"args\":{\"address\":\"0x7f0000010000\",\"bytes\":4096}")

static struct gp_model *load_with_launch(const char *event)
{
	char text[1024];

	snprintf(text, sizeof(text), EVENTS("%s," LAUNCH), event);
	return load(text);
}

static void time_ends_with_the_last_event(void **state)
{
	static const char *const last[] = {ALL_KINDS("50", "20")};

	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		struct gp_model *m = load_with_launch(last[i]);

		if (m->end_ns != 59500)
			fail_msg("%s: the end is %lu", last[i], m->end_ns);
		gp_model_free(m);
	}
}

static void time_begins_with_the_first_event(void **state)
{
	static const char *const first[] = {ALL_KINDS("3.5", "1")};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		struct gp_model *m = load_with_launch(first[i]);

		if (m->end_ns != 9250)
			fail_msg("%s: the end is %lu", first[i], m->end_ns);
		gp_model_free(m);
	}
}

static void copies_and_sets_have_their_kinds(void **state)
{
	static const struct {
		const char *name;
		uint8_t kind, source, destination;
	} copies[] = {
		{"Memcpy HtoD (Pinned -> Device)", 1, 2, 3},
		{"Memcpy DtoH (Device Static -> Pageable)", 2, 6, 1},
		{"Memcpy AtoD (Array -> Managed)", 6, 4, 5},
		{"Memcpy PtoP (Managed Static -> Unknown)", 10, 7, 0},
		{"Memcpy", 0, 0, 0},
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		struct gp_model *m;

		snprintf(text, sizeof(text),
			 EVENTS(X("gpu_memcpy", "%s", GPU("1", "2", "\"bytes\":640")) "," X(
				 "gpu_memset", "Memset (Device)", GPU("5", "1", "\"bytes\":160"))),
			 copies[i].name);
		m = load(text);
		assert_int_equal(m->op_count, 2);
		assert_int_equal(m->ops[0].kind, GP_OP_COPY);
		assert_int_equal(m->ops[0].bytes, 640);
		assert_int_equal(m->ops[0].copy_kind, copies[i].kind);
		assert_int_equal(m->ops[0].source_kind, copies[i].source);
		assert_int_equal(m->ops[0].destination_kind, copies[i].destination);
		assert_int_equal(m->ops[1].kind, GP_OP_SET);
		assert_int_equal(m->ops[1].bytes, 160);
		assert_int_equal(m->ops[1].destination_kind, 3);
		gp_model_free(m);
	}
}

static void a_copy_between_devices_names_both(void **state)
{
	struct gp_model *m = load(EVENTS(X(
		"gpu_memcpy", "Memcpy PtoP (Device -> Device)",
		"\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{\"fromDevice\":0,\"inDevice\":1,\"toDevice\":2,\"fromContext\":4,\"inContext\":5,\"toContext\":6,\"stream\":7}")));

	assert_int_equal(m->ops[0].device_id, 1);
	assert_int_equal(m->ops[0].context_id, 5);
	assert_int_equal(gp_model_detail(m, &m->ops[0])->source_device_id, 0);
	assert_int_equal(gp_model_detail(m, &m->ops[0])->destination_device_id, 2);
	assert_int_equal(gp_model_detail(m, &m->ops[0])->source_context_id, 4);
	assert_int_equal(gp_model_detail(m, &m->ops[0])->destination_context_id, 6);
	gp_model_free(m);
}

static void a_copy_is_asynchronous_as_its_call_is(void **state)
{
	struct gp_model *m = load(EVENTS(
		X("cuda_runtime", "cudaMemcpyAsync", HOST("1", "1") ",\"args\":{\"cbid\":41,\"correlation\":40}") "," X(
			"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)",
			GPU("3", "1",
			    "\"bytes\":4")) "," X("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)",
						  "\"pid\":1,\"tid\":7,\"ts\":5,\"dur\":1")));

	assert_int_equal(m->op_count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(m->ops[i].flags, m->ops[i].call != GP_NONE);
	gp_model_free(m);
}

static void ranges_nest(void **state)
{
	struct gp_model *m =
		load(EVENTS(X("cpu_op", "aten::mm", HOST("3", "4")) "," LAUNCH "," KERNEL "," X(
			"cpu_op", "aten::linear",
			HOST("2", "20")) "," /* the launch is in it, and not in aten::mm */
			    X("user_annotation", "step", HOST("1", "30")) "," X("cpu_op", "next",
										HOST("22", "1"))));
	const struct gp_range *r = m->ranges;

	assert_int_equal(m->range_count, 4);
	assert_string_equal(gp_model_range_text(m, &r[0]), "step");
	assert_string_equal(gp_model_range_text(m, &r[1]), "aten::linear");
	assert_string_equal(gp_model_range_text(m, &r[2]), "aten::mm");
	assert_string_equal(gp_model_range_text(m, &r[3]), "next");
	assert_int_equal(r[0].parent, GP_NONE);
	assert_int_equal(r[1].parent, 0);
	assert_int_equal(r[2].parent, 1);
	assert_int_equal(r[3].parent, 0);
	assert_int_equal(r[0].end_ns - r[0].start_ns, 30000);
	assert_int_equal(r[1].op_count, 1);
	assert_int_equal(r[2].op_count, 0);
	assert_string_equal(gp_model_category(m, r[0].domain, r[0].category), "annotation");
	assert_string_equal(gp_model_category(m, r[1].domain, r[1].category), "operator");
	gp_model_free(m);
}

static void ranges_that_cross_are_kept(void **state)
{
	struct gp_model *m = load(EVENTS(X("cpu_op", "a", HOST("0", "10")) "," X(
		"cpu_op", "b", HOST("5", "10")) "," X("cpu_op", "c", HOST("6", "2"))));

	assert_int_equal(m->range_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_false(m->ranges[i].open);
	assert_int_equal(m->ranges[1].start_ns, 5000);
	assert_int_equal(m->ranges[1].end_ns, 15000);
	assert_int_equal(m->ranges[2].parent, 0);
	gp_model_free(m);
}

/* The innermost frame first. */
static void assert_stack(const struct gp_model *m, uint32_t frame, const char *const *names)
{
	for (; *names; names++) {
		const struct gp_text *code;

		assert_true(frame != GP_NONE);
		assert_int_equal(m->frames[frame].kind, GP_FRAME_PYTHON);
		code = &m->texts[m->frames[frame].origin];
		assert_string_equal(code->bytes + 8 + strlen(code->bytes + 8) + 1, *names);
		frame = m->frames[frame].parent;
	}
	assert_int_equal(frame, GP_NONE);
}

static void functions_and_operators_are_the_stacks_of_calls(void **state)
{
	static const char *const inner[] = {"aten::mm", "<built-in method mm>", "run", "<module>",
					    NULL};
	static const char *const outer[] = {"<module>", NULL};
	struct gp_model *m = load(EVENTS(X(
		"cuda_runtime", "cudaDeviceSynchronize",
		HOST("40",
		     "1")) "," LAUNCH
			   "," X("python_function", "run.py(18): <module>", HOST("1", "50")) "," X(
				   "python_function", "run.py(12): run",
				   HOST("2",
					"30")) "," X("python_function",
						     "<built-in method mm of type object at 0x7f2a>",
						     HOST("9", "6")) "," X("cpu_op", "aten::mm",
									   HOST("10", "4"))));
	uint32_t line;

	assert_int_equal(m->call_count, 2);
	assert_stack(m, m->calls[0].stack, inner);
	assert_stack(m, m->calls[1].stack, outer);
	memcpy(&line, m->texts[m->frames[m->calls[1].stack].origin].bytes, sizeof(line));
	assert_int_equal(line, 18);
	assert_string_equal(m->texts[m->frames[m->calls[1].stack].origin].bytes + 8, "run.py");
	gp_model_free(m);
}

/* As PyTorch up to 1.12 writes them: the outermost operator says who called it. */
static void operators_know_their_python_callers(void **state)
{
	static const char *const names[] = {"aten::mm", "aten::linear", "forward", "<module>",
					    NULL};
	struct gp_model *m = load(EVENTS(LAUNCH "," X("Operator", "ProfilerStep#5", HOST("1", "50")) "," X(
		"Operator", "aten::linear",
		HOST("9",
		     "6") ",\"args\":{\"Call stack\":\"net.py(31): forward;run.py(18): <module>\"}") "," X("Operator",
													   "aten::mm",
													   HOST("10",
														"4") ",\"args\":{\"Call stack\":\"other.py(3): f\"}")));
	uint32_t frame, line;

	assert_int_equal(m->call_count, 1);
	frame = m->calls[0].stack;
	assert_stack(m, frame, names);
	frame = m->frames[m->frames[frame].parent].parent;
	memcpy(&line, m->texts[m->frames[frame].origin].bytes, sizeof(line));
	assert_int_equal(line, 31);
	assert_int_equal(m->range_count, 3); /* a step is a range */
	gp_model_free(m);
}

#define LOOK(tid, ts, name, args)                                                                  \
	"{\"ph\":\"B\",\"cat\":\"python_sample\",\"name\":\"" name "\",\"pid\":9,\"tid\":" tid     \
	",\"ts\":" ts ",\"args\":{" args "}}"
#define END_LOOK(tid, ts)                                                                          \
	"{\"ph\":\"E\",\"cat\":\"python_sample\",\"pid\":9,\"tid\":" tid ",\"ts\":" ts "}"
#define RUN  "\"samples\":4,\"file\":\"run.py\",\"line\":12,\"thread\":5"
#define LOAD "\"samples\":2,\"file\":\"net.py\",\"line\":3,\"thread\":5,\"imported\":1"

static void looks_at_stacks_are_samples_of_the_innermost_function(void **state)
{
	static const char *const run[] = {"run", NULL};
	static const char *const imported[] = {"<module>", "_find_and_load", "run", NULL};
	static const char *const other[] = {"wait", NULL};
	struct gp_model *m = load(EVENTS(END_LOOK("1", "5") "," LOOK("1", "10", "run (run.py)", RUN) "," LOOK(
		"1", "20", "<module> (net.py)",
		LOAD) "," END_LOOK("2",
				   "25") "," END_LOOK("1",
						      "40") "," END_LOOK("1",
									 "50") "," LOOK("2", "15",
											"wait",
											"\"thread\":6") ","
					 /* of a file that is cut: it ends with the last event */
					 LAUNCH "," X("cuda_runtime", "cudaDeviceSynchronize",
						      HOST("60", "5"))));

	assert_int_equal(m->sample_count, 4);
	assert_int_equal(m->samples[0].thread_id, 5);
	assert_stack(m, m->samples[0].stack, run);
	assert_int_equal(m->samples[0].end_ns - m->samples[0].start_ns, 10000);
	assert_int_equal(m->samples[0].count, 1);
	assert_stack(m, m->samples[1].stack, imported);
	assert_int_equal(m->samples[1].end_ns - m->samples[1].start_ns, 20000);
	assert_int_equal(m->samples[1].count, 2);
	assert_stack(m, m->samples[2].stack, run);
	assert_int_equal(m->samples[3].thread_id, 6);
	assert_stack(m, m->samples[3].stack, other);
	assert_int_equal(m->samples[3].end_ns - m->samples[3].start_ns, 50000);
	gp_model_free(m);
}

static uint32_t line_of(const struct gp_model *m, uint32_t frame)
{
	const struct gp_text *text = &m->texts[m->frames[frame].origin];
	struct gp_python_code code;

	assert_true(gp_python_code_read(text->bytes, text->length, &code));
	return gp_python_code_line(&code, m->frames[frame].address);
}

#define CALLER                                                                                     \
	"\"samples\":6,\"file\":\"run.py\",\"line\":12,\"thread\":5,\"lines\":\"14@10000 "         \
	"2@15000\",\"lines 2\":\"12@30000 x\""
#define CALLED "\"samples\":1,\"file\":\"run.py\",\"line\":3,\"thread\":5,\"lines\":\"4@9000\""

/*
 * 12 from 10 us on, 14 from 20, 2 from 25, 12 from 40: what is called meanwhile, from 15 to 30,
 * too.
 */
static void looks_keep_their_lines(void **state)
{
	static const struct {
		uint64_t ns;
		uint32_t innermost, outermost;
	} expected[] = {{5000, 12, 0}, {5000, 3, 12}, {4000, 3, 14}, {1000, 4, 14},
			{5000, 4, 2},  {10000, 2, 0}, {10000, 12, 0}};
	struct gp_model *m = load(EVENTS(LOOK("1", "10", "run (run.py)", CALLER) "," LOOK(
		"1", "15", "step (run.py)",
		CALLED) "," END_LOOK("1", "30") "," END_LOOK("1", "50") "," LAUNCH));

	assert_int_equal(m->sample_count, 7);
	for (uint32_t i = 0; i < 7; i++) {
		uint32_t stack = m->samples[i].stack, caller = m->frames[stack].parent;

		assert_int_equal(m->samples[i].end_ns - m->samples[i].start_ns, expected[i].ns);
		assert_int_equal(line_of(m, stack), expected[i].innermost);
		assert_int_equal(caller == GP_NONE ? 0 : line_of(m, caller), expected[i].outermost);
	}
	gp_model_free(m);
}

static void synchronizations_and_events_are_read(void **state)
{
	struct gp_model *m = load(EVENTS(X("cuda_sync", "Stream Wait Event", GPU("1", "2", "\"wait_on_cuda_event_id\":17")) "," X(
		"cuda_sync", "Context Sync",
		"\"pid\":1,\"tid\":7,\"ts\":4,\"dur\":1,\"args\":{\"stream\":-1,\"context\":2}") "," X("cuda_event",
												       "cudaEvent",
												       GPU("8",
													   "0.001",
													   "\"event_id\":17"))));

	assert_int_equal(m->sync_count, 2);
	assert_null(m->info[GP_INFO_PID]); /* theirs is the device */
	assert_int_equal(m->syncs[0].sync_kind, 2);
	assert_int_equal(m->syncs[0].stream_id, 7);
	assert_int_equal(m->syncs[0].event_id, 17);
	assert_int_equal(m->syncs[1].sync_kind, 4);
	assert_int_equal(m->syncs[1].stream_id, GP_NO_STREAM);
	assert_int_equal(m->event_count, 1);
	assert_int_equal(m->events[0].event_id, 17);
	gp_model_free(m);
}

#define MEMORY(ts, type, device, reserved, used)                                                   \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":9,\"tid\":5,"   \
	"\"ts\":" ts ",\"args\":{\"Total Reserved\":" reserved ",\"Total Allocated\":" used        \
	",\"Bytes\":-8,\"Device Id\":" device ",\"Device Type\":" type "}}"

static void the_caching_allocator_is_a_pool(void **state)
{
	struct gp_model *m = load(EVENTS(MEMORY("1", "1", "0", "2097152", "1024") "," MEMORY(
		"2", "0", "-1", "0", "77") "," MEMORY("3", "1", "0", "2097152", "512")));

	assert_int_equal(m->pool_count, 2);
	assert_int_equal(m->pools[0].reserved_bytes, 2097152);
	assert_int_equal(m->pools[0].used_bytes, 1024);
	assert_int_equal(m->pools[1].time_ns, 2000);
	assert_int_equal(m->pools[1].used_bytes, 512);
	assert_non_null(strstr(m->notes[1], "2.000MiB of GPU 0; tensors used at most 1.000KiB"));
	assert_int_equal(m->memory_count, 0);
	gp_model_free(m);
}

static void facts_of_the_process_are_read_wherever_they_stand(void **state)
{
	struct gp_model *m = load(
		"{\"traceEvents\": [{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"train\"}},{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":5,\"args\":{\"name\":\"thread 5 (loader)\"}}," LAUNCH
		"],\"deviceProperties\":[{\"id\":1,\"name\":\"NVIDIA H200\",\"totalGlobalMem\":150109880320,\"computeMajor\":9,\"numSms\":132,\"warpSize\":32,\"maxThreadsPerMultiprocessor\":2048}],\"distributedInfo\":{\"backend\":\"nccl\",\"rank\": 3},\"cuda_driver_version\":13000,\"baseTimeNanoseconds\":1790857026000000000}");
	const struct gp_record_device *device = gp_model_device(m, 1);

	assert_string_equal(m->info[GP_INFO_PROGRAM], "train");
	assert_string_equal(m->info[GP_INFO_RANK], "3");
	assert_string_equal(m->info[GP_INFO_DRIVER_VERSION], "13000");
	assert_string_equal(gp_model_thread_name(m, 5), "loader");
	assert_int_equal(m->base_unix_ns, 1790857026000010500);
	assert_non_null(device);
	assert_int_equal(device->multiprocessors, 132);
	assert_int_equal(device->memory_bytes, 150109880320);
	assert_int_equal(device->max_warps_per_multiprocessor, 64);
	assert_string_equal(m->device_names[0], "NVIDIA H200");
	gp_model_free(m);
}

#define COUNTED(ts, name, args)                                                                    \
	X("cuda_profiler_range", name,                                                             \
	  "\"pid\":0,\"tid\":0,\"ts\":" ts ",\"dur\":1,\"args\":{" args "}")

/* Of CUPTI's range profiler: one name for all that have it, whatever is a number. */
static void hardware_counters_are_read(void **state)
{
	struct gp_model *m = load(EVENTS(
		LAUNCH
		"," COUNTED("20", "gemm", "\"smsp__inst_executed.sum\":1500,\"dram__bytes.sum\":\"64\"") "," COUNTED(
			"30", "gemm", "\"smsp__inst_executed.sum\":0.25,\"other\":7")));

	assert_int_equal(m->losses.unknown_records, 0);
	assert_int_equal(m->op_count, 0);
	assert_int_equal(m->counted_count, 2);
	assert_int_equal(m->counter_text_count, 2);
	assert_int_equal(m->counted[1].start_ns - m->counted[0].start_ns, 10000);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(m->counter_texts[m->counted[i].kernel], "gemm");
		assert_string_equal(m->counter_texts[m->counted[i].counter],
				    "smsp__inst_executed.sum");
	}
	assert_true(m->counted[0].value == 1500 && m->counted[1].value == 0.25);
	gp_model_free(m);
}

/* What there is no room for is said. */
static void more_hardware_counters_than_are_read(void **state)
{
	char text[20000] =
		"{\"traceEvents\": [" LAUNCH
		",{\"ph\":\"X\",\"cat\":\"cuda_profiler_range\",\"name\":\"gemm\",\"ts\":20,\"dur\":1,\"args\":{";
	size_t used = strlen(text);
	struct gp_model *m;

	used += (size_t)snprintf(text + used, sizeof(text) - used, "\"long__%0400d\":1", 0);
	for (int i = 0; i < 300; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ",\"m__%d\":%d", i, i);
	snprintf(text + used, sizeof(text) - used, "}}]}");
	m = load(text);
	assert_int_equal(m->counted_count, 256);
	assert_true(m->counted[255].value == 255);
	assert_non_null(strstr(
		m->notes[m->note_count - 1],
		"45 values of hardware counters were dropped: gpuprof reads 256 for each kernel"));
	gp_model_free(m);
}

static void categories_of_older_versions_are_known(void **state)
{
	struct gp_model *m = load(EVENTS(
		X("Kernel", "k", GPU("4", "1", "\"queued\":0")) "," X("Runtime", "cudaLaunchKernel", HOST("1", "1") ",\"args\":{\"correlation\":40}") "," X(
			"Operator", "aten::mm",
			HOST("0", "3")) "," X("Memcpy", "Memcpy HtoD (Pageable -> Device)",
					      GPU("6", "1",
						  "\"bytes\":4")) "," X("Memset", "Memset (Device)",
									GPU("8", "1",
									    "\"bytes\":4"))));

	assert_int_equal(m->op_count, 3);
	assert_int_equal(m->ops[0].call, 0);
	assert_int_equal(m->ops[1].source_kind, 1);
	assert_int_equal(m->range_count, 1);
	assert_int_equal(m->losses.unknown_records, 0);
	gp_model_free(m);
}

static void events_alone_are_a_trace(void **state)
{
	struct gp_model *m = load(" [" LAUNCH "," KERNEL ",]");

	assert_int_equal(m->op_count, 1);
	assert_true(m->losses.closed);
	gp_model_free(m);
}

static void a_cut_trace_opens_as_far_as_it_goes(void **state)
{
	static const char whole[] = EVENTS(LAUNCH "," KERNEL "," LAUNCH "," KERNEL);
	size_t first_end = strlen("{\"traceEvents\": [" LAUNCH);

	for (size_t length = 1; length < sizeof(whole) - 1; length++) {
		struct gp_model *m = NULL;
		int result = load_bytes(whole, length, &m);

		if (length < first_end) {
			assert_true(result < 0);
			continue;
		}
		assert_int_equal(result, 0);
		assert_true(m->call_count >= 1);
		assert_true(m->losses.cut);
		assert_false(m->losses.closed);
		gp_model_free(m);
	}
}

static void a_cut_compressed_trace_opens_as_far_as_it_goes(void **state)
{
	uint8_t packed[4096];
	z_stream z = {.avail_out = sizeof(packed), .next_out = packed};
	char text[20000] = "{\"traceEvents\": [";
	size_t used = strlen(text);
	struct gp_model *m = NULL;

	while (used < sizeof(text) - 1000)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 X("cpu_op", "op %zu", HOST("%zu", "1")) ",", used, used);
	z.next_in = (uint8_t *)text;
	z.avail_in = (unsigned)used;
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	assert_int_equal(load_bytes(packed, z.total_out * 3 / 4, &m), 0);
	assert_true(m->range_count > 10);
	assert_true(m->losses.cut);
	gp_model_free(m);
}

static void what_is_no_trace_is_refused(void **state)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"traceEvents\": {\"a\": 1}}",
		"{\"traceEvents\": [1, \"x\", [{}], {}]}",
		"{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"v8\",\"name\":\"x\",\"ts\":1}]}",
		"{\"nodes\": [",
	};
	struct gp_model *m;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(load_bytes(texts[i], strlen(texts[i]), &m), -ENODATA);
		assert_non_null(strstr(message, "without events of torch.profiler"));
	}
}

/* As our own export has it. */
static void the_driver_s_compiler_is_read(void **state)
{
	struct gp_model *m = load(EVENTS(
		LAUNCH
		"," KERNEL
		"," X("jit", "store in cache PTX to CUBIN", HOST("8.5", "1.25") ",\"args\":{\"device\":1,\"correlation\":39,\"thread\":5,\"operation\":\"9007199254740993\",\"compute cache bytes\":1073741824}") "," X(
			"jit", "compile to measure", HOST("9", "1"))));

	assert_int_equal(m->losses.unknown_records, 0);
	assert_int_equal(m->jit_count, 2);
	assert_int_equal(m->jits[0].end_ns - m->jits[0].start_ns, 1250);
	assert_int_equal(m->jits[0].op_kind, 2);
	assert_int_equal(m->jits[0].entry_kind, 1);
	assert_int_equal(m->jits[0].device_id, 1);
	assert_int_equal(m->jits[0].correlation_id, 39);
	assert_int_equal(m->jits[0].thread_id, 5);
	assert_int_equal(m->jits[0].cache_bytes, 1073741824);
	assert_int_equal(m->jits[0].operation_id, 9007199254740993);
	assert_int_equal(m->jits[1].op_kind, 3);
	assert_int_equal(m->jits[1].entry_kind, 0);
	gp_model_free(m);
}

/* Of a stream, and of a node of a graph; one that does not say where it belongs is counted. */
static void functions_of_the_host_are_read(void **state)
{
	struct gp_model *m = load(EVENTS(
		LAUNCH
		"," KERNEL
		"," X("host_function", "host function", HOST("8.5", "1.25") ",\"args\":{\"device\":1,\"context\":2,\"stream\":14,\"correlation\":39,\"thread\":5}") "," X(
			"host_function", "host function",
			HOST("10",
			     "2") ",\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":40,\"thread\":5,\"graph id\":3,\"graph node id\":12884901890}") "," X("host_function",
																					    "host function",
																					    HOST("13",
																						 "1"))));

	assert_int_equal(m->losses.unknown_records, 1);
	assert_int_equal(m->host_function_count, 2);
	const struct gp_record_host_function *f = m->host_functions;

	assert_int_equal(f[0].end_ns - f[0].start_ns, 1250);
	assert_int_equal(f[0].device_id, 1);
	assert_int_equal(f[0].context_id, 2);
	assert_int_equal(f[0].stream_id, 14);
	assert_int_equal(f[0].correlation_id, 39);
	assert_int_equal(f[0].thread_id, 5);
	assert_int_equal(f[0].graph_node_id, 0);
	assert_int_equal(f[1].graph_id, 3);
	assert_int_equal(f[1].graph_node_id, 12884901890);
	gp_model_free(m);
}

static void launches_of_whole_graphs_are_read(void **state)
{
	struct gp_model *m = load(EVENTS(LAUNCH "," KERNEL "," X(
		"gpu_graph", "graph 3",
		HOST("8.5",
		     "1.25") ",\"args\":{\"device\":1,\"context\":2,\"stream\":14,\"correlation\":39,\"graph id\":3}")));

	assert_int_equal(m->losses.unknown_records, 0);
	assert_int_equal(m->op_count, 2);
	const struct gp_op *op = m->ops[0].kind == GP_OP_GRAPH ? &m->ops[0] : &m->ops[1];

	assert_int_equal(op->kind, GP_OP_GRAPH);
	assert_int_equal(op->end_ns - op->start_ns, 1250);
	assert_int_equal(op->device_id, 1);
	assert_int_equal(op->context_id, 2);
	assert_int_equal(op->stream_id, 14);
	assert_int_equal(op->graph_id, 3);
	gp_model_free(m);
}

#define UNIFIED(name, more)                                                                        \
	X("unified_memory", name,                                                                  \
	  HOST("9", "1") ",\"args\":{\"address\":\"0x7f0000010000\"," more "}")

/* As our own export has it. */
static void unified_memory_is_read(void **state)
{
	struct gp_model *m = load(EVENTS(
		LAUNCH
		"," KERNEL
		"," UNIFIED("migration HtoD", "\"bytes\":4096,\"flags\":2,\"source\":\"host\",\"destination\":1") "," UNIFIED("page fault of a GPU", "\"value\":3,\"flags\":1,\"device\":1") ",{\"ph\":\"i\",\"cat\":\"unified_memory\",\"name\":\"thrashing\",\"pid\":9,\"tid\":5,\"ts\":12,\"s\":\"t\",\"args\":{\"address\":7,\"bytes\":64,\"devices\":[0,2,99,\"x\",[1]]}}," UNIFIED(
			"who knows", "\"value\":1")));
	const struct gp_record_unified *u = m->unifieds;

	assert_int_equal(m->losses.unknown_records, 1);
	assert_int_equal(m->unified_count, 3);
	assert_int_equal(u[0].counter_kind, GP_UNIFIED_HTOD);
	assert_int_equal(u[0].address, 0x7f0000010000);
	assert_int_equal(u[0].value, 4096);
	assert_int_equal(u[0].flags, 2);
	assert_int_equal(u[0].source_device_id, GP_NONE);
	assert_int_equal(u[0].destination_device_id, 1);
	assert_int_equal(u[0].end_ns - u[0].start_ns, 1000);
	assert_int_equal(u[1].counter_kind, GP_UNIFIED_GPU_FAULT);
	assert_int_equal(u[1].value, 3);
	assert_int_equal(u[1].source_device_id, 1);
	assert_int_equal(u[2].counter_kind, GP_UNIFIED_THRASHING);
	assert_int_equal(u[2].address, 0);
	assert_int_equal(u[2].source_device_id, 5);
	gp_model_free(m);
}

/* The call of LAUNCH, and what it made. */
static void contexts_and_streams_are_of_the_calls_that_made_them(void **state)
{
	struct gp_model *m = load(EVENTS(
		X("cuda_runtime", "cudaStreamCreateWithPriority", HOST("1", "2") ",\"args\":{\"correlation\":7,\"made streams\":[13,14],\"context\":1,\"made context\":1,\"default stream\":14,\"of device\":3}") "," X(
			"cuda_runtime", "cudaStreamCreateWithPriority",
			HOST("4",
			     "2") ",\"args\":{\"correlation\":8,\"made streams\":[15],\"context\":1,\"priority\":-5,\"stream kind\":\"non-blocking\"}") "," LAUNCH
																			"," KERNEL));

	assert_int_equal(m->context_count, 1);
	assert_int_equal(gp_model_context_device(m, 1), 3);
	assert_true(gp_model_is_null_stream(m, 1, 14));
	assert_int_equal(gp_model_context_call(m, 1), 0);
	assert_int_equal(gp_model_stream_call(m, gp_model_stream(m, 1, 13)), 0);
	assert_int_equal(gp_model_stream(m, 1, 13)->flags, 0);
	assert_int_equal(gp_model_stream_call(m, gp_model_stream(m, 1, 15)), 1);
	assert_int_equal(gp_model_stream(m, 1, 15)->flags, 2);
	assert_int_equal(gp_model_stream(m, 1, 15)->priority, -5);
	gp_model_free(m);
}

#define OTHER_PROCESS(category)                                                                    \
	X(category, "cudaLaunchKernel",                                                            \
	  "\"pid\":10,\"tid\":5,\"ts\":20,\"dur\":1,\"args\":{\"correlation\":40}")

static void calls_have_their_context(void **state)
{
	struct gp_model *m = load(EVENTS(X(
		"cuda_runtime", "cudaDeviceSynchronize",
		HOST("10", "2") ",\"args\":{\"correlation\":40,\"in context\":3,\"context\":7}")));

	assert_int_equal(m->calls[0].context_id, 3);
	gp_model_free(m);
}

/* Whose numbers would name calls of one another. */
static void several_processes_are_refused(void **state)
{
	static const char *const texts[] = {
		EVENTS(LAUNCH "," OTHER_PROCESS("cuda_runtime")),
		EVENTS(KERNEL "," OTHER_PROCESS("cuda_driver") "," LAUNCH),
		"{\"traceEvents\": [" LAUNCH
		"], \"metadata\": {\"slices left out\": 0, \"processes\": [{\"pid\": 9}, {\"pid\": 10}]}}",
	};
	struct gp_model *m;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(load_bytes(texts[i], strlen(texts[i]), &m), -ENOTUNIQ);
		assert_non_null(strstr(message, "several processes"));
	}
	m = load("{\"metadata\": {\"processes\": [{\"pid\": 9}, 7]}, \"traceEvents\": [" LAUNCH
		 "]}");
	assert_int_equal(m->call_count, 1);
	gp_model_free(m);
	m = load("{\"metadata\": {\"processes\": {\"a\": [{}, {}]}}, \"traceEvents\": [" LAUNCH
		 "]}");
	assert_int_equal(m->call_count, 1);
	gp_model_free(m);
}

/* Of a process that was killed, too, an export says what is not known of its end. */
static void an_export_says_that_its_trace_has_no_end(void **state)
{
	static const struct {
		const char *metadata, *why;
	} cases[] = {
		{"\"partial\": 1, \"why partial\": \"the disk was full\"", "the disk was full"},
		{"\"why partial\": \"the disk was full\", \"partial\": 1", "the disk was full"},
		{"\"partial\": 1, \"why partial\": \"x\"",
		 "the process was killed or crashed, the disk was full, or the file was cut"},
		{"\"partial\": 1",
		 "the process was killed or crashed, the disk was full, or the file was cut"},
		{"\"partial\": 0", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct gp_model *m;

		snprintf(text, sizeof(text), "{\"metadata\": {%s}, \"traceEvents\": [" LAUNCH "]}",
			 cases[i].metadata);
		m = load(text);
		assert_true(gp_recorded_is_whole(m) == (cases[i].why == NULL));
		if (cases[i].why)
			assert_string_equal(gp_recorded_why_no_end(m), cases[i].why);
		assert_false(m->losses.cut);
		gp_model_free(m);
	}
}

static const char *note_with(const struct gp_model *m, const char *text)
{
	for (uint32_t i = 0; i < m->note_count; i++)
		if (strstr(m->notes[i], text))
			return m->notes[i];
	return "";
}

#define NAME(pid, name)                                                                            \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" pid ",\"args\":{\"name\":\"" name "\"}}"

/* One note has them all; the process is not named after a device. */
static void events_of_other_devices_are_named_and_counted(void **state)
{
	struct gp_model *m = load(EVENTS(NAME("17", "MTIA 17") "," NAME("9", "service") "," NAME(
		"10", "other") "," LAUNCH
			       "," X("mtia_ccp_events", "dma_request", HOST("1", "1")) "," X(
				       "mtia_runtime", "recordEvent",
				       HOST("2", "1")) "," X("mtia_ccp_events", "merge",
							     HOST("3", "1"))));
	const char *note = note_with(m, "mtia_");

	assert_int_equal(m->losses.unknown_records, 0);
	assert_non_null(strstr(note, " 2 mtia_ccp_events (Meta's MTIA), 1 mtia_runtime"));
	assert_string_equal(m->info[GP_INFO_PROGRAM], "service");
	gp_model_free(m);
}

/* Calls of other devices start their kernels; counters under such a name are none. */
static void calls_of_other_runtimes_start_kernels(void **state)
{
	struct gp_model *m = load(EVENTS(
		X("privateuse1_runtime", "mlx5_0:1", "\"pid\":2147418112,\"tid\":0,\"ts\":1,\"dur\":0,\"args\":{\"tx_gbps\":12.5}") "," X(
			"xpu_runtime", "urEnqueueKernelLaunch",
			HOST("2",
			     "3") ",\"args\":{\"correlation\":40}") "," X("kernel", "gemm_kernel",
									  GPU("9", "5",
									      "\"sycl queue\":64"))));

	assert_int_equal(m->pid, 9);
	assert_int_equal(m->call_count, 1);
	assert_int_equal(gp_model_api_class(m, m->calls[0].api), GP_API_LAUNCH);
	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->ops[0].call, 0);
	assert_non_null(strstr(note_with(m, "privateuse1"), " 1 privateuse1_runtime"));
	gp_model_free(m);
}

static void many_kinds_of_other_events_are_counted_together(void **state)
{
	struct gp_model *m = load(EVENTS(
		LAUNCH
		"," X("k1", "", HOST("1", "1")) "," X("k2", "", HOST("1", "1")) "," X("k3", "", HOST("1", "1")) "," X(
			"k4", "",
			HOST("1",
			     "1")) "," X("k5", "",
					 HOST("1",
					      "1")) "," X("k6", "",
							  HOST("1",
							       "1")) "," X("k7", "",
									   HOST("1",
										"1")) "," X("k8",
											    "",
											    HOST("1",
												 "1")) "," X("k9",
													     "",
													     HOST("1",
														  "1"))));

	assert_non_null(strstr(note_with(m, "k1"), "1 k7, 2 others"));
	gp_model_free(m);
}

static void nonsense_is_counted_and_nothing_else(void **state)
{
	struct gp_model *m = load(EVENTS(
		LAUNCH
		",{\"ph\":7},{\"args\":[],\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":\"x\"},{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"name\":[{\"a\":1}],\"args\":{\"device\":-1}},{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":-5,\"dur\":-9,\"pid\":\"x\",\"args\":{\"device\":70000,\"stream\":1}},{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":2,\"args\":{\"device\":0,\"stream\":1,\"grid\":[1,2],\"block\":[1,{},3],\"registers per thread\":[]}}," X(
			"new", "x", HOST("1", "1"))));

	assert_int_equal(m->losses.unknown_records, 2);
	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->ops[0].shape, GP_NONE);
	gp_model_free(m);
}

/* Facts that are of another kind than they are to be are passed over, whatever is in them. */
static void nonsense_among_the_facts_is_passed_over(void **state)
{
	static const char *const facts[] = {
		"\"deviceProperties\":{\"a\":[1]}",
		"\"deviceProperties\":[7,[{}],{\"id\":1,\"new\":{\"b\":[]},\"name\":\"G\"}]",
		"\"distributedInfo\":[[3]]",
		"\"metadata\":[{}]",
		"\"metadata\":{\"processes\":{\"a\":{}}}",
		"\"baseTimeNanoseconds\":-5",
		"\"baseTimeNanoseconds\":{}",
		"\"cupti_version\":26,\"cuda_driver_version\":[]",
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct gp_model *m;

		snprintf(text, sizeof(text), "{%s,\"traceEvents\":[" LAUNCH "]}", facts[i]);
		m = load(text);
		assert_int_equal(m->call_count, 1);
		assert_int_equal(m->device_count, i == 1);
		assert_null(m->info[GP_INFO_RANK]);
		assert_null(m->info[GP_INFO_DRIVER_VERSION]);
		gp_model_free(m);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, open_file, close_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_kernel_has_what_the_event_says),
		T(the_driver_s_compiler_is_read),
		T(functions_of_the_host_are_read),
		T(launches_of_whole_graphs_are_read),
		T(unified_memory_is_read),
		T(contexts_and_streams_are_of_the_calls_that_made_them),
		T(several_processes_are_refused),
		T(calls_have_their_context),
		T(an_export_says_that_its_trace_has_no_end),
		T(a_call_has_what_the_event_says),
		T(a_device_may_have_two_numbers),
		T(overheads_have_kinds),
		T(time_ends_with_the_last_event),
		T(time_begins_with_the_first_event),
		T(copies_and_sets_have_their_kinds),
		T(a_copy_between_devices_names_both),
		T(a_copy_is_asynchronous_as_its_call_is),
		T(ranges_nest),
		T(ranges_that_cross_are_kept),
		T(functions_and_operators_are_the_stacks_of_calls),
		T(operators_know_their_python_callers),
		T(looks_at_stacks_are_samples_of_the_innermost_function),
		T(looks_keep_their_lines),
		T(synchronizations_and_events_are_read),
		T(the_caching_allocator_is_a_pool),
		T(facts_of_the_process_are_read_wherever_they_stand),
		T(nonsense_among_the_facts_is_passed_over),
		T(hardware_counters_are_read),
		T(more_hardware_counters_than_are_read),
		T(categories_of_older_versions_are_known),
		T(events_alone_are_a_trace),
		T(a_cut_trace_opens_as_far_as_it_goes),
		T(a_cut_compressed_trace_opens_as_far_as_it_goes),
		T(what_is_no_trace_is_refused),
		T(events_of_other_devices_are_named_and_counted),
		T(calls_of_other_runtimes_start_kernels),
		T(many_kinds_of_other_events_are_counted_together),
		T(nonsense_is_counted_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
