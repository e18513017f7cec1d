#include "inject/client_calls.h"

#include "collector/atomic.h"
#include "collector/sys.h"

#define SLEEP_NS 20000u
#define MOST_NS  100000000u

static uint32_t inside; /* number of calls that are running or about to start */

static __thread uint32_t inside_here; /* number of these on this thread */

uint64_t gp_client_calls_enter(const uint64_t *function)
{
	inside_here++;
	gp_add32_ordered(&inside, 1);
	return gp_load64_ordered(function);
}

void gp_client_calls_leave(void)
{
	gp_add32_ordered(&inside, UINT32_MAX);
	inside_here--;
}

/*
 * A call that is counted after this check sees the new value of the word: store and load are
 * ordered on both sides.
 */
void gp_client_calls_await(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + MOST_NS;

	while (gp_load32_ordered(&inside) > inside_here && gp_sys_now_ns() < give_up_ns)
		gp_sys_sleep(SLEEP_NS);
}
