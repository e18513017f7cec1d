/*
 * scene_builder: a process that does a little of everything, each thing with numbers of its own, so
 * that a value that lands in another row, column or format shows.
 *
 * Three iterations on two streams and two devices: kernels of two shapes, copies, memsets, a graph,
 * waits, an allocation that stays, ranges of two threads, call stacks, samples, and one or two of each
 * other record.
 */
#ifndef TESTS_REPORT_SCENE_BUILDER_H
#define TESTS_REPORT_SCENE_BUILDER_H

#include "gpuprof/hw_metric.h"
#include "tests/report/counter_builder.h"
#include "tests/report/stack_builder.h"

#define SCENE_US 1000u

#define SCENE_ADD(b, member, counter, ...)                                                         \
	do {                                                                                       \
		uint32_t scene_at = BUILD_GROW(b, member, counter);                                \
		(b)->model->member[scene_at] = (__typeof__(*(b)->model->member))__VA_ARGS__;       \
	} while (0)

static inline void scene_copy(struct build *b, uint8_t kind, uint8_t from, uint8_t to,
			      uint64_t start_ns, uint64_t bytes, uint32_t correlation_id)
{
	struct gp_op *op =
		build_op(b, GP_OP_COPY, 9, start_ns, start_ns + bytes / 4, correlation_id);

	op->copy_kind = kind;
	op->source_kind = from;
	op->destination_kind = to;
	op->bytes = bytes;
	op->flags = correlation_id % 2;
}

/* Launches, a copy each way, a graph, and a wait for all. */
static inline void scene_iteration(struct build *b, uint32_t i, const uint32_t names[2],
				   const uint32_t shapes[2], uint32_t stack)
{
	uint64_t at = (100 + 1000 * i) * SCENE_US;
	uint32_t id = 100 * i + 10;
	struct gp_op *op;

	build_call(b, 100, BUILD_LAUNCH, at, 3 * SCENE_US, id);
	build_stack_of_last(b, stack);
	op = build_op(b, GP_OP_KERNEL, 7, at + 10 * SCENE_US, at + (90 + i) * SCENE_US, id);
	op->name = names[0];
	op->shape = shapes[0];
	build_call(b, 100, BUILD_DRIVER_LAUNCH, at + 5 * SCENE_US, 4 * SCENE_US, id + 1);
	op = build_op(b, GP_OP_KERNEL, 9, at + 40 * SCENE_US, at + (70 + 2 * i) * SCENE_US, id + 1);
	op->name = names[1];
	op->shape = shapes[1];
	build_call(b, 100, BUILD_MEMCPY_ASYNC, at + 20 * SCENE_US, 6 * SCENE_US, id + 2);
	scene_copy(b, GP_COPY_HTOD, GP_COPY_PINNED, GP_COPY_DEVICE, at + 200 * SCENE_US,
		   40000 + 4 * i, id + 2);
	build_call(b, 101, BUILD_MEMCPY_ASYNC, at + 30 * SCENE_US, 250 * SCENE_US, id + 3);
	scene_copy(b, GP_COPY_DTOH, GP_COPY_DEVICE, GP_COPY_PAGEABLE, at + 230 * SCENE_US,
		   80000 + 4 * i, id + 3);
	build_call(b, 100, BUILD_MEMSET_ASYNC, at + 300 * SCENE_US, 2 * SCENE_US, id + 4);
	op = build_op(b, GP_OP_SET, 7, at + 310 * SCENE_US, at + 313 * SCENE_US, id + 4);
	op->bytes = 4096 + i;
	op->destination_kind = GP_COPY_DEVICE;
	build_call(b, 100, BUILD_GRAPH_LAUNCH, at + 400 * SCENE_US, 8 * SCENE_US, id + 5);
	for (uint32_t node = 0; node < 2; node++) {
		op = build_op(b, GP_OP_KERNEL, 7, at + (420 + 30 * node) * SCENE_US,
			      at + (445 + 30 * node) * SCENE_US, id + 5);
		op->name = names[node];
		op->shape = shapes[0];
		op->graph_id = 3;
		build_node(b, op, 0x300000001 + node);
	}
	build_call(b, 100, BUILD_DEVICE_SYNC, at + 430 * SCENE_US, (60 + i) * SCENE_US, id + 6);
	build_stack_of_last(b, stack);
	SCENE_ADD(b, syncs, sync_count,
		  {.kind = GP_RECORD_SYNC,
		   .sync_kind = 4,
		   .correlation_id = id + 6,
		   .start_ns = at + 431 * SCENE_US,
		   .end_ns = at + (489 + i) * SCENE_US,
		   .context_id = 1,
		   .stream_id = GP_NO_STREAM});
}

