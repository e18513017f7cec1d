/*
 * The shared state of the simulated libcupti: enabled activity, the buffers for records, and the
 * layouts of CUPTI's versions.
 */
#ifndef GPUPROF_TESTS_SIM_CUPTI_SIM_H
#define GPUPROF_TESTS_SIM_CUPTI_SIM_H

#include "tests/sim/call.h"

#include <cupti.h>

/* ---- versions (cupti_record.c) ----------------------------------------------------------------
 */

#define SIM_MOVED_BYTES 8  /* inserted by SIM_FAULT_MOVED_FIELDS */
#define SIM_KINDS       60 /* as in 13.4; the headers may have fewer */

/*
 * Size in bytes of a record of this kind in the simulated version; 0: the version has no such kind.
 */
size_t sim_record_bytes(CUpti_ActivityKind kind);
/* The first callback id that the simulated version does not know. */
uint32_t sim_callback_limit(CUpti_CallbackDomain domain);

/* ---- wanted activity (cupti_activity.c) -------------------------------------------------------
 */

bool sim_wanted(CUpti_ActivityKind kind);
/* Before 12.9 event records came only with the synchronization kind. */
bool sim_events_come_with_syncs(void);
/* Queries of unfinished work have records unless a client disables them. */
bool sim_queries_are_wanted(CUresult result);
uint32_t sim_thread_id(void);

/* ---- buffers (cupti_buffer.c) -----------------------------------------------------------------
 */

/* Starts the worker thread.  Once, before the other functions here. */
void sim_buffers_start(void);
void sim_buffers_register(CUpti_BuffersCallbackRequestFunc request,
			  CUpti_BuffersCallbackCompleteFunc complete);
void sim_buffers_per_thread(bool per_thread);
bool sim_buffers_are_per_thread(void);
void sim_buffers_period_ms(uint32_t period);
/*
 * Appends a record, which has the newest layout.  Requests a buffer from the client if necessary.
 * A flush without force delivers nothing from the first record on whose end time is in the future.
 */
void sim_buffers_append(const void *record, CUpti_ActivityKind kind);
void sim_buffers_flush(bool forced);
size_t sim_buffers_take_dropped(void);
/* End time of a record; 0 for kinds without duration. */
uint64_t sim_record_end(const void *record);
/* Marks the operation as unfinished, as a forced flush does: both times are 0. */
void sim_record_clear_times(void *record);

/* ---- records (cupti_record.c) -----------------------------------------------------------------
 */

void sim_record_operation(const struct sim_op *op);
void sim_record_api(const struct sim_call *call, uint64_t end_ns);
void sim_record_memory(const struct sim_memory_event *event);
void sim_record_sync(const struct sim_sync_event *event);
void sim_record_host_function(const struct sim_host_function *function, uint64_t start,
			      uint64_t end);
void sim_record_event(CUevent event, CUstream stream);
void sim_record_pool(uint32_t operation, CUmemoryPool pool);
void sim_record_overhead(uint32_t kind, uint64_t start, uint64_t end);
void sim_record_jit(const struct sim_jit_event *event);
void sim_record_unified(const struct sim_unified_event *event); /* cupti_unified.c */
void sim_record_context(CUcontext ctx);
void sim_record_stream(CUstream stream);
void sim_record_devices(void);

/* ---- PM sampling (cupti_profiler.c) -----------------------------------------------------------
 */

void sim_profiler_operation(const struct sim_op *op);
/* As in the real one: a first use registers a destructor, after which no use is possible. */
void sim_profiler_use_first(void);
void sim_profiler_use(void);

/* ---- PC sampling (cupti_pc_sampling.c) --------------------------------------------------------
 */

void sim_pc_operation(const struct sim_op *op);
void sim_pc_module(const void *descriptor); /* a CUpti_ModuleResourceData that was loaded */

/* ---- what a client says of calls (cupti_calls.c), and its clock (cupti_clock.c) ---------------
 */

void sim_record_external(uint32_t correlation);
bool sim_call_is_left_out(bool runtime, uint32_t cbid);
void sim_exclude_none(bool runtime); /* enabling the kind resets the exclusions */
void sim_clock_convert(uint8_t *data, size_t bytes);

/* ---- hooks (cupti_callback.c) -----------------------------------------------------------------
 */

/* Installs the hooks of this library in the device, once. */
void sim_cupti_attach(void);

/*
 * GPUSIM_COUNTERS_LOCK: the counters belong to the process that has locked this file.  The first one
 * takes them, unless another process has them; at its end they are free.
 */
bool sim_counters_take(void);
void sim_counters_give_back(void);

#endif
