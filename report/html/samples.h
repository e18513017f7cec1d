/*
 * samples: when the threads' Python stacks were sampled, for a page.  A function of a Python track
 * lasts as long as samples in a row found it; of the times between them nothing is known.
 */
#ifndef REPORT_HTML_SAMPLES_H
#define REPORT_HTML_SAMPLES_H

#include <stdint.h>
#include <stdio.h>

#include "report/tables/breakdown_scope.h"

/*
 * Write a row for each run of equal samples in which the thread did not only wait: index of the
 * process; thread; difference of its first sample's time to that of the previous row, by
 * gp_html_zigzag(); time until its last sample; number of samples.  Times are relative to the origin.
 * The runs of a thread follow each other in order.  Of more rows than the limit (0 = none) every nth
 * is written.  Returns 0 or a -errno.
 */
int gp_html_samples(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out);

#endif
