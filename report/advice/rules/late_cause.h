/*
 * late_cause: what a late rank does for longer than the ranks that wait for it: a kernel, or a
 * function of its host.
 */
#ifndef REPORT_ADVICE_RULES_LATE_CAUSE_H
#define REPORT_ADVICE_RULES_LATE_CAUSE_H

#include "report/advice/rules/advisor.h"

/* Ranks that take part in the same operations: processes. */
#define GP_PEERS 8
struct gp_peers {
	size_t processes[GP_PEERS];
	uint32_t count;
};

/* Adds a process that is not there yet, as long as there is space. */
void gp_peers_add(struct gp_peers *peers, size_t process);

/* Zeroed = unknown: a trace is incomplete or has no samples, or nothing takes longer. */
struct gp_late_cause {
	/* the kernel whose time exceeds that of the peers the most: the number of its name */
	uint64_t kernel;
	uint64_t kernel_ns, others_kernel_ns;       /* means, if it takes longer; else 0 ... */
	uint64_t kernel_count, others_kernel_count; /* ... and it runs more often; 0: unknown */
	bool are_all; /* nearly all kernels take longer, which a lower clock explains */
	/* the function that its host is in for longer: the number of a place */
	uint32_t place;
	uint64_t function_ns, others_function_ns; /* function_ns 0: unknown */
	bool is_alone;                            /* the peers hardly do it */
};

/* Compares kernels, and functions by Python samples. Without memory, the advisor has the error. */
void gp_late_cause_find_kernel(struct gp_advisor *advisor, size_t process,
			       const struct gp_peers *peers, struct gp_late_cause *cause);
void gp_late_cause_find_function(struct gp_advisor *advisor, size_t process,
				 const struct gp_peers *peers, struct gp_late_cause *cause);

/* Adds the known members by their names; the function as "function". */
void gp_late_cause_add_values(const struct gp_advisor *advisor, const struct gp_late_cause *cause,
			      struct gp_document *values);

#endif
