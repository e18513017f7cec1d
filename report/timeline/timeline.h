/*
 * timeline: one walk over all that a model holds in time, for every format that shows it.
 *
 * A sink is told of tracks, and of the events of each: slices, instants, counters, by start. Which
 * of them lie in the window, the part and the limit is decided here alone. Cold events carry their
 * arguments as keys with typed values, so that a new kind reaches all sinks at once; those of which
 * there are millions (calls, operations, Python samples) point at their record, and a sink
 * takes the fields that its format has a place for.
 */
#ifndef REPORT_TIMELINE_TIMELINE_H
#define REPORT_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/analysis/host/python_samples.h"
#include "report/analysis/host/range_spans.h"
#include "report/model/model.h"
#include "report/model/slice_filter.h"
#include "report/symbols/names.h"

enum gp_timeline_kind {
#define GP_TIMELINE_KIND(id, category, word) GP_TIMELINE_##id,
#include "report/timeline/kind.def"
	GP_TIMELINE_KINDS
};

/* What is to be said of an operation that is shown with a time that was not believed. */
#define GP_TIMELINE_CONTRADICTED "this time cannot be right: its stream did others meanwhile"

/* The name of each kind: the category of its events; and its word in tables, or NULL. */
extern const char *const gp_timeline_categories[GP_TIMELINE_KINDS];
extern const char *const gp_timeline_words[GP_TIMELINE_KINDS];

enum gp_track_kind {
	GP_TRACK_PROCESS,       /* the process itself, for instants */
	GP_TRACK_THREAD,        /* a host thread; 0: threads that are not known apart */
	GP_TRACK_PYTHON,        /* functions of Python in a thread; slices nest as they come */
	GP_TRACK_HOST,          /* anything else of the process */
	GP_TRACK_STREAM_RANGES, /* ranges on a stream, before its own track */
	GP_TRACK_STREAM,
	GP_TRACK_SYNC,   /* waits for a stream; stream_id GP_NO_STREAM: for a context */
	GP_TRACK_DEVICE, /* anything else of a device; device_id GP_NONE: of none */
};

struct gp_timeline_track {
	enum gp_track_kind kind;
	bool is_nesting;  /* slices lie one in the other, not beside each other */
	bool is_again;    /* a thread's that was there before: of instants alone */
	const char *name; /* of the kinds HOST, PYTHON, SYNC, DEVICE */
	uint32_t thread_id;
	uint32_t device_id, context_id, stream_id;
	uint32_t first_op;     /* of a stream */
	uint32_t first_sample; /* of Python's, in its thread */
};

enum gp_timeline_arg_type {
	GP_ARG_NUMBER,
	GP_ARG_SIGNED, /* number, in two's complement */
	GP_ARG_ADDRESS,
	GP_ARG_RATIO, /* number to per */
	GP_ARG_TIME,  /* ns, to be shown as us */
	GP_ARG_TEXT,
	GP_ARG_BITS,    /* the numbers of the bits that are set */
	GP_ARG_PAYLOAD, /* number of enum gp_payload_kind per */
	GP_ARG_FIELDS,  /* an extended payload, as for gp_payload_decode() */
};

struct gp_timeline_arg {
	const char *key;
	enum gp_timeline_arg_type type;
	uint64_t number, per;
	const char *text;
};

#define GP_TIMELINE_ARGS 12

/* Good while the sink is told of it. */
struct gp_timeline_event {
	enum gp_timeline_kind kind;
	bool is_instant;
	bool is_elsewhere; /* another part shows it: here it only keeps its place */
	uint64_t start_ns, end_ns;
	/* of cold kinds */
	const char *name;
	struct gp_timeline_arg args[GP_TIMELINE_ARGS];
	uint32_t arg_count;
	/* the record; of operations as the device told it */
	union {
		const struct gp_call *call;
		const struct gp_range *range;
		const struct gp_op *op;
		const struct gp_host_span *python;
		const struct gp_sample *sample; /* of tables, in place of spans */
		const struct gp_overhead *overhead;
		const struct gp_record_jit *jit;
		const struct gp_record_host_function *host_function;
		const struct gp_record_sync *sync;
		const struct gp_record_event *event;
		const struct gp_record_unified *unified;
		const struct gp_memory_event *memory;
		const struct gp_gate *gate;
	} of;
	uint32_t index;                   /* of an operation, in the model's */
	const struct gp_host_turn *turns; /* of Python's spans */
};

static inline bool gp_timeline_is_op(const struct gp_timeline_event *event)
{
	return event->kind >= GP_TIMELINE_KERNEL && event->kind <= GP_TIMELINE_GRAPH;
}

