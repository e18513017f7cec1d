/*
 * idle_cause: why a device was idle: splits an idle gap by the host's activity.
 *
 * "The host" is the thread whose call ended the gap: the call that started the operation after it;
 * after the last operation, the thread that started that one.  Each instant of the gap has the
 * first cause that fits:
 *
 *   SETUP       any thread of its process was in a call that made a context (if the call allocates,
 *               until the context was ready), loaded code, or made or ended an NCCL communicator
 *   PROFILER    the thread was in a call and, by CUPTI's records, in CUPTI's own work; records
 *               without a known thread do not count
 *   SYNC        the thread was in a call that waits, though the device had finished; and until
 *               GP_IDLE_RETURN_NS after the return of one that had begun before the gap
 *   COPY        the same of calls that copy or fill memory: the host prepares or moves data, or
 *               returns from a copy that waited
 *   ALLOC       the same of calls that allocate or free
 *   SETUP       it made streams or graphs, or did other setup
 *   LAUNCH      it was in a call that launches or puts other work into a stream; and from the end
 *               of the call that started the next operation to its start, GP_IDLE_LATENCY_NS at
 *               most; or in no call, between two launches that are GP_LAUNCH_PAUSE_NS apart at most:
 *               a framework prepares the next one.  Launching cannot keep up with the GPU
 *   DEPENDENCY  the next operation had been launched, but began later than that: it waited for an
 *               event, a host function, another device, or another program on the GPU; and all of a
 *               gap between two operations of one graph launch
 *   as above    the host was in no call, but another thread of its process was in one for the same
 *               device: the cause is that of its call
 *   PROFILER    no thread was in a call, but one in CUPTI's own work, or in gpuprof's Python package
 *   HOST        none of these: no thread was in a CUDA call, but at work; calls that only ask
 *               something, and waits of other threads, count as none
 *   UNUSED      no process with an operation on the device lived (by the sweep of
 *               report/analysis/idle/gpu_sweep.h)
 *   UNKNOWN     the call that started the next operation was not recorded; or work of the process
 *               that was launched between the operations around the gap has no record, from its
 *               launch on; or, in place of UNUSED, a process lived that may have used the device
 *               (by the sweep): it has no last call, or no operation but launches
 *
 * Calls of other threads, and calls that load code, count from GP_CALL_CAUSE_LEAST_NS on.
 *
 * The cause of a whole gap is the one with most of its time.  Causes partition the gap: their times
 * always add up to it.
 */
#ifndef REPORT_ANALYSIS_IDLE_IDLE_CAUSE_H
#define REPORT_ANALYSIS_IDLE_IDLE_CAUSE_H

#include <stdbool.h>
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
 * The time of a launch to reach an idle device, and of a device to go on to the next operation: 2
 * to 30 us, also for a graph's first one.
 */
#define GP_IDLE_LATENCY_NS GP_BUSY_LATENCY_NS

/* From the end of a launch to the next one: if it is longer, the host did not only launch. */
#define GP_LAUNCH_PAUSE_NS 200000u

/*
 * Whether the host did nothing but launch from that call to the other one: both launch kernels, or
 * memsets or copies on the device, follow each other so soon, and no wait is between them.
 */
bool gp_is_launching(const struct gp_model *model, const struct gp_call *before,
		     const struct gp_call *after);

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
