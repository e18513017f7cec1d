/*
 * recover: reads the records that the ring file of a running or dead process still holds
 * (gpuprof/ring_file.h).
 *
 * The order matters: first copy the rings, then read the trace file to its end, then take the slots
 * of each ring that no chunk has. Slots that the writer moves to the file in between are found in
 * the file.
 */
#ifndef REPORT_TRACE_RECOVER_H
#define REPORT_TRACE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "gpuprof/record.h"
#include "gpuprof/ring_file.h"

/* The process that a ring file must belong to. */
struct gp_process {
	uint32_t pid;
	uint64_t start_time; /* field 22 of /proc/PID/stat */
	const char *boot_id; /* NULL = unknown; then no file matches */
};

struct gp_ring {
	uint32_t ring;   /* id */
	uint32_t thread; /* 0 = shared */
	uint64_t first;  /* position of slots[0] */
	uint64_t count;  /* slots */
	uint8_t *slots;
	uint64_t next; /* end of the chunks in the trace file: gp_rings_cover() */
};

struct gp_rings {
	struct gp_ring *rings; /* by id */
	uint32_t count;
	/* pending calls of threads with rings of their own, in no order */
	struct gp_record_waiting *calls;
	uint32_t call_count;
	/* of the process and all rings; the trace file may have older values */
	uint64_t counters[GP_COUNTERS];
	bool are_left; /* the process is dead, and no other process writes to the rings */
};

/* Whether this very process is running, on this machine since its last boot. */
bool gp_process_is_live(const struct gp_process *process);

/*
 * Opens a ring file, whose path comes from a trace. Returns a descriptor, which the functions below
 * take, so that all of them see the same file; or a negative errno value, -ENOENT if there is none.
 */
int gp_rings_open(const char *path);

/*
 * Whether the ring file can be moved into the trace (a descriptor) and removed. That needs that no
 * record can come any more: the process is of this boot of this machine and dead, no process has
 * the file open or mapped for writing, the file belongs to that process, and the trace is the file
 * that it names, or that file is gone. One user must own both: this one, or any if this one is
 * root.
 */
bool gp_rings_are_abandoned(int file, int trace, const struct gp_process *process);

/* Removes the ring file that was opened there, unless its name is another file's by now. */
void gp_rings_remove(const char *path, int file);

/* Reads the header of an open ring file. Returns -EINVAL if it is invalid. */
int gp_rings_header(int fd, struct gp_ring_file_header *header);

/* Whether the paths in a ring file are valid in our mount namespace. */
bool gp_rings_are_of_our_files(const struct gp_ring_file_header *header);

/*
 * Copies the published slots of all rings in the file; their owner may be running. The file must
 * belong to that process and to the trace at trace_path. file: as gp_rings_open() returned it, also
 * if that failed. Returns 0, -ESTALE if it belongs to another process, or another negative errno
 * value.
 */
int gp_rings_read(int file, const char *trace_path, const struct gp_process *process,
		  struct gp_rings *rings);

/* Raises the counters to the values of the rings, which are newer than those in the trace file. */
void gp_rings_raise(const struct gp_rings *rings, uint64_t counters[GP_COUNTERS]);
void gp_rings_free(struct gp_rings *rings);

/* Notes that a chunk of the trace file has the slots up to position `end` of a ring. */
void gp_rings_cover(struct gp_rings *rings, uint32_t ring, uint64_t end);

/* The slots of a ring that no chunk has. *slots points into ring->slots. */
uint64_t gp_ring_left(const struct gp_ring *ring, const uint8_t **slots);

#endif
