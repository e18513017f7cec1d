/* rank_map: the heat map of all ranks of a large job: how busy their GPUs were over time. */
#ifndef REPORT_HTML_RANK_MAP_H
#define REPORT_HTML_RANK_MAP_H

#include <stdio.h>

#include "report/tables/by/job.h"

/*
 * Write two elements: "ranks", a JSON object with the length of the job's time and the number of its
 * parts; and "rankparts", a byte for each part of each rank, in the order of the table of ranks, for
 * each enum gp_rank_work.  Returns 0 or -ENOMEM.
 */
int gp_html_put_rank_map(FILE *out, const struct gp_job *job);

#endif
