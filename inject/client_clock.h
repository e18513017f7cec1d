/*
 * share_times: the times in CUPTI's records, and the clock of a client that has given CUPTI one of its own.
 *
 * CUPTI would write all records by that clock, ours too; so it is not told, and the times in the client's copies are
 * converted, between readings of both clocks at the same moment.
 */
#ifndef INJECT_SHARE_TIMES_H
#define INJECT_SHARE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* When what a record of so many bytes tells of began, by CUPTI's clock; 0 = it has no time. */
uint64_t gp_client_clock_time_of(const CUpti_Activity *record, size_t bytes);

/* Once.  read_cupti_ns: CUPTI's clock. */
void gp_client_clock_init(uint64_t (*read_cupti_ns)(void));

/*
 * The client's clock; NULL: it has none, and copies have CUPTI's times.  The one before is in use no more when this returns
 * (inject/client_calls.h).  False: this thread itself, or one that does not get to run, is in here; it is not changed.
 */
bool gp_client_clock_set(CUpti_TimestampCallbackFunc clock);

/* Any thread: read both clocks, if the client has one.  Times between two readings are exact to some 50 ns. */
void gp_client_clock_read(void);

/*
 * Convert the times in the client's copy of a record of so many bytes.  False, as above: it has CUPTI's still.  A thread that
 * never comes out again is waited for once, not for each record.
 */
bool gp_client_clock_convert(CUpti_Activity *copy, size_t bytes);

#endif
