#include "inject/toggle_signal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collector/atomic.h"

static const struct {
	const char *name;
	int number;
} signals[] = {
	{"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"URG", SIGURG}, {"WINCH", SIGWINCH},
};

static uint32_t asked;
static void (*wake_up)(void);

/* Also in a forked child, where the count is never read. */
static void on_signal(int number)
{
	(void)number;
	gp_add32(&asked, 1);
	if (wake_up != NULL)
		wake_up();
}

static int find_signal(const char *name)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(signals[i].name, name) == 0)
			return signals[i].number;
	return 0;
}

int gp_toggle_signal_install(const char *name, void (*wake)(void))
{
	struct sigaction before, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int number = find_signal(name);

	if (number == 0)
		return -EINVAL;
	wake_up = wake;
	sigemptyset(&ours.sa_mask);
	if (sigaction(number, &ours, &before) != 0)
		return -errno;
	if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN ||
	    before.sa_handler == on_signal)
		return 0;
	sigaction(number, &before, NULL);
	return -EBUSY;
}

bool gp_toggle_signal_take(void)
{
	return gp_swap32(&asked, 0) & 1;
}
