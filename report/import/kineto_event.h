/*
 * kineto_event: one element of a Chrome trace's "traceEvents", as Kineto, the tracer in
 * torch.profiler, writes them: the fields that say something to the model, whatever their order.
 */
#ifndef REPORT_IMPORT_KINETO_EVENT_H
#define REPORT_IMPORT_KINETO_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/codec/json_reader.h"

/* Whole numbers of an event and of its "args". */
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
	GP_KINETO_EVENT,       /* of CUDA, that is waited for or recorded */
	GP_KINETO_RESERVED,    /* by an allocator, from the device */
	GP_KINETO_ALLOCATED,   /* by it, for tensors */
	GP_KINETO_DEVICE_TYPE, /* of the allocator: 0 the host, 1 CUDA */
	GP_KINETO_DEVICE_ID,   /* of the allocator */
	GP_KINETO_THREAD,      /* for which the driver compiled: our own export has it */
	GP_KINETO_OPERATION,   /* of the driver's compiler */
	GP_KINETO_CACHE_BYTES, /* of its cache */
	/* of a call that made a context or streams, in our own export */
	GP_KINETO_MADE_CONTEXT,
	GP_KINETO_DEFAULT_STREAM,
	GP_KINETO_CONTEXT_DEVICE,
	GP_KINETO_PRIORITY,
	GP_KINETO_CALL_CONTEXT, /* in which a call was made */
	/* of unified memory, there too */
	GP_KINETO_ADDRESS,
	GP_KINETO_VALUE,
	GP_KINETO_FLAGS,
	GP_KINETO_SOURCE, /* a device; the host is none */
	GP_KINETO_DESTINATION,
	/* of what Python did, there too */
	GP_KINETO_LOOKS,
	GP_KINETO_LINE,
	GP_KINETO_IMPORTED,
	GP_KINETO_NUMBERS
};

#define GP_KINETO_WORD_BYTES    32u
#define GP_KINETO_LABEL_BYTES   256u
#define GP_KINETO_STREAMS       32u
#define GP_KINETO_COUNTERS      256u
#define GP_KINETO_COUNTER_BYTES 256u

/* Of CUPTI's range profiler: a metric of a kernel. */
struct gp_kineto_counter {
	char name[GP_KINETO_COUNTER_BYTES];
	double value;
};

/* Of what Python did: so long after its beginning it was at another line. */
struct gp_kineto_turn {
	uint64_t after_ns;
	uint32_t line;
};

/* Zero before the first is read; turns are for free() after the last. */
struct gp_kineto_event {
	uint64_t start_ns, duration_ns;
	bool has_start, has_grid, has_block;
	uint64_t has; /* bit n: numbers[n] is there */
	int64_t numbers[GP_KINETO_NUMBERS];
	uint32_t grid[3], block[3];
	uint32_t streams[GP_KINETO_STREAMS]; /* that a call made; more are left out */
	uint32_t stream_count;
	uint32_t counter_count;
	uint32_t turn_count;
	bool has_no_memory;         /* for turns */
	uint32_t counters_left_out; /* more than there is room for, or whose name is too long */
	uint32_t devices;           /* a bit for each, between which memory goes to and fro */
	char domain[GP_KINETO_LABEL_BYTES]; /* of a range; only our own export says so */
	char stream_kind[GP_KINETO_WORD_BYTES];
	char phase[GP_KINETO_WORD_BYTES];
	char category[GP_KINETO_WORD_BYTES];
	/* "name" in "args": of a process or thread; "file" of what Python did */
	char label[GP_KINETO_LABEL_BYTES];
	size_t name_bytes;
	char name[GP_PULL_TEXT_BYTES + 1];
	struct gp_kineto_counter counters[GP_KINETO_COUNTERS];
	struct gp_kineto_turn *turns;
	uint32_t turn_capacity;
};

/*
 * Read the event behind its opening bracket, which was the last token, up to the closing one.
 * False: the input is at its end.
 */
bool gp_kineto_event_read(struct gp_pull *pull, struct gp_kineto_event *event);

bool gp_kineto_has(const struct gp_kineto_event *event, enum gp_kineto_number number);

/* The number within 32 bits without a sign; otherwise if it is not there, or does not fit. */
uint32_t gp_kineto_number(const struct gp_kineto_event *event, enum gp_kineto_number number,
			  uint32_t otherwise);

#endif
