#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/message.h"
#include "report/cli/align_hosts.h"
#include "report/cli/command_line.h"
#include "report/html/html.h"
#include "report/serve/server.h"
#include "report/serve/site.h"
#include "report/load/traces.h"

#define ADDRESS_BYTES 96u

static const char usage[] =
	"usage: gpuprof serve [options] FILE|FOLDER...\n"
	"\n"
	"Show trace files in a browser: serve the page of gpuprof html, with a button that opens the\n"
	"trace in the Perfetto UI, and its numbers as JSON.  The command prints the address, which\n"
	"only this machine can reach.  Several trace files of one run become one page.  Ctrl-C ends it.\n"
	"\n"
	"  -p, --port N         listen on port N (default: a free port)\n"
	"      --open           open the page in the browser of the desktop (xdg-open)\n"
	"  -l, --limit N        group short neighbors in the timeline if there are more than N calls,\n"
	"                       operations and ranges (default: 4000000; 0 = group none)\n"
	"      --min-duration TIME  group events shorter than TIME in the timeline with neighbors that\n"
	"                       are closer than TIME: 10us\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof serve gpuprof-app-1234.gpuprof\n"
	"  gpuprof serve --port 8123 rank*.gpuprof     from another machine: ssh -L 8123:127.0.0.1:8123 HOST\n"
	"\n"
	"The address ends in a token; requests without it are refused.  These are the other paths, and\n"
	"the parameters that they take beside the token (see docs/reference/serve.md).  Times in requests\n"
	"and answers are in ns; requests can have a unit: from=1500000 or from=1.5ms\n";

static const char usage_end[] =
	"\n"
	"Exit status: 0 when ended; 1 if it could not serve, or a file could not be read (the others\n"
	"are shown); 2 for a wrong command line.\n";

struct arguments {
	uint64_t port; /* 0 = any */
	uint64_t limit;
	uint64_t least_ns;
	bool opens;
	char *const *traces;
	size_t trace_count;
};

static void print_usage(void)
{
	fputs(usage, stdout);
	gp_site_list(stdout);
	fputs(usage_end, stdout);
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"port", 'p', .number = &a->port, .most = UINT16_MAX},
		{"limit", 'l', .number = &a->limit, .most = GP_COMMAND_MOST},
		{"min-duration", .time_ns = &a->least_ns},
		{"open", .flag = &a->opens},
		{"help", 'h', .print = print_usage},
		{0},
	};
	const struct gp_command_line line = {
		.command = "serve", .usage = usage, .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	if (status == GP_COMMAND_GO_ON)
		status = gp_command_check_traces("serve", NULL, a->traces, a->trace_count);
	return status;
}

/* ---- signals ---- */

static int stop_fd = -1;

/* The second signal ends the process at any point. */
static void stop(int signal)
{
	const uint64_t one = 1;
	int error = errno;

	(void)signal;
	if (write(stop_fd, &one, sizeof(one)) < 0)
		_exit(GP_EXIT_FAILED);
	errno = error;
}

static int catch_signals(void)
{
	struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};

	stop_fd = eventfd(0, EFD_CLOEXEC);
	if (stop_fd < 0)
		return -errno;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

/* ---- serving ---- */

static struct rlimit usual_data; /* the limit before traces are read */

/* Starts a program in a session of its own, so that Ctrl-C does not reach it. */
static int start(char *const *words)
{
	struct rlimit limit, own;
	posix_spawnattr_t attributes;
	sigset_t usual;
	pid_t pid;
	int error;

	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGCHLD);
	sigaddset(&usual, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	/* the current limit is for loading traces (report/base/memory_limit.h) */
	getrlimit(RLIMIT_DATA, &own);
	limit = (struct rlimit){.rlim_cur = usual_data.rlim_cur, .rlim_max = own.rlim_max};
	setrlimit(RLIMIT_DATA, &limit);
	error = posix_spawnp(&pid, words[0], NULL, &attributes, words, environ);
	setrlimit(RLIMIT_DATA, &own);
	posix_spawnattr_destroy(&attributes);
	return error;
}

static void open_browser(const struct gp_door *door)
{
	char program[] = "xdg-open", address[ADDRESS_BYTES];
	int error;

	snprintf(address, sizeof(address), "http://127.0.0.1:%u/?once=%s", (unsigned)door->port,
		 door->once);
	signal(SIGCHLD, SIG_IGN); /* no zombie remains */
	error = start((char *[]){program, address, NULL});
	if (error)
		gp_command_fail(0,
				"serve: cannot start xdg-open (%s); open the address in a browser",
				strerror(error));
}

static int serve(struct gp_server *server, const struct arguments *a)
{
	int result;

	puts(server->site->address);
	if (fflush(stdout) != 0)
		return gp_command_fail(GP_EXIT_FAILED, "serve: cannot print the address: %s",
				       strerror(errno));
	if (isatty(STDERR_FILENO))
		fputs("gpuprof: open this address in a browser of this machine; Ctrl-C ends it\n",
		      stderr);
	if (a->opens)
		open_browser(&server->site->door);
	result = gp_server_run(server, stop_fd);
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "serve: %s", strerror(-result));
}

static int serve_traces(const struct gp_traces *traces, const struct arguments *a)
{
	struct gp_site site = {.models = traces->models,
			       .model_count = traces->count,
			       .event_limit = a->limit,
			       .least_ns = a->least_ns,
			       .has_once = a->opens};
	struct gp_server server = {0};
	char message[GP_MESSAGE_BYTES];
	int result = gp_site_open(&site), status;

	snprintf(message, sizeof(message), "serve: %s", strerror(-result));
	if (result == 0)
		result =
			gp_server_open(&server, &site, (uint16_t)a->port, message, sizeof(message));
	status = result == 0 ? serve(&server, a) : gp_command_fail(GP_EXIT_FAILED, "%s", message);
	gp_server_close(&server);
	gp_site_close(&site);
	return status;
}

static int run(const struct arguments *a)
{
	struct gp_traces traces;
	int status = 0, result;

	getrlimit(RLIMIT_DATA, &usual_data);
	if (gp_traces_load(&traces, a->traces, a->trace_count, true) < 0 ||
	    gp_align_hosts(traces.models, traces.count) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	result = catch_signals();
	if (result < 0)
		status = gp_command_fail(GP_EXIT_FAILED, "serve: %s", strerror(-result));
	else if (traces.count > 0)
		status = serve_traces(&traces, a);
	status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
	gp_traces_free(&traces);
	return status;
}

int gp_command_serve(int argc, char **argv)
{
	struct arguments a = {.limit = GP_HTML_EVENTS};
	int status = parse(argc, argv, &a);

	return status == GP_COMMAND_GO_ON ? run(&a) : status;
}
