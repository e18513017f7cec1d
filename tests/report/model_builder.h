/*
 * model_builder: makes a model in memory, without a trace file, for the tests of what reads models.
 *
 * Calls, operations and memory events may come in any order; build_end() sorts and joins them with
 * the loader's own functions. Without memory it aborts.
 */
#ifndef TESTS_REPORT_MODEL_BUILDER_H
#define TESTS_REPORT_MODEL_BUILDER_H

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"
#include "report/model/model.h"

#define BUILD_BASE_UNIX_NS 1790000000000000000u

/* APIs that every built model knows, as CUPTI numbers them. */
enum {
	BUILD_LAUNCH = 211,
	BUILD_MALLOC = 20,
	BUILD_FREE = 22,
	BUILD_MEMCPY_ASYNC = 41,
	BUILD_MEMSET_ASYNC = 51,
	BUILD_DEVICE_SYNC = 165,
	BUILD_GRAPH_LAUNCH = 311,
	BUILD_DRIVER_LAUNCH = GP_API_DRIVER | 307,
};

struct build {
	struct gp_model *model;
	struct gp_model_capacity capacity;
	uint32_t range_text_capacity;
};

static inline void build_check(int ok)
{
	if (!ok)
		abort();
}

/* Room for one more element at *array; returns the new element's index. */
static inline uint32_t build_grow(void *array, uint32_t *capacity, uint32_t *count, size_t bytes)
{
	char *elements;

	build_check(gp_array_grow_spill(array, capacity, *count, bytes) == 0);
	memcpy(&elements, array, sizeof(elements));
	memset(elements + *count * bytes, 0, bytes);
	return (*count)++;
}

#define BUILD_GROW(b, member, counter)                                                             \
	build_grow(&(b)->model->member, &(b)->capacity.member, &(b)->model->counter,               \
		   sizeof(*(b)->model->member))

static inline char *build_copy_text(const char *text)
{
	char *copy = strdup(text);

	build_check(copy != NULL);
	return copy;
}

static inline void build_api(struct build *b, uint16_t api, const char *name, uint8_t class)
{
	build_check(gp_api_table_set(b->model->private, api, build_copy_text(name), class) == 0);
}

static inline void build_info(struct build *b, enum gp_info info, const char *text)
{
	free(b->model->info[info]);
	b->model->info[info] = build_copy_text(text);
}

static inline struct build build_begin(uint32_t pid)
{
	struct build b = {.model = calloc(1, sizeof(*b.model))};

	build_check(b.model != NULL);
	b.model->private = calloc(1, sizeof(struct gp_api_table));
	build_check(b.model->private != NULL);
	b.model->path = build_copy_text("built.gpuprof");
	b.model->pid = pid;
	b.model->base_unix_ns = BUILD_BASE_UNIX_NS;
	b.model->ns_per_tick = 0.5;
	b.model->losses.closed = true;
	build_api(&b, BUILD_LAUNCH, "cudaLaunchKernel", GP_API_LAUNCH);
	build_api(&b, BUILD_DRIVER_LAUNCH, "cuLaunchKernel", GP_API_LAUNCH);
	build_api(&b, BUILD_GRAPH_LAUNCH, "cudaGraphLaunch", GP_API_GRAPH_LAUNCH);
	build_api(&b, BUILD_MALLOC, "cudaMalloc", GP_API_ALLOC);
	build_api(&b, BUILD_FREE, "cudaFree", GP_API_FREE);
	build_api(&b, BUILD_MEMCPY_ASYNC, "cudaMemcpyAsync", GP_API_COPY);
	build_api(&b, BUILD_MEMSET_ASYNC, "cudaMemsetAsync", GP_API_MEMSET);
	build_api(&b, BUILD_DEVICE_SYNC, "cudaDeviceSynchronize", GP_API_SYNC);
	return b;
}

static inline uint32_t build_name(struct build *b, const char *mangled)
{
	uint32_t index = BUILD_GROW(b, names, name_count);

	b->model->names[index] = build_copy_text(mangled);
	return index;
}

static inline uint32_t build_shape(struct build *b, uint32_t blocks, uint32_t threads)
{
	uint32_t index = BUILD_GROW(b, shapes, shape_count);

	b->model->shapes[index] = (struct gp_record_shape){.id = index + 1,
							   .registers = 32,
							   .grid = {blocks, 1, 1},
							   .block = {threads, 1, 1},
							   .static_shared_bytes = 1024,
							   .dynamic_shared_bytes = 512};
	return index;
}

