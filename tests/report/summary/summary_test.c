#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary/summary.h"
#include "report/summary/summary_document.h"
#include "report/base/text/text.h"
#include "tests/report/model_builder.h"

#define MANY 30

static char *print(struct gp_model *const *models, size_t count, size_t row_limit)
{
	struct gp_summary_options options = {.row_limit = row_limit};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_print(out, models, count, &options), 0);
	fclose(out);
	return text;
}

/* The summary has a line with these words in this order, whatever the spaces between them. */
static void expect(const char *text, const char *words)
{
	char squeezed[65536];
	size_t length = 0;

	for (const char *c = text; *c && length < sizeof(squeezed) - 1; c++)
		if (*c != ' ' || length == 0 || squeezed[length - 1] != ' ')
			squeezed[length++] = *c;
	squeezed[length] = '\0';
	if (!strstr(squeezed, words))
		fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void expect_not(const char *text, const char *words)
{
	if (strstr(text, words))
		fail_msg("\"%s\" is in:\n%s", words, text);
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void check_widths(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (gp_text_columns(line) > 120)
			fail_msg("%zu columns: %s", gp_text_columns(line), line);
	free(copy);
}

/* Two launches of one kernel, one of another, a copy, a set, memory: a small ordinary program. */
static struct build build_ordinary(uint32_t pid)
{
	struct build b = build_begin(pid);
	struct gp_op *op;

	build_info(&b, GP_INFO_PROGRAM, "saxpy");
	build_info(&b, GP_INFO_COMMAND, "./saxpy --size 1024");
	build_info(&b, GP_INFO_HOST, "gpu01");
	build_info(&b, GP_INFO_DRIVER_VERSION, "13000");
	build_info(&b, GP_INFO_CUPTI_VERSION, "130001");
	build_device(&b, 0, "NVIDIA H200");
	build_name(&b, "_Z5saxpyifPKfPf");
	build_name(&b, "_Z4zeroPf");
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000, 0x1000, 1 << 20);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 1100, 0x2000, 1 << 21);
	for (uint32_t i = 0; i < 3; i++) {
		build_call(&b, 100, BUILD_LAUNCH, 10000 + 5000 * i, 4000, 10 + i);
		op = build_op(&b, GP_OP_KERNEL, 7, 20000 + 10000 * i, 21000 + 12000 * i, 10 + i);
		op->name = i == 2;
	}
	build_call(&b, 100, BUILD_MEMCPY_ASYNC, 60000, 2000, 20);
	op = build_op(&b, GP_OP_COPY, 7, 62000, 64000, 20);
	op->copy_kind = 1;
	op->source_kind = 1;
	op->destination_kind = 3;
	op->bytes = 48000;
	build_call(&b, 100, BUILD_MEMSET_ASYNC, 70000, 1000, 21);
	op = build_op(&b, GP_OP_SET, 7, 71000, 72000, 21);
	op->bytes = 4096;
	op->destination_kind = 3;
	build_call(&b, 100, BUILD_DEVICE_SYNC, 80000, 20000, 22);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_PINNED, 100500, 0x2000, 0);
	build_usage(&b, 0, 90000, 150109880320 - (1u << 30), 150109880320);
	b.model->counters[GP_COUNTER_HOOKS] = b.model->call_count;
	b.model->counters[GP_COUNTER_HOOKS_SAMPLED] = 2;
	b.model->counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] = 400;
	return b;
}

/* What the last model lacked: the ids of its section "incomplete", in their order. */
static char partial_ids[256];

static void note_partial(struct gp_model *model)
{
	struct gp_document document = {0};
	const struct gp_section *section;
	struct gp_summary summary;
	size_t used = 0;

	assert_int_equal(gp_summary_open(&summary, &model, 1, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, &document), 0);
	gp_summary_close(&summary);
	section = gp_document_section(&document, "incomplete");
	partial_ids[0] = '\0';
	for (uint32_t i = 0; i < section->count; i++)
		used += (size_t)snprintf(partial_ids + used, sizeof(partial_ids) - used, "%s%s",
					 i > 0 ? " " : "", gp_fields_text(&section->rows[i], "id"));
	if (section->count > 0)
		assert_int_equal(gp_fields_value(&section->rows[0], "pid")->whole, model->pid);
	gp_document_free(&document);
}

static char *summarize(struct build *b)
{
	struct gp_model *model = build_end(b);
	char *text = print(&model, 1, 10);

	note_partial(model);
	gp_model_free(model);
	return text;
}

