#include "report/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/base/monotonic.h"
#include "report/run/witness.h"

/* Wait for senders that signal one process after the other. */
#define OTHERS_NS 50000000

struct child {
	pid_t pid;
	int status;
	bool ended;
	bool stopped;
	bool reaps_all; /* orphans are reparented to this process */
	struct gp_witness witness;
	bool stop_asked; /* a stop signal of the terminal came since the child last ran */
	bool interrupted;
	uint64_t next_wait_ns; /* no wait_for_others() before: else a queue of signals would grow */
	char *name;            /* buffer for the kernel's name of it, up to 15 bytes; or NULL */
};

/*
 * Signals are blocked, not handled: they wait in the kernel until wait_for_end() takes each with
 * its sender, and none is lost before the first wait. If SIGCHLD were ignored, the kernel would
 * drop the child's status.
 */
void gp_child_hold_signals(struct gp_child_signals *signals)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &signals->mask);
	sigaction(SIGCHLD, &action, &signals->chld);
}

static void restore_signals(const struct gp_child_signals *signals)
{
	sigaction(SIGCHLD, &signals->chld, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

/*
 * Signals up to now were meant for the program. A signal that ends it often comes twice (timeout(1)
 * signals its child, then the whole group) and must not prevent the summary. SIGPIPE must not
 * change the exit status.
 */
static void leave_signals(const struct gp_child_signals *signals)
{
	struct timespec no_wait = {0};
	sigset_t all, kept;

	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &no_wait) > 0 || errno == EINTR)
		;
	restore_signals(signals);
	sigemptyset(&kept);
	sigaddset(&kept, SIGHUP);
	sigaddset(&kept, SIGPIPE);
	sigaddset(&kept, SIGTERM);
	sigprocmask(SIG_BLOCK, &kept, NULL);
}

/* Whether the entry is of the variable and names the parent of this process, the launcher. */
static bool names_launcher(const char *entry, const char *variable)
{
	size_t length = strlen(variable);

	return !strncmp(entry, variable, length) && atol(entry + length) == getppid();
}

/* Drops the variable, which is written with its "=". */
static void drop(char **environment, const char *variable)
{
	char **kept = environment;

	for (char **at = environment; *at; at++)
		if (strncmp(*at, variable, strlen(variable)) != 0)
			*kept++ = *at;
	*kept = NULL;
}

/*
 * A service manager names the process that it started: the one that may take its sockets, or that
 * its watchdog waits for. It named the launcher. LISTEN_PIDFDID is another name of the launcher;
 * without it, a program checks LISTEN_PID alone.
 */
