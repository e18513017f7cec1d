#include "report/run/witness.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/base/monotonic.h"

#define PATIENCE_MS 100
/*
 * If the launcher has not received the same signal by then, it was not sent to all: it must not be
 * taken for a later one.
 */
#define FORGET_NS 1000000000u

/* What this process sends to the witness. */
enum question { ASK, GUARD, GOODBYE };

struct message {
	enum question question;
	pid_t program; /* for GUARD */
};

/* Signals since the last question, by number. */
struct testimony {
	uint32_t counts[_NSIG];
};

/* The state of the witness. */
struct stand {
	int line, signals;
	struct testimony testimony;
	uint64_t last_ns; /* the time of the last signal */
	pid_t program;    /* to kill if the launcher is killed; 0 = none */
	int program_fd;   /* of the same process, as its id may be reused; -1 = unknown */
};

/*
 * Overwrites the arguments of the witness, which the kernel shows, with two words and the
 * program's arguments. So `pkill -f` finds both or neither, and pidof, which compares only the
 * first two words, finds only the program. In a series of runs (--runs) the program's arguments are
 * elsewhere, and nothing is changed.
 */
static void take_command(char **arguments)
{
	static const char words[] = "witness\0of";
	char *start = program_invocation_name, *end = environ ? *environ : NULL;
	size_t bytes;

	if (!end || arguments[0] < start + sizeof(words) || arguments[0] >= end)
		return;
	bytes = (size_t)(end - arguments[0]);
	memmove(start + sizeof(words), arguments[0], bytes);
	memcpy(start, words, sizeof(words));
	memset(start + sizeof(words) + bytes, 0, (size_t)(end - start) - sizeof(words) - bytes);
}

static void collect(struct stand *stand)
{
	struct signalfd_siginfo info;
	uint64_t now_ns = gp_monotonic_ns();

	if (now_ns - stand->last_ns > FORGET_NS)
		memset(&stand->testimony, 0, sizeof(stand->testimony));
	while (read(stand->signals, &info, sizeof(info)) == sizeof(info)) {
		stand->last_ns = now_ns;
		if (info.ssi_signo < _NSIG)
			stand->testimony.counts[info.ssi_signo]++;
	}
}

static void guard(struct stand *stand, pid_t program)
{
	stand->program = program;
	stand->program_fd = (int)syscall(SYS_pidfd_open, program, 0);
}

_Noreturn static void end(const struct stand *stand, bool is_expected)
{
	if (!is_expected && stand->program_fd >= 0)
		syscall(SYS_pidfd_send_signal, stand->program_fd, SIGKILL, NULL, 0);
	else if (!is_expected && stand->program > 0)
		kill(stand->program, SIGKILL);
	_exit(0);
}

/* The end of the line without a goodbye is the end of the other process. */
static void answer(struct stand *stand)
{
	struct message message;
	ssize_t got = recv(stand->line, &message, sizeof(message), 0);

	if (got < 0) /* happens once if the other process left answers unread */
		return;
	if (got != sizeof(message) || message.question == GOODBYE)
		end(stand, got == sizeof(message));
	if (message.question == GUARD) {
		guard(stand, message.program);
		return;
	}
	collect(stand);
	(void)send(stand->line, &stand->testimony, sizeof(stand->testimony), MSG_NOSIGNAL);
	memset(&stand->testimony, 0, sizeof(stand->testimony));
}

/* Keeps only the socket open, so that no reader of another stream waits for the witness. */
_Noreturn static void bear_witness(int line, char **arguments)
{
	struct stand stand = {.program_fd = -1};
	struct pollfd wait[2];
	sigset_t all;

	take_command(arguments);
	prctl(PR_SET_NAME, "witness"); /* a search for "gpuprof" does not find it */
	if (dup2(line, stand.line) == stand.line)
		syscall(SYS_close_range, 1, ~0u, 0);
	sigfillset(&all);
	stand.signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	wait[0] = (struct pollfd){.fd = stand.line, .events = POLLIN};
	wait[1] = (struct pollfd){.fd = stand.signals, .events = POLLIN};
	for (;;) {
		if (poll(wait, 2, -1) < 0)
			continue;
		if (wait[1].revents)
			collect(&stand);
		if (wait[0].revents)
			answer(&stand);
	}
}

int gp_witness_start(struct gp_witness *witness, char **arguments)
{
	int ends[2];

	*witness = (struct gp_witness){0};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	witness->pid = fork();
	if (witness->pid == 0) {
		close(ends[0]);
		bear_witness(ends[1], arguments);
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

static bool tell(const struct gp_witness *witness, enum question question, pid_t program)
{
	struct message message = {question, program};

	return witness->pid != 0 && send(witness->line, &message, sizeof(message),
					 MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(message);
}

void gp_witness_guard(struct gp_witness *witness, pid_t program)
{
	(void)tell(witness, GUARD, program);
}

static bool take_answer(struct gp_witness *witness)
{
	struct testimony testimony;

	if (recv(witness->line, &testimony, sizeof(testimony), MSG_DONTWAIT) !=
	    (ssize_t)sizeof(testimony))
		return false;
	for (int i = 0; i < _NSIG; i++)
		witness->seen[i] += testimony.counts[i];
	return true;
}

static void ask(struct gp_witness *witness)
{
	struct pollfd answer = {.fd = witness->line, .events = POLLIN};

	while (take_answer(witness))
		; /* one that came too late */
	/*
	 * The kernel holds the lock of setpgid() while it signals a group. After this call, which
	 * changes nothing, all members have the signals that this process has.
	 */
	(void)setpgid(0, getpgrp());
	if (tell(witness, ASK, 0) && poll(&answer, 1, PATIENCE_MS) == 1)
		(void)take_answer(witness);
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
	(void)tell(witness, GOODBYE, 0);
	close(witness->line);
	kill(witness->pid, SIGCONT); /* in case it was stopped */
	while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*witness = (struct gp_witness){0};
}
