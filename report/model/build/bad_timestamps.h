/*
 * bad_timestamps: operations whose time their own stream or their call contradicts.
 *
 * A stream runs one operation after the other. If the device states that one went on while ten
 * others of its stream ran, that one time is wrong (CUPTI does so for some first copies).
 */
#ifndef REPORT_MODEL_BUILD_BAD_TIMESTAMPS_H
#define REPORT_MODEL_BUILD_BAD_TIMESTAMPS_H

#include "report/model/model.h"

#define GP_CLASHES_COUNTED 100u

/*
 * Makes such operations of a sorted model untimed, at their start; their length is not known.
 * model.contradictions keeps the stated times, in the order of operations, with GP_CLASHES_COUNTED
 * clashes each at most; last_ns is recomputed, but for a part's.
 *
 * losses.ops_contradicted counts them. losses.ops_clashing counts the remaining operations that
 * began more than 1 us before the end of an earlier one of their stream: one of the two is wrong.
 *
 * Not counted: two graph nodes and the operations of one call, which may overlap in one stream;
 * programmatic dependent launches, which begin early; and recorders that do not name those
 * (GP_UNKNOWN_ORDER).
 *
 * losses.ops_early counts the operations that began more than 1 us before their call: the clocks of
 * GPU and host do not match. Returns 0 or -ENOMEM.
 */
int gp_untime_contradicted(struct gp_model *model);

#endif
