/*
 * stretches: where a main loop is left for long, and begun again.
 *
 * Two loops of the same operations one after the other, a loop that warms up before another phase,
 * and epochs with much between them all resemble one loop with a long iteration. The time between
 * them belongs to no iteration. The gap after an iteration's own operations ends a stretch if it is
 * a hundred times as long as the median iteration, and a twentieth of the time of all iterations
 * that are not followed by such a gap; and if it is the only one, or the stretches have 32
 * iterations on average: shorter ones are the loop itself waiting, for example for data that comes
 * many pieces at a time.
 */
#ifndef REPORT_ANALYSIS_LOOP_STRETCHES_H
#define REPORT_ANALYSIS_LOOP_STRETCHES_H

#include "report/analysis/loop/iterations.h"

/* Marks ends_stretch of rows in their order, each of which ends with its own last operation. */
void gp_stretches_mark(struct gp_iterations *iterations);

/*
 * Fills in the stretches of rows, each of which lasts to the next one of its stretch. Returns 0 or
 * -ENOMEM.
 */
int gp_stretches_gather(struct gp_iterations *iterations);

#endif
