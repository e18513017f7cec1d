#include "report/load/load_model.h"
#include "tests/lib/temporary.h"
#include "tests/report/trace_builder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CRC32C_POLYNOMIAL 0x82f63b78u

void gp_builder_raw(struct gp_builder *b, const void *bytes, size_t length)
{
	if (b->length + length >= b->capacity) {
		b->capacity = 2 * (b->length + length) + 1;
		b->bytes = realloc(b->bytes, b->capacity);
		assert_non_null(b->bytes);
	}
	memcpy(b->bytes + b->length, bytes, length);
	b->length += length;
}

static void put_byte(struct gp_builder *b, uint8_t byte)
{
	gp_builder_raw(b, &byte, 1);
}

static void put_varint(struct gp_builder *b, uint64_t value)
{
	while (value >= 0x80) {
		put_byte(b, (uint8_t)(value | 0x80));
		value >>= 7;
	}
	put_byte(b, (uint8_t)value);
}

void gp_builder_init(struct gp_builder *b)
{
	memset(b, 0, sizeof(*b));
	gp_builder_raw(b, GP_TRACE_MAGIC, strlen(GP_TRACE_MAGIC));
	put_byte(b, GP_TRACE_VERSION);
}

void gp_builder_free(struct gp_builder *b)
{
	if (b->path)
		unlink(b->path);
	free(b->path);
	free(b->bytes);
}

/* ---- chunks ---- */

static uint32_t checksum(const uint8_t *bytes, size_t length)
{
	uint32_t crc = UINT32_MAX;

	for (size_t bit = 0; bit < length * 8; bit++) {
		uint32_t in = (uint32_t)(bytes[bit / 8] >> (bit % 8)) & 1u;

		crc = (crc >> 1) ^ (((crc ^ in) & 1u) != 0 ? CRC32C_POLYNOMIAL : 0);
	}
	return ~crc;
}

void gp_builder_chunk(struct gp_builder *b, uint32_t ring, uint32_t thread)
{
	assert_true(ring < GP_TEST_RINGS);
	gp_builder_seal(b);
	b->open = true;
	b->chunk_at = b->length;
	b->header = (struct gp_chunk_header){.magic = GP_CHUNK_MAGIC,
					     .sequence = b->sequence++,
					     .position = b->positions[ring],
					     .ring = ring,
					     .thread = thread};
	gp_builder_raw(b, &b->header, sizeof(b->header));
	memset(b->last, 0, sizeof(b->last));
	memset(b->change, 0, sizeof(b->change));
	memset(b->length_of_kind, 0, sizeof(b->length_of_kind));
	b->end_ticks = b->end_ns = 0;
}

void gp_builder_seal(struct gp_builder *b)
{
	size_t header_bytes = sizeof(b->header);
	uint8_t *at = b->bytes + b->chunk_at;

	if (!b->open)
		return;
	b->open = false;
	b->header.payload_bytes = (uint32_t)(b->length - b->chunk_at - header_bytes);
	if (b->header.ring != 0)
		b->positions[b->header.ring] += b->header.position_slots;
	else
		b->header.position_slots = 0;
	memcpy(at, &b->header, header_bytes);
	b->header.crc = checksum(at + 12, header_bytes - 12 + b->header.payload_bytes);
	memcpy(at, &b->header, header_bytes);
	while (b->length % 8 != 0)
		put_byte(b, 0);
}

/* ---- records ---- */

static bool is_in_ticks(uint8_t kind)
{
	return kind == GP_RECORD_CALL || kind == GP_RECORD_MEMORY;
}

static uint64_t predict(const struct gp_builder *b, size_t i, uint64_t start)
{
	switch (gp_fields[i].rule) {
	case GP_RULE_STRIDE:
		return b->last[i] + b->change[i];
	case GP_RULE_AFTER:
		return is_in_ticks(gp_fields[i].kind) ? b->end_ticks : b->end_ns;
	case GP_RULE_LENGTH:
		return start + b->length_of_kind[gp_fields[i].kind];
	default:
		return b->last[i];
	}
}

static uint64_t zigzag(uint64_t value)
{
	return (value << 1) ^ (value >> 63 != 0 ? UINT64_MAX : 0);
}

static uint64_t value_of(const void *record, size_t i)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)record + gp_fields[i].offset, gp_fields[i].bytes);
	return value;
}