static void the_page_has_all_sections(void **state)
{
	static const char *const titles[] = {"\nGPU busy (",  "\nGPU activities: ",
					     "\nAPI calls: ", "\nMemory copies and memsets\n",
					     "\nMemory",      "\nRecords\n"};
	struct build b = build_ordinary(42);
	char *text = summarize(&b);

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		expect(text, titles[i]);
	expect(text, " busy computing 9.0 %, copying 3.0 %\n");
	expect(text, "gpuprof: saxpy, pid 42 on gpu01: 99.51us, first to last recorded CUDA call");
	expect(text, "command ./saxpy --size 1024");
	expect(text, "GPU 0 NVIDIA H200, 132 SMs, 139.8GiB, compute capability 9.0");
	expect(text, "driver for CUDA 13.0, CUPTI 13.0.1");
	expect(text, "Time % Total Calls Avg Med Min Max StdDev Name");
	expect(text, "41.7 5.000us 1 5.000us 5.000us 5.000us 5.000us 0.0ns zero");
	expect(text, "33.3 4.000us 2 2.000us 2.000us 1.000us 3.000us 1.000us saxpy");
	expect(text, "2.000us 1 2.000us 2.000us 2.000us 2.000us 0.0ns [memcpy HtoD pageable]");
	expect(text, "12.00us 3 4.000us 4.000us 4.000us 4.000us 0.0ns cudaLaunchKernel");
	expect(text,
	       "46.88KiB 1 46.88KiB 46.88KiB 46.88KiB 2.000us 24.00 - [memcpy HtoD pageable]");
	expect(text, "4.000KiB 1 4.000KiB 4.000KiB 4.000KiB 1.000us 4.096 - [memset]");
	expect(text, "1.000MiB +10ns 1.000MiB 1 0B 0 1.000MiB 1 GPU 0 device");
	expect(text, "2.000MiB +110ns 2.000MiB 1 2.000MiB 1 0B 0 pinned host");
	expect(text,
	       "the driver reports 1.000GiB of 139.8GiB in use at +89.01us, 1023.0MiB beyond");
	expect(text, "all 3 launches have their kernel record; 5 GPU records, nothing was dropped");
	expect(text, "gpuprof's own cost: about");
	check_widths(text);
	assert_true(count_lines(text) < 50);
	free(text);
}

/* 1 + 3 + 5 us of kernels, 2 of a copy, 1 of a set; what overlaps counts once. */
static void the_gpu_is_busy_while_anything_runs(void **state)
{
	struct build b = build_ordinary(42);
	struct gp_model *model;
	char *text;

	build_op(&b, GP_OP_KERNEL, 8, 20500, 20800, 0);
	model = build_end(&b);
	text = print(&model, 1, 10);
	expect(text, "GPU 0 12.1 % busy, 87.9 % idle: 12.00us of 99.51us");
	free(text);
	gp_model_free(model);
}

/* A kernel within what was recorded of the time, the rest without. */
static void the_gpu_is_busy_of_what_was_recorded(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_gate(&b, false, GP_GATE_START, 500);
	build_gate(&b, true, GP_GATE_PROFILER, 19000);
	build_gate(&b, false, GP_GATE_PROFILER, 23000);
	text = summarize(&b);
	expect(text,
	       "operation running, while recording was on and no earlier operation was running)\n");
	expect(text, "GPU 0 25.0 % busy, 75.0 % idle: 1.000us of 4.000us; 11.00us more outside");
	free(text);
}

/* Two threads of about 10 us each at once: the cost is that of both. */
static void the_cost_is_of_the_threads_time(void **state)
{
	struct build one = build_begin(7), two = build_begin(8);
	char *text;

	build_call(&one, 1, BUILD_DEVICE_SYNC, 0, 19000, 1);
	one.model->counters[GP_COUNTER_HOOKS] = 1;
	text = summarize(&one);
	expect(text,
	       "cost: about 190ns, 1.0 % of the time above (an estimate: 126ns to 380ns)\n hooks not measured, ");
	free(text);
	build_call(&two, 1, BUILD_DEVICE_SYNC, 0, 9000, 1);
	build_call(&two, 2, BUILD_DEVICE_SYNC, 0, 10000, 2);
	text = summarize(&two);
	expect(text,
	       "cost: about 380ns, 2.0 % of its 2 threads' time (an estimate: 253ns to 760ns)\n hooks ");
	free(text);
}

/* 190 ns for the callbacks of a call; hooks that were never sampled are unknown. */
static void the_cost_is_data(void **state)
{
	struct build b = build_begin(7);
	struct gp_document document = {0};
	const struct gp_section *cost;
	struct gp_summary summary;
	struct gp_model *model;

	build_call(&b, 1, BUILD_DEVICE_SYNC, 0, 19000, 1);
	b.model->counters[GP_COUNTER_HOOKS] = 1;
	model = build_end(&b);
	assert_int_equal(gp_summary_open(&summary, &model, 1, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, &document), 0);
	gp_summary_close(&summary);
	cost = gp_document_section(&document, "cost");
	assert_non_null(cost);
	assert_int_equal(cost->count, 1); /* there are no steps */
	assert_string_equal(gp_fields_text(&cost->rows[0], "id"), "all");
	assert_true(gp_fields_value(&cost->rows[0], "estimate_ns")->real == 190);
	assert_true(gp_fields_value(&cost->rows[0], "callbacks_ns")->real == 190);
	assert_true(gp_fields_value(&cost->rows[0], "records_ns")->real == 0);
	assert_int_equal(gp_fields_value(&cost->rows[0], "hooks_ns")->kind, GP_VALUE_NONE);
	gp_document_free(&document);
	gp_model_free(model);
}

