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

#define SIM_MOVED_BYTES 8  /* by SIM_FAULT_MOVED_FIELDS */
#define SIM_KINDS       60 /* of 13.4; headers may have fewer */

/* Bytes of a record of a kind in the simulated version; 0: that version has no such kind. */
size_t sim_record_bytes(CUpti_ActivityKind kind);
/* The first callback id that the simulated version does not know. */
uint32_t sim_callback_limit(CUpti_CallbackDomain domain);

/* ---- wanted activity (cupti_activity.c) -------------------------------------------------------
 */

bool sim_wanted(CUpti_ActivityKind kind);
/* Before 12.9 event records came only with the synchronization kind. */
bool sim_events_come_with_syncs(void);
/* Queries of unfinished work leave records unless a client disables them. */
bool sim_queries_are_wanted(CUresult result);
uint32_t sim_thread_id(void);

/* ---- buffers (cupti_buffer.c) -----------------------------------------------------------------
 */

/* Starts the worker thread, once; before anything else here. */
void sim_buffers_start(void);
void sim_buffers_register(CUpti_BuffersCallbackRequestFunc request,
			  CUpti_BuffersCallbackCompleteFunc complete);
void sim_buffers_per_thread(bool per_thread);
bool sim_buffers_are_per_thread(void);
void sim_buffers_period_ms(uint32_t period);
/*
 * Appends a record, the first bytes of the newest layout, asking the client for a buffer if need
 * be. Finished at end: a flush without force delivers nothing from an unfinished record on.
 */
void sim_buffers_append(const void *record, CUpti_ActivityKind kind);
void sim_buffers_flush(bool forced);
size_t sim_buffers_take_dropped(void);
/* The time a record ends at; 0 for kinds that take no time. */
uint64_t sim_record_end(const void *record);
/* Marks the operation as still running, as a forced flush does: no times at all. */
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

/* ---- what a client says of calls (cupti_calls.c), and its clock (cupti_clock.c) ---------------
 */

void sim_record_external(uint32_t correlation);
bool sim_call_is_left_out(bool runtime, uint32_t cbid);
void sim_leave_out_none(bool runtime); /* enabling the kind overrides earlier settings */
void sim_clock_convert(uint8_t *data, size_t bytes);

/* ---- hooks (cupti_callback.c) -----------------------------------------------------------------
 */

/* Points the hooks of the device to this library, once. */
void sim_cupti_attach(void);

#endif
