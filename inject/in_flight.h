/*
 * in_flight: which kernels were launched and have not come back as CUPTI's records, and their names: of one that never ends no record
 * comes while the process lives.
 *
 * Each launching thread notes its last launches in memory of its own.  The fetching thread looks there where no record comes, and
 * writes a GP_RECORD_IN_FLIGHT for each launch that has none after GP_IN_FLIGHT_NS: while the process still lives, so that it does
 * not matter how it ends.
 *
 * A launch without a record may have ended long ago.  So what waited for a stream is noted, too, and written behind what it may tell of, as
 * GP_RECORD_STREAM_WAIT: the reader knows which call came first.  Handles are used again: each stream that is destroyed ends an era, and
 * a wait tells of the launches of its own.
 */
#ifndef INJECT_IN_FLIGHT_H
#define INJECT_IN_FLIGHT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/atomic.h"

/* Behind a kernel that does not end, a stream takes some 1,000 launches, and other streams may have taken some before that. */
#define GP_IN_FLIGHT_KEPT  4096u
#define GP_IN_FLIGHT_WAITS 64u /* of a stream the last one tells of all before it */
#define GP_IN_FLIGHT_NS    1000000000u

struct gp_decoder;

/* Or a wait.  Its place is taken by a later one in time. */
struct gp_launch {
	uint64_t name;   /* address of the text, which may be gone: CUPTI's symbolName */
	uint64_t stream; /* as the call was given it (inject/launch_call.h) */
	uint32_t correlation_id;
	uint32_t written; /* low bits of noted_bytes behind it, once the rest is there */
	uint32_t era;
	uint16_t context; /* low bits of its number */
	uint16_t api;     /* of the call: it says which default stream 0 is */
};
#define GP_LAUNCH_IS_BEING_WRITTEN 1u /* which noted_bytes never is */

struct gp_launches {
	uint64_t
		noted_bytes; /* in launches that were ever noted here, the last of which are kept */
	uint64_t waited_bytes; /* the same of waits */
	struct gp_launch kept[GP_IN_FLIGHT_KEPT];
	struct gp_launch waits[GP_IN_FLIGHT_WAITS];
};
static_assert((GP_IN_FLIGHT_KEPT & (GP_IN_FLIGHT_KEPT - 1)) == 0, "bytes are taken modulo all");
static_assert((GP_IN_FLIGHT_WAITS & (GP_IN_FLIGHT_WAITS - 1)) == 0, "the same");

extern uint32_t gp_in_flight_era __attribute__((visibility("hidden"))); /* of streams */

/* Before the first callback: launches have records, and are to be noted. */
void gp_in_flight_begin(void);

/* Where a thread keeps its own; NULL = it has launched nothing yet, or finds no memory.  It is NULL again when the thread ends. */
struct gp_launches *gp_in_flight_begin_thread(struct gp_launches **here);

/*
 * Its place is taken first: a signal handler that notes one amid this has the next (where it comes between the look and the store, the same: of both
 * the interrupted one stays, and the other has no name should it never end).  Whoever reads it meanwhile finds out by `written`: each store is seen
 * after those before it.
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
 * Inside a callback: a launch of which a record is to come has returned; era and written are not set.  here: the calling thread's, NULL at first.
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

/* The same: a call that waited for all that had been launched into a stream. */
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

/* On any thread: a stream is about to be destroyed; its handle may be another one's from now on. */
void gp_in_flight_end_era(void);

/* ---- by whoever has the decoder: one thread at a time ---- */

/* How many launches were noted so far; those of threads without memory for it as one a look. */
uint64_t gp_in_flight_noted(void);

/*
 * After what CUPTI gave was decoded, at now_ns of a clock that is never set: write what is overdue.  asked: CUPTI had been asked to
 * give everything back; else a launch without a record tells something only where the program launches nothing more.
 */
void gp_in_flight_scan(struct gp_decoder *decoder, uint64_t now_ns, bool asked);

/*
 * Write all that have no record: none will come, or the process may be gone before the next look.  asked: as above.  Not longer than until
 * until_ns of gp_sys_now_ns().
 */
void gp_in_flight_tell(struct gp_decoder *decoder, bool asked, uint64_t until_ns);

#endif
