#include "report/attach/attach.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/attach/request.h"
#include "report/base/text/text.h"
#include "report/doctor/ask.h"
#include "report/load/command.h"
#include "report/run/library.h"

#define FIRST_MINOR 14 /* of Python 3 */
#define MOST_WORDS  80

#define BY_LAUNCHER "start the program with gpuprof-run"

static int fail(const struct gp_attach *attach, const char *why, const char *next)
{
	return gp_command_fail(GP_EXIT_FAILED, "cannot %s %s %u: %s%s%s", attach->command,
			       strcmp(attach->command, "attach") == 0 ? "to" : "from", attach->pid,
			       why, next != NULL ? "; " : "", next != NULL ? next : "");
}

static int check_python(const struct gp_attach *attach, const struct gp_python_process *process)
{
	char why[128];

	if (process->minor == 0)
		return fail(attach, "it is no Python program", BY_LAUNCHER);
	if (process->major == 3 && process->minor >= FIRST_MINOR)
		return 0;
	snprintf(why, sizeof(why),
		 "it runs Python %u.%u, and 3.14 is the first that lets another "
		 "program in",
		 process->major, process->minor);
	return fail(attach, why, BY_LAUNCHER ", or call gpuprof.start() in it before it uses CUDA");
}

extern char **environ;

static bool is_kept(const char *variable)
{
	static const char *const kept[] = {"PATH=", "LD_LIBRARY_PATH=", "TMPDIR=", "GPUPROF_"};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
			return true;
	return false;
}

/* Root's other variables may be secrets, and the programs called from now on are that user's. */
static void drop_variables(void)
{
	char **end = environ;

	for (char **at = environ; *at != NULL; at++)
		if (is_kept(*at))
			*end++ = *at;
	*end = NULL;
}

/* As root: become the user of the process. */
static bool become_user_of(const struct gp_python_process *process)
{
	if (geteuid() != 0 || process->user == 0)
		return true;
	drop_variables();
	return setgroups(process->group_count, process->groups) == 0 &&
	       setgid(process->group) == 0 && setuid(process->user) == 0;
}

/* What the kernel demands of a program that changes another one's memory. */
static int refuse_rights(const struct gp_attach *attach, const struct gp_python_process *process)
{
	char next[256];

	if (process->user != geteuid())
		snprintf(
			next, sizeof(next),
			"it belongs to the user with number %u: type it as that user, or with sudo",
			(unsigned)process->user);
	else
		snprintf(
			next, sizeof(next),
			"if kernel.yama.ptrace_scope is not 0, type: sudo sysctl kernel.yama.ptrace_scope=0; in a container, start it with --cap-add=SYS_PTRACE");
	return fail(attach, "the kernel does not allow to change its memory", next);
}

/* "NAME ERRNO MESSAGE": Python's exception. */
static int refuse_by_python(const struct gp_attach *attach, const struct gp_python_process *process,
			    char *said)
{
	char name[64] = "";
	int number = 0, used = 0;

	(void)!sscanf(said, "%63s %d %n", name, &number, &used);
	said[strcspn(said, "\n")] = '\0';
	if (strcmp(name, "PermissionError") == 0 || number == EPERM || number == EACCES)
		return refuse_rights(attach, process);
	if (!gp_python_process_lives(process))
		return fail(attach, "it has ended", NULL);
	if (strcmp(name, "RuntimeError") == 0 && strstr(said, "not enabled") != NULL)
		return fail(
			attach,
			"it forbids remote debugging (PYTHON_DISABLE_REMOTE_DEBUG, -X disable_remote_debug, or a build without it)",
			BY_LAUNCHER);
	return fail(attach, said + used, BY_LAUNCHER);
}

static int refuse_end(const struct gp_attach *attach, const struct gp_python_process *process,
		      enum gp_request_end end, struct gp_request_answer *answer)
{
	char why[PATH_MAX + 256];

	switch (end) {
	case GP_REQUEST_NO_FOLDER:
		snprintf(why, sizeof(why), "a temporary folder cannot be made: %s",
			 strerror(errno));
		return fail(attach, why, "choose a writable folder with TMPDIR");
	case GP_REQUEST_UNSEEN:
		return fail(
			attach,
			"it does not see the temporary folder: it runs in a container or with another root",
			"type it inside that container, or choose a shared folder with TMPDIR");
	case GP_REQUEST_NO_PYTHON:
		snprintf(why, sizeof(why), "%s cannot be run: %.200s", process->interpreter,
			 answer->text);
		why[strcspn(why, "\n")] = '\0';
		return fail(attach, why, "name a Python of the same version with --python");
	case GP_REQUEST_REFUSED:
		return refuse_by_python(attach, process, answer->text);
	case GP_REQUEST_ENDED:
		return fail(attach, "it has ended meanwhile", NULL);
	case GP_REQUEST_UNANSWERED:
		return fail(attach, "it has taken the request, but not answered",
			    "look at the program; gpuprof top PID shows what waits for the GPU");
	default:
		if (gp_ask_signal() != 0)
			return fail(attach, "a signal ended the wait; nothing was changed", NULL);
		snprintf(
			why, sizeof(why),
			"its main thread executed no Python code for %u s, so it runs C code or waits; nothing was changed",
			attach->limit_s);
		return fail(attach, why, "try again, or wait longer with --timeout");
	}
}

