/*
 * child: run a program as if nobody stood between it and whoever started us.
 *
 * It stays in our process group and keeps the terminal, so job control and the signals that the
 * terminal or anybody sends to the group reach it without us; only what another process sends to us
 * alone is handed on.  It starts with the signal mask and the signal dispositions that we were
 * started with. When it stops for the terminal, so do we, for the shell to see it.
 */
#ifndef REPORT_RUN_CHILD_H
#define REPORT_RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What we were started with, for the program and for the time after it. */
struct gp_child_signals {
	sigset_t mask;
	struct sigaction chld;
};

/*
 * From now on signals wait for the program to be started, which then gets them: none ends us while
 * we leave something behind.
 */
void gp_child_hold_signals(struct gp_child_signals *signals);

#define GP_CHILD_NAME_BYTES 64

/* How long to wait, and what to tell of it. */
struct gp_child_wait {
	bool for_all;             /* also for what the program leaves running, daemons among it */
	void (*on_waiting)(void); /* called if there is such; NULL = not */
	/*
	 * GP_CHILD_NAME_BYTES: what the kernel called the program in the end, which is another one
	 * after exec; "" where it does not say; NULL = not
	 */
	char *name;
	pid_t *pid; /* the program's; NULL = not */
	/*
	 * set where SIGINT, SIGTERM, SIGHUP or SIGQUIT came meanwhile, whatever the program did
	 * then; NULL = not
	 */
	bool *interrupted;
};

/*
 * Start arguments[0] (looked up in PATH, as execvp does) with this environment, wait until it has
 * ended, and put its wait status into *status.  With wait->for_all orphans become our children, and
 * the waiting ends when none is left, or by SIGINT, SIGTERM, SIGHUP or SIGQUIT.  As process 1 of a
 * container it also reaps the orphans that end meanwhile. Afterwards SIGHUP, SIGPIPE and SIGTERM
 * are blocked, for the summary to come whatever ended the program; all else is as it was. Returns
 * 0, or -errno of what kept the program from starting: signals are still held then.  Not to be
 * called by two threads.
 */
int gp_child_run(const struct gp_child_signals *signals, const struct gp_child_wait *wait,
		 char **arguments, char **environment, int *status);

/*
 * End as the program did: by the same signal, without a second core dump.  Returns the exit status
 * to end with where that was no signal, or where we are process 1, which no signal can end: then
 * 128 + its number.
 */
int gp_child_end_alike(int status);

#endif
