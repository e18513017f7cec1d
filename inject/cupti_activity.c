#include "inject/cupti_activity.h"

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_decode.h"
#include "inject/cupti_versions.h"
#include "inject/in_flight.h"
#include "inject/recording.h"
#include "inject/cupti_conflict.h"
#include "inject/log.h"
#include "inject/client_kinds.h"
#include "inject/client_records.h"

static struct {
	const struct gp_cupti *cupti;
	void (*wake)(void);
	void (*on_request)(void);
	struct gp_decoder decoder;
	bool has_delivered;
	bool has_logged; /* that a client makes CUPTI record whole graphs */
	bool has_flushed;
	bool was_flushed;    /* CUPTI was flushed before or during the last scan */
	bool has_noted_late; /* that CUPTI was flushed before XLA was loaded */
} fetching;

/* The last flush; owned by the thread that makes it. */
static struct {
	uint64_t ticks; /* its duration */
	bool is_refused;
} flush;

void gp_cupti_activity_init(const struct gp_cupti *cupti, void (*wake)(void),
			    void (*on_request)(void))
{
	gp_intern_forget(&fetching.decoder.names);
	gp_intern_forget(&fetching.decoder.shapes);
	fetching.cupti = cupti;
	fetching.wake = wake;
	fetching.on_request = on_request;
	fetching.decoder = (struct gp_decoder){.version = cupti->version};
	fetching.has_delivered = fetching.has_flushed = fetching.was_flushed = false;
}

/* ---- called by CUPTI ---- */

void CUPTIAPI gp_cupti_activity_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = gp_buffers_take(bytes);
	*max_records = 0; /* as many as fit */
	fetching.on_request();
}

static void count_discarded(uint8_t *buffer, size_t valid_bytes)
{
	CUpti_Activity *record = NULL;
	uint64_t records = 0;

	while (records <= valid_bytes && fetching.cupti->cuptiActivityGetNextRecord(
						 buffer, valid_bytes, &record) == CUPTI_SUCCESS)
		records++;
	gp_count(GP_COUNTER_LOST_NO_BUFFER, records);
}

/*
 * Any thread: only enqueue the buffer; the fetching thread decodes it.  Usually this is CUPTI's
 * worker thread, which also executes flushes: if it waited for the fetching thread, the two would
 * deadlock.
 */
void CUPTIAPI gp_cupti_activity_complete(CUcontext context, uint32_t stream, uint8_t *buffer,
					 size_t bytes, size_t valid_bytes)
{
	(void)context, (void)stream, (void)bytes;
	gp_buffers_never_wait_here();
	if (!gp_buffers_give(buffer, valid_bytes)) {
		count_discarded(buffer, valid_bytes);
		gp_buffers_end_discard(buffer);
	}
	fetching.wake();
}

/* ---- the fetching thread ---- */

void gp_cupti_activity_enter_thread(void)
{
	gp_buffers_never_wait_here();
}

/*
 * If nodes are recorded, such records come only because a client inside the program has enabled
 * them.
 */
static void note_whole_graph(void)
{
	if (!fetching.has_logged && gp_recording_has_nodes())
		fetching.has_logged = gp_emit_info(
			GP_INFO_NOTE,
			"a profiler inside the program asked CUPTI for whole graphs: graphs instantiated from then on have one GPU operation for each launch, instead of their nodes");
}

/*
 * For a libcupti newer than the known versions, each record is checked.  Records are contiguous:
 * each ends where the next begins, the last at the end of the buffer.
 */
static bool is_understood(uint8_t *buffer, size_t valid_bytes, const CUpti_Activity *record)
{
	const uint8_t *end = buffer + valid_bytes;
	CUpti_Activity *next = (CUpti_Activity *)(uintptr_t)record;
	uint64_t now_ns = 0;

	if (gp_cupti_is_known(fetching.decoder.version))
		return true;
	if (fetching.cupti->cuptiActivityGetNextRecord(buffer, valid_bytes, &next) == CUPTI_SUCCESS)
		end = (const uint8_t *)next;
	fetching.cupti->cuptiGetTimestamp(&now_ns);
	if (gp_cupti_is_plausible(record, (size_t)(end - (const uint8_t *)record), now_ns))
		return true;
	fetching.decoder.unknown++;
	return false;
}

