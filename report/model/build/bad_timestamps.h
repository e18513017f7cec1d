/*
 * contradict: operations whose time their own stream contradicts.  A stream does one after the
 * other; where the device states of one that it went on while ten others of its stream ran, that
 * one time is wrong (CUPTI has such of some first copies).
 */
#ifndef REPORT_MODEL_BUILD_BAD_TIMESTAMPS_H
#define REPORT_MODEL_BUILD_BAD_TIMESTAMPS_H

#include "report/model/model.h"

#define GP_CLASHES_COUNTED 100u

/*
 * Of a model whose operations are sorted: such an operation becomes untimed, where it began; how
 * long it took nobody knows. model.contradictions keeps what was stated, in the order of
 * operations, with no more than GP_CLASHES_COUNTED clashes each; last_ns is of what is left, but
 * for a part's.  losses.ops_contradicted counts them, ops_clashing those that are left and began
 * more than 1 us before one of their stream that had begun earlier ended, where nobody can say
 * which of the two is wrong.
 *
 * Two nodes of graphs, and what one call started, may run at once in what is told as one stream,
 * and a programmatic dependent launch begins early: these are none; nor is anything of a recorder
 * that does not say which launches are such (GP_UNKNOWN_ORDER).  Returns 0 or -ENOMEM.
 */
int gp_untime_contradicted(struct gp_model *model);

#endif
