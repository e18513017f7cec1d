/*
 * collector: the record side's facade, all that inject/ sees of rings, writer and trace file.
 *
 * A process has at most one collector, started once; a forked child may start one of its own.  Program threads hand records over with gp_emit();
 * one thread of ours, the writer, packs them into the trace file.  Nothing here knows CUDA.
 *
 * gp_emit() and the definition functions may be called from any thread at any time, also before start and after stop,
 * from signal handlers and in forked children: then they do nothing, or count the record as lost.  They never allocate
 * through malloc and keep errno.  They make no system call in the steady state; the first call of a thread maps or takes a ring, and
 * what a thread does whose ring is full, enum gp_overload says.  A dropped record is counted.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "gpuprof/record.h"

#define GP_EMIT_WAIT_NS    100000000u
#define GP_START_TIMEOUT_S 5 /* then the program runs on without a collector */

enum gp_ring_place {
	GP_RINGS_AUTO, /* the first of the following that works */
	GP_RINGS_SHM,  /* a file in /dev/shm; as AUTO, where other processes' rings leave no room */
	GP_RINGS_FILE, /* a file beside the trace */
	GP_RINGS_MEMORY, /* private memory: up to one poll of the writer is lost if the process is killed */
};

/* What a thread does whose ring is full, because records come faster than they can be written. */
enum gp_overload {
	GP_OVERLOAD_BLOCK, /* waits for the writer, at most GP_EMIT_WAIT_NS, then drops the record */
	GP_OVERLOAD_DROP,  /* drops it at once */
};

struct gp_collector_config {
	const char *
		trace_path; /* absolute path without suffix; ".2", ".3", ... is appended where NAME.gpuprof exists */
	enum gp_ring_place ring_place;
	enum gp_overload on_overload;
	uint64_t max_file_bytes; /* the trace does not grow over that, 0 = as it comes */
	uint64_t
		keep_last_bytes; /* it has only its last part, in a file of that size; 0 = all of it */
	/* Called around the making of a thread, where the C library may wait for a thread of the program's; NULL = no call. */
	void (*before_thread)(void), (*after_thread)(void);
};

/*
 * Create the trace file (mode 0600, never through a link, never over an existing one) and the rings, write the
 * GP_INFO facts that the collector knows by itself (program, pid, host, clock, ...), start the writer.
 * Returns 0 or -errno; after an error the process runs on without a collector, and gp_emit() does nothing.
 * -EEXIST: already started.  A forked child of a process that records starts anew, with a file and rings of its own;
 * nothing of its parent's is touched.  -ECHILD: this is a child of vfork().
 * -ETIMEDOUT: the writer did not come that far in GP_START_TIMEOUT_S.
 */
int gp_collector_start(const struct gp_collector_config *config);

/* Absolute path of the trace file with suffix, valid for the life of the process; "" before a successful start. */
const char *gp_collector_trace_path(void);

/*
 * Drain every ring, write counters, a last anchor and the END record, stop the writer, remove the ring file.
 * Waits at most timeout_ns for the writer; -ETIMEDOUT leaves the rings for recovery.  Records
 * emitted later are dropped and counted nowhere: call it last.  In a forked child that started none: does nothing, returns -ECHILD.
 */
int gp_collector_stop(uint64_t timeout_ns);

/* How the process is about to end, for the END record: before gp_collector_stop(), the last one counts. */
void gp_collector_ends(enum gp_end_way way, uint8_t status);

/*
 * After gp_collector_stop(): how many records were given up because the trace could not be written, and why (-errno, of
 * the last ones; -E2BIG: because of max_file_bytes).
 */
uint64_t gp_collector_unwritten(int *error);

/* The trace has reached max_file_bytes: what is emitted from now on is dropped, and counted. */
bool gp_collector_is_full(void);

/* True in the process that started the collector, from start to stop; false in a forked child, until it starts its own.  One load. */
bool gp_collector_is_live(void);

/* The recording's number, 0 = not live.  A process and the children forked from it have different ones: what was defined in one is not in another. */
uint32_t gp_collector_recording(void);

/* Publish one record of fixed size (record->slots slots) in this thread's ring.  False: it was dropped, and counted. */
bool gp_emit(const struct gp_record *record);

/*
 * This thread begins a call that may wait for the device: whoever looks at its ring sees that, until it publishes its next record.
 * gp_call_is_left_out(): none will be published for it.  Nothing is seen of a thread that has published nothing before.
 */
void gp_call_begins(uint16_t api, uint64_t start_ticks);
void gp_call_is_left_out(void);

/* Publish a definition; text need not be terminated.  Longer than GP_STRING_MAX_BYTES is cut, and counted. */
bool gp_emit_string(enum gp_string_space space, uint32_t id, uint32_t value, const char *text,
		    uint32_t length_bytes);

/* gp_emit_string() of one fact about the process. */
bool gp_emit_info(enum gp_info info, const char *text);

/*
 * The calling thread is one of the profiler's own: nobody waits for it, so it waits where its ring is full, whatever
 * on_overload says of the program's threads.  Where the collector is live, it takes its ring at once, before the program's threads have all.
 */
void gp_emit_is_patient(void);

/* Ticks of the host clock, as in members called _ticks. */
uint64_t gp_clock_ticks(void);

/* Estimated ticks per second, from start on. */
uint64_t gp_clock_ticks_per_second(void);

/*
 * Let a function read CUPTI's clock for anchors (returns ns, 0 = not now).  It is called by the writer about once a
 * second and at stop, between two tick reads.  NULL takes it away.
 */
void gp_clock_set_cupti(uint64_t (*read_ns)(void));

/* Write an anchor as soon as the writer wakes: a context was just created, the clocks are in use from now. */
void gp_collector_request_anchor(void);

/* Add to a counter.  For rare events: one shared atomic. */
void gp_count(enum gp_counter counter, uint64_t amount);

/* Replace a counter's value (GP_COUNTER_LAST_DELIVERY_TICKS, ...). */
void gp_count_set(enum gp_counter counter, uint64_t value);

/*
 * Account for one handled callback on this thread, cheaply: per-ring counters, summed by the writer.  sampled_ticks is the
 * time that the callback took, or 0 where it was not measured.
 */
void gp_count_hook(uint64_t sampled_ticks);

/* A nested driver callback was ignored on this thread. */
void gp_count_nested(void);

#endif
