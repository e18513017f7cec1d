/*
 * cupti_decode: real buffers of four CUPTI versions pass through the decoder, the rings and the
 * writer into a trace file.  The file is compared with the buffers, field by field, at the offsets
 * that the versions have in common.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include "inject/cupti_decode.h"

#define DATA "tests/data/cupti/"

enum {
	COPY = 1,
	SET = 2,
	DEVICE = 8,
	CONTEXT = 9,
	KERNEL = 10,
	OVERHEAD = 17,
	PEER = 22,
	UNIFIED = 25,
	EVENT = 36,
	STREAM = 37,
	SYNC = 38,
	POOL = 50,
	GRAPH = 51,
	JIT = 52
};

/* One recording: the buffers' bytes, the records in them, the strings that they point to. */
struct recording {
	uint32_t version;
	char *bytes;
	struct {
		uint32_t kind;
		char *at;
	} records[4096];
	size_t record_count;
	struct {
		uint64_t address;
		char *text;
	} names[256];
	size_t name_count;
};

static uint32_t u32(const char *record, ptrdiff_t offset)
{
	uint32_t value;

	memcpy(&value, record + offset, sizeof(value));
	return value;
}

static uint64_t u64(const char *record, ptrdiff_t offset)
{
	uint64_t value;

	memcpy(&value, record + offset, sizeof(value));
	return value;
}

static const char *name_at(const struct recording *recording, uint64_t address)
{
	for (size_t i = 0; i < recording->name_count; i++)
		if (recording->names[i].address == address)
			return recording->names[i].text;
	return NULL;
}

/* The strings have moved: make the records point to our copies. */
static void mend_pointers(struct recording *recording)
{
	for (size_t i = 0; i < recording->record_count; i++) {
		char *at = recording->records[i].at;
		const char *name = "NVIDIA H200"; /* the device's name, which the recording lacks */

		if (recording->records[i].kind == KERNEL) {
			name = name_at(recording, u64(at, 104));
			assert_non_null(name);
			memcpy(at + 104, &name, sizeof(name));
		} else if (recording->records[i].kind == DEVICE) {
			memcpy(at + 136, &name, sizeof(name));
		}
	}
}

static void read_line(struct recording *recording, const char *line, char **buffer)
{
	unsigned kind, offset;
	unsigned long address;
	char text[2048];

	if (sscanf(line, "rec %u @%u", &kind, &offset) == 2) {
		/* the next buffer; its header contains the length of the previous one */
		if (offset == 0)
			*buffer = *buffer == NULL ? recording->bytes + 32
						  : *buffer + u64(*buffer, -24) + 32;
		recording->records[recording->record_count].kind = kind;
		recording->records[recording->record_count++].at = *buffer + offset;
	} else if (sscanf(line, "name %lx %2047[^\n]", &address, text) == 2 &&
		   name_at(recording, address) == NULL) {
		recording->names[recording->name_count].address = address;
		recording->names[recording->name_count++].text = strdup(text);
	} else {
		sscanf(line, "version %u", &recording->version);
	}
}

static struct recording *read_recording(const char *version)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	char path[128], line[4096], *buffer = NULL;
	size_t bytes;

	snprintf(path, sizeof(path), DATA "%s.buf", version);
	recording->bytes = load(path, &bytes);
	assert_non_null(recording->bytes);
	snprintf(path, sizeof(path), DATA "%s.txt", version);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL)
		read_line(recording, line, &buffer);
	fclose(file);
	mend_pointers(recording);
	return recording;
}

/* ---- the trace against the recording ---- */

struct compare {
	const struct recording *recording;
	/* by kind: position from which the next record is searched in the recording */
	size_t next[64];
	const char *kernel_names[256];
	const char *device_name;
	struct gp_record_shape shapes[256];
	unsigned kernels, copies, sets, overheads, devices, contexts, streams;
	unsigned syncs, events, pools, jits, notes;
};

/* The recording's next record of these kinds. */
static const char *next_of(struct compare *compare, uint32_t kind, uint32_t other_kind)
{
	for (size_t *next = &compare->next[kind]; *next < compare->recording->record_count;) {
		uint32_t found = compare->recording->records[(*next)++].kind;

		if (found == kind || found == other_kind)
			return compare->recording->records[*next - 1].at;
	}
	CHECK(!"a record that the recording does not have");
	return NULL;
}

