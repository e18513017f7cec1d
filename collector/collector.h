/*
 * collector: the facade of the record side: the only interface of rings, writer and trace file for
 * inject/.
 *
 * A process has at most one collector, started once, or again after gp_collector_release(); a
 * forked child may start its own.  Program threads pass records to gp_emit(); one thread of ours, the
 * writer, packs them into the trace file.  Nothing here knows CUDA.
 *
 * gp_emit() and the definition functions may be called from any thread at any time, also before
 * start and after stop, from signal handlers and in forked children: then they do nothing, or count
 * the record as lost.  They never call malloc, and preserve errno.  They make no system call in the
 * steady state; the first call of a thread maps or takes a ring.  enum gp_overload decides about
 * full rings.  Dropped records are counted.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "gpuprof/record.h"

#define GP_EMIT_WAIT_NS    100000000u
#define GP_START_TIMEOUT_S 5 /* after that, the program runs on without a collector */

enum gp_ring_place {
	GP_RINGS_AUTO, /* the first of the following that works */
	GP_RINGS_SHM, /* a file in /dev/shm; like AUTO if other processes' rings use up the quota */
	GP_RINGS_FILE, /* a file beside the trace */
	/*
	 * private memory: a kill of the process loses the records of one poll interval of the
	 * writer
	 */
	GP_RINGS_MEMORY,
};

/*
 * The behavior of a thread whose ring is full, because records come faster than they can be
 * written.
 */
enum gp_overload {
	GP_OVERLOAD_BLOCK, /* wait for the writer, at most GP_EMIT_WAIT_NS, then drop the record */
	GP_OVERLOAD_DROP,  /* drop it immediately */
};

struct gp_collector_config {
	/* absolute path without suffix; ".2", ".3", ... is appended if NAME.gpuprof exists */
	const char *trace_path;
	enum gp_ring_place ring_place;
	enum gp_overload on_overload;
	const char *session;     /* for GP_INFO_SESSION; "" or NULL = none */
	bool no_command;         /* the trace gets no command line */
	uint64_t max_file_bytes; /* maximum size of the trace, 0 = unlimited */
	uint64_t
		keep_last_bytes; /* keep only the last part, in a file of this size; 0 = keep all */
	/*
	 * Called before and after pthread_create(), during which the C library may wait for a
	 * program thread; NULL = no call.
	 */
	void (*before_thread)(void), (*after_thread)(void);
	/*
	 * Before CUPTI is in use, the writer's thread ends before each fork(), and records stay in
	 * the rings until gp_collector_resume().
	 */
	bool pauses_at_fork;
};

/*
 * Create the trace file (mode 0600, never through a link, never over an existing file) and the
 * rings, write the GP_INFO facts that the collector can determine itself (program, pid, host,
 * clock, ...), start the writer.  Returns 0 or -errno; after an error the process runs on without a
 * collector, and gp_emit() does nothing.  -EEXIST: already started.  A forked child of a recording
 * process starts with its own file and rings; nothing of its parent's is touched.  -ECHILD: this is
 * a child of vfork().  -ETIMEDOUT: the writer was not ready after GP_START_TIMEOUT_S.
 */
int gp_collector_start(const struct gp_collector_config *config);

/*
 * Absolute path of the trace file with suffix, valid for the life of the process; "" before a
 * successful start.
 */
const char *gp_collector_trace_path(void);

/*
 * Drain every ring, write counters, a last anchor and the END record, stop the writer, remove the
 * ring file.  Waits at most timeout_ns for the writer; -ETIMEDOUT leaves the rings for recovery.
 * Later records are dropped without counting: call it last.  In a forked child that started no
 * collector: does nothing, returns -ECHILD.
 */
int gp_collector_stop(uint64_t timeout_ns);

/*
 * After a gp_collector_stop() that returned 0, in a process that runs on: free the memory of the
 * rings.  gp_collector_start() may then start another recording, as in a forked child.
 */
void gp_collector_release(void);

/*
 * How the process is about to end, for the END record.  Before gp_collector_stop(); the last call
 * counts.
 */
void gp_collector_ends(enum gp_end_way way, uint8_t status);

/*
 * After gp_collector_stop(): number of records dropped because the trace could not be written, and
 * the cause (-errno of the last ones; -E2BIG: max_file_bytes).
 */
uint64_t gp_collector_unwritten(int *error);

/* The trace has reached max_file_bytes: later records are dropped and counted. */
bool gp_collector_is_full(void);

/*
 * True in the process that started the collector, from start to stop; false in a forked child until
 * it starts its own.  One load.
 */
bool gp_collector_is_live(void);

/* Live, and not paused by a fork.  Two loads. */
bool gp_collector_is_writing(void);

/* Start the thread of a paused collector again.  Only one thread at a time may call this. */
void gp_collector_resume(void);

/*
 * The number of the recording, 0 = not live.  A process and its forked children have different
 * numbers: definitions of one recording do not exist in another.
 */
uint32_t gp_collector_recording(void);

/*
 * Publish one record of fixed size (record->slots slots) in this thread's ring.  False: it was
 * dropped and counted.
 */
bool gp_emit(const struct gp_record *record);

/*
 * This thread begins a call that may wait for the device: readers of its ring see the call until
 * the thread publishes its next record.  gp_call_is_excluded(): no record will be published for
 * it.  A thread that has published nothing before is not visible.
 */
void gp_call_begins(uint16_t api, uint64_t start_ticks);
void gp_call_is_excluded(void);

/*
 * Publish a definition; text need not be terminated.  Text beyond GP_STRING_MAX_BYTES is truncated
 * and counted.
 */
bool gp_emit_string(enum gp_string_space space, uint32_t id, uint32_t value, const char *text,
		    uint32_t length_bytes);

/* gp_emit_string() of a fact about the process. */
bool gp_emit_info(enum gp_info info, const char *text);

/*
 * For a profiler thread that no other thread waits for: from now on it waits if its ring is full,
 * even with GP_OVERLOAD_DROP.  If the collector is live, it takes its ring immediately, before the
 * program's threads use up the rings.
 */
void gp_emit_always_waits(void);

/* Ticks of the host clock, as in members named _ticks. */
uint64_t gp_clock_ticks(void);

/* Estimated ticks per second, from start on. */
uint64_t gp_clock_ticks_per_second(void);

/*
 * Set a function that reads CUPTI's clock for anchors (returns ns, 0 = not now).  The writer calls
 * it about once a second and at stop, between two tick reads.  NULL removes it.
 */
void gp_clock_set_cupti(uint64_t (*read_ns)(void));

/*
 * Write an anchor as soon as the writer wakes: a context was just created, and its clock is in use
 * from now on.
 */
void gp_collector_request_anchor(void);

/* Add to a counter.  For rare events: one shared atomic. */
void gp_count(enum gp_counter counter, uint64_t amount);

/* Set a counter's value (GP_COUNTER_LAST_DELIVERY_TICKS, ...). */
void gp_count_set(enum gp_counter counter, uint64_t value);

/*
 * Count one handled callback on this thread, cheaply: per-ring counters, summed by the writer.
 * sampled_ticks: duration of the callback, or 0 if it was not measured.
 */
void gp_count_hook(uint64_t sampled_ticks);

/* Number of handled callbacks of all threads so far. */
uint64_t gp_count_of_hooks(void);

/* Count a nested driver callback that was ignored on this thread. */
void gp_count_nested(void);

#endif
