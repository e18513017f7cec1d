#include "inject/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "gpuprof/utf8.h"

#define LINE_BYTES  12288 /* two paths and the text around them */
#define SHORT_BYTES 512
#define WRITABLE_MS 1000u /* after that, the reader is considered gone */

static bool silent;
static struct gp_file_id first;
static int first_error; /* -EBADF: it was closed; other values: unknown */

void gp_log_remember_stderr(void)
{
	first_error = gp_sys_file_id(STDERR_FILENO, &first);
}

static bool is_same(const struct gp_file_id *left, const struct gp_file_id *right)
{
	return left->device == right->device && left->inode == right->inode &&
	       left->type == right->type;
}

/*
 * A program that redirects its output usually has a log there.  A file that is open twice may be
 * data: only an append-only descriptor is safe for interleaved lines.  Under a seccomp filter no
 * further system calls are made.
 */
static bool is_log(const struct gp_file_id *file)
{
	struct gp_file_id output;

	if (gp_sys_file_id(STDOUT_FILENO, &output) != 0 || !is_same(&output, file))
		return false;
	if (file->type == S_IFREG && !gp_sys_is_confined()) {
		long flags = gp_sys.call(SYS_fcntl, STDERR_FILENO, F_GETFL, 0, 0, 0, 0);

		return flags >= 0 && (flags & O_APPEND) != 0;
	}
	return file->type == S_IFIFO || file->type == S_IFSOCK;
}

bool gp_log_is_visible(void)
{
	struct gp_file_id now;
	int error = gp_sys_file_id(STDERR_FILENO, &now);

	if (error != 0 || (first_error != 0 && first_error != -EBADF))
		return error != -EBADF;
	return (first_error == 0 && is_same(&now, &first)) || is_log(&now);
}

/* A pipe that stays full is not waited for, even if signals keep interrupting the wait. */
static bool is_writable(void)
{
	struct timespec left = {WRITABLE_MS / 1000, 0}; /* the kernel counts it down */
	struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};
	long ready;

	if (gp_sys_is_confined())
		return true;
	do
		ready = gp_sys.call(SYS_ppoll, (long)&wait, 1, (long)&left, 0, 0, 0);
	while (ready == -EINTR);
	return ready != 0; /* if the state is unknown, try to write */
}

void gp_log_disable(void)
{
	silent = true;
}

/*
 * The signal that the kernel sends for a write error: no reader, or beyond the file size limit; 0 =
 * none.
 */
static uint64_t signal_of(int error)
{
	return error == -EPIPE   ? GP_SYS_SIGNAL(SIGPIPE)
	       : error == -EFBIG ? GP_SYS_SIGNAL(SIGXFSZ)
				 : 0;
}

/*
 * The program chooses its readers, file size limits and terminal settings: our line must neither
 * end nor stop it.
 */
static void put(const char *line, size_t bytes)
{
	static const struct timespec at_once = {0, 0};
	/* with SIGTTOU held, the line is written and no signal comes */
	const uint64_t signals =
		GP_SYS_SIGNAL(SIGPIPE) | GP_SYS_SIGNAL(SIGXFSZ) | GP_SYS_SIGNAL(SIGTTOU);
	uint64_t pending = 0, before, answer;
	int error;

	if (!gp_log_is_visible() || !is_writable())
		return;
	gp_sys.call(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0);
	before = gp_sys_hold_signals(~signals);
	gp_sys_write(STDERR_FILENO, line, bytes, &error);
	answer = signal_of(error);
	if ((answer & ~pending) != 0)
		gp_sys.call(SYS_rt_sigtimedwait, (long)&answer, 0, (long)&at_once, sizeof(answer),
			    0, 0);
	gp_sys_let_signals(before);
}

/*
 * The line, with terminal control characters escaped; returns its length.  Text that does not fit
 * is replaced by "...".
 */
static size_t make_line(char *line, size_t size, const char *text)
{
	static const char prefix[] = "gpuprof: ", cut[] = "...\n";
	size_t bytes = sizeof(prefix) - 1, left = strlen(text), used;
	char shown[GP_UTF8_SHOWN_BYTES];

	memcpy(line, prefix, bytes);
	for (; left > 0; text += used, left -= used) {
		size_t more = gp_utf8_show(shown, text, left, &used);

		if (bytes + more + sizeof(cut) > size) {
			memcpy(line + bytes, cut, sizeof(cut) - 1);
			return bytes + sizeof(cut) - 1;
		}
		memcpy(line + bytes, shown, more);
		bytes += more;
	}
	line[bytes] = '\n';
	return bytes + 1;
}

#define KEPT_BYTES 4096u

static struct {
	bool is_on;
	uint32_t bytes; /* atomic; more than KEPT_BYTES: the rest did not fit */
	char text[KEPT_BYTES];
} kept;

static void keep(const char *line, size_t bytes)
{
	uint32_t at = gp_add32(&kept.bytes, (uint32_t)bytes);

	if (at + bytes <= KEPT_BYTES)
		memcpy(kept.text + at, line, bytes);
}

void gp_log_keep(void)
{
	kept.is_on = true;
}

void gp_log_take(char *text, size_t bytes)
{
	uint32_t length = gp_swap32(&kept.bytes, 0);

	length = length < KEPT_BYTES ? length : KEPT_BYTES;
	snprintf(text, bytes, "%.*s", (int)length, kept.text);
	memset(kept.text, 0, sizeof(kept.text));
}

static void write_out(const char *line, size_t bytes)
{
	if (kept.is_on)
		keep(line, bytes);
	else
		put(line, bytes);
}

static void format_and_write(char *text, char *line, size_t size, const char *format,
			     va_list arguments)
{
	if (vsnprintf(text, size, format, arguments) > 0)
		write_out(line, make_line(line, size, text));
}

/* While another thread logs, or nested in a signal handler, whose stack may be small. */
static __attribute__((noinline)) void log_short(const char *format, va_list arguments)
{
	char text[SHORT_BYTES], line[SHORT_BYTES];

	format_and_write(text, line, SHORT_BYTES, format, arguments);
}

void gp_log(const char *format, ...)
{
	/* owned by the thread whose id is in gp_process_state.logger */
	static char text[LINE_BYTES], line[LINE_BYTES];
	int saved_errno = errno;
	va_list arguments;

	if (silent)
		return;
	va_start(arguments, format);
	if (gp_replace32(&gp_process_state.logger, 0, gp_sys_thread_id())) {
		format_and_write(text, line, LINE_BYTES, format, arguments);
		gp_store32_release(&gp_process_state.logger, 0);
	} else {
		log_short(format, arguments);
	}
	va_end(arguments);
	errno = saved_errno;
}