/* In the order of threads and starts, parents first. */
static inline void scene_ranges(struct build *b)
{
	static const struct {
		uint8_t kind;
		uint64_t payload;
	} payloads[] = {{GP_PAYLOAD_UNSIGNED, 7},
			{GP_PAYLOAD_SIGNED, UINT64_MAX - 2},
			{GP_PAYLOAD_FLOATING, UINT64_C(0x3fe0000000000000)}}; /* -3, 0.5 */

	build_domain(b, "library");
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at = (90 + 1000 * i) * SCENE_US;

		build_range(b, 100, "step", at, at + 600 * SCENE_US);
		build_range(b, 100, i == 1 ? "odd" : "even", at + 5 * SCENE_US,
			    at + 100 * SCENE_US);
		b->model->ranges[b->model->range_count - 1].parent = b->model->range_count - 2;
		b->model->ranges[b->model->range_count - 1].domain = 1;
		b->model->ranges[b->model->range_count - 1].payload_kind = payloads[i].kind;
		b->model->ranges[b->model->range_count - 1].payload = payloads[i].payload;
		b->model->ranges[b->model->range_count - 2].color_argb = 0xff336699 + i;
	}
	build_range(b, 101, "other thread", 50 * SCENE_US, 2900 * SCENE_US);
}

/* One or two of each kind that is neither call, operation nor range. */
static inline void scene_others(struct build *b)
{
	build_overhead(b, 1, 10 * SCENE_US, 30 * SCENE_US);
	build_overhead(b, 2u << 16, 60 * SCENE_US, 77 * SCENE_US);
	build_usage(b, 0, 80 * SCENE_US, 1000000, 9000000);
	build_usage(b, 0, 2600 * SCENE_US, 700000, 9000000);
	SCENE_ADD(b, unifieds, unified_count,
		  {.counter_kind = GP_UNIFIED_HTOD,
		   .start_ns = 610 * SCENE_US,
		   .end_ns = 633 * SCENE_US,
		   .value = 65536,
		   .address = 0x7f0000010000,
		   .source_device_id = GP_NONE,
		   .destination_device_id = 0});
	SCENE_ADD(b, unifieds, unified_count,
		  {.counter_kind = GP_UNIFIED_GPU_FAULT,
		   .start_ns = 640 * SCENE_US,
		   .end_ns = 655 * SCENE_US,
		   .value = 17,
		   .flags = 1,
		   .address = 0x7f0000010000,
		   .source_device_id = 0});
	SCENE_ADD(
		b, pools, pool_count,
		{.op = 1, .time_ns = 660 * SCENE_US, .address = 0x900, .reserved_bytes = 1u << 20});
	SCENE_ADD(b, pools, pool_count,
		  {.op = 3,
		   .time_ns = 1660 * SCENE_US,
		   .address = 0x900,
		   .reserved_bytes = 3u << 20,
		   .used_bytes = 1u << 19});
	SCENE_ADD(b, jits, jit_count,
		  {.op_kind = 3,
		   .entry_kind = 1,
		   .start_ns = 670 * SCENE_US,
		   .end_ns = 695 * SCENE_US,
		   .thread_id = 100,
		   .cache_bytes = 12345,
		   .operation_id = 7});
	SCENE_ADD(b, host_functions, host_function_count,
		  {.start_ns = 700 * SCENE_US,
		   .end_ns = 729 * SCENE_US,
		   .correlation_id = 12,
		   .context_id = 1,
		   .stream_id = 7,
		   .thread_id = 101});
	SCENE_ADD(b, events, event_count,
		  {.correlation_id = 13,
		   .context_id = 1,
		   .stream_id = 9,
		   .event_id = 21,
		   .sync_id = 4});
	SCENE_ADD(b, hw_samples, hw_sample_count,
		  {.start_ns = 500 * SCENE_US,
		   .end_ns = 1000 * SCENE_US,
		   .absent = 1u << GP_HW_NVLINK_RECEIVED | 1u << GP_HW_NVLINK_SENT,
		   .value = {[GP_HW_CLOCK] = 1980000000,
			     [GP_HW_SM_ACTIVE] = 37500,
			     [GP_HW_DRAM_READ] = 250000000}});
	SCENE_ADD(b, energies, energy_count,
		  {.time_ns = 500 * SCENE_US,
		   .energy_mj = 7000,
		   .power_mw = 300000,
		   .reasons = 0x4,
		   .clock_mhz = 1500});
	SCENE_ADD(b, energies, energy_count,
		  {.time_ns = 1000 * SCENE_US,
		   .energy_mj = 7250,
		   .power_mw = 500000,
		   .clock_mhz = 1980});
	SCENE_ADD(b, stalls, stall_count,
		  {.start_ns = 500 * SCENE_US,
		   .end_ns = 1000 * SCENE_US,
		   .kernel_id = build_stack_text(b, GP_STRING_STALL, "_Z3addPfi", 9),
		   .file_id = build_stack_text(b, GP_STRING_STALL, "/home/me/add.cu", 15),
		   .line = 21,
		   .reason_id = build_stack_text(b, GP_STRING_STALL, "long_scoreboard", 15),
		   .samples = 75,
		   .not_issued = 60});
	SCENE_ADD(b, stalls, stall_count,
		  {.start_ns = 500 * SCENE_US,
		   .end_ns = 1000 * SCENE_US,
		   .kernel_id = build_stack_text(b, GP_STRING_STALL, "_Z3addPfi", 9),
		   .reason_id = build_stack_text(b, GP_STRING_STALL, "selected", 8),
		   .samples = 25});
	SCENE_ADD(b, links, link_count, {.link_kind = GP_LINK_PCIE, .generation = 5, .lanes = 16});
}