static void what_is_not_known_of_the_gpu_is_not_said(void **state)
{
	struct build b = build_ordinary(42), none = build_begin(43), memory = build_begin(44);
	char *text;

	b.model->counters[GP_COUNTER_LEFT_OUT_KERNELS] = 12;
	text = summarize(&b);
	expect(text,
	       "; operations are missing)\n GPU 0 at least 12.1 % busy: 12.00us of 99.51us\n");
	expect(text, "\n idle at most: ");
	expect_not(text, "% idle");
	free(text);
	build_device(&none, 0, "GPU");
	build_call(&none, 100, BUILD_DEVICE_SYNC, 30000, 100, 31);
	none.model->losses.closed = false;
	text = summarize(&none);
	expect(text, "GPU 0 not known\n");
	expect(text, " no launch of a kernel was recorded; 0 GPU records\n");
	free(text);
	build_device(&memory, 0, "GPU");
	build_info(&memory, GP_INFO_OPTIONS, "TRACE=memory,nvtx\nX=gpu");
	build_call(&memory, 100, BUILD_MALLOC, 30000, 100, 31);
	text = summarize(&memory);
	expect(text, "\nGPU busy: not recorded (add gpu to --trace)\n");
	expect(text, " in all (those that --trace asked for; ");
	expect(text, " no launch of a kernel was recorded; 0 GPU records, nothing was dropped\n");
	free(text);
}

static void the_limit_folds_rows_and_says_so(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	char name[16], *text;

	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "kernel%02u", i);
		build_name(&b, name);
		build_call(&b, 1, BUILD_LAUNCH, 100 * i, 10, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, 1000 * i, 1000 * i + 10, i + 1)->name = i;
	}
	model = build_end(&b);
	text = print(&model, 1, 10);
	expect(text, "... 20 more, 200ns (66.7 %)");
	expect_not(text, " computing ");
	expect_not(text, "kernel10");
	free(text);
	text = print(&model, 1, MANY - 1);
	expect_not(text, "more,");
	expect(text, "kernel29");
	free(text);
	text = print(&model, 1, 0);
	expect(text, "kernel29");
	free(text);
	gp_model_free(model);
}

static void failures_are_counted_and_named(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_call(&b, 100, BUILD_LAUNCH, 30000, 100, 31)->status = 701;
	build_call(&b, 100, BUILD_LAUNCH, 31000, 100, 32)->status = 701;
	build_api(&b, 401, "\x1b[31mcudaEvil", GP_API_OTHER);
	build_call(&b, 100, 401, 33000, 100, 34)->status = 1;
	build_api(&b, 400, "cudaEventQuery", GP_API_SYNC);
	build_call(&b, 100, 400, 32000, 100, 33)->status = 600;
	build_api(&b, 402, "cudaGetLastError", GP_API_OTHER);
	build_call(&b, 100, 402, 34000, 100, 35)->status = 701;
	text = summarize(&b);
	expect(text, "12.20us 5 2 ");
	expect(text,
	       "failed: 2 x cudaLaunchKernel: too many resources requested for launch (cudaErrorLaunchOutOfResources, 701)\n");
	expect(text,
	       "failed: 1 x \\x1b[31mcudaEvil: invalid argument (cudaErrorInvalidValue, 1)\n");
	expect_not(text, "\x1b");
	expect_not(text, "x cudaGetLastError");
	expect(text,
	       "5 launches, 3 with kernel record, 2 failed; 5 GPU records, nothing was dropped");
	free(text);
}

/* A process with 80 launches, whose numbers are those of the balance times a factor. */
static struct gp_model *build_balance(uint32_t pid, uint64_t factor, uint64_t missing)
{
	struct build b = build_begin(pid);
	struct gp_losses *losses;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < 80; i++)
		build_call(&b, 100, BUILD_LAUNCH, 1000 * i, 10, i + 1);
	build_call(&b, 100, BUILD_GRAPH_LAUNCH, 90000, 10, 99);
	build_op(&b, GP_OP_KERNEL, 7, 500, 600, 1);
	build_gate(&b, true, GP_GATE_API, 0);
	model = build_end(&b);
	losses = &model->losses;
	losses->launches_captured = 1 * factor;
	losses->launches_failed = 2 * factor;
	losses->launches_without_op = missing;
	losses->launches_outside = 3 * factor;
	losses->launches_left_out = 4 * factor;
	losses->launches_unnumbered = 5 * factor;
	return model;
}

/* Of those without losses in one line, and on a screen of those with losses behind the third. */
static void records_of_processes_are_summed(void **state)
{
	const struct gp_summary_options screen = {.brief = true};
	struct gp_model *models[7];
	char *text = NULL;
	size_t bytes;
	FILE *out;

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		models[i] = build_balance(1 + i, 1 + i % 2, i < 2 ? 0 : 6 + i);
	out = open_memstream(&text, &bytes);
	assert_int_equal(gp_summary_print(out, models, 7, &screen), 0);
	fclose(out);
	for (char *c = text; *c; c++)
		*c = (char)(*c == '\n' ? ' ' : *c);
	expect(text,
	       "Records 160 launches, 115 with kernel record, 3 captured into a graph, 6 failed, "
	       "12 left out by --kernels, 15 that this CUPTI version cannot match to kernels, "
	       "9 whose kernel ran while recording was paused; 2 graph launches; 2 GPU records, "
	       "nothing was dropped (2 of 7 processes; the others follow) 80 launches, ");
	expect(text,
	       " 1 GPU record (pid 4) without kernel record: CUPTI delivered none (launched "
	       "after the final flush?) 240 launches, 147 with kernel record, 4 captured into a "
	       "graph, 8 failed, 33 without kernel record, 16 left out by --kernels, 20 that "
	       "this CUPTI version cannot match to kernels, 12 whose kernel ran while recording "
	       "was paused; 3 graph launches (3 more processes: ");
	free(text);
	for (uint32_t i = 0; i < 7; i++)
		gp_model_free(models[i]);
}

