/*
 * buffer_threads: threads that launch nothing on a GPU and may fill the buffers that another thread copies,
 * as a data loader's.  Their ranges and Python samples show it; without these, nothing is known.
 */
#ifndef REPORT_ADVICE_RULES_BUFFER_THREADS_H
#define REPORT_ADVICE_RULES_BUFFER_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/advice/rules/advisor.h"

/* Zeroed = none. */
struct gp_buffer_threads {
	uint64_t *turns_ns; /* the starts and ends of their ranges, sorted */
	uint32_t turn_count;
};

/* Call gp_buffer_threads_free(). */
void gp_buffer_threads_find(struct gp_buffer_threads *fillers, const struct gp_model *model);
void gp_buffer_threads_free(struct gp_buffer_threads *fillers);

/* Whether one of their ranges begins or ends in that time. */
bool gp_buffer_threads_turn(const struct gp_buffer_threads *fillers, uint64_t from_ns,
			    uint64_t to_ns);

/* Whether samples show work, not waiting, for least_ns of that time of the process, for a case. */
bool gp_buffer_threads_work(struct gp_advisor *advisor, const struct gp_case *found,
			    uint64_t start_ns, uint64_t end_ns, uint64_t least_ns);

#endif
