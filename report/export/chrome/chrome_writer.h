/*
 * chrome_writer: what the parts of the Chrome trace exporter share. docs/reference/chrome-trace.md
 * says what the file holds.
 *
 * Events go out in one pass: API calls with the starts of their arrows, operations with the arrows'
 * ends, overhead, counters. A track names itself when its first slice comes.  Several processes go
 * out one after the other; what they must not share (pids, tids, arrows' ids) is counted over all.
 */
#ifndef REPORT_EXPORT_CHROME_CHROME_WRITER_H
#define REPORT_EXPORT_CHROME_CHROME_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/export/export.h"
#include "report/base/group_by.h"
#include "report/codec/json_write.h"
#include "report/base/lanes.h"
#include "report/model/model.h"
#include "report/symbols/names.h"
#include "report/model/same_gpu.h"
#include "report/timeline/timeline.h"

/* Kineto's sort index of GPUs; their pids too where the numbers of devices would collide with the
 * program's pid. */
#define GP_CHROME_GPU_BASE 5000000u

/* Thread ids of what is no thread and no stream: lanes, overhead, ids that are taken. */
#define GP_CHROME_FIRST_FREE_TID 10000000u

/* The tids of one pid: those that threads or streams have, sorted, and the next one that may be
 * free. */
struct gp_chrome_tids {
	uint32_t *taken;
	uint32_t count;
	uint32_t next;
};

/* Text made once and copied into many events. */
struct gp_chrome_text {
	char *bytes;
	uint32_t length;
};

/* A GPU, which has a pid of its own; several processes may have used it. */
struct gp_chrome_gpu {
	uint32_t pid;
	uint32_t number;   /* in its name: the device's, or a free one if another GPU has that */
	struct gp_gpu gpu; /* kept */
	bool is_known;     /* record is there */
	struct gp_record_device record;
	char name[128];
	struct gp_chrome_tids tids;
};

/* Machines, so to speak: within a boot CLOCK_MONOTONIC is the same for all processes. */
struct gp_chrome_boot {
	char id[40];
	uint64_t unix_minus_monotonic_ns; /* by its first process */
};

/* Where a stream is drawn. */
struct gp_chrome_stream {
	uint16_t device_id;
	uint32_t context_id, stream_id;
	uint32_t sort_index; /* of its track */
};

/* Python's spans that have begun and not ended, the outermost first. */
struct gp_chrome_open_spans {
	struct {
		uint64_t end_ns;
		uint32_t frame;
	} spans[GP_FRAME_DEPTH];
	uint32_t count;
};

struct gp_chrome {
	struct gp_json json;
	const struct gp_model *model; /* the process that is being written */
	const struct gp_export_options *options;
	struct gp_names *names;
	struct gp_chrome_stacks *stacks;
	int error; /* 0 or -ENOMEM */
	/* an event is there: the next one needs a comma (the first is a process's name) */
	bool begun;

	bool is_merged;     /* of several processes */
	uint64_t base_ns;   /* Unix time of the file's 0; 0 = not chosen yet */
	uint64_t offset_ns; /* from the model's times to the file's */
	bool is_cut;        /* slices that end by cut_in_file_ns are left out */
	uint64_t cut_in_file_ns, first_in_file_ns;
	struct gp_timeline timeline; /* of the model */
	uint64_t slices, slices_left_out;
	struct gp_host_depth host_depth; /* of the model */
	struct gp_chrome_calls *calls;   /* of the model */
	struct gp_chrome_ops *ops;

	uint32_t host_pid;
	struct gp_chrome_tids host_tids; /* of the model */
	uint32_t gpu_pids;               /* of the process: where those of its devices begin */
	uint32_t *gpu_of_device;         /* index in gpus of each device of the model, or GP_NONE */
	uint64_t first_arrow;            /* number of arrow ids that earlier processes have */
	uint64_t last_async;             /* the last id of a start/end range, of any process */
	char owner[40]; /* "rank 3, pid 1234": whose a stream is; "" if there is but one */