static inline void build_device(struct build *b, uint16_t device_id, const char *name)
{
	uint32_t index = BUILD_GROW(b, devices, device_count);
	uint32_t names = b->model->device_count - 1;

	build_grow(&b->model->device_names, &b->capacity.device_names, &names,
		   sizeof(*b->model->device_names));
	b->model->device_names[index] = build_copy_text(name);
	b->model->devices[index] = (struct gp_record_device){
		.device_id = device_id,
		.compute_major = 9,
		.memory_bytes = 150109880320,
		.multiprocessors = 132,
		.warp_threads = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_multiprocessor = 2048,
		.registers_per_block = 65536,
		.registers_per_multiprocessor = 65536,
		.shared_per_block_bytes = 49152,
		.shared_per_multiprocessor_bytes = 233472,
		.shared_per_block_optin_bytes = 232448,
		.uuid = {1, 2, 3, (uint8_t)device_id},
	};
}

static inline void build_thread(struct build *b, uint32_t id, const char *name)
{
	uint32_t index = BUILD_GROW(b, threads, thread_count);

	b->model->threads[index] = (struct gp_thread){.id = id, .name = build_copy_text(name)};
}

/* A context with its default stream, which that call made. */
static inline void build_context_made_by(struct build *b, uint32_t context_id, uint32_t stream_id,
					 uint32_t correlation_id)
{
	uint32_t context = BUILD_GROW(b, contexts, context_count);
	uint32_t stream = BUILD_GROW(b, streams, stream_count);

	b->model->contexts[context] =
		(struct gp_record_context){.id = context_id, .null_stream_id = stream_id};
	b->model->streams[stream] = (struct gp_record_stream){
		.id = stream_id, .context_id = context_id, .correlation_id = correlation_id};
}

/* The pointers that these return are good until the next of their kind is built. */
static inline struct gp_call *build_call(struct build *b, uint32_t thread_id, uint16_t api,
					 uint64_t start_ns, uint64_t duration_ns,
					 uint32_t correlation_id)
{
	uint32_t index = BUILD_GROW(b, calls, call_count);
	struct gp_call *call = &b->model->calls[index];

	*call = (struct gp_call){.start_ns = start_ns,
				 .duration_ns = duration_ns,
				 .correlation_id = correlation_id,
				 .thread_id = thread_id,
				 .context_id = 1,
				 .api = api,
				 .first_op = GP_NONE,
				 .stack = GP_NONE,
				 .memory = GP_NONE};
	return call;
}

static inline struct gp_op *build_op(struct build *b, enum gp_op_kind kind, uint32_t stream_id,
				     uint64_t start_ns, uint64_t end_ns, uint32_t correlation_id)
{
	uint32_t index = BUILD_GROW(b, ops, op_count);
	struct gp_op *op = &b->model->ops[index];

	*op = (struct gp_op){.start_ns = start_ns,
			     .end_ns = end_ns,
			     .correlation_id = correlation_id,
			     .context_id = 1,
			     .stream_id = stream_id,
			     .kind = (uint8_t)kind,
			     .name = GP_NONE,
			     .shape = GP_NONE,
			     .call = GP_NONE,
			     .next_op = GP_NONE};
	return op;
}

/* An operation of a graph's node. */
static inline void build_node(struct build *b, struct gp_op *op, uint64_t node_id)
{
	uint32_t index = BUILD_GROW(b, details, detail_count);

	b->model->details[index] =
		(struct gp_op_detail){.graph_node_id = node_id, .capture_call = GP_NONE};
	op->detail = index + 1;
}

/* A cudaMalloc or cudaFree at that time; a free is joined to its allocation by build_end(). */
static inline struct gp_memory_event *build_memory(struct build *b, enum gp_memory_op op,
						   enum gp_memory_kind kind, uint64_t time_ns,
						   uint64_t address, uint64_t bytes)
{
	uint32_t index = BUILD_GROW(b, memory, memory_count);
	struct gp_memory_event *event = &b->model->memory[index];
	struct gp_call *call = build_call(b, 100, op == GP_MEMORY_ALLOC ? BUILD_MALLOC : BUILD_FREE,
					  time_ns - 10, 10, 0);

	call->memory = index;
	*event = (struct gp_memory_event){.time_ns = time_ns,
					  .address = address,
					  .bytes = bytes,
					  .call = b->model->call_count - 1,
					  .other = GP_NONE,
					  .op = (uint8_t)op,
					  .memory_kind = (uint8_t)kind};
	return event;
}