static void every_loss_is_shown(void **state)
{
	struct build b = build_ordinary(42);
	struct gp_losses *losses = &b.model->losses;
	char *text;

	build_call(&b, 100, BUILD_LAUNCH, 30000, 100, 31);
	b.model->counters[GP_COUNTER_LOST_CUPTI] = 7;
	b.model->counters[GP_COUNTER_LOST_RING_FULL] = 8;
	b.model->counters[GP_COUNTER_RING_WAITS] = 9;
	b.model->counters[GP_COUNTER_BUFFER_WAITS] = 1;
	b.model->counters[GP_COUNTER_BUFFERS_EXTRA] = 1;
	b.model->counters[GP_COUNTER_EXIT_FLUSH_TIMEOUTS] = 1;
	b.model->counters[GP_COUNTER_EXIT_FLUSHES_REFUSED] = 1;
	losses->damaged_bytes = 1234;
	losses->unknown_records = 11;
	losses->ops_reversed = 12;
	build_op(&b, GP_OP_KERNEL, 7, 90000, 90001, 999);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 95000, 0x7777, 0);
	text = summarize(&b);
	expect(text, "4 launches, 3 with kernel record, 1 without kernel record; 6 GPU records");
	expect(text, "without kernel record: CUPTI dropped records");
	expect(text, "7 GPU records that CUPTI reported as dropped");
	expect(text, "8 records dropped because their thread's ring stayed full");
	expect(text, "9 times a thread waited for the writer");
	expect(text, " 1 time a thread waited for gpuprof");
	expect(text, " 1 CUPTI buffer allocated beyond");
	expect(text, " 1 final CUPTI flush that exceeded");
	expect(text, " 1 final flush that CUPTI refused: its remaining GPU records");
	assert_string_equal(partial_ids, "damaged");
	assert_int_equal(strncmp(text, "INCOMPLETE: ", 12), 0);
	expect(text, "1,234 damaged bytes of the trace file");
	expect(text, "11 records that this version does not understand");
	expect(text, "12 GPU operations with an end before the start");
	expect(text, "1 GPU operation whose API call was not recorded");
	expect(text, "1 free of memory whose allocation was not recorded");
	expect_not(text, "nothing was dropped");
	check_widths(text);
	free(text);
}

static void lost_names_are_no_lost_operations(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	b.model->counters[GP_COUNTER_TEXTS_UNKNOWN] = 64;
	text = summarize(&b);
	expect(text, "64 ranges without their message");
	expect(text, "invalid handle, or too many registered messages");
	expect(text, "% idle: ");
	expect_not(text, "operations are missing");
	expect_not(text, "nothing was dropped");
	free(text);
}

/*
 * Each counter alone shows up where all rows are asked for, whichever it is; when CUPTI last
 * delivered is said of partial traces only.
 */
static void no_counter_is_forgotten(void **state)
{
	for (size_t i = 0; i < GP_COUNTERS; i++) {
		struct build b = build_ordinary(42);
		struct gp_model *model;
		char *text;

		build_call(&b, 100, BUILD_LAUNCH, 30000, 100,
			   31); /* for which something is missing */
		memset(b.model->counters, 0, sizeof(b.model->counters));
		b.model->counters[i] = 987654;
		model = build_end(&b);
		text = print(&model, 1, 0);
		gp_model_free(model);
		if (i != GP_COUNTER_LAST_DELIVERY_TICKS && i != GP_COUNTER_FIRST_TICKS &&
		    !strstr(text, "987,654") && !strstr(text, "493.8us") &&
		    !strstr(text, "987.7us") && !strstr(text, "964.5KiB"))
			fail_msg("counter %zu is not in:\n%s", i, text);
		free(text);
	}
}

static void a_partial_trace_says_so_on_top(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_call(&b, 100, BUILD_LAUNCH, 30000, 100, 31);
	b.model->losses.closed = false;
	b.model->losses.recovered_records = 5;
	b.model->end_ns = 5000000;
	b.model->last_delivery_ns = 2000000;
	text = summarize(&b);
	assert_int_equal(strncmp(text, "INCOMPLETE: ", 12), 0);
	assert_string_equal(partial_ids,
			    "incomplete end recovered delivery launches-without-record");
	expect(text,
	       "it ends 5.000ms after the first recorded CUDA call, 4.899ms after the last one");
	expect(text, "5 records were recovered from its rings");
	assert_null(strstr(text, "gpuprof finish"));
	expect(text, "CUPTI last delivered GPU records 3.000ms before the end");
	expect(text, "launches without GPU record: 1");
	expect(text,
	       "without kernel record: in flight when the process ended, or their records not written");
	free(text);
}

static void one_record_was_recovered(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	b.model->losses.closed = false;
	b.model->losses.recovered_records = 1;
	b.model->losses.in_rings = true;
	text = summarize(&b);
	expect(text, "1 record was recovered from its rings;");
	expect(text, "the file does not have them yet: gpuprof finish FILE");
	free(text);
}