	/* over all processes */
	struct gp_chrome_gpu *gpus;
	struct gp_chrome_boot *boots;
	uint32_t *host_pids;
	uint32_t gpu_count, gpu_capacity, boot_count, boot_capacity;
	uint32_t host_pid_count, host_pid_capacity;
	uint32_t processes;   /* written so far */
	struct gp_json about; /* what a file of several says of each, in memory until its end */

	/*
	 * A process in parts has its tracks in several of them: they are found again by what they
	 * are.  In a later part what began before it is placed on its lane once more, and not
	 * written.
	 */
	bool are_parts, is_later;
	struct gp_groups tracks;
	char track_key[GP_HOST_TRACK_BYTES + 32];

	/* the streams of the process that are drawn */
	struct gp_chrome_stream *streams;
	uint32_t stream_count, stream_capacity;

	/* the track that is being written */
	enum gp_track_kind track_kind;
	bool is_again; /* a thread's, for instants alone */
	struct gp_lanes lanes;
	struct gp_chrome_tids *tids;
	uint32_t pid, tid;
	uint32_t thread_id; /* of a thread's track */
	struct gp_chrome_open_spans open_spans;
	uint32_t *lane_tids;
	uint32_t lane_count, lane_capacity;
	uint32_t sort_index; /* of the track within its pid; its lanes follow */
	uint32_t last_sort_index;
	char track_name[GP_HOST_TRACK_BYTES];
};

/* ---- chrome_tracks.c ---- */

/* A tid that nothing else has. */
uint32_t gp_chrome_fresh_tid(struct gp_chrome_tids *tids);
bool gp_chrome_is_taken(const struct gp_chrome_tids *tids, uint32_t tid);

/* Take more tids.  Returns 0 or -ENOMEM. */
int gp_chrome_take_tids(struct gp_chrome_tids *tids, const uint32_t *more, uint32_t count);

/* Begin a track with the name in track_name; nesting: of a thread. tid is that of its first lane.
 */
void gp_chrome_begin_track(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t pid,
			   uint32_t tid, bool nesting);

/*
 * The same of a new track that belongs to a stream of the model: right below that, if it is drawn.
 */
void gp_chrome_begin_track_of(struct gp_chrome *chrome, struct gp_chrome_stream stream);

/*
 * Remember the track that was begun last as that stream's; streams come in the order of the model.
 */
void gp_chrome_note_stream(struct gp_chrome *chrome, struct gp_chrome_stream stream);

