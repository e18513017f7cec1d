/*
 * child: runs a program as if it had been started directly.
 *
 * The program stays in this process group and keeps the terminal, so job control and signals to the
 * group reach it directly; only signals to this process alone are forwarded. It starts with the
 * signal mask and dispositions that this process was started with. When it stops for the terminal,
 * this process stops, too, so that the shell sees it.
 */
#ifndef REPORT_RUN_CHILD_H
#define REPORT_RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The inherited signal state: for the program, and to be restored after it. */
struct gp_child_signals {
	sigset_t mask;
	struct sigaction chld;
};

/*
 * Blocks signals until the program is started, which then gets them. So no signal ends this process
 * before it can clean up.
 */
void gp_child_hold_signals(struct gp_child_signals *signals);

#define GP_CHILD_NAME_BYTES 64

/* How long to wait, and what to report. */
struct gp_child_wait {
	/* also wait for processes that the program leaves behind, such as daemons */
	bool for_all;
	void (*on_waiting)(void); /* called if there are such processes; or NULL */
	/*
	 * GP_CHILD_NAME_BYTES for the kernel's name of the program at its end, which differs after
	 * an exec; "" if unknown; or NULL
	 */
	char *name;
	pid_t *pid; /* for the program's process id; or NULL */
	/* set if SIGINT, SIGTERM, SIGHUP or SIGQUIT came during the run; or NULL */
	bool *interrupted;
};

/*
 * Starts arguments[0] (looked up in PATH, as by execvp) with this environment, waits for its end,
 * and stores its wait status in *status. With wait->for_all orphans become children of this
 * process, and the wait ends when none is left, or with SIGINT, SIGTERM, SIGHUP or SIGQUIT. As
 * process 1 of a container it reaps orphans during the wait, too. Afterwards SIGHUP, SIGPIPE and
 * SIGTERM are blocked, so that the summary is printed whatever ended the program; other signals are
 * restored. Returns 0, or -errno if the program could not start; signals are still blocked then.
 * Not thread-safe.
 */
int gp_child_run(const struct gp_child_signals *signals, const struct gp_child_wait *wait,
		 char **arguments, char **environment, int *status);

/*
 * Ends this process like the program: by the same signal, without a second core dump. Otherwise
 * returns the exit status; for process 1, which no signal can end, it is 128 + the signal number.
 */
int gp_child_end_alike(int status);

#endif
