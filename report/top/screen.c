#include "report/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "report/base/memory.h"
#include "report/base/monotonic.h"

#define NS_PER_S UINT64_C(1000000000)

/* To the alternate screen, the cursor hidden, long lines cut; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

#define HOME           "\033[H"
#define END_LINE       "\033[K\n" /* the rest of the line is erased */
#define ERASE_THE_REST "\033[K\033[J"

static struct {
	bool has_keys; /* standard input is the terminal */
	struct termios before;
	sigset_t mask; /* the signal mask while waiting: the one before */
} screen;

/* Written by signal handlers, which run while gp_screen_wait() waits. */
static volatile sig_atomic_t ended_by, stop_wanted, redraw_wanted;

static void note_end(int signal)
{
	ended_by = signal;
}

static void note_stop(int signal)
{
	(void)signal;
	stop_wanted = 1;
}

static void note_redraw(int signal)
{
	(void)signal;
	redraw_wanted = 1;
}

static const struct {
	int signal;
	void (*note)(int);
} watched[] = {
	{SIGINT, note_end},   {SIGTERM, note_end},    {SIGHUP, note_end},      {SIGQUIT, note_end},
	{SIGTSTP, note_stop}, {SIGCONT, note_redraw}, {SIGWINCH, note_redraw},
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

bool gp_screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term != '\0' && strcmp(term, "dumb") != 0;
}

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

static void take_terminal(void)
{
	struct termios raw;

	screen.has_keys = tcgetattr(STDIN_FILENO, &screen.before) == 0;
	if (screen.has_keys) {
		raw = screen.before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0; /* read() returns at once, with the bytes there are */
		raw.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	put(ENTER);
}

static void give_terminal(void)
{
	put(LEAVE);
	if (screen.has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

void gp_screen_open(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < WATCHED; i++) {
		struct sigaction action = {.sa_handler = watched[i].note}, before;

		sigemptyset(&action.sa_mask);
		sigaction(watched[i].signal, NULL, &before);
		if (before.sa_handler == SIG_IGN) /* by the parent: nohup */
			continue;
		sigaction(watched[i].signal, &action, NULL);
		sigaddset(&blocked, watched[i].signal);
	}
	sigprocmask(SIG_BLOCK, &blocked, &screen.mask);
	take_terminal();
	gp_memory_add_last_act(give_terminal);
}

/* Ends by the noted signal, so that the waiting parent sees it. */
static void die(void)
{
	signal(ended_by, SIG_DFL);
	raise(ended_by);
	sigprocmask(SIG_SETMASK, &screen.mask, NULL);
}

void gp_screen_close(void)
{
	gp_memory_remove_last_act(give_terminal);
	give_terminal();
	if (ended_by != 0)
		die();
	sigprocmask(SIG_SETMASK, &screen.mask, NULL);
}

/* As Ctrl-Z does it to programs that do not notice; goes on here when the shell says so. */
static void stop(void)
{
	sigset_t mask;

	stop_wanted = 0;
	give_terminal();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigemptyset(&mask);
	sigaddset(&mask, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &mask, NULL); /* stops here */
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigaction(SIGTSTP, &(struct sigaction){.sa_handler = note_stop}, NULL);
	take_terminal();
	redraw_wanted = 1;
}

void gp_screen_size(size_t *rows, size_t *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
		*rows = size.ws_row;
		*columns = size.ws_col;
	}
}

void gp_screen_show(const char *text)
{
	size_t rows, columns;

	gp_screen_size(&rows, &columns);
	fputs(HOME, stdout);
	while (*text != '\0' && rows-- > 1) {
		size_t length = strcspn(text, "\n");

		fwrite(text, 1, length, stdout);
		fputs(END_LINE, stdout);
		text += length + (text[length] == '\n');
	}
	put(ERASE_THE_REST);
}

/* False: the terminal is gone. */
static bool read_keys(bool *quit)
{
	char keys[64];
	ssize_t got = read(STDIN_FILENO, keys, sizeof(keys));

	for (ssize_t i = 0; i < got; i++)
		*quit |= keys[i] == 'q' || keys[i] == 'Q';
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static struct timespec left_until(uint64_t until_ns)
{
	uint64_t now_ns = gp_monotonic_ns();
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;

	return (struct timespec){(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
}

enum gp_screen_event gp_screen_wait(uint64_t until_ns)
{
	struct pollfd keyboard = {.fd = screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
	bool quit = false;

	for (;;) {
		struct timespec left = left_until(until_ns);
		int ready = ppoll(&keyboard, 1, &left, &screen.mask);

		if (ended_by != 0)
			return GP_SCREEN_SIGNAL;
		if (stop_wanted)
			stop();
		if (redraw_wanted) {
			redraw_wanted = 0;
			return GP_SCREEN_REDRAW;
		}
		if (ready > 0 && !read_keys(&quit))
			return GP_SCREEN_QUIT;
		if (quit)
			return GP_SCREEN_QUIT;
		if (ready == 0)
			return GP_SCREEN_TIME_IS_UP;
	}
}
