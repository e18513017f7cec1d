/*
 * truth: the actions that the workload has begun and finished, in a file shared with the test that
 * kills it.
 */
#ifndef TESTS_TORTURE_TRUTH_H
#define TESTS_TORTURE_TRUTH_H

#include <stdint.h>

#define TRUTH_VARIABLE "TORTURE_TRUTH" /* its path */
#define DELAY_VARIABLE "TORTURE_DELAY" /* ns until SIGKILL */
#define PHASE_VARIABLE                                                                             \
	"TORTURE_PHASE" /* "start": counted from main() on; "work": from the first launch on */
#define WORKERS      2u
#define LEAST_BYTES  256u       /* of an allocation; its number is added */
#define MOST_NUMBERS (1u << 20) /* of calls: more than fit the time */
#define MOST_ROUNDS  (MOST_NUMBERS / 8)
#define RANGE_NAMES  1000u /* ranges are named by their number in turn: "0" to "999" */

struct truth {
	uint64_t kernels_taken; /* first, for the simulated libcupti counts here; 0 on a real one */
	uint64_t zero[7];
	struct {
		uint32_t thread; /* id */
		uint32_t zero[15];
		uint64_t launches_begun, launches_done;
		uint64_t allocations_begun, allocations_done;
		uint64_t pushes_begun, pushes_done;
		uint64_t pops_begun, pops_done;
	} workers[WORKERS];
};

#endif
