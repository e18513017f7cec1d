/*
 * trace_builder: trace files for tests of the read side, written from records by an encoder of its
 *own that follows gpuprof/trace.h and shares no code with either side.
 *
 *	struct gp_builder b;
 *
 *	gp_builder_init(&b);
 *	gp_builder_start(&b);                  facts, an anchor, names of a few API calls
 *	gp_builder_chunk(&b, 1, 100);          what follows comes from ring 1, thread 100
 *	gp_builder_call(&b, GP_TEST_LAUNCH, 7, 1000, 50);
 *	gp_builder_kernel(&b, 7, 1100, 1200);
 *	model = gp_builder_load(&b);
 *	...
 *	gp_model_free(model);
 *	gp_builder_free(&b);
 *
 * Times: the builder's clocks all run in ns from one start, so that a call and a kernel with equal
 *numbers begin together. A failure (no memory, no temporary file) fails the test.
 */
#ifndef TESTS_REPORT_TRACE_BUILDER_H
#define TESTS_REPORT_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/field.h"
#include "gpuprof/record.h"
#include "gpuprof/trace.h"
#include "report/model/model.h"

/* The start of the builder's clocks, as each shows it. */
#define GP_TEST_TICKS       UINT64_C(5000000000)
#define GP_TEST_MONOTONIC   UINT64_C(70000000000)
#define GP_TEST_UNIX        UINT64_C(1700000000000000000)
#define GP_TEST_CUPTI(ns)   (GP_TEST_UNIX + (ns))
#define GP_TEST_AT_TICK(ns) (GP_TEST_TICKS + (ns))

/* The calls that gp_builder_start() names, with their classes. */
enum gp_test_api {
	GP_TEST_LAUNCH = 211,
	GP_TEST_GRAPH_LAUNCH = 311,
	GP_TEST_COPY = 31,
	GP_TEST_SET = 51,
	GP_TEST_MALLOC = 20,
	GP_TEST_FREE = 22,
	GP_TEST_SYNC = 165,
	GP_TEST_DRIVER_LAUNCH = GP_API_DRIVER | 307,
};

#define GP_TEST_RINGS 16

struct gp_builder {
	uint8_t *bytes; /* the file so far */
	size_t length, capacity;
	uint64_t sequence;
	uint64_t positions[GP_TEST_RINGS]; /* of each ring */

	/* the chunk being made; its header is written by gp_builder_seal() */
	bool open;
	size_t chunk_at;
	struct gp_chunk_header header;
	uint64_t last[GP_FIELDS], change[GP_FIELDS], length_of_kind[GP_RECORD_KIND_LIMIT];
	uint64_t end_ticks, end_ns;

	char *path; /* of the saved file; removed by gp_builder_free() */
};

void gp_builder_init(struct gp_builder *b);
void gp_builder_free(struct gp_builder *b);

/* Begin a chunk of ring (0 = the writer; below GP_TEST_RINGS) and thread; ends the one before. */
void gp_builder_chunk(struct gp_builder *b, uint32_t ring, uint32_t thread);

/* End the chunk, if one is open. */
void gp_builder_seal(struct gp_builder *b);

/* Add a record of fixed size to the open chunk; its `slots` need not be set. */
void gp_builder_add(struct gp_builder *b, const void *record);

/* Add a definition to the open chunk. */
void gp_builder_string(struct gp_builder *b, enum gp_string_space space, uint32_t id,
		       uint32_t value, const char *text);

/* The same of a text that holds NULs. */
void gp_builder_bytes(struct gp_builder *b, enum gp_string_space space, uint32_t id, uint32_t value,
		      const void *bytes, size_t length);

/* Raw bytes between chunks, as damage or for formats to come. */
void gp_builder_raw(struct gp_builder *b, const void *bytes, size_t length);

/* ---- what most tests need ---- */

/* A chunk of the writer: facts about the process, an anchor at 0, the calls of enum gp_test_api. */
void gp_builder_start(struct gp_builder *b);

/* An anchor: all clocks show ns since their start. */
void gp_builder_anchor(struct gp_builder *b, uint64_t ns);

/* A call from start_ns on, without error. */
void gp_builder_call(struct gp_builder *b, uint16_t api, uint32_t correlation_id, uint64_t start_ns,
		     uint64_t duration_ns);

/* A kernel on device 0, context 1, stream 7; name and shape 1, which gp_builder_start() defines. */
void gp_builder_kernel(struct gp_builder *b, uint32_t correlation_id, uint64_t start_ns,
		       uint64_t end_ns);

/* An allocation (bytes > 0) or a free (bytes 0) that takes effect at the end of a call of 10 ns. */
void gp_builder_memory(struct gp_builder *b, uint8_t memory_kind, uint64_t start_ns,
		       uint64_t address, uint64_t bytes);

/* The orderly end. */
void gp_builder_end(struct gp_builder *b, uint64_t ns);

/* Write the file, to a temporary path that belongs to the builder, and return the path. */
const char *gp_builder_save(struct gp_builder *b);

/* Save and load; fails the test where the model does not load. */
struct gp_model *gp_builder_load(struct gp_builder *b);

/*
 * What most tests begin with: a file with a chunk of that thread open; and end with: the model of
 * the file, which is gone.
 */
void gp_builder_begin(struct gp_builder *b, uint32_t thread);
struct gp_model *gp_builder_finish(struct gp_builder *b);

#endif
