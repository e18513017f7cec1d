/* duration: reads durations as people write them: "1.5s", "20ms", "300us", "5000ns". */
#ifndef REPORT_BASE_TEXT_DURATION_H
#define REPORT_BASE_TEXT_DURATION_H

#include <stdbool.h>

/*
 * Reads digits, an optional fraction and a unit, which only 0 may omit. On failure returns false
 * and leaves *ns unchanged.
 */
bool gp_duration_read(const char *text, double *ns);

#endif
