/*
 * in_flight: tracks launched kernels without a CUPTI record, and their names: a kernel that never
 * ends has no record while the process lives.
 *
 * Each launching thread notes its last launches in memory of its own.  If records stop arriving,
 * the fetching thread scans the notes, and emits a GP_RECORD_IN_FLIGHT for each launch that has had
 * no record for GP_IN_FLIGHT_NS: while the process still lives, so that the way it ends does not
 * matter.
 *
 * A launch without a record may have ended long ago.  So waits for streams are noted, too, and
 * emitted after the launches as GP_RECORD_STREAM_WAIT: the reader determines the order of the
 * calls.  Handles are reused: destroying a stream ends an era, and a wait covers only launches of
 * its own era.
 */
#ifndef INJECT_IN_FLIGHT_H
#define INJECT_IN_FLIGHT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/atomic.h"

/*
 * Behind a kernel that does not end, a stream accepts about 1,000 launches, and other streams may
 * have taken some before.
 */
#define GP_IN_FLIGHT_KEPT  4096u
#define GP_IN_FLIGHT_WAITS 64u /* the last wait for a stream covers all earlier ones */
#define GP_IN_FLIGHT_NS    1000000000u

struct gp_decoder;

/* A launch or a wait.  A later one will overwrite it. */
struct gp_launch {
	uint64_t name;   /* CUPTI's symbolName, an address that may become invalid */
	uint64_t stream; /* the argument of the call (inject/launch_call.h) */
	uint32_t correlation_id;
	uint32_t written; /* low bits of noted_bytes after it; stored last */
	uint32_t era;
	uint16_t context; /* low bits of its id */
	uint16_t api;     /* of the call: determines the meaning of stream 0 */
};
#define GP_LAUNCH_IS_BEING_WRITTEN 1u /* a value that noted_bytes never has */

struct gp_launches {
	/* bytes of all launches ever noted here, of which the last ones are kept */
	uint64_t noted_bytes;
	uint64_t waited_bytes; /* the same for waits */
	struct gp_launch kept[GP_IN_FLIGHT_KEPT];
	struct gp_launch waits[GP_IN_FLIGHT_WAITS];
};
static_assert((GP_IN_FLIGHT_KEPT & (GP_IN_FLIGHT_KEPT - 1)) == 0, "bytes are taken modulo all");
static_assert((GP_IN_FLIGHT_WAITS & (GP_IN_FLIGHT_WAITS - 1)) == 0, "the same");

/* current era of stream handles */
extern uint32_t gp_in_flight_era __attribute__((visibility("hidden")));

/* Before the first callback: launches have records, and are to be noted. */
void gp_in_flight_begin(void);

/*
 * The address of a thread's notes, kept in *here; NULL = the thread has not launched yet, or got no
 * memory.  Reset to NULL when the thread ends.
 */
struct gp_launches *gp_in_flight_begin_thread(struct gp_launches **here);

/*
 * The slot is reserved first: a signal handler that notes a launch in between takes the next slot.
 * (If it comes between load and store, both use the same slot: the interrupted note wins, and the
 * other launch would have no name.)  A concurrent reader detects a torn note by `written`: stores
 * are seen in order.
 */
static inline __attribute__((always_inline)) void gp_in_flight_write(uint64_t *noted_bytes,
								     struct gp_launch *kept,
								     size_t kept_bytes,
								     struct gp_launch one)
{
	uint64_t bytes = gp_load64(noted_bytes);
	struct gp_launch *to = (struct gp_launch *)((char *)kept + (bytes & (kept_bytes - 1)));

	bytes += sizeof(*to);
	gp_store64_release(noted_bytes, bytes);
	gp_store32_release(&to->written, GP_LAUNCH_IS_BEING_WRITTEN);
	gp_store64_release(&to->name, one.name);
	gp_store64_release(&to->stream, one.stream);
	gp_store32_release(&to->correlation_id, one.correlation_id);
	gp_store32_release(&to->era, gp_load32(&gp_in_flight_era));
	gp_store16_release(&to->context, one.context);
	gp_store16_release(&to->api, one.api);
	gp_store32_release(&to->written, (uint32_t)bytes);
}

/*
 * Inside a callback: a launch that makes a record has returned; era and written are not set.  here:
 * of the calling thread, initially NULL.
 */
static inline void gp_in_flight_note(struct gp_launches **here, struct gp_launch launch)
{
	struct gp_launches *launches = *here;

	if (__builtin_expect(launches == NULL, 0)) {
		launches = gp_in_flight_begin_thread(here);
		if (launches == NULL)
			return;
	}
	gp_in_flight_write(&launches->noted_bytes, launches->kept, sizeof(launches->kept), launch);
}

/* The same for a call that waited for all previous work of a stream. */
static inline void gp_in_flight_note_wait(struct gp_launches **here, struct gp_launch wait)
{
	struct gp_launches *launches = *here;

	if (__builtin_expect(launches == NULL, 0)) {
		launches = gp_in_flight_begin_thread(here);
		if (launches == NULL)
			return;
	}
	gp_in_flight_write(&launches->waited_bytes, launches->waits, sizeof(launches->waits), wait);
}

/* Any thread: a stream is about to be destroyed; another stream may reuse its handle. */
void gp_in_flight_end_era(void);

/* ---- the thread that owns the decoder, one at a time ---- */

/* Number of launches noted so far; those of threads without memory count as one per scan. */
uint64_t gp_in_flight_noted(void);

/*
 * After decoding all returned buffers, at now_ns of a monotonic clock: emit overdue launches.
 * flushed: CUPTI was flushed before.  Without a flush, a launch without a record counts as overdue
 * only if its thread launches nothing more.
 */
void gp_in_flight_scan(struct gp_decoder *decoder, uint64_t now_ns, bool flushed);

/* Whether a launch has no record, and is not overdue. */
bool gp_in_flight_any(const struct gp_decoder *decoder);

/*
 * Emit all launches without a record: none will come, or the process may end before the next scan.
 * flushed: as above.  Ends at until_ns of gp_sys_now_ns().
 */
void gp_in_flight_emit(struct gp_decoder *decoder, bool flushed, uint64_t until_ns);

#endif
