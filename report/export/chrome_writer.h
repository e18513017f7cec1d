/*
 * chrome_writer: what the parts of the Chrome trace exporter share. docs/chrome-trace.md says what
 * the file holds.
 *
 * Events go out in one pass: API calls with the starts of their arrows, operations with the arrows'
 * ends, overhead, counters. A track names itself when its first slice comes.
 */
#ifndef REPORT_EXPORT_CHROME_WRITER_H
#define REPORT_EXPORT_CHROME_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/export.h"
#include "report/json_write.h"
#include "report/lanes.h"
#include "report/model.h"
#include "report/names.h"

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

struct gp_chrome {
	struct gp_json json;
	const struct gp_model *model;
	const struct gp_export_options *options;
	struct gp_names *names;
	int error;  /* 0 or -ENOMEM */
	bool begun; /* an event is there: the next one needs a comma (the first is a process's name)
		     */

	uint64_t offset_ns; /* from the model's times to the file's */
	uint64_t cut_ns;    /* slices that end after it are written, */
	bool is_cut;        /* all of them if this is false */
	uint64_t slices, slices_left_out, arrows, arrows_left_out;

	uint32_t host_pid;
	uint32_t gpu_pid_base;
	uint8_t devices[(UINT16_MAX + 1) / 8]; /* a bit for each device that has a process */

	/* the track that is being written */
	struct gp_lanes lanes;
	struct gp_chrome_tids *tids;
	uint32_t pid, tid;
	uint32_t *lane_tids;
	uint32_t lane_count, lane_capacity;
	uint32_t sort_index; /* of the track within its pid; its lanes follow */
	char track_name[96];
};

/* ---- chrome_tracks.c ---- */

/* A tid that nothing else has. */
uint32_t gp_chrome_fresh_tid(struct gp_chrome_tids *tids);

/* Begin a track with the name in track_name; nesting: of a thread. tid is that of its first lane.
 */
void gp_chrome_begin_track(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t pid,
			   uint32_t tid, bool nesting);

/* The tid on which a slice of the track goes; names the lane if it is its first. */
uint32_t gp_chrome_place(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

uint32_t gp_chrome_gpu_pid(const struct gp_chrome *chrome, uint16_t device_id);

/* Find the devices, and pids for them: their numbers, as Kineto has it, unless the program's pid is
 * among those. */
void gp_chrome_find_processes(struct gp_chrome *chrome);

/* process_name, process_labels and process_sort_index of the program and its devices. */
void gp_chrome_write_processes(struct gp_chrome *chrome);

/* ---- chrome_calls.c, chrome_ops.c, chrome_memory.c: the events ---- */

void gp_chrome_write_calls(struct gp_chrome *chrome, struct gp_chrome_tids *tids);
void gp_chrome_write_overheads(struct gp_chrome *chrome, struct gp_chrome_tids *tids);
void gp_chrome_write_ops(struct gp_chrome *chrome);
void gp_chrome_write_memory(struct gp_chrome *chrome);

/* Whether a slice that ends then is written. */
static inline bool gp_chrome_is_shown(const struct gp_chrome *chrome, uint64_t end_ns)
{
	return !chrome->is_cut || end_ns > chrome->cut_ns;
}

/*
 * Where the arrow from its call to an operation ends: at the operation's start, or a little later
 * within it if by clocks that differ the call began after it. False: there is no arrow.
 */
bool gp_chrome_arrow_end(const struct gp_chrome *chrome, const struct gp_op *op, uint64_t *end_ns);

/* ,"ts":...,"dur":... */
void gp_chrome_put_times(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns);

/* A number that may not fit a signed 64-bit one: then it is a string. */
void gp_chrome_put_number(struct gp_json *json, uint64_t value);

/* The text of a memory writer, which is emptied; bytes is NULL if there was no memory for it. */
struct gp_chrome_text gp_chrome_take(struct gp_json *scratch);

#endif