static inline void scene_memory(struct build *b, uint32_t stack)
{
	build_memory(b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 70 * SCENE_US, 0x10000, 1u << 20);
	build_stack_of_last(b, stack);
	build_memory(b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 75 * SCENE_US, 0x20000, 5000);
	build_memory(b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 78 * SCENE_US, 0x7f0000010000,
		     1u << 17);
	build_memory(b, GP_MEMORY_FREE, GP_MEMORY_PINNED, 2800 * SCENE_US, 0x20000, 0);
	build_memory(b, GP_MEMORY_FREE, GP_MEMORY_MANAGED, 2810 * SCENE_US, 0x7f0000010000, 0);
}

static inline void scene_samples(struct build *b, uint32_t outer, uint32_t inner)
{
	SCENE_ADD(b, samples, sample_count,
		  {.start_ns = 800 * SCENE_US,
		   .end_ns = 1000 * SCENE_US,
		   .thread_id = 100,
		   .stack = inner,
		   .count = 5});
	SCENE_ADD(b, samples, sample_count,
		  {.start_ns = 1700 * SCENE_US,
		   .end_ns = 1900 * SCENE_US,
		   .thread_id = 100,
		   .stack = outer,
		   .count = 3});
}

/* More may be added before build_end(). */
static inline struct build scene_begin(void)
{
	struct build b = build_begin(4242);
	const uint32_t names[] = {build_name(&b, "_Z3addPfi"),
				  build_name(&b, "ncclDevKernel_AllReduce")};
	const uint32_t shapes[] = {build_shape(&b, 264, 256), build_shape(&b, 3, 96)};
	uint32_t outer = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 3);
	uint32_t inner = build_python(&b, outer, "/home/me/model.py", "forward", 40);
	struct gp_op *op;

	build_info(&b, GP_INFO_PROGRAM, "train");
	build_device(&b, 0, "GPU zero");
	build_device(&b, 1, "GPU one");
	build_thread(&b, 100, "main");
	build_thread(&b, 101, "loader");
	scene_others(&b);
	build_context_made_by(&b, 1, 7, 5);
	scene_memory(&b, outer);
	for (uint32_t i = 0; i < 3; i++)
		scene_iteration(&b, i, names, shapes, inner);
	op = build_op(&b, GP_OP_KERNEL, 7, 150 * SCENE_US, 2500 * SCENE_US, 0);
	op->name = names[0];
	op->shape = shapes[1];
	op->device_id = 1;
	build_op(&b, GP_OP_KERNEL, 7, 0, 0, 0)->untimed = 1;
	b.model->losses.ops_untimed = 1;
	build_call(&b, 101, BUILD_MALLOC, 2700 * SCENE_US, 9 * SCENE_US, 0)->status = 2;
	scene_ranges(&b);
	scene_samples(&b, outer, inner);
	build_window(&b, 0, 3000 * SCENE_US, true);
	build_stacks_end(&b);
	return b;
}

/* In place of build_end(). */
static inline struct gp_model *scene_end(struct build *b)
{
	struct gp_model *model = build_end(b);
	const struct build_counter counters[] = {
		{"gpu__time_duration.sum", 80000},
		{"dram__bytes_op_read.sum", 4e6},
		{"dram__bytes_op_write.sum", 1e6},
		{"dram__cycles_elapsed.avg.per_second", 2e9},
		{"dram__bytes.sum.peak_sustained", 1000},
		{NULL, 0},
	};

	build_counters(model, 10, counters);
	build_counters(model, 11, counters + 1);
	return model;
}

static inline struct gp_model *scene_make(void)
{
	struct build b = scene_begin();

	return scene_end(&b);
}

#endif
