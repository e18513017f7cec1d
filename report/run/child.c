#include "report/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
	pid_t pid;
	int status;
	bool ended;
	bool stopped;
	bool stop_asked; /* we got a stop signal of the terminal since the child last ran */
};

/* What we were started with, for the child and for the time after. */
struct inherited {
	sigset_t mask;
	struct sigaction chld;
};

/*
 * All signals are blocked, not handled: they wait in the kernel until wait_for_end() takes them one
 * by one with their senders, and none is lost between fork and the first wait.  A SIGCHLD that is
 * ignored would make the kernel throw the child's status away.
 */
static void take_signals(struct inherited *inherited)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &inherited->mask);
	sigaction(SIGCHLD, &action, &inherited->chld);
}

static void restore_signals(const struct inherited *inherited)
{
	sigaction(SIGCHLD, &inherited->chld, NULL);
	sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/*
 * What came until now was meant for the program.  What ends a program often comes twice (timeout(1)
 * signals its child, then the whole group) and must not cost the summary; nor must a closed pipe
 * cost the exit status.
 */
static void leave_signals(const struct inherited *inherited)
{
	struct timespec at_once = {0};
	sigset_t all, kept;

	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &at_once) > 0 || errno == EINTR)
		;
	restore_signals(inherited);
	sigemptyset(&kept);
	sigaddset(&kept, SIGHUP);
	sigaddset(&kept, SIGPIPE);
	sigaddset(&kept, SIGTERM);
	sigprocmask(SIG_BLOCK, &kept, NULL);
}

/* In the child.  The pipe closes at a successful exec; else it carries errno. */
static void become_program(char **arguments, char **environment, int error_pipe)
{
	int error;

	execvpe(arguments[0], arguments, environment);
	error = errno;
	while (write(error_pipe, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(1);
}

/* 0 if the child executes the program by now, else -errno of its exec. */
static int read_exec_error(int error_pipe)
{
	int error = 0;
	ssize_t got;

	do
		got = read(error_pipe, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? -error : 0;
}

static int start(struct child *child, char **arguments, char **environment,
		 const struct inherited *inherited)
{
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child->pid = fork();
	if (child->pid == 0) {
		restore_signals(inherited);
		become_program(arguments, environment, ends[1]);
	}
	error = child->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (!error)
		error = read_exec_error(ends[0]);
	close(ends[0]);
	if (error && child->pid > 0)
		waitpid(child->pid, NULL, 0);
	return error;
}

/*
 * The shell must see its job stop when the program stops for the terminal.  A program that was sent
 * a lone SIGSTOP is somebody else's business: whoever wakes it again would not wake us.
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

/* Take every change of state that the kernel has for us. */
static void reap(struct child *child)
{
	pid_t whom = getpid() == 1 ? -1 : child->pid;
	pid_t pid;
	int status;

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

/*
 * Signals that the kernel generates (Ctrl-C, a lost terminal) go to the whole group, so the child
 * has its own; those that the child sends are not for itself.
 */
static bool is_for_child(const struct child *child, const siginfo_t *info)
{
	if (info->si_code > 0 || info->si_pid == child->pid)
		return false;
	return info->si_signo != SIGCONT || child->stopped;
}

static void forward(const struct child *child, const siginfo_t *info)
{
	if (info->si_code == SI_QUEUE)
		sigqueue(child->pid, info->si_signo, info->si_value);
	else
		kill(child->pid, info->si_signo);
}

static void wait_for_end(struct child *child)
{
	siginfo_t info;
	sigset_t all;

	sigfillset(&all);
	while (!child->ended) {
		if (sigwaitinfo(&all, &info) < 0)
			continue; /* woken by a stop and continue */
		reap(child);
		if (child->ended || info.si_signo == SIGCHLD)
			continue;
		if (info.si_signo == SIGTSTP)
			child->stop_asked = true;
		if (is_for_child(child, &info))
			forward(child, &info);
	}
}

int gp_child_run(char **arguments, char **environment, int *status)
{
	struct child child = {0};
	struct inherited inherited;
	int error;

	take_signals(&inherited);
	error = start(&child, arguments, environment, &inherited);
	if (error) {
		restore_signals(&inherited);
		return error;
	}
	wait_for_end(&child);
	leave_signals(&inherited);
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
