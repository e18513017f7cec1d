/*
 * ring_share: how much of /dev/shm the ring files of all processes may take together.
 *
 * In a container it often has 64 MiB, which the program's own processes need.  Writer thread only.
 */
#ifndef COLLECTOR_RING_SHARE_H
#define COLLECTOR_RING_SHARE_H

#include <stdint.h>

#define GP_RING_QUOTA_BYTES (32u << 20) /* at most */
#define GP_RING_QUOTA_PART  8 /* and at most this part of what would be free without them */

/* What ring files, of whomever, take there now; where that cannot be seen, 0. */
uint64_t gp_ring_quota_taken(void);

/* What may be added, where free_bytes are free and so many are taken. */
uint64_t gp_ring_quota_left(uint64_t free_bytes, uint64_t taken_bytes);

#endif