static void check_shape(const struct gp_record_shape *shape, const char *kernel, uint32_t version)
{
	for (size_t i = 0; i < 3; i++) {
		CHECK(shape->grid[i] == u32(kernel, 52 + 4 * i));
		CHECK(shape->block[i] == u32(kernel, 64 + 4 * i));
		CHECK(shape->cluster[i] == u32(kernel, 176 + 4 * i));
	}
	CHECK(shape->static_shared_bytes == u32(kernel, 76));
	CHECK(shape->dynamic_shared_bytes == u32(kernel, 80));
	CHECK(shape->local_per_thread_bytes == u32(kernel, 84));
	CHECK(shape->executed_shared_bytes == u32(kernel, 140));
	CHECK(shape->registers == (u32(kernel, 4) >> 16));
	CHECK(shape->launch_type == (uint8_t)kernel[136]);
	CHECK(shape->local_total_bytes == u64(kernel, 192));
	CHECK(shape->max_cluster_blocks == (version >= 19 ? u32(kernel, 200) : 0));
	CHECK(shape->max_active_clusters == (version >= 19 ? u32(kernel, 204) : 0));
	CHECK((shape->max_cluster_blocks > 0) == (version >= 19 && shape->cluster[0] > 0));
	CHECK((shape->cache_requested | shape->cache_executed << 4) == (uint8_t)kernel[4]);
	CHECK(shape->shared_limit == u32(kernel, 152) && shape->has_carveout == (kernel[137] != 0));
	CHECK(shape->priority == 0 && shape->execution_model == 0); /* recorded before 13.1 */
}

static void check_kernel(struct compare *compare, const struct gp_record_kernel *kernel)
{
	const char *record = next_of(compare, KERNEL, KERNEL);
	const char *name;

	memcpy(&name, record + 104, sizeof(name));
	CHECK(kernel->start_ns == u64(record, 16) && kernel->end_ns == u64(record, 24));
	CHECK(kernel->end_ns > kernel->start_ns);
	CHECK(kernel->device_id == u32(record, 40) && kernel->context_id == u32(record, 44));
	CHECK(kernel->stream_id == u32(record, 48));
	CHECK(kernel->correlation_id == u32(record, 92));
	CHECK(kernel->graph_node_id == u64(record, 144) && kernel->graph_id == u32(record, 156));
	CHECK(kernel->channel_id == u32(record, 168) && kernel->channel_type == u32(record, 172));
	CHECK(kernel->flags == 0); /* no device launches in the program */
	CHECK(strcmp(compare->kernel_names[kernel->name_id], name) == 0);
	check_shape(&compare->shapes[kernel->shape_id], record, compare->recording->version);
	compare->kernels++;
}

static void check_copy(struct compare *compare, const struct gp_record_copy *copy)
{
	const char *record = next_of(compare, COPY, PEER);

	CHECK(copy->copy_kind == (uint8_t)record[4] && copy->source_kind == (uint8_t)record[5]);
	CHECK(copy->destination_kind == (uint8_t)record[6] && copy->flags == (uint8_t)record[7]);
	CHECK(copy->bytes == u64(record, 8));
	CHECK(copy->start_ns == u64(record, 16) && copy->end_ns == u64(record, 24));
	CHECK(copy->context_id == u32(record, 36) && copy->stream_id == u32(record, 40));
	CHECK(copy->correlation_id == u32(record, 44));
	CHECK(copy->graph_node_id == u64(record, 64) && copy->graph_id == u32(record, 72));
	CHECK(copy->channel_id == u32(record, 76) && copy->channel_type == u32(record, 80));
	CHECK(copy->copy_count == (compare->recording->version >= 26 ? u64(record, 88) : 0));
	compare->copies++;
}

static void check_set(struct compare *compare, const struct gp_record_memset *set)
{
	const char *record = next_of(compare, SET, SET);

	CHECK(set->value == u32(record, 4) && set->bytes == u64(record, 8));
	CHECK(set->start_ns == u64(record, 16) && set->end_ns == u64(record, 24));
	CHECK(set->context_id == u32(record, 36) && set->stream_id == u32(record, 40));
	CHECK(set->correlation_id == u32(record, 44));
	CHECK(set->memory_kind == u32(record, 48) >> 16);
	CHECK(set->graph_node_id == u64(record, 64) && set->graph_id == u32(record, 72));
	compare->sets++;
}

static void check_overhead(struct compare *compare, const struct gp_record_overhead *overhead)
{
	const char *record = next_of(compare, OVERHEAD, OVERHEAD);

	CHECK(overhead->overhead_kind == u32(record, 4));
	CHECK(overhead->start_ns == u64(record, 24) && overhead->end_ns == u64(record, 32));
	CHECK(overhead->correlation_id ==
	      (compare->recording->version >= 20 ? u32(record, 40) : 0));
	compare->overheads++;
}

