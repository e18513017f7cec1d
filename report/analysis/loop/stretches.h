/*
 * stretches: where a main loop is left for long, and begun again.
 *
 * Two loops of the same operations one after the other, a loop that warms up before what comes
 * first, and epochs with much between them look like one loop with a long iteration.  What lies
 * between is none of an iteration's: a time behind an iteration's own operations that is a hundred
 * times as long as half of the iterations are, and a twentieth of the time of all that are not
 * followed by such a one, ends a stretch.  If there is one such time, or the stretches are 32
 * iterations long on average: where they are shorter, the loop itself waits, for data that comes so
 * many pieces at once, say.
 */
#ifndef REPORT_ANALYSIS_LOOP_STRETCHES_H
#define REPORT_ANALYSIS_LOOP_STRETCHES_H

#include "report/analysis/loop/iterations.h"

/*
 * Sets ends_stretch of rows in their order, each of which ends with its own last operation.
 * Returns 0 or -ENOMEM.
 */
int gp_stretches_mark(struct gp_iterations *iterations);

/*
 * Fills in the stretches of rows of which each lasts to the next one of its stretch.  Returns 0 or
 * -ENOMEM.
 */
int gp_stretches_gather(struct gp_iterations *iterations);

#endif