/* The tid on which a slice of the track goes; names the lane if it is its first. */
uint32_t gp_chrome_place(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* The same of a slice that another part has. */
uint32_t gp_chrome_place_again(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* The tid of the track's first lane, named: for what is no slice. */
uint32_t gp_chrome_first_tid(struct gp_chrome *chrome);

/* process_name, process_labels and process_sort_index of a pid. */
void gp_chrome_name_process(struct gp_chrome *chrome, uint32_t pid, const char *name,
			    const char *label, uint32_t sort_index);

/* ---- chrome_places.c: when and where the model's process lies in the file ---- */

/*
 * Choose base_ns with the first process, and set offset_ns.  False: the process began too long
 * before the first for a file to hold both.
 */
bool gp_chrome_set_times(struct gp_chrome *chrome);

/*
 * Give the model's process and its devices pids, and name those that are new; of a later part,
 * devices that it is the first to have.
 */
void gp_chrome_write_processes(struct gp_chrome *chrome);
void gp_chrome_write_more_gpus(struct gp_chrome *chrome);

struct gp_chrome_gpu *gp_chrome_gpu(const struct gp_chrome *chrome, uint16_t device_id);

void gp_chrome_free_places(struct gp_chrome *chrome);

/* ---- chrome_stacks.c ---- */

struct gp_chrome_stacks;

/* NULL if there is no memory. */
struct gp_chrome_stacks *gp_chrome_stacks_new(void);
void gp_chrome_stacks_free(struct gp_chrome_stacks *stacks);

/*
 * From here on stacks are that model's; NULL = none will be asked for.  The last one must still be
 * there.
 */
void gp_chrome_stacks_use(struct gp_chrome_stacks *stacks, const struct gp_model *model);

/*
 * ,"key":"forward (net.py:12) < libtorch.so < main": a stack, an index in frames; nothing if it is
 * GP_NONE.  Stacks fill so much of a file and no more: then it is as gp_chrome_put_stack_place().
 */
void gp_chrome_put_stack(struct gp_chrome *chrome, const char *key, uint32_t stack);

/* ,"key":"forward (net.py:12)": the innermost function of the stack that is the user's own. */
void gp_chrome_put_stack_place(struct gp_chrome *chrome, const char *key, uint32_t stack);

/*
 * A frame of Python's: "forward (net.py)", good until the next one is asked for, and where that is.
 */
struct gp_chrome_function {
	const char *label, *file;
	uint32_t line;
};
struct gp_chrome_function gp_chrome_function(struct gp_chrome *chrome, uint32_t frame);

/* One line for the user if stacks are missing. */
void gp_chrome_explain_stacks(const struct gp_chrome *chrome);

/* ---- chrome_args.c: what a call made, where that is known ---- */

/* Orders in which the calls of a model find what is theirs. */
struct gp_chrome_args {
	uint32_t *streams; /* in the order of the calls that made them */
	uint32_t stream;   /* how many of them are written */
	uint32_t *events;  /* recorded ones by correlation id */
	uint32_t mapping;  /* how many are written, or belong to calls that are not */
};

/* Returns 0 or -ENOMEM; gp_chrome_args_close() in either case. */
int gp_chrome_args_open(struct gp_chrome_args *args, const struct gp_model *model);
void gp_chrome_args_close(struct gp_chrome_args *args);

/* The args of a call; calls are to come in the order of the model. */
void gp_chrome_args_put(struct gp_chrome *chrome, struct gp_chrome_args *args,
			const struct gp_call *call);

/* ---- chrome_calls.c, chrome_ops.c, chrome_python.c: events with their records ---- */

/* Of the model.  Returns 0 or -ENOMEM; to be closed in either case. */
int gp_chrome_calls_open(struct gp_chrome *chrome);
void gp_chrome_calls_close(struct gp_chrome *chrome);
int gp_chrome_ops_open(struct gp_chrome *chrome);
void gp_chrome_ops_close(struct gp_chrome *chrome);

void gp_chrome_begin_thread(struct gp_chrome *chrome, uint32_t thread_id);
void gp_chrome_begin_stream(struct gp_chrome *chrome, const struct gp_timeline_track *stream);

void gp_chrome_write_call(struct gp_chrome *chrome, const struct gp_timeline_event *event);
void gp_chrome_write_op(struct gp_chrome *chrome, const struct gp_timeline_event *event);
void gp_chrome_write_python(struct gp_chrome *chrome, const struct gp_timeline_event *event);

/* The track of Python's ends: its spans do. */
void gp_chrome_end_python(struct gp_chrome *chrome);

/* ---- chrome_sink.c: all other events, and what of the file the walk fills ---- */

extern const struct gp_timeline_sink gp_chrome_sink;

/*
 * Where the arrow from its call to an operation ends: at the operation's start, or a little later
 * within it if by clocks that differ the call began after it. False: there is no arrow.
 */
bool gp_chrome_arrow_end(const struct gp_chrome *chrome, const struct gp_op *op, uint64_t *end_ns);

/* ,"ts":...,"dur":... */
void gp_chrome_put_times(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* A number that may not fit a signed 64-bit one: then it is a string. */
void gp_chrome_put_number(struct gp_json *json, uint64_t value);

/* ,"key":value */
void gp_chrome_put_field(struct gp_json *json, const char *key, uint64_t value);
void gp_chrome_put_text(struct gp_json *json, const char *key, const char *text);

/* An event from its beginning to its ts: the caller goes on with ,"dur": or ,"args":. */
void gp_chrome_open(struct gp_chrome *chrome, const char *phase, const char *category,
		    const char *name, uint32_t tid, uint64_t start_ns);

/* The text of a memory writer, which is emptied; bytes is NULL if there was no memory for it. */
struct gp_chrome_text gp_chrome_take(struct gp_json *scratch);

#endif
