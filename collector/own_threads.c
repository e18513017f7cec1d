#include "collector/own_threads.h"

#include <stdint.h>

#include "collector/atomic.h"
#include "collector/identity.h"
#include "collector/since_fork.h"

static __thread bool is_own __attribute__((tls_model("initial-exec")));

void gp_own_thread_begins(void)
{
	is_own = true;
	gp_add32_ordered(&gp_since_fork.own_threads, 1);
}

void gp_own_thread_ends(void)
{
	gp_add32_ordered(&gp_since_fork.own_threads, (uint32_t)-1);
}

bool gp_own_thread_is_this(void)
{
	return is_own;
}

/* One that ends meanwhile might be counted here and not there. */
bool gp_own_threads_are_all(bool *may_change)
{
	uint32_t before = gp_load32_acquire(&gp_since_fork.own_threads);
	bool main_has_ended;
	uint32_t threads = gp_identity_threads(&main_has_ended);

	*may_change = threads != 0 || before > 1;
	return main_has_ended && threads == before + 1 &&
	       gp_load32_acquire(&gp_since_fork.own_threads) == before;
}
