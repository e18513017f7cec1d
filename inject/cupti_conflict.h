/*
 * rival: whether CUPTI gives its records to somebody else in the program.
 *
 * There is one receiver of records in a process.  A client that finds CUPTI by dlsym() can make itself the one without our
 * knowledge, and nobody tells us.  But CUPTI asks for a buffer in the launch that makes a record, where it has none with
 * room: launches for which it neither has one of ours nor asks for one are somebody else's, where that goes on for a
 * second, in which there are launches again and again.  A buffer that it had of ours when it was taken over may never come
 * back: then nothing is found.
 */
#ifndef INJECT_RIVAL_H
#define INJECT_RIVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The fetching thread, from time to time, at now_ns of a clock that is never set.  requests: how often CUPTI has asked for a
 * buffer so far; are_out: it has one now; launches: how many were made so far of which a record is to come.  True: there is somebody
 * else.  It is said once.
 */
bool gp_cupti_conflict_is_found(uint32_t requests, bool are_out, uint64_t launches,
				uint64_t now_ns);

#endif
