/*
 * One rank has three times the other's work, or both have half of the total.  The operation in which
 * they wait is none of those that late-rank compares.
 */
#define MEET ncclDevKernel_Broadcast
#include "tests/gpu/sins/ranks.h"

const int STEP_US = 20000; /* of a rank, on average */

static void work(int rank, bool sin)
{
	launch_spin(!sin ? STEP_US : rank ? STEP_US * 3 / 2 : STEP_US / 2);
}
