/*
 * client_clock: the times in CUPTI's records, and the timestamp function of a client.
 *
 * CUPTI would use the client's clock for all records, including ours.  So the client's clock is not
 * registered with CUPTI.  The times in the client's copies are converted instead, by simultaneous
 * readings of both clocks.
 */
#ifndef INJECT_CLIENT_CLOCK_H
#define INJECT_CLIENT_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* The start time of a record of this size, by CUPTI's clock; 0 = the record has no time. */
uint64_t gp_client_clock_time_of(const CUpti_Activity *record, size_t bytes);

/* Once.  read_cupti_ns: CUPTI's clock. */
void gp_client_clock_init(uint64_t (*read_cupti_ns)(void));

/*
 * Set the client's clock; NULL: none, copies keep CUPTI's times.  The previous clock is no longer
 * in use on return (inject/client_calls.h).  False: the clock is unchanged, because this thread
 * itself or a descheduled thread holds the lock.
 */
bool gp_client_clock_set(CUpti_TimestampCallbackFunc clock);

/*
 * Any thread: read both clocks if the client has one.  Times between two readings are exact to
 * about 50 ns.
 */
void gp_client_clock_read(void);

/*
 * Convert the times in the client's copy of a record of this size.  False: unchanged, for the
 * reasons above.  A thread that never releases the lock is waited for only once, not for each
 * record.
 */
bool gp_client_clock_convert(CUpti_Activity *copy, size_t bytes);

#endif
