/*
 * cupti_conflict: detects that CUPTI delivers its records to another client in the program.
 *
 * There is one receiver of records per process.  A client that finds CUPTI by dlsym() can make
 * itself the receiver without notice.  But CUPTI requests a buffer during the launch that makes a
 * record, if it has no buffer with space.  If CUPTI holds no buffer of ours and requests none, for
 * a second with repeated launches, then the records go to another client.  If CUPTI held one of our
 * buffers at the takeover, that buffer may never come back, and the conflict stays undetected.
 */
#ifndef INJECT_CUPTI_CONFLICT_H
#define INJECT_CUPTI_CONFLICT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The fetching thread, periodically, at now_ns of a monotonic clock.  requests: number of CUPTI's
 * buffer requests so far; are_out: CUPTI holds a buffer; launches: number of launches so far that
 * make a record.  True, once: another client receives the records.
 */
bool gp_cupti_conflict_is_found(uint32_t requests, bool are_out, uint64_t launches,
				uint64_t now_ns);

#endif
