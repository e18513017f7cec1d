/*
 * cupti_client: lets a CUPTI client inside the program, such as torch.profiler, work as if gpuprof
 * were absent.
 *
 * CUPTI serves one subscriber and one receiver of records per process: gpuprof.  A client that is
 * linked to libcupti binds to the functions of inject/cupti_client.c, because a preloaded library
 * comes first.  It shares our subscription, our callback calls its callbacks, and its buffers are
 * filled with copies of the records of the kinds that it enables:
 *
 *   inject/client_callbacks.h   the side of each callback
 *   inject/client_kinds.h       the side of each record
 *   inject/client_buffers.h     the client's buffers
 *   inject/client_records.h     the fetching thread's service for the client
 *   inject/client_clock.h       the client's clock
 *   inject/client_calls.h       threads inside functions of the client
 *
 * Interposed are the calls that would take CUPTI away from us: subscribing, callbacks, kinds,
 * buffers, flushing, the clock, the two attributes of buffers, finalizing.  All other calls
 * (external correlation, call filters, GetNextRecord) go to CUPTI itself.  There can be one client;
 * a second one is refused as CUPTI would refuse it.  In a process that we do not record, or into
 * which another tool was injected, each call goes straight to CUPTI.  In a forked child of a
 * process with CUPTI, CUPTI is not called.
 *
 * A client that finds functions by dlsym() gets the same functions: inject/client_symbols.h.
 */
#ifndef INJECT_CUPTI_CLIENT_H
#define INJECT_CUPTI_CLIENT_H

/*
 * Once, by the constructor, if CUPTI is to be shared; else every function calls CUPTI's own.
 * start: called when a client comes before CUDA is initialized, so that our session starts first;
 * it may do nothing.
 */
void gp_cupti_client_init(void (*start)(void));

#endif
