/*
 * perfetto_writer: what the parts of the exporter of Perfetto's own format share: a stream of
 * packets, names that are written once and then meant by their number, tracks.
 * docs/reference/formats.md says what the file holds.
 *
 * Packets need no order: their reader sorts by time, and keeps the order of equal times.  All are
 * of one sequence.
 */
#ifndef REPORT_EXPORT_PERFETTO_PERFETTO_WRITER_H
#define REPORT_EXPORT_PERFETTO_PERFETTO_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "report/symbols/call_site.h"
#include "report/export/export.h"
#include "report/model/gpu_numbers.h"
#include "report/base/group_by.h"
#include "report/base/lanes.h"
#include "report/symbols/names.h"
#include "report/codec/json_write.h"
#include "report/codec/protobuf.h"
#include "report/timeline/timeline.h"

/*
 * Names of arguments and stages that most events have, numbered from 1: all are known, and in the
 * first packet, as are the categories: enum gp_timeline_kind, from 1.
 */
enum gp_perfetto_note {
	GP_PERFETTO_CORRELATION = 1,
	GP_PERFETTO_STATUS,
	GP_PERFETTO_ERROR,
	GP_PERFETTO_BYTES,
	GP_PERFETTO_ADDRESS,
	GP_PERFETTO_MEMORY,
	GP_PERFETTO_CALLER,
	GP_PERFETTO_LOOKS,
	GP_PERFETTO_LINE,
	GP_PERFETTO_NOTES
};

/* Arguments of operations, by the names that Perfetto's GPU tabs know. */
enum gp_perfetto_argument {
	GP_PERFETTO_ARG_DEVICE = 1,
	GP_PERFETTO_ARG_CONTEXT,
	GP_PERFETTO_ARG_STREAM,
	GP_PERFETTO_ARG_CORRELATION,
	GP_PERFETTO_ARG_REGISTERS,
	GP_PERFETTO_ARG_STATIC_SHARED,
	GP_PERFETTO_ARG_DYNAMIC_SHARED,
	GP_PERFETTO_ARG_EXECUTED_SHARED,
	GP_PERFETTO_ARG_THREADS,
	GP_PERFETTO_ARG_WAVES,
	GP_PERFETTO_ARG_OCCUPANCY,
	GP_PERFETTO_ARG_BLOCKS_BY_REGISTERS,
	GP_PERFETTO_ARG_BLOCKS_BY_SHARED,
	GP_PERFETTO_ARG_BLOCKS_BY_WARPS,
	GP_PERFETTO_ARG_BLOCKS_BY_BLOCKS,
	GP_PERFETTO_ARG_BYTES,
	GP_PERFETTO_ARG_BANDWIDTH,
	GP_PERFETTO_ARG_GRAPH,
	GP_PERFETTO_ARG_GRAPH_NODE,
	GP_PERFETTO_ARG_PROCESS,
	GP_PERFETTO_ARG_NOTE,
	GP_PERFETTO_ARGUMENTS
};

struct gp_perfetto {
	FILE *out;
	const struct gp_export_options *options;
	struct gp_protobuf file;                 /* packets that are not written yet */
	struct gp_protobuf packet, event, inner; /* that are being made, one in the other */
	struct gp_protobuf argument;
	struct gp_protobuf interned; /* new names, for the packet that is being made */
	uint64_t last_iid;           /* of names of any kind that are not in the lists above */
	uint64_t last_track;         /* uuid */
	uint64_t last_event;         /* id of an operation, of earlier processes */
	int error;                   /* 0 or -ENOMEM */

	const struct gp_model *model; /* the process that is being written */
	struct gp_timeline timeline;  /* of it */
	struct gp_perfetto_ops *ops;  /* the same */
	struct gp_names *names;
	struct gp_gpu_numbers gpus;
	struct gp_call_sites *sites; /* of this model */
	uint64_t offset_ns;          /* from the model's times to the file's */
	uint64_t process_track;
	uint32_t pid; /* its own, or one that no earlier process has */
	bool is_merged;

	/*
	 * Tracks, queues and counters of the process, of all its parts: numbers by what they are
	 * of.
	 */
	bool are_parts, is_later;
	struct gp_groups lasting;
	uint64_t *lasting_numbers, unlasting;
	uint32_t lasting_count, lasting_capacity;

	struct gp_symbols *symbols; /* of this model */

	/* names that are not the model's, of the whole file */
	struct gp_groups event_names, note_names;
	uint64_t *event_name_iids;
	struct gp_json fields; /* of a payload, in memory */
	uint32_t event_name_count, event_name_capacity, note_name_count;