static inline void build_usage(struct build *b, uint16_t device_id, uint64_t time_ns,
			       uint64_t free_bytes, uint64_t total_bytes)
{
	uint32_t index = BUILD_GROW(b, usages, usage_count);

	b->model->usages[index] = (struct gp_usage){.time_ns = time_ns,
						    .free_bytes = free_bytes,
						    .total_bytes = total_bytes,
						    .device_id = device_id};
}

static inline void build_overhead(struct build *b, uint32_t kind, uint64_t start_ns,
				  uint64_t end_ns)
{
	uint32_t index = BUILD_GROW(b, overheads, overhead_count);

	b->model->overheads[index] =
		(struct gp_overhead){.start_ns = start_ns, .end_ns = end_ns, .overhead_kind = kind};
}

/* In the order of time. */
static inline void build_gate(struct build *b, bool on, enum gp_gate_reason reason,
			      uint64_t time_ns)
{
	uint32_t at = BUILD_GROW(b, gates, gate_count);

	b->model->gates[at] = (struct gp_gate){time_ns, on, (uint8_t)reason, GP_NONE};
}

/* Domain 1, before the first range; domain 0 has no name.  name must live as long as the model. */
static inline void build_domain(struct build *b, const char *name)
{
	build_check(b->model->domain_count == 0);
	b->model->domains = malloc(2 * sizeof(*b->model->domains));
	build_check(b->model->domains != NULL);
	b->model->domains[b->model->domain_count++] = "";
	b->model->domains[b->model->domain_count++] = name;
}

/* A range that nests, of no other; text must live as long as the model. */
static inline void build_range(struct build *b, uint32_t thread, const char *text,
			       uint64_t start_ns, uint64_t end_ns)
{
	uint32_t index = BUILD_GROW(b, ranges, range_count);
	uint32_t at = build_grow(&b->model->range_texts, &b->range_text_capacity,
				 &b->model->range_text_count, sizeof(*b->model->range_texts));

	b->model->range_texts[at] = text;
	if (b->model->domain_count == 0) { /* all are of the default one */
		b->model->domains = malloc(sizeof(*b->model->domains));
		build_check(b->model->domains != NULL);
		b->model->domains[b->model->domain_count++] = "";
	}
	b->model->ranges[index] = (struct gp_range){.start_ns = start_ns,
						    .end_ns = end_ns,
						    .thread_id = thread,
						    .text = at,
						    .parent = GP_NONE,
						    .extended_payload = GP_NONE};
}

static inline int build_compare_calls(const void *a, const void *b, const void *context)
{
	const struct gp_call *left = a, *right = b;

	(void)context;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Memory events and calls name each other by index: put that right after the calls were sorted. */
static inline void build_sort_calls(struct gp_model *m)
{
	build_check(gp_array_sort(m->calls, m->call_count, sizeof(*m->calls), build_compare_calls,
				  NULL) == 0);
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].memory != GP_NONE)
			m->memory[m->calls[i].memory].call = i;
}

static inline struct gp_model *build_end(struct build *b)
{
	struct gp_model *m = b->model;
	struct gp_model_builder builder = {.model = m};

	build_sort_calls(m);
	build_check(gp_join_ops(&builder) == 0 && gp_join_captures(&builder) == 0 &&
		    gp_join_memory(&builder) == 0 && gp_project_ranges(m) == 0);
	gp_spill_free(builder.keys);
	m->first_call_ns = m->call_count > 0 ? UINT64_MAX : 0;
	for (uint32_t i = 0; i < m->call_count; i++) {
		uint64_t start_ns = m->calls[i].start_ns,
			 end_ns = start_ns + m->calls[i].duration_ns;

		if (start_ns < m->first_call_ns)
			m->first_call_ns = start_ns;
		if (end_ns > m->last_call_ns)
			m->last_call_ns = end_ns;
	}
	if (m->last_call_ns > m->last_ns)
		m->last_ns = m->last_call_ns;
	return m;
}

#endif
