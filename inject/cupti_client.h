/*
 * share: a client of CUPTI inside the program, such as torch.profiler, works as if we were not there.
 *
 * CUPTI serves one subscriber and one receiver of records in a process, and those are we.  A client that is linked to
 * libcupti finds the functions below here, for a preloaded library comes first.  It is given the same subscription, its
 * callbacks are called from ours, and its buffers are filled with copies of the records of the kinds that it enables:
 *
 *   inject/client_callbacks.h   whose a callback is
 *   inject/client_kinds.h       whose a record is
 *   inject/client_buffers.h     the client's buffers
 *   inject/client_records.h     what the fetching thread does for it
 *   inject/client_clock.h       the client's clock
 *   inject/client_calls.h      who is inside a function of the client's
 *
 * Interposed is what would take CUPTI away from us: subscribing, callbacks, kinds, buffers, flushing, the clock, the two
 * attributes of buffers, finalizing.  All the rest, external correlation, filters of calls, GetNextRecord, works on
 * CUPTI itself.  There can be one client; a second one is refused as CUPTI would refuse it.  A process that we do not
 * record, or in which another tool was injected: each call goes straight to CUPTI.  In a forked child of a process with
 * CUPTI nothing is asked of it any more.
 *
 * A client that looks functions up with dlsym() finds these, too: inject/client_symbols.h.
 */
#ifndef INJECT_SHARE_H
#define INJECT_SHARE_H

/*
 * Once, by the constructor, if CUPTI is to be shared: else every function calls CUPTI's own.  start: called when a client comes before CUDA is initialised, to have our session first;
 * it may do nothing.
 */
void gp_cupti_client_init(void (*start)(void));

#endif