/* What a process had not freed when its trace ended is no leak if more may have come. */
static void what_is_held_when_a_trace_breaks_off_is_no_leak(void **state)
{
	struct build whole = build_ordinary(42), live = build_ordinary(42);
	struct build lossy = build_ordinary(42);
	char *text = summarize(&whole);

	expect(text,
	       "\nNever freed: not known; 1.000MiB in 1 block was left, perhaps in the cache of an allocator\n call stacks would tell, but the calls have none\n");
	free(text);
	live.model->losses.live = true;
	live.model->losses.closed = false;
	text = summarize(&live);
	expect(text, "\nNot freed when the trace ends: 1.000MiB in 1 block\n");
	expect(text, "\n whether the program would have freed it later is not known");
	expect_not(text, "Never");
	expect_not(text, "including memory that was freed");
	free(text);
	lossy.model->counters[GP_COUNTER_LOST_RING_FULL] = 1;
	text = summarize(&lossy);
	expect(text, "\nNot freed while recording was on: 1.000MiB in 1 block\n");
	expect(text, "\n including memory that was freed by calls whose records are lost\n");
	free(text);
}

static void without_allocations_nothing_is_beyond_them(void **state)
{
	struct build none = build_ordinary(42), part = build_ordinary(42);
	char *text;

	build_info(&none, GP_INFO_OPTIONS, "TRACE=gpu");
	text = summarize(&none);
	expect(text, " in use at +89.01us; allocations were not recorded\n");
	expect_not(text, "beyond");
	free(text);
	build_gate(&part, false, GP_GATE_SIGNAL, 95000);
	text = summarize(&part);
	expect(text, "beyond the 1.000MiB known to be allocated here\n");
	free(text);
}

static void a_live_or_cut_trace_is_partial_too(void **state)
{
	struct build live = build_ordinary(42), cut = build_ordinary(43);
	char *text;

	live.model->losses.live = true;
	live.model->losses.closed = false;
	text = summarize(&live);
	assert_string_equal(partial_ids, "incomplete end delivery");
	free(text);
	cut.model->losses.cut = true;
	text = summarize(&cut);
	assert_string_equal(partial_ids, "incomplete end cut delivery");
	expect(text, "; the file was cut:\n operations may be missing)\n");
	expect_not(text, "operations are missing");
	expect(text, "all 3 launches in the file have their kernel record");
	free(text);
}

static struct gp_waiting *wait_since_the_beginning(struct build *b)
{
	struct gp_waiting *waiting = calloc(1, sizeof(*waiting));

	assert_non_null(waiting);
	waiting->thread_id = 100;
	waiting->api = BUILD_DEVICE_SYNC;
	b->model->waiting_count = 1;
	b->model->losses.closed = false;
	b->model->base_monotonic_ns = 1;
	return waiting;
}

/* Of a program that runs, up to when its rings were read; of a dead one, as long as is known. */
static void calls_wait_until_looked_at_or_at_least_that_long(void **state)
{
	struct build live = build_ordinary(42), dead = build_ordinary(42),
		     last = build_ordinary(42);
	char *text;

	live.model->waiting = wait_since_the_beginning(&live);
	live.model->losses.live = true;
	live.model->rings_monotonic_ns = 1 + 3000000;
	text = summarize(&live);
	expect(text, " in cudaDeviceSynchronize for 3.000ms: thread 100\n");
	free(text);
	dead.model->waiting = wait_since_the_beginning(&dead);
	text = summarize(&dead);
	expect(text, " in cudaDeviceSynchronize for at least 100.5us: thread 100\n");
	free(text);
	last.model->waiting = wait_since_the_beginning(&last);
	last.model->waiting->start_ns = UINT64_MAX; /* nothing is known after it */
	text = summarize(&last);
	expect(text, " in cudaDeviceSynchronize at the end: thread 100\n");
	free(text);
}

static void shares_that_are_nearly_nothing_or_all(void **state)
{
	struct build b = build_begin(42), part = build_begin(43);
	char *text;

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&b, GP_OP_KERNEL, 7, 2000, 3000, 1);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 9000, 99991000, 2);
	text = summarize(&b);
	expect(text, "GPU 0 <0.1 % busy, >99.9 % idle: 1.000us of 100.0ms\n");
	free(text);
	build_device(&part, 0, "GPU");
	build_call(&part, 100, BUILD_LAUNCH, 0, 1000, 1);
	build_op(&part, GP_OP_KERNEL, 7, 2000, 3000, 1);
	build_call(&part, 100, BUILD_DEVICE_SYNC, 9000, 99991000, 2);
	part.model->counters[GP_COUNTER_LEFT_OUT_KERNELS] = 12;
	text = summarize(&part);
	expect(text, "GPU 0 busy for at least 1.000us of 100.0ms\n");
	free(text);
}

/* Where the cause is known, only that. */
static void a_process_that_left_its_rings_was_killed(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	b.model->losses.closed = false;
	b.model->losses.killed = true;
	text = summarize(&b);
	expect(text, "did not close its trace: the process was killed or crashed\n");
	free(text);

	b = build_ordinary(42);
	b.model->losses.closed = false;
	b.model->losses.end_way = GP_END_SIGNAL;
	b.model->losses.end_status = 9;
	text = summarize(&b);
	expect(text, "did not close its trace: the process was killed or crashed (SIGKILL)\n");
	free(text);
}