static bool has_end(uint8_t kind)
{
	for (size_t i = 0; i < GP_FIELDS; i++)
		if (gp_fields[i].kind == kind && gp_fields[i].rule == GP_RULE_LENGTH)
			return true;
	return false;
}

/* The ends that later predictions use. */
static void note_end(struct gp_builder *b, const void *record, uint8_t kind)
{
	const struct gp_record_call *call = record;
	const struct gp_record_kernel *kernel = record;

	if (is_in_ticks(kind)) {
		b->end_ticks = call->start_ticks + call->duration_low_ticks +
			       ((uint64_t)call->duration_high_ticks << 32);
	} else if (has_end(kind)) {
		b->end_ns = kernel->end_ns;
		b->length_of_kind[kind] = kernel->end_ns - kernel->start_ns;
	}
}

static uint32_t slots_of(uint8_t kind)
{
	static const uint8_t bytes[] = {
#define X(number, NAME, name) [number] = sizeof(struct gp_record_##name),
		GP_RECORD_KINDS(X)
#undef X
	};

	return bytes[kind] / GP_SLOT_BYTES;
}

static void put_record(struct gp_builder *b, const void *record)
{
	uint8_t kind = *(const uint8_t *)record;
	uint64_t deltas[GP_MAX_FIELDS_PER_RECORD], mask = 0, start = 0;
	unsigned count = 0;

	assert_true(b->open);
	for (size_t i = 0; i < GP_FIELDS; i++) {
		uint64_t value, predicted;

		if (gp_fields[i].kind != kind)
			continue;
		value = value_of(record, i);
		predicted = predict(b, i, start);
		if (gp_fields[i].rule == GP_RULE_AFTER)
			start = value;
		b->change[i] = value - b->last[i];
		b->last[i] = value;
		deltas[count] = zigzag(value - predicted);
		if (deltas[count] != 0)
			mask |= 1ull << count;
		count++;
	}
	put_byte(b, kind);
	put_varint(b, mask);
	for (unsigned i = 0; i < count; i++)
		if (mask >> i & 1)
			put_varint(b, deltas[i]);
	note_end(b, record, kind);
	b->header.records++;
}

void gp_builder_add(struct gp_builder *b, const void *record)
{
	put_record(b, record);
	b->header.position_slots += slots_of(*(const uint8_t *)record);
}

void gp_builder_bytes(struct gp_builder *b, enum gp_string_space space, uint32_t id, uint32_t value,
		      const void *bytes, size_t length)
{
	struct gp_record_string r = {.kind = GP_RECORD_STRING,
				     .space = (uint16_t)space,
				     .id = id,
				     .value = value,
				     .length_bytes = (uint32_t)length};

	put_record(b, &r);
	gp_builder_raw(b, bytes, length);
	b->header.position_slots += gp_string_slots(r.length_bytes);
}

void gp_builder_string(struct gp_builder *b, enum gp_string_space space, uint32_t id,
		       uint32_t value, const char *text)
{
	gp_builder_bytes(b, space, id, value, text, strlen(text));
}

/* ---- what most tests need ---- */

void gp_builder_anchor(struct gp_builder *b, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_anchor){.kind = GP_RECORD_ANCHOR,
						     .gap_ticks = 30,
						     .ticks = GP_TEST_AT_TICK(ns),
						     .monotonic_ns = GP_TEST_MONOTONIC + ns,
						     .realtime_ns = GP_TEST_UNIX + ns,
						     .cupti_ns = GP_TEST_CUPTI(ns),
						     .cupti_ticks = GP_TEST_AT_TICK(ns)});
}

