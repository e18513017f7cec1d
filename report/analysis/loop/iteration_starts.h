/*
 * iteration_starts: when iterations begin whose operations lie in several streams.
 *
 * A program that runs ahead copies the data of an iteration while the kernels of earlier ones run:
 * the start of its first operation tells how fast the host launches, not how long iterations take.
 * An iteration is measured by the stream in which it has most GPU time; all of them by one stream,
 * if more than half agree on it. It begins with its first operation, but not before that stream had
 * finished its earlier work.
 */
#ifndef REPORT_ANALYSIS_LOOP_ITERATION_STARTS_H
#define REPORT_ANALYSIS_LOOP_ITERATION_STARTS_H

#include "report/analysis/loop/iterations.h"
#include "report/analysis/loop/launch_order.h"
#include "report/model/model.h"

/*
 * Writes start_ns of rows that were found in that order of the model's operations, each with its
 * place and number of operations there.
 */
void gp_iteration_starts_set(struct gp_iterations *iterations, const struct gp_model *model,
			     const struct gp_launch_order *order);

#endif
