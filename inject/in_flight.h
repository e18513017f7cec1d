/*
 * in_flight: which kernels were launched and have not come back as CUPTI's records, and their names: of one that never ends no record
 * comes while the process lives.
 *
 * Each launching thread notes its last launches in memory of its own.  The fetching thread looks there where no record comes, and
 * writes a GP_RECORD_IN_FLIGHT for each launch that has none after GP_IN_FLIGHT_NS: while the process still lives, so that it does
 * not matter how it ends.
 */
#ifndef INJECT_IN_FLIGHT_H
#define INJECT_IN_FLIGHT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/atomic.h"

/* Behind a kernel that does not end, a stream takes some 1,000 launches, and other streams may have taken some before that. */
#define GP_IN_FLIGHT_KEPT 4096u
#define GP_IN_FLIGHT_NS   1000000000u

struct gp_decoder;

/* Its place is taken by a later launch in time. */
struct gp_launch {
	uint64_t name; /* address of the text, which may be gone: CUPTI's symbolName */
	uint32_t correlation_id;
	uint32_t written; /* low bits of noted_bytes behind it, once the rest is there */
};
#define GP_LAUNCH_IS_BEING_WRITTEN 1u /* which noted_bytes never is */

struct gp_launches {
	uint64_t
		noted_bytes; /* in launches that were ever noted here, the last of which are kept */
	uint64_t zero;
	struct gp_launch kept[GP_IN_FLIGHT_KEPT];
};
static_assert(sizeof((struct gp_launches *)0)->kept == 1 << 16, "noted_bytes is taken modulo that");

/* Before the first callback: launches have records, and are to be noted. */
void gp_in_flight_begin(void);

/* Where a thread keeps its own; NULL = it has launched nothing yet, or finds no memory.  It is NULL again when the thread ends. */
struct gp_launches *gp_in_flight_begin_thread(struct gp_launches **here);

/*
 * Inside a callback: a launch of which a record is to come has returned.  here: the calling thread's, NULL at first.  Its place is taken
 * first: a signal handler that launches amid this has the next one.  Whoever reads it meanwhile finds out by `written`: each store is seen
 * after those before it.
 */
static inline void gp_in_flight_note(struct gp_launches **here, uint32_t correlation_id,
				     const char *name)
{
	struct gp_launches *launches = *here;
	struct gp_launch *launch;
	uint64_t noted_bytes;

	if (__builtin_expect(launches == NULL, 0)) {
		launches = gp_in_flight_begin_thread(here);
		if (launches == NULL)
			return;
	}
	noted_bytes = gp_load64(&launches->noted_bytes);
	launch = (struct gp_launch *)((char *)launches->kept + (uint16_t)noted_bytes);
	noted_bytes += sizeof(*launch);
	gp_store64_release(&launches->noted_bytes, noted_bytes);
	gp_store32_release(&launch->written, GP_LAUNCH_IS_BEING_WRITTEN);
	gp_store64_release(&launch->name, (uint64_t)(uintptr_t)name);
	gp_store32_release(&launch->correlation_id, correlation_id);
	gp_store32_release(&launch->written, (uint32_t)noted_bytes);
}

/* ---- by whoever has the decoder: one thread at a time ---- */

/* How many launches were noted so far; those of threads without memory for it as one a look. */
uint64_t gp_in_flight_noted(void);

/*
 * After what CUPTI gave was decoded, at now_ns of a clock that is never set: write what is overdue.  asked: CUPTI had been asked to
 * give everything back; else a launch without a record tells something only where the program launches nothing more.
 */
void gp_in_flight_look(struct gp_decoder *decoder, uint64_t now_ns, bool asked);

/*
 * Write all that have no record: none will come, or the process may be gone before the next look.  asked: as above.  Not longer than until
 * until_ns of gp_sys_now_ns().
 */
void gp_in_flight_tell(struct gp_decoder *decoder, bool asked, uint64_t until_ns);

#endif
