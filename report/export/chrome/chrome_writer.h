/*
 * chrome_writer: shared by the parts of the Chrome trace exporter.  docs/reference/chrome-trace.md
 * describes the file.
 *
 * Events are written in one pass: API calls with the starts of their arrows, operations with the
 * ends of the arrows, overhead, counters.  A track is named at its first slice.  Processes are
 * written one after the other; pids, tids and arrow ids are unique over all of them.
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

/*
 * The sort index of GPUs in Kineto; also the base of their pids if device numbers would collide with
 * the pid of the program.
 */
#define GP_CHROME_GPU_BASE 5000000u

/* Tids from here on are for tracks other than threads and streams, and for colliding ids. */
#define GP_CHROME_FIRST_FREE_TID 10000000u

/* The tids of one pid: those of threads or streams, sorted, and the next one that may be free. */
struct gp_chrome_tids {
	uint32_t *taken;
	uint32_t count;
	uint32_t next;
};

/* Text that is made once and copied into many events. */
struct gp_chrome_text {
	char *bytes;
	uint32_t length;
};

/* A GPU, with its own pid; several processes may use it. */
struct gp_chrome_gpu {
	uint32_t pid;
	uint32_t number;   /* in its name: the device number, or a free one if that is in use */
	struct gp_gpu gpu; /* kept */
	bool is_known;     /* record is valid */
	struct gp_record_device record;
	char name[128];
	struct gp_chrome_tids tids;
};

/* A boot of a machine: CLOCK_MONOTONIC is the same for all its processes. */
struct gp_chrome_boot {
	char id[40];
	uint64_t unix_minus_monotonic_ns; /* from its first process */
};

/* The track of a stream. */
struct gp_chrome_stream {
	uint16_t device_id;
	uint32_t context_id, stream_id;
	uint32_t sort_index; /* of its track */
};

/* Open Python spans, the outermost first. */
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
	/* an event was written: the next one needs a comma (the first is the name of a process) */
	bool begun;

	bool is_merged;     /* has several processes */
	uint64_t base_ns;   /* Unix time of time 0 of the file; 0 = not chosen yet */
	uint64_t offset_ns; /* added to times of the model */
	bool is_cut;        /* slices that end by cut_in_file_ns are left out */
	uint64_t cut_in_file_ns, first_in_file_ns;
	struct gp_timeline timeline; /* of the model */
	uint64_t slices, slices_left_out;
	struct gp_host_depth host_depth; /* of the model */
	struct gp_chrome_calls *calls;   /* of the model */
	struct gp_chrome_ops *ops;

	uint32_t host_pid;
	struct gp_chrome_tids host_tids; /* of the model */
	uint32_t gpu_pids;               /* the first pid for devices of the process */
	uint32_t *gpu_of_device; /* index in gpus for each device of the model, or GP_NONE */
	uint64_t first_arrow;    /* number of arrow ids of earlier processes */
	uint64_t last_async;     /* the last id of a start/end range, of any process */
	char owner[40]; /* "rank 3", "pid 1234": the process of a stream; "" if there is only one */

	/* over all processes */
	struct gp_chrome_gpu *gpus;
	struct gp_chrome_boot *boots;
	uint32_t *host_pids;
	uint32_t gpu_count, gpu_capacity, boot_count, boot_capacity;
	uint32_t host_pid_count, host_pid_capacity;
	uint32_t processes;   /* number written so far */
	struct gp_json about; /* metadata of each of several processes, kept until the end */

	/*
	 * Tracks of a process in parts occur in several parts and are found again by their keys.
	 * Slices that began in an earlier part are placed on their lane again, but not written.
	 */
	bool are_parts, is_later;
	struct gp_groups tracks;
	char track_key[GP_HOST_TRACK_BYTES + 32];

	/* the streams of the process that have tracks */
	struct gp_chrome_stream *streams;
	uint32_t stream_count, stream_capacity;

	/* the current track */
	enum gp_track_kind track_kind;
	bool is_again; /* a thread again, for instants only */
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

/* An unused tid. */
uint32_t gp_chrome_fresh_tid(struct gp_chrome_tids *tids);
bool gp_chrome_is_taken(const struct gp_chrome_tids *tids, uint32_t tid);

/* Mark more tids as used. */
void gp_chrome_take_tids(struct gp_chrome_tids *tids, const uint32_t *more, uint32_t count);

/*
 * Begin a track with the name in track_name.  tid: of its first lane; nesting: its slices nest, as
 * on a thread.
 */
void gp_chrome_begin_track(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t pid,
			   uint32_t tid, bool nesting);

/*
 * The same for a new track that belongs to a stream of the model: right below the stream's track, if
 * it has one.
 */
void gp_chrome_begin_track_of(struct gp_chrome *chrome, struct gp_chrome_stream stream);

/*
 * Remember the track that was begun last as the track of that stream.  Call it for streams in the
 * order of the model.
 */
void gp_chrome_note_stream(struct gp_chrome *chrome, struct gp_chrome_stream stream);

