/*
 * cupti_decode: CUPTI's activity records into ours.
 *
 * The layouts of CUPTI's records, in every version from 11.8 on, are in inject/cupti_versions.h.  Called
 * by one thread of ours only; emits into that thread's ring, definitions first.
 */
#ifndef INJECT_CUPTI_DECODE_H
#define INJECT_CUPTI_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "collector/intern.h"

struct gp_decoder {
	uint32_t version; /* cuptiGetVersion() of the library that wrote the records */
	struct gp_intern names;
	struct gp_intern shapes;
	uint64_t records;     /* decoded so far: what the GPU did, not definitions */
	uint64_t kernels;     /* that came so far, also those that are left out */
	uint32_t newest_id;   /* of the calls whose kernels came */
	uint64_t unknown;     /* records of a kind that was not asked for */
	uint64_t last_launch; /* device and correlation id of the last kernel outside of graphs */
	bool said_numberless; /* that ids do not tell launches apart */
	bool paused;          /* what belongs to no call is left out, too */
};

void gp_decode(struct gp_decoder *decoder, const CUpti_Activity *record);

/* The number of a kernel's mangled name, defined; 0 = it could not be. */
uint32_t gp_decode_name(struct gp_decoder *decoder, const char *name, uint32_t length_bytes);

/*
 * Whether a kernel of that call has come, and whether surely none has.  Of a call neither is known as soon as a kernel of one has come whose number is
 * larger by GP_DECODE_CAME_KEPT, or a multiple of that.
 */
bool gp_decode_has_come(uint32_t correlation_id);
bool gp_decode_is_awaited(uint32_t correlation_id);
#define GP_DECODE_CAME_KEPT 65536u

#endif
