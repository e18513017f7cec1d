/*
 * idle_cause: why a device had nothing to do: a gap between operations is split by what the host
 * did meanwhile.
 *
 * "The host" is the thread that made the call which ended the gap: the one that started the
 * operation after it.  After the last operation it is the thread that started that one.  From the
 * beginning of the gap to its end, each instant has the first cause that fits:
 *
 *   SETUP       a thread of its process, whichever, was in a call that made a context, whatever
 *               that was for (of one that allocates: until the context was there), in one that
 *               loaded code, or made or ended a communicator of NCCL's
 *   PROFILER    the thread was in a call, and there, as CUPTI says, in CUPTI for its own sake (of
 *               what the thread is not known that was, none is)
 *   SYNC        the thread was in a call that waits, though the device had finished; and up to
 *               GP_IDLE_RETURN_NS after it came back from one that had begun before the gap
 *   COPY        the same of calls that copy or set memory: the host prepares or moves data, or
 *               comes back from a copy that waited
 *   ALLOC       the same of calls that allocate or free
 *   SETUP       it made streams, graphs, or set something else up
 *   LAUNCH      it was in a call that launches or puts something else into a stream; and from the
 *               end of the call that started the next operation to its start, if that is
 *               GP_IDLE_LATENCY_NS at most: launching cannot keep up with operations that short
 *   DEPENDENCY  the next operation had been launched, but began later than that: it waited for an
 *               event, a host function, another device, or another program that the GPU ran
 *               meanwhile; and all of a gap between two operations of one launch of a graph
 *   as above    the host was in no call, but another thread of its process in one for the same
 *               device: the cause is that of its call
 *   PROFILER    no thread was in a call, but one in CUPTI for its own sake
 *   HOST        none of these: no thread was in a CUDA call (or in one that only asks something, or
 *               another one in a wait), but at work
 *   UNUSED      no process lived that had an operation on the device (the sweep of
 *               report/analysis/idle/gpu_sweep.h tells)
 *   UNKNOWN     the call that started the next operation was not recorded; or, where it would be
 *               UNUSED, a process lived that may have used the device, and of which that is not
 *               known (the sweep): it has no last call, or no operation but launches
 *
 * Calls of other threads, and of code that is loaded, count from GP_CALL_CAUSE_LEAST_NS on.
 *
 * Of a whole gap, the cause is the one with most of its time.  Causes partition the gap: their
 * times always add up to it.
 */
#ifndef REPORT_ANALYSIS_IDLE_IDLE_CAUSE_H
#define REPORT_ANALYSIS_IDLE_IDLE_CAUSE_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/idle/call_cause.h"
#include "report/analysis/host/call_sums.h"
#include "report/analysis/device/device_ops.h"
#include "report/analysis/idle/busy.h"
#include "report/model/model.h"

/* Coming back from a wait, and being on the way to the next call. */
#define GP_IDLE_RETURN_NS 50000u

/*
 * What a launch takes to reach an idle device, and a device to go on to the next operation: 2 to 30
 * us, a graph's first one included.
 */
#define GP_IDLE_LATENCY_NS GP_BUSY_LATENCY_NS

/* "host-bound", "launch-bound", "sync-bound", ...: in files and options. */
const char *gp_idle_cause_name(enum gp_idle_cause cause);

/* The same for people: "profiler overhead" instead of "profiler". */
const char *gp_idle_cause_words(enum gp_idle_cause cause);

/*
 * In Unix ns; the operations are those around it, none at the beginning and the end of the trace.
 */
struct gp_gap {
	uint64_t start_ns, end_ns;
	size_t device; /* in the list of devices */
	struct gp_op_at before, after;
	uint64_t cause_ns[GP_IDLE_CAUSES]; /* add up to end_ns - start_ns */
	enum gp_idle_cause cause;          /* the one with most of its time */
};

/*
 * Split a gap: take is called for each part, in the order of time, with its end; the first begins
 * where the gap does, the last ends where it ends.  cause_ns and cause are filled in.  calls and
 * sums are parallel to models.  Where take is NULL, calls that the host made meanwhile for other
 * devices are not gone through one by one, unless the sums are zeroed.
 */
void gp_idle_split(struct gp_model *const *models, struct gp_process_calls *calls,
		   const struct gp_call_sums *sums, struct gp_gap *gap,
		   void (*take)(void *context, enum gp_idle_cause cause, uint64_t end_ns),
		   void *context);

#endif
