/*
 * ring_quota: the part of /dev/shm that the ring files of all processes may use together.
 *
 * In a container /dev/shm often has 64 MiB, which the program's own processes need.  Writer thread
 * only.
 */
#ifndef COLLECTOR_RING_QUOTA_H
#define COLLECTOR_RING_QUOTA_H

#include <stdint.h>

#define GP_RING_QUOTA_BYTES (32u << 20) /* maximum */
#define GP_RING_QUOTA_PART  8 /* and at most this part of the space that is free without them */

/* Bytes of all ring files there, of any user; 0 if unknown. */
uint64_t gp_ring_quota_taken(void);

/* Bytes that may be added, with free_bytes free and taken_bytes used by ring files. */
uint64_t gp_ring_quota_left(uint64_t free_bytes, uint64_t taken_bytes);

#endif
