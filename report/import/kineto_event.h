/*
 * kineto_event: reads an element of "traceEvents" in a Chrome trace of Kineto, the tracer in
 * torch.profiler: the fields that the model uses, in any order.
 */
#ifndef REPORT_IMPORT_KINETO_EVENT_H
#define REPORT_IMPORT_KINETO_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/codec/json_reader.h"

/* Whole numbers of an event and its "args". */
enum gp_kineto_number {
	GP_KINETO_PID,
	GP_KINETO_TID,
	GP_KINETO_DEVICE,
	GP_KINETO_CONTEXT,
	GP_KINETO_STREAM,
	GP_KINETO_CORRELATION,
	GP_KINETO_BYTES,
	GP_KINETO_REGISTERS,
	GP_KINETO_SHARED,
	GP_KINETO_GRAPH,
	GP_KINETO_GRAPH_NODE,
	GP_KINETO_CHANNEL,
	GP_KINETO_CHANNEL_TYPE,
	GP_KINETO_CBID,
	GP_KINETO_FROM_DEVICE,
	GP_KINETO_IN_DEVICE,
	GP_KINETO_TO_DEVICE,
	GP_KINETO_FROM_CONTEXT,
	GP_KINETO_IN_CONTEXT,
	GP_KINETO_TO_CONTEXT,
	GP_KINETO_EVENT,       /* a CUDA event that is recorded or waited for */
	GP_KINETO_RESERVED,    /* bytes that an allocator reserved on the device */
	GP_KINETO_ALLOCATED,   /* bytes that it gave to tensors */
	GP_KINETO_DEVICE_TYPE, /* of the allocator: 0 host, 1 CUDA, 6 HIP */
	GP_KINETO_DEVICE_ID,   /* device of the allocator */
	/* the thread that the driver compiled for; in gpuprof exports only */
	GP_KINETO_THREAD,
	GP_KINETO_OPERATION,   /* of the driver's compiler */
	GP_KINETO_CACHE_BYTES, /* of the compiler's cache */
	/* of a call; in gpuprof exports only */
	GP_KINETO_STATUS,
	GP_KINETO_CAPTURED,
	GP_KINETO_COOPERATIVE,
	GP_KINETO_OVERLAPPING,
	/* of a call that created a context or streams; in gpuprof exports only */
	GP_KINETO_MADE_CONTEXT,
	GP_KINETO_DEFAULT_STREAM,
	GP_KINETO_CONTEXT_DEVICE,
	GP_KINETO_PRIORITY,
	GP_KINETO_CALL_CONTEXT, /* the context of a call */
	/* of unified memory; in gpuprof exports only */
	GP_KINETO_ADDRESS,
	GP_KINETO_VALUE,
	GP_KINETO_FLAGS,
	GP_KINETO_SOURCE, /* a device; absent for the host */
	GP_KINETO_DESTINATION,
	/* of Python samples; in gpuprof exports only */
	GP_KINETO_SAMPLES,
	GP_KINETO_LINE,
	GP_KINETO_IMPORTED,
	GP_KINETO_NUMBERS
};

#define GP_KINETO_WORD_BYTES    32u
#define GP_KINETO_LABEL_BYTES   256u
#define GP_KINETO_STREAMS       32u
#define GP_KINETO_COUNTERS      256u
#define GP_KINETO_COUNTER_BYTES 256u

/* A metric of a kernel from CUPTI's range profiler. */
struct gp_kineto_counter {
	char name[GP_KINETO_COUNTER_BYTES];
	double value;
};

/* Of a Python sample: at after_ns from its beginning it was at another line. */
struct gp_kineto_line_change {
	uint64_t after_ns;
	uint32_t line;
};

/* Zero it before the first read; free(line_changes) after the last. */
struct gp_kineto_event {
	int64_t start_ns, duration_ns; /* a negative duration: it had not ended */
	bool has_start, has_grid, has_block;
	uint64_t has; /* bit n: numbers[n] is set */
	int64_t numbers[GP_KINETO_NUMBERS];
	uint32_t grid[3], block[3];
	/* streams that a call created; further ones are dropped */
	uint32_t streams[GP_KINETO_STREAMS];
	uint32_t stream_count;
	uint32_t counter_count;
	uint32_t line_change_count;
	bool has_no_memory;                 /* for `line_changes` */
	uint32_t counters_left_out;         /* too many, or with too long names */
	uint32_t devices;                   /* bitmask of the devices that thrash unified memory */
	char domain[GP_KINETO_LABEL_BYTES]; /* of a range; in gpuprof exports only */
	char stream_kind[GP_KINETO_WORD_BYTES];
	char memory[GP_KINETO_WORD_BYTES];   /* kind of what a call allocated; in gpuprof exports */
	char process[GP_KINETO_LABEL_BYTES]; /* a number or a name; "" if there is none */
	char phase[GP_KINETO_WORD_BYTES];
	char category[GP_KINETO_WORD_BYTES];
	/* in "args": "name" of a process or thread, "file" of a Python sample, "by" of a gate */
	char label[GP_KINETO_LABEL_BYTES];
	size_t name_bytes;
	char name[GP_JSON_TEXT_BYTES + 1];
	char call_stack[GP_JSON_TEXT_BYTES + 1]; /* of an operator; "" if there is none */
	struct gp_kineto_counter counters[GP_KINETO_COUNTERS];
	struct gp_kineto_line_change *line_changes;
	uint32_t line_change_capacity;
};

/*
 * Reads the event from after its opening bracket, which was the last token, to its closing bracket.
 * Returns false if the input ends.
 */
bool gp_kineto_event_read(struct gp_json_reader *pull, struct gp_kineto_event *event);

/* Whether it is a key of an event, outside "args". */
bool gp_kineto_event_has_key(const char *key);

bool gp_kineto_has(const struct gp_kineto_event *event, enum gp_kineto_number number);

/* The number as uint32_t; `otherwise` if it is missing or does not fit. */
uint32_t gp_kineto_number(const struct gp_kineto_event *event, enum gp_kineto_number number,
			  uint32_t otherwise);

#endif