/* The answers of the library and of the script. */
static int refuse_answer(const struct gp_attach *attach, const struct gp_request_answer *answer)
{
	char why[PATH_MAX + 128];

	switch (answer->status) {
	case -EALREADY:
		return fail(attach, "gpuprof records it from its start",
			    "gpuprof top PID shows it");
	case -EEXIST:
		return fail(attach, "it is attached already", "gpuprof detach PID ends that");
	case -ECHILD:
		return fail(attach, "it is a child of a process that was attached", BY_LAUNCHER);
	case -ESRCH:
		return fail(attach, "it is not attached", "gpuprof attach PID starts a recording");
	case -EINPROGRESS:
		return fail(attach, "another gpuprof attach or detach of it has not ended",
			    "try again later");
	case -EPERM:
		return fail(attach, "it has elevated privileges", NULL);
	case -EBUSY:
		return fail(attach,
			    answer->text[0] != '\0'
				    ? "see the line above"
				    : "an earlier recording of it has not ended properly",
			    NULL);
	case -ETIMEDOUT:
		return fail(attach,
			    "a thread of gpuprof has not ended, so it cannot be attached again",
			    "gpuprof finish FILE completes the trace once the program has ended");
	case GP_REQUEST_NO_CUDA:
		return fail(attach, "it has not used CUDA yet", "try again later");
	case GP_REQUEST_OTHER_TOOL:
		snprintf(why, sizeof(why), "it was started under another tool (%s)", answer->text);
		return fail(attach, why, NULL);
	case GP_REQUEST_OTHER_COPY:
		snprintf(why, sizeof(why), "it has loaded another copy of gpuprof (%s)",
			 answer->text);
		return fail(attach, why, "use that copy's gpuprof");
	default:
		return fail(attach, answer->text, BY_LAUNCHER);
	}
}

/* The process may be another user's, and answer with anything. */
static void print_lines(char *text)
{
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		gp_text_print(stderr, line);
		fputc('\n', stderr);
	}
}

#define LIBRARY_BYTES (PATH_MAX + sizeof("/" GP_LIBRARY_NAME))

static int find_library(char path[LIBRARY_BYTES])
{
	struct gp_library library;
	char message[512];

	if (gp_library_find(&library, message, sizeof(message)) != 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	snprintf(path, LIBRARY_BYTES, "%s/" GP_LIBRARY_NAME, library.folder);
	return 0;
}

static int prepare(const struct gp_attach *attach, struct gp_python_process *process)
{
	int error = gp_python_process_read(process, (pid_t)attach->pid);

	if (error == -ESRCH)
		return fail(attach, "there is no such process", NULL);
	if (error != 0)
		return refuse_rights(attach, process);
	error = check_python(attach, process);
	if (error != 0)
		return error;
	if (!become_user_of(process))
		return fail(attach, "this user cannot become its user", NULL);
	if (attach->python != NULL)
		snprintf(process->interpreter, sizeof(process->interpreter), "%s", attach->python);
	return 0;
}

int gp_attach(const struct gp_attach *attach, char trace[PATH_MAX])
{
	static struct gp_request_answer answer;
	struct gp_python_process process;
	char library[LIBRARY_BYTES];
	const char *words[MOST_WORDS] = {attach->command, library};
	enum gp_request_end end;
	int status = find_library(library);

	if (status == 0)
		status = prepare(attach, &process);
	if (status != 0)
		return status;
	for (size_t i = 0; attach->options != NULL && attach->options[i] != NULL; i++)
		if (i + 3 < MOST_WORDS)
			words[2 + i] = attach->options[i];
	end = gp_request_send(&process, words, attach->limit_s, &answer);
	if (end != GP_REQUEST_ANSWERED)
		return refuse_end(attach, &process, end, &answer);
	if (answer.status <= 0)
		print_lines(answer.text);
	if (answer.status != 0)
		return refuse_answer(attach, &answer);
	snprintf(trace, PATH_MAX, "%s", answer.path);
	return 0;
}
