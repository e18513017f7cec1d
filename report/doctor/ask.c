#include "report/doctor/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/base/monotonic.h"

#define NS_PER_S UINT64_C(1000000000)
#define PAUSE_MS 10 /* between two checks for the end of the child */

enum { OUT, ERRORS, STREAMS };

/* A running child. */
struct asked {
	pid_t pid;
	int streams[STREAMS]; /* the parent's ends; -1 = closed */
	size_t used[STREAMS];
	uint64_t deadline_ns;
};

static volatile sig_atomic_t signal_number;

static void note_signal(int number)
{
	signal_number = number;
}

void gp_ask_hold_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = note_signal};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &action, &before);
		if (before.sa_handler == SIG_IGN) /* nohup */
			sigaction(numbers[i], &before, NULL);
	}
}

int gp_ask_signal(void)
{
	return signal_number;
}

/*
 * Runs in the child. A process group of its own, so that the whole group can be killed; a session of
 * its own, as the program may be another user's, who must not type on this terminal.
 */
_Noreturn static void become(const struct gp_question *question, const int theirs[STREAMS])
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setsid();
	dup2(nothing, STDIN_FILENO);
	dup2(theirs[OUT], STDOUT_FILENO);
	dup2(theirs[ERRORS], STDERR_FILENO);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
	if (question->folder && chdir(question->folder) < 0)
		_exit(127);
	execve(question->arguments[0], question->arguments, question->environment);
	_exit(127);
}

static int start(struct asked *asked, const struct gp_question *question)
{
	int out[2], errors[2], error;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(errors, O_CLOEXEC) < 0) {
		error = errno;
		close(out[0]);
		close(out[1]);
		return -error;
	}
	asked->pid = fork();
	error = errno;
	if (asked->pid == 0)
		become(question, (const int[STREAMS]){out[1], errors[1]});
	close(out[1]);
	close(errors[1]);
	asked->streams[OUT] = out[0];
	asked->streams[ERRORS] = errors[0];
	if (asked->pid > 0)
		return 0;
	close(out[0]);
	close(errors[0]);
	return -error;
}

/* Takes the available bytes of a stream; drops bytes that do not fit. */
static void take(struct asked *asked, int stream, char text[GP_ANSWER_BYTES])
{
	char bytes[4096];
	ssize_t got = read(asked->streams[stream], bytes, sizeof(bytes));

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		close(asked->streams[stream]);
		asked->streams[stream] = -1;
		return;
	}
	for (ssize_t i = 0; i < got && asked->used[stream] < GP_ANSWER_BYTES - 1; i++)
		if (bytes[i] != 0)
			text[asked->used[stream]++] = bytes[i];
	text[asked->used[stream]] = 0;
}

/* Waits at most most_ms for output and takes it. Returns false if there was none. */
static bool listen_to(struct asked *asked, struct gp_doctor_answer *answer, int most_ms)
{
	struct pollfd wait[STREAMS] = {
		[OUT] = {.fd = asked->streams[OUT], .events = POLLIN},
		[ERRORS] = {.fd = asked->streams[ERRORS], .events = POLLIN},
	};

	if (poll(wait, STREAMS, most_ms) <= 0)
		return false;
	if (wait[OUT].revents)
		take(asked, OUT, answer->out);
	if (wait[ERRORS].revents)
		take(asked, ERRORS, answer->errors);
	return true;
}

/*
 * Waits for the end of the child. Its own children may hold its streams open after it ends, and it
 * may close its streams before. Returns false after the deadline.
 */
static bool wait_for(struct asked *asked, struct gp_doctor_answer *answer)
{
	bool has_ended = false;

	while (gp_monotonic_ns() < asked->deadline_ns && !signal_number) {
		has_ended =
			has_ended || waitpid(asked->pid, &answer->status, WNOHANG) == asked->pid;
		if (!listen_to(asked, answer, has_ended ? 0 : PAUSE_MS) && has_ended)
			return true;
	}
	return has_ended;
}

int gp_ask(const struct gp_question *question, struct gp_doctor_answer *answer)
{
	struct asked asked = {.deadline_ns = gp_monotonic_ns() + question->limit_s * NS_PER_S};
	int error = signal_number ? -EINTR : start(&asked, question);

	*answer = (struct gp_doctor_answer){.out = ""};
	if (error)
		return error;
	if (!wait_for(&asked, answer)) {
		answer->timed_out = true;
		kill(-asked.pid, SIGKILL);
		kill(asked.pid, SIGKILL);
		while (waitpid(asked.pid, &answer->status, 0) < 0 && errno == EINTR)
			;
	}
	for (int i = 0; i < STREAMS; i++)
		if (asked.streams[i] >= 0)
			close(asked.streams[i]);
	return signal_number ? -EINTR : 0;
}

bool gp_answer_is_good(const struct gp_doctor_answer *answer)
{
	return !answer->timed_out && WIFEXITED(answer->status) && WEXITSTATUS(answer->status) == 0;
}