static void a_program_without_cuda_gets_one_line(void **state)
{
	struct build b = build_begin(7);
	char *text;

	build_info(&b, GP_INFO_PROGRAM, "ls");
	text = summarize(&b);
	assert_string_equal(text, "gpuprof: ls (pid 7) made no CUDA call that was recorded\n");
	free(text);
	b = build_begin(7);
	b.model->losses.closed = false;
	b.model->losses.cut = true;
	text = summarize(&b);
	assert_string_equal(partial_ids, "incomplete end cut delivery");
	expect(text, "(pid 7): its file has no CUDA call, and is incomplete\n");
	expect_not(text, "made no CUDA call");
	free(text);
}

static void a_program_without_cuda_in_its_window_is_said_to_have_one(void **state)
{
	struct build b = build_begin(7);
	char *text;

	build_gate(&b, false, GP_GATE_START, 500);
	build_gate(&b, true, GP_GATE_RANGE, 2000);
	build_gate(&b, false, GP_GATE_TIME, 5000);
	b.model->end_ns = 9000;
	text = summarize(&b);
	expect(text,
	       " made no CUDA call that was recorded\n"
	       " recording was on for 3.000us of 9.000us, in 1 part (--capture-range, --delay, ...)\n");
	free(text);
}

static void graphs_and_captures_are_part_of_the_balance(void **state)
{
	struct build b = build_begin(9);
	char *text;

	build_call(&b, 9, BUILD_LAUNCH, 120, 10, 2)->captured = true;
	build_call(&b, 9, BUILD_GRAPH_LAUNCH, 160, 10, 4);
	build_op(&b, GP_OP_KERNEL, 7, 200, 210, 4);
	build_op(&b, GP_OP_KERNEL, 7, 210, 220, 4);
	build_overhead(&b, 1u << 16, 100, 350);
	build_overhead(&b, 6u << 16, 120, 130);
	build_overhead(&b, 6u << 16, 160, 170);
	build_overhead(&b, 1u << 16, 400, 450);
	build_overhead(&b, 1u << 16, 500, 9000);
	b.model->overheads[4].thread_id = 99; /* gpuprof's: it makes no calls */
	text = summarize(&b);
	expect(text,
	       "1 launch, 1 captured into a graph; 1 graph launch; 2 GPU records, nothing was dropped");
	expect(text,
	       " profiler overhead, not included above: 1 x Buffer Flush 50ns; 250ns before the first call or after the last\n");
	expect(text,
	       "the driver, also without a profiler: 2 x wait for space in a full launch queue 20ns");
	expect_not(text, "failed:");
	free(text);
}

static void hostile_names_cannot_reach_the_terminal(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	free(b.model->names[0]);
	b.model->names[0] = strdup("\x1b]0;owned\x07\nGPU activities: fake");
	build_info(&b, GP_INFO_PROGRAM, "\x1b[31mred");
	build_info(&b, GP_INFO_COMMAND, "a\nb\xff");
	text = summarize(&b);
	expect_not(text, "\x1b");
	expect_not(text, "\x07");
	expect_not(text, "\xff");
	expect(text, "\\x1b]0;owned\\x07\\nGPU");
	expect(text, "command a\\nb\\xff");
	free(text);
}

static void processes_are_listed_and_merged(void **state)
{
	struct build first = build_ordinary(42), second = build_ordinary(43);
	struct build unused = build_begin(44);
	struct gp_model *models[3];
	char *text;

	build_call(&second, 100, BUILD_LAUNCH, 30000, 100, 31);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	models[2] = build_end(&unused);
	text = print(models, 3, 10);
	expect(text, "gpuprof: 2 processes used the GPU on gpu01");
	expect(text, "(pid 44) made no CUDA call");
	expect(text, "42 +0ns 99.51us 9 3 5 ");
	expect(text, "43 +0ns 99.51us 10 4 5 ");
	expect(text, "8.000us 4 2.000us");
	expect(text, "2.000MiB +10ns 2.000MiB 2 0B 0 2.000MiB 2 GPU 0 device");
	expect(text, "all 3 launches have their kernel record");
	expect(text, "4 launches, 3 with kernel record, 1 without kernel record");
	expect(text, "(pid 43)");
	check_widths(text);
	free(text);
	for (size_t i = 0; i < 3; i++)
		gp_model_free(models[i]);
}

/*
 * What a process left is gone with it: one after the other they never had as much as they left
 * together.
 */