static void decode_buffer(uint8_t *buffer, size_t valid_bytes)
{
	CUpti_Activity *record = NULL;
	CUptiResult result;

	fetching.decoder.paused = gp_recording_is_for_client();
	while ((result = fetching.cupti->cuptiActivityGetNextRecord(buffer, valid_bytes,
								    &record)) == CUPTI_SUCCESS) {
		if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
			note_whole_graph();
		if (!gp_client_kinds_is_client_only(record->kind) &&
		    is_understood(buffer, valid_bytes, record))
			gp_decode(&fetching.decoder, record);
	}
	if (result != CUPTI_ERROR_MAX_LIMIT_REACHED && valid_bytes > 0)
		gp_count(GP_COUNTER_LOST_BUFFER_ENDS, 1);
}

void gp_cupti_activity_decode(void)
{
	size_t valid_bytes;
	uint8_t *buffer;
	bool any = false;

	while ((buffer = gp_buffers_next(&valid_bytes)) != NULL) {
		decode_buffer(buffer, valid_bytes);
		gp_client_records_copy(fetching.cupti->cuptiActivityGetNextRecord, buffer,
				       valid_bytes);
		gp_buffers_release();
		gp_count(GP_COUNTER_BUFFERS_DELIVERED, 1);
		any = true;
	}
	if (!any)
		return;
	gp_count_set(GP_COUNTER_LAST_DELIVERY_TICKS, gp_clock_ticks());
	gp_count_set(GP_COUNTER_GPU_RECORDS, fetching.decoder.records);
	gp_count_set(GP_COUNTER_UNKNOWN_RECORDS, fetching.decoder.unknown);
	/* counters are written with an anchor: a short run gets one, too */
	if (!fetching.has_delivered)
		gp_collector_request_anchor();
	fetching.has_delivered = true;
}

static void check_cupti_conflict(void)
{
	if (!gp_recording_has_operations() ||
	    !gp_cupti_conflict_is_found(gp_buffers_requests(), gp_buffers_are_out(),
					gp_in_flight_noted(), gp_sys_now_ns()))
		return;
	gp_log("another profiler in the program takes CUPTI's records: GPU activity is no longer recorded, API calls still are; run the program without that profiler");
	gp_emit_info(
		GP_INFO_NOTE,
		"another profiler in the program took CUPTI's records: launches from then on have no kernel record");
}

static void scan(bool flushed)
{
	fetching.was_flushed = flushed;
	check_cupti_conflict();
	if (gp_recording_has_kernels())
		gp_in_flight_scan(&fetching.decoder, gp_sys_now_ns(), flushed);
}

void gp_cupti_activity_emit_unfinished(uint64_t until_ns)
{
	if (gp_recording_has_kernels())
		gp_in_flight_emit(&fetching.decoder, fetching.was_flushed, until_ns);
}

bool gp_cupti_activity_is_awaited(void)
{
	return gp_recording_has_kernels() && gp_in_flight_any(&fetching.decoder);
}

/* ---- flushes ---- */

static void count_dropped(void)
{
	size_t dropped = 0;

	if (fetching.cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS &&
	    dropped > 0)
		gp_count(GP_COUNTER_LOST_CUPTI, dropped);
}

void gp_cupti_activity_flush(uint32_t flag)
{
	uint64_t start_ticks = gp_clock_ticks();

	gp_buffers_never_wait_here();
	flush.is_refused = fetching.cupti->cuptiActivityFlushAll(flag) != CUPTI_SUCCESS;
	flush.ticks = gp_clock_ticks() - start_ticks;
}

/* After a refused flush, the next one delivers its records; the last flush has no next one. */
void gp_cupti_activity_end_flush(bool is_last)
{
	gp_count(GP_COUNTER_FLUSHES, 1);
	gp_count(GP_COUNTER_FLUSH_TICKS, flush.ticks);
	gp_count(GP_COUNTER_EXIT_FLUSHES_REFUSED, is_last && flush.is_refused);
	fetching.has_flushed = true;
	count_dropped();
	gp_cupti_activity_decode();
	scan(true);
}

void gp_cupti_activity_during_flush(void)
{
	gp_cupti_activity_decode();
	scan(true);
}

static void note_late_xla(void)
{
	if (fetching.has_flushed && !fetching.has_noted_late)
		fetching.has_noted_late = gp_emit_info(
			GP_INFO_NOTE,
			"XLA was loaded after the recording began: CUPTI is not flushed from then on until the end; earlier flushes may make CUDA graphs of XLA fail on the GPU (CUDA_ERROR_LAUNCH_FAILED): have the program import JAX first");
}

void gp_cupti_activity_without_flush(void)
{
	note_late_xla();
	gp_buffers_use_small(); /* XLA may have been loaded since the beginning */
	gp_cupti_activity_decode();
	count_dropped();
	scan(false);
}