void gp_builder_start(struct gp_builder *b)
{
	static const struct {
		uint16_t api;
		uint8_t class;
		const char *name;
	} apis[] = {
		{GP_TEST_LAUNCH, GP_API_LAUNCH, "cudaLaunchKernel_v7000"},
		{GP_TEST_GRAPH_LAUNCH, GP_API_GRAPH_LAUNCH, "cudaGraphLaunch_v10000"},
		{GP_TEST_COPY, GP_API_COPY, "cudaMemcpy_v3020"},
		{GP_TEST_SET, GP_API_MEMSET, "cudaMemsetAsync_ptsz_v7000"},
		{GP_TEST_MALLOC, GP_API_ALLOC, "cudaMalloc_v3020"},
		{GP_TEST_FREE, GP_API_FREE, "cudaFree_v3020"},
		{GP_TEST_SYNC, GP_API_SYNC, "cudaDeviceSynchronize_v3020"},
		{GP_TEST_DRIVER_LAUNCH, GP_API_LAUNCH, "cuLaunchKernel"},
	};

	gp_builder_chunk(b, 0, 0);
	gp_builder_string(b, GP_STRING_INFO, GP_INFO_PROGRAM, 0, "app");
	gp_builder_string(b, GP_STRING_INFO, GP_INFO_PID, 0, "4242");
	gp_builder_string(b, GP_STRING_INFO, GP_INFO_TICKS_PER_SECOND, 0, "1000000000");
	gp_builder_anchor(b, 0);
	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++)
		gp_builder_string(b, GP_STRING_API, apis[i].api, apis[i].class, apis[i].name);
	gp_builder_string(b, GP_STRING_KERNEL, 1, 0, "_Z6kernelPf");
	gp_builder_add(b, &(struct gp_record_shape){.kind = GP_RECORD_SHAPE,
						    .id = 1,
						    .registers = 32,
						    .grid = {80, 1, 1},
						    .block = {256, 1, 1}});
}

void gp_builder_call(struct gp_builder *b, uint16_t api, uint32_t correlation_id, uint64_t start_ns,
		     uint64_t duration_ns)
{
	gp_builder_add(
		b, &(struct gp_record_call){.kind = GP_RECORD_CALL,
					    .api = api,
					    .correlation_id = correlation_id,
					    .start_ticks = GP_TEST_AT_TICK(start_ns),
					    .duration_low_ticks = (uint32_t)duration_ns,
					    .duration_high_ticks = (uint16_t)(duration_ns >> 32),
					    .context_id = 1});
}

void gp_builder_kernel(struct gp_builder *b, uint32_t correlation_id, uint64_t start_ns,
		       uint64_t end_ns)
{
	gp_builder_add(b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						     .correlation_id = correlation_id,
						     .start_ns = GP_TEST_CUPTI(start_ns),
						     .end_ns = GP_TEST_CUPTI(end_ns),
						     .name_id = 1,
						     .shape_id = 1,
						     .context_id = 1,
						     .stream_id = 7});
}

void gp_builder_memory(struct gp_builder *b, uint8_t memory_kind, uint64_t start_ns,
		       uint64_t address, uint64_t bytes)
{
	gp_builder_add(b, &(struct gp_record_memory){
				  .call = {.kind = GP_RECORD_MEMORY,
					   .api = bytes > 0 ? GP_TEST_MALLOC : GP_TEST_FREE,
					   .correlation_id = 0,
					   .start_ticks = GP_TEST_AT_TICK(start_ns),
					   .duration_low_ticks = 10,
					   .context_id = 1},
				  .address = address,
				  .bytes = bytes,
				  .op = bytes > 0 ? GP_MEMORY_ALLOC : GP_MEMORY_FREE,
				  .memory_kind = memory_kind});
}

void gp_builder_end(struct gp_builder *b, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_end){.kind = GP_RECORD_END,
						  .reason = GP_END_EXIT,
						  .ticks = GP_TEST_AT_TICK(ns)});
}

const char *gp_builder_save(struct gp_builder *b)
{
	char path[] = "/tmp/gpuprof-test-XXXXXX" GP_TRACE_SUFFIX;
	int fd;

	gp_builder_seal(b);
	if (!b->path) {
		fd = mkostemps(path, (int)strlen(GP_TRACE_SUFFIX), O_CLOEXEC);
		note_temporary(path);
		b->path = strdup(path);
	} else {
		fd = open(b->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	}
	assert_true(fd >= 0);
	assert_non_null(b->path);
	assert_int_equal(write(fd, b->bytes, b->length), b->length);
	close(fd);
	return b->path;
}

struct gp_model *gp_builder_load(struct gp_builder *b)
{
	char message[512] = "";
	struct gp_model *model = NULL;

	if (gp_model_load(gp_builder_save(b), &model, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	return model;
}

void gp_builder_begin(struct gp_builder *b, uint32_t thread)
{
	gp_builder_init(b);
	gp_builder_start(b);
	gp_builder_chunk(b, 1, thread);
}

struct gp_model *gp_builder_finish(struct gp_builder *b)
{
	struct gp_model *model = gp_builder_load(b);

	gp_builder_free(b);
	return model;
}
