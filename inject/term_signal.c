#include "inject/term_signal.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "inject/dlsym.h"

#define VISIBLE __attribute__((visibility("default")))

typedef int action_function(int number, const struct sigaction *action, struct sigaction *before);
typedef void handler_function(int number);
typedef handler_function *signal_function(int number, handler_function *handler);

VISIBLE action_function sigaction;
VISIBLE signal_function signal;

/* Once installed, our handler stands in for the default action whenever the program sets that. */
static struct sigaction ours, replaced;
static uint32_t is_installed; /* atomic */
static void (*close_trace)(void);

/* Ends the process by the default action; by its exit status only if a filter forbids that. */
static void end_process(void)
{
	uint64_t term = GP_SYS_SIGNAL(SIGTERM);

	gp_sys.call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&term, 0, sizeof(term), 0, 0);
	gp_sys.call(SYS_tgkill, gp_sys_process_id(), gp_sys_thread_id(), SIGTERM, 0, 0, 0);
	for (;;)
		gp_sys.call(SYS_exit_group, 128 + SIGTERM, 0, 0, 0, 0, 0);
}

/*
 * Forked children inherit the handler; they have nothing to close.  The kernel has set the default
 * action, which process 1 of a namespace ignores.
 */
static void on_term(int number)
{
	int saved = errno;

	(void)number;
	if (gp_sys_process_id() != 1) {
		if (!gp_sys_is_confined())
			close_trace();
		end_process();
	}
	errno = saved;
}

/* ---- what the program sees ---- */

static action_function *real_action(void)
{
	static action_function *real;

	if (real == NULL)
		real = (action_function *)(uintptr_t)gp_dlsym(RTLD_NEXT, "sigaction");
	return real;
}

static signal_function *real_signal(void)
{
	static signal_function *real;

	if (real == NULL)
		real = (signal_function *)(uintptr_t)gp_dlsym(RTLD_NEXT, "signal");
	return real;
}

/* In the constructor: both may be called in signal handlers, where a lookup is not safe. */
__attribute__((constructor)) static void find_real_functions(void)
{
	(void)real_action();
	(void)real_signal();
}

/* The action to set: ours in place of the default one, except in a child of vfork(). */
static const struct sigaction *stand_in(int number, const struct sigaction *action)
{
	if (number != SIGTERM || action == NULL || action->sa_handler != SIG_DFL ||
	    gp_load32_acquire(&is_installed) == 0 || !gp_process_state_is_own_process())
		return action;
	replaced = *action;
	return &ours;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	action_function *real = real_action();
	struct sigaction shown = replaced;
	int result;

	if (real == NULL) {
		errno = ENOSYS;
		return -1;
	}
	result = real(number, stand_in(number, action), before);
	if (result == 0 && before != NULL && before->sa_handler == on_term)
		*before = shown;
	return result;
}

handler_function *signal(int number, handler_function *handler)
{
	signal_function *real = real_signal();
	handler_function *before;
	struct sigaction now;

	if (real == NULL) {
		errno = ENOSYS;
		return SIG_ERR;
	}
	before = real(number, handler);
	if (number == SIGTERM && handler == SIG_DFL && sigaction(number, NULL, &now) == 0)
		sigaction(number, &now, NULL);
	return before == on_term ? SIG_DFL : before;
}

/* A sanitizer's sigaction() may delay a handler until the program calls a function. */
static bool is_of_libc(action_function *function)
{
	return (uintptr_t)function == gp_dlsym_in_libc("sigaction", 0);
}

void gp_term_signal_install(void (*close)(void))
{
	action_function *real = real_action();
	struct sigaction before;

	if (real == NULL || !is_of_libc(real) || gp_sys_process_id() == 1 || gp_sys_is_confined() ||
	    real(SIGTERM, NULL, &before) != 0 || before.sa_handler != SIG_DFL)
		return;
	replaced = before;
	close_trace = close;
	/* not on an alternate stack, which may be too small for the end of the trace */
	ours = (struct sigaction){.sa_handler = on_term, .sa_flags = SA_RESTART | SA_RESETHAND};
	/* pairs with stand_in(): the words above are complete */
	gp_store32_release(&is_installed, 1);
	/* another thread of the program may have been faster */
	if (real(SIGTERM, &ours, &before) == 0 && before.sa_handler != SIG_DFL &&
	    before.sa_handler != on_term)
		real(SIGTERM, &before, NULL);
}