	/* iids of what the model names, 0 = not written yet */
	uint64_t *codes, *apis, *kernels, *kernel_names, *shown_sites;
	uint32_t site_capacity;

	/* the track that is being written */
	enum gp_track_kind track_kind;
	struct gp_lanes lanes;
	uint64_t *lane_tracks;
	uint32_t lane_count, lane_capacity;
	uint64_t parent_track;
	char track_name[96];
};

/* ---- perfetto_packet.c ---- */

/* The first packet: clocks and all names that are known. */
void gp_perfetto_begin(struct gp_perfetto *p, uint64_t unix_ns, uint64_t monotonic_ns);

/* A packet: begin, fields of p->packet, end.  A time of the model. */
void gp_perfetto_open(struct gp_perfetto *p, uint64_t ns);
void gp_perfetto_close(struct gp_perfetto *p);

/* Write what is left.  Returns 0, -ENOMEM or -EIO. */
int gp_perfetto_end(struct gp_perfetto *p);

/* The iid of an event's name, remembered at *known. */
uint64_t gp_perfetto_name(struct gp_perfetto *p, uint64_t *known, const char *name);

/* The same of a text that comes again and again. */
uint64_t gp_perfetto_text_name(struct gp_perfetto *p, const char *name);

/*
 * Where the number (of a track, a queue, ...) is remembered that something of a process has; 0 = it
 * has none yet.  Good until the next call.
 */
uint64_t *gp_perfetto_lasting(struct gp_perfetto *p, const char *what, const char *name);

/* Arguments of the event that is being made. */
void gp_perfetto_note(struct gp_perfetto *p, enum gp_perfetto_note note, uint64_t value);
void gp_perfetto_note_text(struct gp_perfetto *p, enum gp_perfetto_note note, const char *text);
void gp_perfetto_arg(struct gp_perfetto *p, const struct gp_timeline_arg *arg);

/* ---- perfetto_tracks.c ---- */

void gp_perfetto_write_process(struct gp_perfetto *p);

/* A thread's track, on which slices nest; or one of the process. */
void gp_perfetto_begin_thread(struct gp_perfetto *p, uint32_t thread_id);
void gp_perfetto_begin_track(struct gp_perfetto *p, const char *name, bool nesting);

/* The track on which a slice goes, made if it is its first; slices come by start. */
uint64_t gp_perfetto_place(struct gp_perfetto *p, uint64_t start_ns, uint64_t end_ns);

/* That of what is no slice. */
uint64_t gp_perfetto_first_track(struct gp_perfetto *p);

/* What a counter counts. */
enum gp_perfetto_unit { GP_PERFETTO_UNIT_BYTES, GP_PERFETTO_UNIT_COUNT, GP_PERFETTO_UNIT_GB_PER_S };

/* The track of a counter of the process. */
uint64_t gp_perfetto_counter(struct gp_perfetto *p, const char *name, enum gp_perfetto_unit unit);

/* ---- perfetto_sink.c ---- */

/* What the walk tells becomes packets. */
extern const struct gp_timeline_sink gp_perfetto_sink;

/* ---- perfetto_host.c ---- */

void gp_perfetto_write_call(struct gp_perfetto *p, const struct gp_timeline_event *event);

/* ---- perfetto_gpu.c ---- */

/* Of the model.  Returns 0 or -ENOMEM; to be closed in either case. */
int gp_perfetto_ops_open(struct gp_perfetto *p);
void gp_perfetto_ops_close(struct gp_perfetto *p);

/* Operations come stream by stream. */
void gp_perfetto_begin_stream(struct gp_perfetto *p);
void gp_perfetto_write_op(struct gp_perfetto *p, const struct gp_timeline_event *event);

/* The id of an operation of the model: its number, or what it is in all parts. */
uint64_t gp_perfetto_event_id(const struct gp_perfetto *p, uint32_t op);

/*
 * A slice of a track begins, or an event happens: its type, track, name and category; more may
 * follow.
 */
enum gp_perfetto_type {
	GP_PERFETTO_BEGIN = 1,
	GP_PERFETTO_END = 2,
	GP_PERFETTO_INSTANT = 3,
	GP_PERFETTO_COUNTER = 4
};
void gp_perfetto_open_event(struct gp_perfetto *p, enum gp_perfetto_type type, uint64_t track,
			    uint64_t ns);
void gp_perfetto_name_event(struct gp_perfetto *p, enum gp_timeline_kind kind, uint64_t name);
void gp_perfetto_close_event(struct gp_perfetto *p);

/* The end of a slice, whole. */
void gp_perfetto_end_slice(struct gp_perfetto *p, uint64_t track, uint64_t ns);

#endif
