#include "report/base/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/base/memory.h"

/*
 * After the messages come a byte that messages do not contain, and the result. The exit status does
 * not serve: another part of gpuprof may reap the process.
 */
#define END_BYTES 2

static int to_parent; /* in the worker */

static void say_no_memory(void)
{
	static const unsigned char end[END_BYTES] = {'\0', ENOMEM};

	(void)!write(to_parent, end, sizeof(end));
}

static void do_work(int to, gp_worker_process_work *work, void *context)
{
	FILE *messages = fdopen(to, "w");
	int result;

	if (!messages)
		return;
	result = work(context, messages);
	putc('\0', messages);
	putc(-result, messages);
	fflush(messages);
}

bool gp_worker_process_begin(struct gp_worker_process *worker, gp_worker_process_work *work,
			     void *context)
{
	pid_t ours = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	worker->process = fork();
	if (worker->process == 0) {
		close(ends[0]);
		to_parent = ends[1];
		gp_memory_forget_last_acts();
		gp_memory_add_last_act(say_no_memory);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == ours)
			do_work(ends[1], work, context);
		_exit(0);
	}
	close(ends[1]);
	worker->from = ends[0];
	if (worker->process > 0)
		return true;
	close(ends[0]);
	worker->process = 0;
	return false;
}

/*
 * Passes on all bytes but the last END_BYTES, which stay in `end`; *kept is their number. Returns
 * false if it could not pass on all.
 */
static bool pass_on(int from, FILE *messages, unsigned char end[END_BYTES], size_t *kept)
{
	unsigned char bytes[4096 + END_BYTES];
	ssize_t taken;

	for (;;) {
		memcpy(bytes, end, *kept);
		taken = read(from, bytes + *kept, sizeof(bytes) - END_BYTES);
		if (taken < 0 && errno == EINTR)
			continue;
		if (taken <= 0)
			return taken == 0;
		taken += (ssize_t)*kept;
		*kept = taken < END_BYTES ? (size_t)taken : END_BYTES;
		memcpy(end, bytes + taken - *kept, *kept);
		if (fwrite(bytes, 1, (size_t)taken - *kept, messages) < (size_t)taken - *kept)
			return false;
	}
}

int gp_worker_process_end(struct gp_worker_process *worker, FILE *messages)
{
	unsigned char end[END_BYTES];
	size_t kept = 0;
	bool is_all = pass_on(worker->from, messages, end, &kept);

	close(worker->from);
	while (waitpid(worker->process, NULL, 0) < 0 && errno == EINTR)
		;
	*worker = (struct gp_worker_process){0};
	if (is_all && kept == END_BYTES && end[0] == '\0')
		return -end[1];
	fwrite(end, 1, kept, messages);
	return -ECANCELED;
}

/* Kernels before 5.9 close one file at a time; higher descriptors stay open there. */
#define MOST_DESCRIPTORS 4096

/* Above the standard streams and the files' new places. */
static int move_away(int fd)
{
	return fcntl(fd, F_DUPFD, GP_CHILD_FILE + 2);
}

bool gp_isolate_child(pid_t parent, int first, int second)
{
	int nowhere = move_away(open("/dev/null", O_RDWR)), count = second < 0 ? 1 : 2;
	const int files[] = {move_away(first), move_away(second)};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(nowhere, fd);
	for (int i = 0; i < count; i++)
		if (dup2(files[i], GP_CHILD_FILE + i) < 0)
			return false;
	if (syscall(SYS_close_range, GP_CHILD_FILE + count, ~0u, 0) != 0)
		for (int fd = GP_CHILD_FILE + count; fd < MOST_DESCRIPTORS; fd++)
			(void)close(fd);
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}
