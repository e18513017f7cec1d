/*
 * ring_file: the file that holds a process's rings, so that published records outlive the process.
 *
 *   file := file_header ring*         one page, then the rings one after the other
 *   ring := ring_header slots         one page, then ring_header.slot_count 32-byte slots
 *
 * The file lies in a tmpfs (or beside the trace).  The trace names it (GP_INFO_RING_FILE), and an
 * orderly end removes it.  A program thread writes slots and then advances `head`; the writer
 * thread advances `tail` when the slots are in the trace file.  Both count slots since the ring was
 * made and never decrease; slot p lies at index p & (slot_count - 1).  Nothing beyond head is
 * valid.  For the slots that a reader uses see gpuprof/trace.h, "Recovery".
 *
 * If the process was killed, the next `gpuprof finish` or gpuprof-run of the same user moves the
 * content of the file into the trace (gpuprof/trace.h, "Saving") and removes it.  If the trace is
 * gone, it may only have been moved: the first such command makes the ring file read-only, and a
 * later one removes it after ten minutes, or immediately if such files use much memory.
 *
 * A drained ring may be reused by a new thread: then `ring` changes, head = tail, and positions go
 * on.  A live reader copies [from, head), reads `ring` and `tail` again, and starts over if tail
 * has passed `from`.
 */
#ifndef GPUPROF_RING_FILE_H
#define GPUPROF_RING_FILE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/counter.h"

/* Its path: FOLDER/PREFIX UID-PID-RANDOM, or beside the trace: TRACE PART RANDOM. */
#define GP_RING_FILE_FOLDER "/dev/shm"
#define GP_RING_FILE_PREFIX "gpuprof-"
#define GP_RING_FILE_PART   ".rings-"

#define GP_RING_FILE_MAGIC   "gprings1"
#define GP_RING_HEADER_BYTES 4096u
#define GP_RING_MAGIC        0x676e6972u /* "ring" */

struct gp_ring_file_header {
	char magic[8]; /* GP_RING_FILE_MAGIC, written last */
	uint32_t pid;
	/* the pid namespace of the process id: inode of /proc/self/ns/pid, 0 = unknown */
	uint32_t pid_namespace;
	uint64_t start_time;   /* field 22 of /proc/PID/stat */
	char boot_id[40];      /* /proc/sys/kernel/random/boot_id, NUL-terminated */
	char trace_path[1024]; /* absolute path of its trace, NUL-terminated */
	/* the mount namespace of that path: inode of /proc/self/ns/mnt, 0 = unknown */
	uint32_t mount_namespace;
	uint32_t zero;
};

/* `_Atomic` is omitted: the record side accesses head and tail through its own atomics. */
struct gp_ring_header {
	uint32_t magic;      /* GP_RING_MAGIC, written last when the ring is made */
	uint32_t slot_count; /* power of two */
	uint32_t ring;       /* id, 0 = free, never used */
	uint32_t thread;     /* id of the owner; 0 = shared */
	uint8_t zero1[48];
	/* the producer's cache line */
	uint64_t head;
	uint64_t cached_tail; /* the producer's last known tail */
	uint64_t lost;        /* records dropped because the ring stayed full */
	uint64_t waits;       /* times the producer waited for free slots */
	uint64_t hooks;       /* callbacks handled on this thread */
	uint64_t hooks_sampled;
	uint64_t hooks_sampled_ticks;
	uint64_t nested_callbacks;
	/* the writer's cache line */
	uint64_t tail;
	uint64_t lost_writes
		[GP_WRITE_CAUSES]; /* records dropped because the trace could not be written */
	uint64_t zero2[2];
	/*
	 * A potentially blocking call, noted when it begins.  The thread is in the call as long as
	 * head still has the value of call_head: the return of the call publishes a record.
	 */
	uint64_t call_ticks; /* when the call began; 0 = none */
	uint64_t call_head;
	uint32_t call_api;
	uint32_t zero3;
	/*
	 * In the first ring: the process-wide counters as the writer saw them last; the trace has
	 * older values.
	 */
	uint64_t counters[GP_COUNTERS];
};

static_assert(offsetof(struct gp_ring_header, head) == 64, "producer's line");
static_assert(offsetof(struct gp_ring_header, tail) == 128, "writer's line");
static_assert(offsetof(struct gp_ring_header, call_ticks) == 192, "behind the writer's line");
static_assert(sizeof(struct gp_ring_header) <= GP_RING_HEADER_BYTES, "one page");
static_assert(sizeof(struct gp_ring_file_header) <= GP_RING_HEADER_BYTES, "one page");

#endif
