/*
 * peak_bandwidth: the peak of a copy's path, in one direction: the device's memory, or the link
 * between the device and the host or another device.
 */
#ifndef REPORT_MODEL_PEAK_BANDWIDTH_H
#define REPORT_MODEL_PEAK_BANDWIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/*
 * Bytes per second of a link, after the coding of its bits and before the packets' overhead; 0 =
 * not known.
 */
double gp_link_peak(const struct gp_record_link *link);

/*
 * Bytes per second that an operation, which is a copy, could have reached; 0 = not known, or it is
 * none.
 */
double gp_copy_peak(const struct gp_model *model, const struct gp_op *op);

/* Adds the time of an operation at its peak; one without a known peak is counted instead. */
void gp_copy_peak_add(const struct gp_model *model, const struct gp_op *op, uint64_t *peak_ns,
		      uint64_t *without_peak);

/*
 * Whether copies that took total_ns can be held against the peak_ns that they would have taken at
 * their peaks: all of them have one, and they were not faster, as where they went another way.
 */
bool gp_copy_peak_is_known(uint64_t without_peak, uint64_t peak_ns, uint64_t total_ns);

#endif