/* The tid for a slice of the track; names the lane at its first slice. */
uint32_t gp_chrome_place(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* The same for a slice that another part contains. */
uint32_t gp_chrome_place_again(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* The tid of the first lane of the track, which it names: for events other than slices. */
uint32_t gp_chrome_first_tid(struct gp_chrome *chrome);

/* Write process_name, process_labels and process_sort_index of a pid. */
void gp_chrome_name_process(struct gp_chrome *chrome, uint32_t pid, const char *name,
			    const char *label, uint32_t sort_index);

/* ---- chrome_places.c: times and pids of the model's process in the file ---- */

/*
 * Choose base_ns at the first process, and set offset_ns.  False: the process began too long before
 * the first one for both to be in one file.
 */
bool gp_chrome_set_times(struct gp_chrome *chrome);

/*
 * Choose pids for the process of the model and its devices, and name the new ones.  The second one is
 * for a later part: devices that no earlier part has.
 */
void gp_chrome_write_processes(struct gp_chrome *chrome);
void gp_chrome_write_more_gpus(struct gp_chrome *chrome);

struct gp_chrome_gpu *gp_chrome_gpu(const struct gp_chrome *chrome, uint16_t device_id);

void gp_chrome_free_places(struct gp_chrome *chrome);

/* ---- chrome_stacks.c ---- */

struct gp_chrome_stacks;

struct gp_chrome_stacks *gp_chrome_stacks_new(void);
void gp_chrome_stacks_free(struct gp_chrome_stacks *stacks);

/*
 * Use the stacks of that model from now on; NULL = none are needed.  The previous model must still
 * exist.
 */
void gp_chrome_stacks_use(struct gp_chrome_stacks *stacks, const struct gp_model *model);

/*
 * ,"key":"forward (net.py:12) < libtorch.so < main": a stack (an index in frames); nothing for
 * GP_NONE.  If stacks have filled their share of the file, it is as gp_chrome_put_stack_place().
 */
void gp_chrome_put_stack(struct gp_chrome *chrome, const char *key, uint32_t stack);

/* ,"key":"forward (net.py:12)": the innermost function of the stack in the user's code. */
void gp_chrome_put_stack_place(struct gp_chrome *chrome, const char *key, uint32_t stack);

/* A Python frame: the label "forward (net.py)", valid until the next call, its file and line. */
struct gp_chrome_function {
	const char *label, *file;
	uint32_t line;
};
struct gp_chrome_function gp_chrome_function(struct gp_chrome *chrome, uint32_t frame);

/* Print a line if stacks are missing. */
void gp_chrome_explain_stacks(const struct gp_chrome *chrome);

/* ---- chrome_args.c: streams, events and mappings that a call created ---- */

/* For finding the streams, events and mappings of calls in the order of the model. */
struct gp_chrome_args {
	uint32_t *streams; /* in the order of the calls that created them */
	uint32_t stream;   /* number of those written */
	uint32_t *events;  /* recorded events by correlation id */
	uint32_t mapping;  /* number of those written or skipped */
};

/* Call gp_chrome_args_close(). */
void gp_chrome_args_open(struct gp_chrome_args *args, const struct gp_model *model);
void gp_chrome_args_close(struct gp_chrome_args *args);

/* Write the args of a call; call it in the order of the model. */
void gp_chrome_args_put(struct gp_chrome *chrome, struct gp_chrome_args *args,
			const struct gp_call *call);

/* ---- chrome_calls.c, chrome_ops.c, chrome_python.c: writers of frequent events ---- */

/* For the model.  Returns 0 or -ENOMEM; close it in either case. */
int gp_chrome_calls_open(struct gp_chrome *chrome);
void gp_chrome_calls_close(struct gp_chrome *chrome);
int gp_chrome_ops_open(struct gp_chrome *chrome);
void gp_chrome_ops_close(struct gp_chrome *chrome);

void gp_chrome_begin_thread(struct gp_chrome *chrome, uint32_t thread_id);
void gp_chrome_begin_stream(struct gp_chrome *chrome, const struct gp_timeline_track *stream);

void gp_chrome_write_call(struct gp_chrome *chrome, const struct gp_timeline_event *event);
void gp_chrome_write_op(struct gp_chrome *chrome, const struct gp_timeline_event *event);
void gp_chrome_write_python(struct gp_chrome *chrome, const struct gp_timeline_event *event);

/* End the Python track: ends all open spans. */
void gp_chrome_end_python(struct gp_chrome *chrome);

/* ---- chrome_sink.c: all other events, and the sink of the timeline walk ---- */

extern const struct gp_timeline_sink gp_chrome_sink;

/*
 * The end of the arrow from a call to its operation: at the operation's start, or a little later
 * within it if the call seems to begin after it because clocks differ.  False: there is no arrow.
 */
bool gp_chrome_arrow_end(const struct gp_chrome *chrome, const struct gp_op *op, uint64_t *end_ns);

/* ,"ts":...,"dur":... */
void gp_chrome_put_times(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* Write a number; as a string if it does not fit a signed 64-bit number. */
void gp_chrome_put_number(struct gp_json *json, uint64_t value);

/* ,"key":value */
void gp_chrome_put_field(struct gp_json *json, const char *key, uint64_t value);
void gp_chrome_put_text(struct gp_json *json, const char *key, const char *text);

/* Write an event up to its ts: the caller continues with ,"dur": or ,"args":. */
void gp_chrome_open(struct gp_chrome *chrome, const char *phase, const char *category,
		    const char *name, uint32_t tid, uint64_t start_ns);

/* Take the text of a memory writer, and empty it.  Without memory the trace has the error. */
struct gp_chrome_text gp_chrome_take(struct gp_json *scratch);

#endif
