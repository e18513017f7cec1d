#include "report/run/witness.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 100

/* Signals since the last question, by number. */
struct testimony {
	uint32_t counts[_NSIG];
};

static void collect(struct testimony *testimony)
{
	struct timespec at_once = {0};
	sigset_t all;
	int number;

	memset(testimony, 0, sizeof(*testimony));
	sigfillset(&all);
	while ((number = sigtimedwait(&all, NULL, &at_once)) > 0 || errno == EINTR)
		if (number > 0 && number < _NSIG)
			testimony->counts[number]++;
}

/* Keeps only the socket open, so that no reader of another stream waits for the witness. */
_Noreturn static void bear_witness(int line)
{
	struct testimony testimony;
	char question;

	prctl(PR_SET_NAME, "gpuprof-witness");
	if (dup2(line, 0) == 0)
		syscall(SYS_close_range, 1, ~0u, 0);
	for (;;) {
		ssize_t got = recv(0, &question, 1, 0);

		if (got == 0 || (got < 0 && errno != EINTR))
			_exit(0);
		collect(&testimony);
		(void)send(0, &testimony, sizeof(testimony), MSG_NOSIGNAL);
	}
}

int gp_witness_start(struct gp_witness *witness)
{
	int ends[2];

	*witness = (struct gp_witness){0};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	witness->pid = fork();
	if (witness->pid == 0) {
		close(ends[0]);
		bear_witness(ends[1]);
	}
	close(ends[1]);
	if (witness->pid < 0) {
		int error = errno;

		close(ends[0]);
		*witness = (struct gp_witness){0};
		return -error;
	}
	witness->line = ends[0];
	return 0;
}

static void ask(struct gp_witness *witness)
{
	struct pollfd answer = {.fd = witness->line, .events = POLLIN};
	struct testimony testimony;

	/*
	 * The kernel holds the lock of setpgid() while it signals a group. After this call, which
	 * changes nothing, all members have the signals that this process has.
	 */
	(void)setpgid(0, getpgrp());
	if (send(witness->line, "?", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1 ||
	    poll(&answer, 1, PATIENCE_MS) != 1 ||
	    recv(witness->line, &testimony, sizeof(testimony), MSG_DONTWAIT) !=
		    (ssize_t)sizeof(testimony))
		return;
	for (int i = 0; i < _NSIG; i++)
		witness->seen[i] += testimony.counts[i];
}

/* Each real-time signal is queued; other pending signals of one number count once. */
bool gp_witness_saw(struct gp_witness *witness, int number)
{
	uint32_t *seen = &witness->seen[number];

	if (witness->pid == 0)
		return false;
	ask(witness);
	if (*seen == 0)
		return false;
	*seen = number >= SIGRTMIN ? *seen - 1 : 0;
	return true;
}

void gp_witness_end(struct gp_witness *witness)
{
	if (witness->pid == 0)
		return;
	close(witness->line);
	kill(witness->pid, SIGCONT); /* in case it was stopped */
	while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*witness = (struct gp_witness){0};
}