static void check_sync(struct compare *compare, const struct gp_record_sync *sync)
{
	const char *record = next_of(compare, SYNC, SYNC);
	bool of_event = sync->sync_kind == 1 || sync->sync_kind == 2;

	CHECK(sync->sync_kind == u32(record, 4));
	CHECK(sync->start_ns == u64(record, 8) && sync->end_ns == u64(record, 16));
	CHECK(sync->correlation_id == u32(record, 24) && sync->context_id == u32(record, 28));
	CHECK(sync->stream_id == u32(record, 32));
	CHECK(sync->event_id == (of_event ? u32(record, 36) : 0));
	CHECK(sync->event_sync_id ==
	      (of_event && compare->recording->version >= 26 ? u64(record, 40) : 0));
	compare->syncs++;
}

static void check_event(struct compare *compare, const struct gp_record_event *event)
{
	const char *record = next_of(compare, EVENT, EVENT);
	bool late = compare->recording->version >= 26;

	CHECK(event->correlation_id == u32(record, 4) && event->context_id == u32(record, 8));
	CHECK(event->stream_id == u32(record, 12) && event->event_id == u32(record, 16));
	CHECK(event->device_id == 0);
	CHECK(event->device_ns == (late ? u64(record, 40) : 0));
	CHECK(event->sync_id == (late ? event->event_id : 0)); /* each event is recorded once */
	compare->events++;
}

static void check_pool(struct compare *compare, const struct gp_record_pool *pool)
{
	const char *record = next_of(compare, POOL, POOL);

	CHECK(pool->op == u32(record, 4) && pool->pool_kind == u32(record, 8));
	CHECK(pool->correlation_id == u32(record, 12) && pool->device_id == u32(record, 20));
	CHECK(pool->least_kept_bytes == u64(record, 24) && pool->address == u64(record, 32));
	CHECK(pool->reserved_bytes == u64(record, 40));
	CHECK(pool->release_threshold_bytes == u64(record, 48));
	CHECK(pool->time_ns == u64(record, 56) && pool->used_bytes == u64(record, 64));
	compare->pools++;
}

static void check_jit(struct compare *compare, const struct gp_record_jit *jit)
{
	const char *record = next_of(compare, JIT, JIT);

	CHECK(jit->entry_kind == 1 && jit->op_kind == u32(record, 8));
	CHECK(jit->device_id == 0 && jit->correlation_id == u32(record, 32));
	CHECK(jit->start_ns == u64(record, 16) && jit->end_ns == u64(record, 24));
	CHECK(jit->end_ns > jit->start_ns);
	CHECK(jit->operation_id == u64(record, 40) && jit->cache_bytes == u64(record, 48));
	CHECK(jit->thread_id == (compare->recording->version >= 22 ? u32(record, 68) : 0));
	compare->jits++;
}

static void check_device(struct compare *compare, const struct gp_record_device *device)
{
	CHECK(device->compute_major == 9 && device->compute_minor == 0);
	CHECK(device->multiprocessors == 132 && device->warp_threads == 32);
	CHECK(device->max_threads_per_multiprocessor == 2048);
	CHECK(device->max_threads_per_block == 1024);
	CHECK(device->registers_per_multiprocessor == 65536);
	CHECK(device->memory_bytes > 140000000000u && device->memory_bytes < 160000000000u);
	compare->devices++;
}

static void note_string(struct compare *compare, const struct any_record *record)
{
	char *text = strndup((const char *)record->text, record->string.length_bytes);

	if (record->string.space == GP_STRING_KERNEL && record->string.id < 256)
		compare->kernel_names[record->string.id] = text;
	else if (record->string.space == GP_STRING_DEVICE)
		compare->device_name = text;
	else if (record->string.space == GP_STRING_INFO && record->string.id == GP_INFO_NOTE &&
		 strstr(text, "cannot be matched with their API calls") != NULL)
		compare->notes++;
}

static void check_record(void *context, const struct found *found)
{
	struct compare *compare = context;
	const struct any_record *record = found->record;

	switch (record->record.kind) {
	case GP_RECORD_STRING:
		note_string(compare, record);
		break;
	case GP_RECORD_SHAPE:
		CHECK(record->shape.id < 256);
		compare->shapes[record->shape.id] = record->shape;
		break;
	case GP_RECORD_KERNEL:
		check_kernel(compare, &record->kernel);
		break;
	case GP_RECORD_COPY:
		check_copy(compare, &record->copy);
		break;
	case GP_RECORD_MEMSET:
		check_set(compare, &record->memset);
		break;
	case GP_RECORD_OVERHEAD:
		check_overhead(compare, &record->overhead);
		break;
	case GP_RECORD_DEVICE:
		check_device(compare, &record->device);
		break;
	case GP_RECORD_CONTEXT:
		CHECK(record->context.id == 1 && record->context.null_stream_id == 7);
		compare->contexts++;
		break;
	case GP_RECORD_STREAM:
		CHECK(record->stream.context_id == 1);
		/* the id of the program's first call */
		CHECK(record->stream.correlation_id >= 118);
		compare->streams++;
		break;
	case GP_RECORD_SYNC:
		check_sync(compare, &record->sync);
		break;
	case GP_RECORD_EVENT:
		check_event(compare, &record->event);
		break;
	case GP_RECORD_POOL:
		check_pool(compare, &record->pool);
		break;
	case GP_RECORD_JIT:
		check_jit(compare, &record->jit);
		break;
	}
}