static void take_over(char **environment)
{
	static const char *const names[] = {"LISTEN_PID=", "WATCHDOG_PID=", "SYSTEMD_EXEC_PID="};
	static char own[sizeof(names) / sizeof(names[0])][32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (char **at = environment; *at; at++)
			if (names_launcher(*at, names[i])) {
				snprintf(own[i], sizeof(own[i]), "%s%d", names[i], (int)getpid());
				*at = own[i];
			}
	if (*own[0])
		drop(environment, "LISTEN_PIDFDID=");
}

/*
 * Runs in the child. The parent sends a byte when it has forwarded earlier signals. If it was
 * killed before that, the program does not start. A successful exec closes the line; otherwise it
 * carries errno.
 */
static void become_program(char **arguments, char **environment,
			   const struct gp_child_signals *signals, int line)
{
	ssize_t got;
	char go;
	int error;

	do
		got = read(line, &go, sizeof(go));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(go))
		_exit(1);
	restore_signals(signals);
	take_over(environment);
	execvpe(arguments[0], arguments, environment);
	error = errno;
	while (write(line, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(1);
}

/* Returns 0 once the child executes the program, else -errno of the exec. */
static int read_exec_error(int line)
{
	int error = 0;
	ssize_t got;

	do
		got = read(line, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? -error : 0;
}

static void forward(const struct child *child, const siginfo_t *info)
{
	if (info->si_code == SI_QUEUE)
		sigqueue(child->pid, info->si_signo, info->si_value);
	else
		kill(child->pid, info->si_signo);
}

/*
 * Forwards the signals so far, including a Ctrl-C before the fork. The child still has all signals
 * blocked, so it does not get a signal twice that it got itself.
 */
static void forward_early(const struct child *child)
{
	struct timespec no_wait = {0};
	siginfo_t info;
	sigset_t all;
	int got;

	sigfillset(&all);
	while ((got = sigtimedwait(&all, &info, &no_wait)) > 0 || errno == EINTR)
		if (got > 0 && got != SIGCHLD)
			forward(child, &info);
}

static int start(struct child *child, char **arguments, char **environment,
		 const struct gp_child_signals *signals)
{
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	child->pid = fork();
	if (child->pid == 0) {
		close(ends[0]);
		become_program(arguments, environment, signals, ends[1]);
	}
	error = child->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!error) {
		gp_witness_guard(&child->witness, child->pid);
		forward_early(child);
		(void)send(ends[0], "", 1, MSG_NOSIGNAL);
		error = read_exec_error(ends[0]);
	}
	close(ends[0]);
	if (error && child->pid > 0)
		waitpid(child->pid, NULL, 0);
	return error;
}

/*
 * Stops this process when the program stops for the terminal, so that the shell sees its job stop.
 * If another process sent SIGSTOP to the program alone, this process goes on: the SIGCONT would not
 * reach it.
 */
static void stop_alike(struct child *child, int stop_signal)
{
	bool for_terminal = stop_signal == SIGTSTP || stop_signal == SIGTTIN ||
			    stop_signal == SIGTTOU || child->stop_asked;

	child->stopped = true;
	child->stop_asked = false;
	if (for_terminal)
		kill(getpid(), SIGSTOP);
}

/* Works until the child is reaped. */
static void note_name(const struct child *child)
{
	char path[64];
	FILE *file;

	if (!child->name)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)child->pid);
	file = fopen(path, "re");
	if (file && fgets(child->name, GP_CHILD_NAME_BYTES, file))
		child->name[strcspn(child->name, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* Takes all pending changes of state. */
static void reap(struct child *child)
{
	pid_t whom = child->reaps_all ? -1 : child->pid;
	pid_t pid;
	int status;

	note_name(child);
	while ((pid = waitpid(whom, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (pid != child->pid)
			continue;
		if (WIFSTOPPED(status)) {
			stop_alike(child, WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			child->stopped = false;
		} else {
			child->status = status;
			child->ended = true;
		}
	}
}

static void wait_for_others(struct child *child)
{
	if (gp_monotonic_ns() < child->next_wait_ns)
		return;
	nanosleep(&(struct timespec){.tv_nsec = OTHERS_NS}, NULL);
	child->next_wait_ns = gp_monotonic_ns() + OTHERS_NS;
}

/*
 * Signals from the kernel (Ctrl-C, a lost terminal), and signals to the group or to each process,
 * reach the child without help, unless it has left the group. Signals from the child are not for
 * itself. systemd, Slurm and `pkill -f` signal one process after the other: the witness may not
 * have the signal yet.
 */
static bool is_for_child(struct child *child, const siginfo_t *info)
{
	bool is_of_all = gp_witness_saw(&child->witness, info->si_signo);

	if (info->si_code > 0 || info->si_pid == child->pid ||
	    (info->si_signo == SIGCONT && !child->stopped))
		return false;
	if (is_of_all || getpgid(child->pid) != getpgrp())
		return getpgid(child->pid) != getpgrp();
	wait_for_others(child);
	return !gp_witness_saw(&child->witness, info->si_signo);
}

static bool asks_for_end(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

static void wait_for_end(struct child *child)
{
	siginfo_t info;
	sigset_t all;

	sigfillset(&all);
	while (!child->ended) {
		if (sigwaitinfo(&all, &info) < 0)
			continue; /* woken by stop and continue */
		child->interrupted |= asks_for_end(info.si_signo);
		reap(child);
		if (child->ended || info.si_signo == SIGCHLD)
			continue;
		if (info.si_signo == SIGTSTP)
			child->stop_asked = true;
		if (is_for_child(child, &info))
			forward(child, &info);
	}
}

/* Reaps ended children. Returns whether any child is left. */
static bool has_children(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0);
	return pid == 0;
}

/*
 * The program has ended. Its remaining processes are reparented to this process one by one. A
 * signal now ends the wait.
 */
static void wait_for_rest(void (*on_waiting)(void))
{
	sigset_t all;
	int number;

	sigfillset(&all);
	if (!has_children())
		return;
	if (on_waiting)
		on_waiting();
	while (has_children()) {
		number = sigwaitinfo(&all, NULL);
		if (asks_for_end(number))
			return;
		if (number == SIGTSTP)
			kill(getpid(), SIGSTOP);
	}
}

int gp_child_run(const struct gp_child_signals *signals, const struct gp_child_wait *wait,
		 char **arguments, char **environment, int *status)
{
	struct child child = {.reaps_all = wait->for_all || getpid() == 1, .name = wait->name};
	int error;

	if (wait->for_all)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* without a witness, signals to the group are delivered twice: better than not at all */
	(void)gp_witness_start(&child.witness, arguments);
	error = start(&child, arguments, environment, signals);
	if (!error)
		wait_for_end(&child);
	gp_witness_end(&child.witness);
	if (error)
		return error;
	if (wait->for_all)
		wait_for_rest(wait->on_waiting);
	leave_signals(signals);
	if (wait->interrupted)
		*wait->interrupted = child.interrupted;
	if (wait->pid)
		*wait->pid = child.pid;
	*status = child.status;
	return 0;
}

int gp_child_end_alike(int status)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t only;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (getpid() != 1) {
		prctl(PR_SET_DUMPABLE, 0);
		sigemptyset(&only);
		sigaddset(&only, WTERMSIG(status));
		sigaction(WTERMSIG(status), &action, NULL);
		sigprocmask(SIG_UNBLOCK, &only, NULL);
		kill(getpid(), WTERMSIG(status));
	}
	return 128 + WTERMSIG(status);
}
