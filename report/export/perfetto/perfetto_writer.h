/*
 * perfetto_writer: shared by the parts of the exporter for the Perfetto format: a stream of packets,
 * interned names, tracks.  docs/reference/formats.md describes the file.
 *
 * Packets can have any order: readers sort them by time, and keep the order of equal times.  All
 * belong to one sequence.
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
 * Names of the most frequent arguments, numbered from 1.  The first packet contains them, and the
 * categories: enum gp_timeline_kind, from 1.
 */
enum gp_perfetto_note {
	GP_PERFETTO_CORRELATION = 1,
	GP_PERFETTO_STATUS,
	GP_PERFETTO_ERROR,
	GP_PERFETTO_BYTES,
	GP_PERFETTO_ADDRESS,
	GP_PERFETTO_MEMORY,
	GP_PERFETTO_CALLER,
	GP_PERFETTO_SAMPLES,
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
	struct gp_protobuf file;                 /* packets not written yet */
	struct gp_protobuf packet, event, inner; /* the current ones, each inside the previous */
	struct gp_protobuf argument;
	struct gp_protobuf interned; /* new names, for the current packet */
	uint64_t last_iid;           /* of names that are not in the lists above */
	uint64_t last_track;         /* uuid */
	uint64_t last_event;         /* id of the last operation of earlier processes */
	int error;                   /* 0 or -ENOMEM */

	const struct gp_model *model; /* the process that is being written */
	struct gp_timeline timeline;  /* of the model */
	struct gp_perfetto_ops *ops;  /* of the model */
	struct gp_names *names;
	struct gp_gpu_numbers gpus;
	struct gp_call_sites *sites; /* of the model */
	uint64_t offset_ns;          /* added to times of the model */
	uint64_t process_track;
	uint32_t pid; /* of the process, or a free one if that is in use */
	bool is_merged;

	/* Numbers of tracks, queues and counters of the process, in all its parts, by keys. */
	bool are_parts, is_later;
	struct gp_groups lasting;
	uint64_t *lasting_numbers, unlasting;
	uint32_t lasting_count, lasting_capacity;

	struct gp_symbols *symbols; /* of the model */

	/* names of the whole file, not of the model */
	struct gp_groups event_names, note_names;
	uint64_t *event_name_iids;
	struct gp_json fields; /* of a payload, in memory */
	uint32_t event_name_count, event_name_capacity, note_name_count;

	/* iids of names of the model, 0 = not written yet */
	uint64_t *codes, *apis, *kernels, *kernel_names, *shown_sites;
	uint32_t site_capacity;

	/* the current track */
	enum gp_track_kind track_kind;
	struct gp_lanes lanes;
	uint64_t *lane_tracks;
	uint32_t lane_count, lane_capacity;
	uint64_t parent_track;
	char track_name[96];
};

/* ---- perfetto_packet.c ---- */

/* Write the first packet: clocks and the names in the lists above. */
void gp_perfetto_begin(struct gp_perfetto *p, uint64_t unix_ns, uint64_t monotonic_ns);

/* Begin a packet at a time of the model; add fields to p->packet; end it. */
void gp_perfetto_open(struct gp_perfetto *p, uint64_t ns);
void gp_perfetto_close(struct gp_perfetto *p);

/* Write the rest.  Returns 0, -ENOMEM or -EIO. */
int gp_perfetto_end(struct gp_perfetto *p);

/* The iid of the name of an event, cached in *known. */
uint64_t gp_perfetto_name(struct gp_perfetto *p, uint64_t *known, const char *name);

/* The same for a text, cached by its content. */
uint64_t gp_perfetto_text_name(struct gp_perfetto *p, const char *name);

/*
 * The cache entry for the number of a track, queue or counter of a process; 0 = it has none yet.
 * Valid until the next call.
 */
uint64_t *gp_perfetto_lasting(struct gp_perfetto *p, const char *what, const char *name);

/* Add arguments to the current event. */
void gp_perfetto_note(struct gp_perfetto *p, enum gp_perfetto_note note, uint64_t value);
void gp_perfetto_note_text(struct gp_perfetto *p, enum gp_perfetto_note note, const char *text);
void gp_perfetto_arg(struct gp_perfetto *p, const struct gp_timeline_arg *arg);

/* ---- perfetto_tracks.c ---- */

void gp_perfetto_write_process(struct gp_perfetto *p);

/* Begin the track of a thread, whose slices nest; or one of the process. */
void gp_perfetto_begin_thread(struct gp_perfetto *p, uint32_t thread_id);
void gp_perfetto_begin_track(struct gp_perfetto *p, const char *name, bool nesting);

/* The track for a slice, written at its first slice; call it in order of the starts. */
uint64_t gp_perfetto_place(struct gp_perfetto *p, uint64_t start_ns, uint64_t end_ns);

/* The track for events other than slices. */
uint64_t gp_perfetto_first_track(struct gp_perfetto *p);

/* The unit of a counter. */
enum gp_perfetto_unit {
	GP_PERFETTO_UNIT_BYTES,
	GP_PERFETTO_UNIT_COUNT,
	GP_PERFETTO_UNIT_GB_PER_S,
	GP_PERFETTO_UNIT_PERCENT,
	GP_PERFETTO_UNIT_MHZ,
	GP_PERFETTO_UNIT_WATTS,
	GP_PERFETTO_UNIT_JOULES,
};

/* The track of a counter of the process. */
uint64_t gp_perfetto_counter(struct gp_perfetto *p, const char *name, enum gp_perfetto_unit unit);

/* ---- perfetto_sink.c ---- */

/* The sink of the timeline walk: writes packets. */
extern const struct gp_timeline_sink gp_perfetto_sink;

/* ---- perfetto_host.c ---- */

void gp_perfetto_write_call(struct gp_perfetto *p, const struct gp_timeline_event *event);

/* ---- perfetto_gpu.c ---- */

/* For the model. Close it. */
void gp_perfetto_ops_open(struct gp_perfetto *p);
void gp_perfetto_ops_close(struct gp_perfetto *p);

/* Begin a stream: operations come by stream. */
void gp_perfetto_begin_stream(struct gp_perfetto *p);
void gp_perfetto_write_op(struct gp_perfetto *p, const struct gp_timeline_event *event);

/* The id of an operation of the model: its number; in parts, a hash that is the same in all. */
uint64_t gp_perfetto_event_id(const struct gp_perfetto *p, uint32_t op);

/* Begin a slice, or write an instant: type, track, name and category; arguments may follow. */
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

/* Write the whole end of a slice. */
void gp_perfetto_end_slice(struct gp_perfetto *p, uint64_t track, uint64_t ns);

#endif
