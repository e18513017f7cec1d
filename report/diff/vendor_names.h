/*
 * vendor_names: matches the names of copies and API calls in traces of GPUs of different vendors:
 * "cudaLaunchKernel" and "hipLaunchKernel"; "[memcpy HtoD pageable]" and "[memcpy HtoD unknown]",
 * as traces of AMD's GPUs do not have the kind of memory.
 */
#ifndef REPORT_DIFF_VENDOR_NAMES_H
#define REPORT_DIFF_VENDOR_NAMES_H

#include "report/diff/run_set.h"

/*
 * Where one of the sets has the one name and the other set has the other, gives both rows the name
 * of what they have in common.
 */
void gp_vendor_names_match(struct gp_run_set *a, struct gp_run_set *b);

#endif