static unsigned recorded(const struct recording *recording, uint32_t kind)
{
	unsigned count = 0;

	for (size_t i = 0; i < recording->record_count; i++)
		count += recording->records[i].kind == kind;
	return count;
}

/* The recording has more kinds than gpuprof enables. */
static void decode_all(struct gp_decoder *decoder, const struct recording *recording)
{
	static const uint32_t asked_for[] = {COPY, SET,    DEVICE, CONTEXT, KERNEL, OVERHEAD,
					     PEER, STREAM, SYNC,   EVENT,   POOL,   JIT};

	for (size_t i = 0; i < recording->record_count; i++)
		for (size_t k = 0; k < sizeof(asked_for) / sizeof(asked_for[0]); k++)
			if (recording->records[i].kind == asked_for[k])
				gp_decode(decoder,
					  (const CUpti_Activity *)recording->records[i].at);
}

/* In a child, because a process has only one collector. */
static void decode_and_compare(const char *folder, const char *version)
{
	const struct recording *recording = read_recording(version);
	struct gp_decoder decoder = {.version = recording->version};
	static struct compare compare;
	static struct scan scan;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", folder, version);
	decode_all(&decoder,
		   recording); /* definitions that are dropped here are emitted again later */
	decoder.records = 0;
	CHECK(gp_collector_start(&(struct gp_collector_config){
		      .trace_path = path, .ring_place = GP_RINGS_MEMORY}) == 0);
	decode_all(&decoder, recording);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(decoder.unknown == 0);
	compare.recording = recording;
	scan.fn = check_record;
	scan.context = &compare;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL && scan.damaged_bytes == 0 && scan.cut_bytes == 0);
	CHECK(compare.kernels == 42 && compare.kernels == recorded(recording, KERNEL));
	CHECK(compare.copies == recorded(recording, COPY) + recorded(recording, PEER));
	CHECK(compare.sets == recorded(recording, SET));
	CHECK(compare.overheads == recorded(recording, OVERHEAD));
	CHECK(compare.devices == 1 && compare.contexts == 1);
	CHECK(compare.streams == recorded(recording, STREAM));
	CHECK(compare.syncs >= 10 && compare.syncs == recorded(recording, SYNC));
	CHECK(compare.events == 4 && compare.events == recorded(recording, EVENT));
	CHECK(compare.pools == 7 && compare.pools == recorded(recording, POOL));
	CHECK(compare.jits == 1);
	/* in the recording of 11.8 all operations have the same correlation id */
	CHECK(compare.notes == (recording->version == 18));
	CHECK(strcmp(compare.device_name, "NVIDIA H200") == 0);
	CHECK(decoder.records == compare.kernels + compare.copies + compare.sets);
}

static void check_version(const char *version)
{
	const char *folder = new_folder();
	pid_t child = fork();
	int status;

	if (child == 0) {
		decode_and_compare(folder, version);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	remove_folder(folder);
	assert_int_equal(status, 0);
}

static void cupti_11_8(void **state)
{
	check_version("11.8");
}

static void cupti_12_6(void **state)
{
	check_version("12.6");
}

static void cupti_12_9(void **state)
{
	check_version("12.9");
}

static void cupti_13_0(void **state)
{
	check_version("13.0");
}

static void kinds_that_are_not_enabled_are_counted(void **state)
{
	struct gp_decoder decoder = {.version = 130001};
	CUpti_Activity known_elsewhere = {.kind = CUPTI_ACTIVITY_KIND_RUNTIME};
	CUpti_Activity from_the_future = {.kind = (CUpti_ActivityKind)4711};

	gp_decode(&decoder, &known_elsewhere);
	gp_decode(&decoder, &from_the_future);
	assert_int_equal(decoder.unknown, 2);
	assert_int_equal(decoder.records, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cupti_11_8),
		cmocka_unit_test(cupti_12_6),
		cmocka_unit_test(cupti_12_9),
		cmocka_unit_test(cupti_13_0),
		cmocka_unit_test(kinds_that_are_not_enabled_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