static void more_can_be_left_than_there_was_at_any_time(void **state)
{
	struct build first = build_ordinary(42), second = build_ordinary(43);
	struct gp_model *models[2] = {build_end(&first), build_end(&second)};
	char *text = print(models, 2, 10);

	expect_not(text, "Left: the sum");
	free(text);
	models[1]->base_unix_ns += 1000000000u;
	text = print(models, 2, 10);
	expect(text, "1.000MiB +10ns 2.000MiB 2 0B 0 2.000MiB 2 GPU 0 device");
	expect(text, " Left: the sum over processes of memory not freed at their ends; Peak: ");
	free(text);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void gpus_of_one_number_get_two_and_their_uuids(void **state)
{
	struct build first = build_ordinary(42), second = build_ordinary(43);
	struct gp_document document = {0};
	const struct gp_section *section;
	struct gp_summary summary;
	struct gp_model *models[2];
	char *text;

	memcpy(first.model->devices[0].uuid, "\x1a\xff\x01\x02", 4);
	memcpy(second.model->devices[0].uuid, "\x2b\xff\x01\x02", 4);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	text = print(models, 2, 10);
	expect(text, "GPU 0 NVIDIA H200, 132 SMs, 139.8GiB, compute capability 9.0, GPU-1aff0102");
	expect(text, "GPU 1 NVIDIA H200, 132 SMs, 139.8GiB, compute capability 9.0, GPU-2bff0102");
	expect(text, "1.000MiB +10ns 1.000MiB 1 0B 0 1.000MiB 1 GPU 0 device");
	expect(text, "1.000MiB +10ns 1.000MiB 1 0B 0 1.000MiB 1 GPU 1 device");
	expect(text, "GPU 1 12.1 % busy");
	expect(text, "42 +0ns 99.51us 9 3 5 12.00us 12.1 1.000MiB 0 ");
	expect(text, "43 +0ns 99.51us 9 3 5 12.00us 12.1 1.000MiB 1 ");
	expect(text, "GPU 1: the driver reports");
	free(text);
	assert_int_equal(gp_summary_open(&summary, models, 2, NULL), 0);
	assert_int_equal(gp_summary_describe(&summary, &document), 0);
	gp_summary_close(&summary);
	section = gp_document_section(&document, "devices");
	assert_int_equal(section->count, 2);
	expect(gp_fields_text(&section->rows[0], "which"), "GPU-1aff0102");
	expect(gp_fields_text(&section->rows[1], "which"), "GPU-2bff0102");
	gp_document_free(&document);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void parts_that_were_recorded_are_listed(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_gate(&b, false, GP_GATE_START, 500);
	build_gate(&b, true, GP_GATE_PROFILER, 1000);
	build_gate(&b, false, GP_GATE_PROFILER, 31000);
	build_gate(&b, true, GP_GATE_SIGNAL, 51000);
	b.model->end_ns = 101000;
	b.model->counters[GP_COUNTER_LEFT_OUT_KERNELS] = 12;
	b.model->losses.frees_outside = 3;
	text = summarize(&b);
	expect(text, "Recorded in part\n 80.00us of 101.0us, in 2 parts\n");
	expect(text, "+10ns to +30.01us from cudaProfilerStart to cudaProfilerStop\n");
	expect(text, "+50.01us to +100.0us from a signal to the end\n");
	expect(text, "3 frees of memory that was allocated while recording was paused");
	expect(text, "12 kernels that --kernels excludes");
	free(text);
}

/* --keep-last: all figures are of the part that is kept, and say so. */
static void the_last_part_is_said_to_be_one(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_gate(&b, true, GP_GATE_KEPT, 21000);
	b.model->end_ns = 101000;
	b.model->before_ns = 3000000;
	b.model->counters[GP_COUNTER_LEFT_OUT_OLD] = 500;
	b.model->losses.launches_outside = 1;
	text = summarize(&b);
	expect(text, "Recorded in part\n 80.00us of 3.101ms, in 1 part\n");
	expect(text, "1 whose kernel is not in the kept part");
	expect_not(text, "paused");
	expect(text,
	       "Memory allocated through CUDA (in the kept part: blocks allocated before it are not counted)\n");
	expect(text, "\nNever freed, in the kept part: not known; 1.000MiB in 1 block was left");
	free(text);
}

static void what_the_limit_of_the_file_cost_is_said_once(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_gate(&b, false, GP_GATE_FULL, 95000);
	b.model->counters[GP_COUNTER_LOST_WRITE_BYTES] = 4321;
	b.model->counters[GP_COUNTER_LOST_MAX_FILE] = 77;
	b.model->losses.frees_unknown = 2;
	text = summarize(&b);
	expect(text,
	       "4,321 trace bytes that gpuprof could not write (of the records dropped that are counted below)\n");
	expect(text,
	       "77 records dropped because the trace reached --max-file: those in flight then\n");
	expect(text, "to the limit of --max-file: nothing later is in the trace\n");
	expect(text,
	       "2 frees of memory whose allocation was not recorded (made before recording began, by a library, or lost)\n");
	free(text);
}

static void what_was_tight_in_several_processes_is_one_line(void **state)
{
	struct build one = build_ordinary(42), two = build_ordinary(43);
	struct gp_model *models[2];
	char *text;

	one.model->counters[GP_COUNTER_CUT_PAYLOADS] = 2;
	two.model->counters[GP_COUNTER_CUT_PAYLOADS] = 3;
	one.model->losses.frees_unknown = 4;
	models[0] = build_end(&one);
	models[1] = build_end(&two);
	text = print(models, 2, 10);
	expect(text, "\n 5 extended range payloads that were truncated or dropped\n");
	expect_not(text, " 2 extended range payloads");
	expect(text, "4 frees of memory whose allocation was not recorded");
	free(text);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* Nothing is known to be missing: what is not known is what came after. */
static void what_is_noted_of_several_processes_is_said_once(void **state)
{
	struct build builds[3] = {build_ordinary(1), build_ordinary(2), build_ordinary(3)};
	struct gp_model *models[3];
	const char *notes[] = {"it is an export"};
	char *text;

	for (size_t i = 0; i < 3; i++) {
		models[i] = build_end(&builds[i]);
		models[i]->note_count = i < 2;
		models[i]->notes = (char **)notes;
	}
	text = print(models, 3, 0);
	expect(text, " note: it is an export (in 2 processes)\n");
	free(text);
	text = print(models + 1, 2, 0);
	expect(text, " note: it is an export\n");
	free(text);
	for (size_t i = 0; i < 3; i++) {
		models[i]->note_count = 0;
		models[i]->notes = NULL;
		gp_model_free(models[i]);
	}
}

static void a_trace_without_an_end_may_lack_operations(void **state)
{
	struct build live = build_ordinary(42), killed = build_ordinary(42);
	char *text;

	live.model->losses = (struct gp_losses){.live = true};
	text = summarize(&live);
	expect(text, "; the process still runs:\n operations may be missing)\n");
	expect_not(text, "operations are missing");
	free(text);
	killed.model->losses = (struct gp_losses){.closed = false};
	text = summarize(&killed);
	expect(text, "; the trace has no end:\n operations may be missing)\n");
	free(text);
}

static void a_part_that_began_with_the_trace(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	build_gate(&b, false, GP_GATE_API, 41000);
	b.model->end_ns = 101000;
	text = summarize(&b);
	expect(text, "41.00us of 101.0us, in 1 part\n");
	expect(text, "from the start to gpuprof_stop()\n");
	free(text);
}

static void parts_beyond_the_limit_are_counted(void **state)
{
	struct build b = build_ordinary(42);
	char *text;

	for (uint64_t i = 0; i < 100; i++)
		build_gate(&b, i % 2 == 0, 99, 1000 + 100 * i); /* a reason of a later version */
	text = summarize(&b);
	expect(text, "in 50 parts\n");
	expect(text, "from an unknown event to an unknown event\n");
	expect(text, "40 more (--top 0 shows all)\n");
	free(text);
}

static void what_was_recorded_throughout_says_nothing_of_parts(void **state)
{
	struct build b = build_ordinary(42);
	char *text = summarize(&b);

	expect_not(text, "Recorded in part");
	free(text);
}

static void a_process_that_was_never_recorded_says_why(void **state)
{
	struct build b = build_begin(42);
	char *text;

	build_gate(&b, false, GP_GATE_START, 500);
	text = summarize(&b);
	expect(text, "made no CUDA call that was recorded\n recording was paused from the start");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_has_all_sections),
		cmocka_unit_test(the_gpu_is_busy_while_anything_runs),
		cmocka_unit_test(the_gpu_is_busy_of_what_was_recorded),
		cmocka_unit_test(the_cost_is_of_the_threads_time),
		cmocka_unit_test(the_cost_is_data),
		cmocka_unit_test(what_is_not_known_of_the_gpu_is_not_said),
		cmocka_unit_test(the_limit_folds_rows_and_says_so),
		cmocka_unit_test(failures_are_counted_and_named),
		cmocka_unit_test(records_of_processes_are_summed),
		cmocka_unit_test(every_loss_is_shown),
		cmocka_unit_test(lost_names_are_no_lost_operations),
		cmocka_unit_test(no_counter_is_forgotten),
		cmocka_unit_test(a_partial_trace_says_so_on_top),
		cmocka_unit_test(one_record_was_recovered),
		cmocka_unit_test(what_is_held_when_a_trace_breaks_off_is_no_leak),
		cmocka_unit_test(without_allocations_nothing_is_beyond_them),
		cmocka_unit_test(a_live_or_cut_trace_is_partial_too),
		cmocka_unit_test(calls_wait_until_looked_at_or_at_least_that_long),
		cmocka_unit_test(shares_that_are_nearly_nothing_or_all),
		cmocka_unit_test(a_process_that_left_its_rings_was_killed),
		cmocka_unit_test(a_program_without_cuda_gets_one_line),
		cmocka_unit_test(a_program_without_cuda_in_its_window_is_said_to_have_one),
		cmocka_unit_test(graphs_and_captures_are_part_of_the_balance),
		cmocka_unit_test(hostile_names_cannot_reach_the_terminal),
		cmocka_unit_test(parts_that_were_recorded_are_listed),
		cmocka_unit_test(the_last_part_is_said_to_be_one),
		cmocka_unit_test(what_the_limit_of_the_file_cost_is_said_once),
		cmocka_unit_test(what_was_tight_in_several_processes_is_one_line),
		cmocka_unit_test(what_is_noted_of_several_processes_is_said_once),
		cmocka_unit_test(a_trace_without_an_end_may_lack_operations),
		cmocka_unit_test(a_part_that_began_with_the_trace),
		cmocka_unit_test(parts_beyond_the_limit_are_counted),
		cmocka_unit_test(what_was_recorded_throughout_says_nothing_of_parts),
		cmocka_unit_test(a_process_that_was_never_recorded_says_why),
		cmocka_unit_test(processes_are_listed_and_merged),
		cmocka_unit_test(more_can_be_left_than_there_was_at_any_time),
		cmocka_unit_test(gpus_of_one_number_get_two_and_their_uuids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