enum gp_timeline_counter_kind {
	GP_TIMELINE_MEMORY, /* allocated, a series for each kind of memory */
	GP_TIMELINE_IN_USE, /* by all processes */
	GP_TIMELINE_POOL,
	GP_TIMELINE_QUEUE,     /* operations */
	GP_TIMELINE_BANDWIDTH, /* bytes a second */
	GP_TIMELINE_PERCENT,   /* thousandths of a percent */
	GP_TIMELINE_CLOCK,     /* Hz */
	GP_TIMELINE_POWER,     /* mW */
	GP_TIMELINE_ENERGY,    /* mJ */
};

#define GP_TIMELINE_SERIES GP_MEMORY_KINDS

/* Values are shown divided by this: GB/s, percent, MHz, W, J. */
static inline double gp_timeline_divisor(enum gp_timeline_counter_kind kind)
{
	switch (kind) {
	case GP_TIMELINE_BANDWIDTH:
		return 1e9;
	case GP_TIMELINE_PERCENT:
	case GP_TIMELINE_POWER:
	case GP_TIMELINE_ENERGY:
		return 1e3;
	case GP_TIMELINE_CLOCK:
		return 1e6;
	default:
		return 1;
	}
}

struct gp_timeline_counter {
	enum gp_timeline_counter_kind kind;
	uint64_t time_ns;
	uint32_t device_id; /* GP_NONE: of the host */
	const char *name;   /* "memory", "pool 0x7f10" */
	struct gp_timeline_series {
		const char *name;
		uint64_t value;
	} series[GP_TIMELINE_SERIES];
	uint32_t series_count;
	uint32_t changed; /* the series that has a new value; GP_NONE: each may have */
};

/*
 * Each returns 0, or a negative errno value that ends the walk.  A sink without track or counter
 * takes none.
 */
struct gp_timeline_sink {
	int (*track)(void *context, const struct gp_timeline_track *track);
	int (*event)(void *context, const struct gp_timeline_event *event);
	int (*counter)(void *context, const struct gp_timeline_counter *counter);
};

#define GP_TIMELINE_BIT(id) (UINT32_C(1) << GP_TIMELINE_##id)

/* Kinds that come together, in one order. */
#define GP_TIMELINE_CALLS (GP_TIMELINE_BIT(RUNTIME_CALL) | GP_TIMELINE_BIT(DRIVER_CALL))
#define GP_TIMELINE_OPS                                                                            \
	(GP_TIMELINE_BIT(KERNEL) | GP_TIMELINE_BIT(COPY) | GP_TIMELINE_BIT(MEMSET) |               \
	 GP_TIMELINE_BIT(GRAPH))

struct gp_timeline {
	const struct gp_model *model;
	struct gp_slice_filter filter;
	uint32_t kinds; /* events of these alone, a bit each; 0: of all */
	/*
	 * For tables: records in the order of the model, without tracks; Python's samples in place
	 * of spans, allocations and energy samples in place of counters
	 */
	bool is_table;
	bool has_untimed; /* operations without times, too */
	uint64_t cut_ns;  /* slices that end by then are left out, */
	bool is_cut;      /* none of them if this is false */
	bool is_later;    /* an earlier part of the process was walked before */
	bool slices_only; /* no counters, and no names */
	bool has_curves, has_path, ranges_on_streams;
	bool started_apart; /* start/end ranges as slices of a track of their own */
	struct gp_host_depth host_depth;
	struct gp_names *names;
	/* ranges that are not on streams: too many were open at once, or parts cut them; they grow */
	uint64_t deep_ranges, cut_ranges;
	const struct gp_timeline_sink *sink;
	void *context;
	int error;
};

/* Returns 0, -ENOMEM, -EOVERFLOW, or the result of the sink that ended the walk. */
int gp_timeline_walk(struct gp_timeline *timeline);

/* A walk for each of its kinds, so that they come one after the other, in the order of tables. */
int gp_timeline_walk_in_order(struct gp_timeline *timeline);

/* Whether anything of the model is chosen.  Without memory for the walk: true. */
bool gp_timeline_has_any(const struct gp_model *model, const struct gp_slice_choice *choice);

/* Whether a slice is shown; whether it is in this part of the process or another one. */
static inline bool gp_timeline_shows(const struct gp_timeline *timeline, uint64_t start_ns,
				     uint64_t end_ns)
{
	return (!timeline->is_cut || end_ns > timeline->cut_ns) &&
	       gp_slice_filter_has(&timeline->filter, start_ns, end_ns);
}

static inline bool gp_timeline_has(const struct gp_timeline *timeline, uint64_t start_ns,
				   uint64_t end_ns)
{
	return (!timeline->is_cut || end_ns > timeline->cut_ns) &&
	       gp_slice_filter_has_in_any(&timeline->filter, start_ns, end_ns);
}

static inline bool gp_timeline_shows_moment(const struct gp_timeline *timeline, uint64_t ns)
{
	return (!timeline->is_cut || ns > timeline->cut_ns) &&
	       gp_slice_filter_has_moment(&timeline->filter, ns);
}

#endif
