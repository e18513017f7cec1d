/* time_text: times as people write them: "1.5s", "20ms", "300us", "5000ns". */
#ifndef REPORT_BASE_TEXT_DURATION_H
#define REPORT_BASE_TEXT_DURATION_H

#include <stdbool.h>

/*
 * Digits, with a fraction where wanted, and a unit, which 0 alone does without.  True; else false,
 * and *ns is as it was.
 */
bool gp_time_text_read(const char *text, double *ns);

#endif
