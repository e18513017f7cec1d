/*
 * recover: what the ring file of a process still holds (gpuprof/ring_file.h), whether it lives or
 * died.
 *
 * The order matters: take the rings first, then read the trace file to its end, then use of each
 * ring the slots that no chunk has.  What the writer moved to the file in between is then in the
 * file.
 */
#ifndef REPORT_TRACE_RECOVER_H
#define REPORT_TRACE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "gpuprof/record.h"
#include "gpuprof/ring_file.h"

/* Which process a ring file must belong to. */
struct gp_process {
	uint32_t pid;
	uint64_t start_time; /* field 22 of /proc/PID/stat */
	const char *boot_id; /* NULL = not known, then nothing matches */
};

struct gp_ring {
	uint32_t ring;   /* id */
	uint32_t thread; /* 0 = shared */
	uint64_t first;  /* position of slots[0] */
	uint64_t count;  /* slots */
	uint8_t *slots;
	uint64_t next; /* where the trace file's chunks end: gp_rings_cover() */
};

struct gp_rings {
	struct gp_ring *rings; /* by id */
	uint32_t count;
	struct gp_record_waiting *calls; /* of threads that share no ring, in no order */
	uint32_t call_count;
	/* of the process and of the threads of all rings; the trace file may have older values */
	uint64_t counters[GP_COUNTERS];
	bool are_left; /* the process is dead, and nobody else writes into them */
};

/* Is this very process running, on this machine since its last start? */
bool gp_process_is_live(const struct gp_process *process);

/*
 * May the ring file at ring_path be emptied into the trace (a descriptor) and removed?  Only if no
 * record can come any more and nobody else needs it: the process is of this boot of this machine
 * and dead, nobody has the file open or mapped for writing, the file belongs to that process, and
 * the trace is the very file that it names, or nothing is left there.
 */
bool gp_rings_are_abandoned(const char *ring_path, int trace, const struct gp_process *process);

/* Whom an open ring file belongs to; -EINVAL: it does not say. */
int gp_rings_header(int fd, struct gp_ring_file_header *header);

/* Are the paths that a ring file gives those that we see? */
bool gp_rings_are_of_our_files(const struct gp_ring_file_header *header);

/*
 * Copy the published slots of every ring in the file at ring_path, while their owner may be
 * running.  The file must say that it belongs to that process and to the trace at trace_path.
 * Returns 0, -ENOENT if there is no such file, -ESTALE if it is another's, or another negative
 * errno value.
 */
int gp_rings_read(const char *ring_path, const char *trace_path, const struct gp_process *process,
		  struct gp_rings *rings);

/* What the rings counted after the counters were last written to the trace file. */
void gp_rings_raise(const struct gp_rings *rings, uint64_t counters[GP_COUNTERS]);
void gp_rings_free(struct gp_rings *rings);

/* A chunk of the trace file covers the slots up to position `end` of a ring. */
void gp_rings_cover(struct gp_rings *rings, uint32_t ring, uint64_t end);

/* The slots of a ring that no chunk covers; *slots points into ring->slots. */
uint64_t gp_ring_left(const struct gp_ring *ring, const uint8_t **slots);

#endif
