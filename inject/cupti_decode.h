/*
 * cupti_decode: converts CUPTI's activity records into ours.
 *
 * inject/cupti_versions.h has the record layouts of every CUPTI version from 11.8 on.  Called by
 * one profiler thread; emits into that thread's ring, definitions first.
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
	uint64_t records;     /* decoded so far: GPU activity, not definitions */
	uint64_t kernels;     /* received so far, including excluded ones */
	uint32_t newest_id;   /* of the calls whose kernel records came */
	uint64_t unknown;     /* records of a kind that was not enabled */
	uint64_t last_launch; /* device and correlation id of the last kernel outside of graphs */
	bool warned_no_ids;   /* that correlation ids do not identify launches */
	bool paused;          /* exclude records that belong to no call, too */
};

void gp_decode(struct gp_decoder *decoder, const CUpti_Activity *record);

/* The id of a kernel's mangled name, with its definition emitted; 0 = failed. */
uint32_t gp_decode_name(struct gp_decoder *decoder, const char *name, uint32_t length_bytes);

/*
 * Whether a kernel record of that call has come; whether certainly none has.  Both become unknown
 * once a kernel record came whose id is larger by a multiple of GP_DECODE_ARRIVED_KEPT.
 */
bool gp_decode_has_arrived(uint32_t correlation_id);
bool gp_decode_is_awaited(uint32_t correlation_id);
#define GP_DECODE_ARRIVED_KEPT 65536u

#endif
