#include "inject/exec.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collector/sys.h"
#include "inject/error_text.h"
#include "inject/child_env.h"
#include "inject/log.h"

#define VISIBLE __attribute__((visibility("default")))

#define FD_PATH       "/proc/self/fd/%d"
#define FD_PATH_BYTES sizeof("/proc/self/fd/-2147483648/")

typedef int exec_function(const char *file, char *const arguments[], char *const environment[]);
typedef int fexecve_function(int fd, char *const arguments[], char *const environment[]);
typedef int execveat_function(int folder, const char *path, char *const arguments[],
			      char *const environment[], int flags);
typedef int spawn_function(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const arguments[],
			   char *const environment[]);

VISIBLE exec_function execve, execvpe;
VISIBLE execveat_function execveat;
VISIBLE spawn_function posix_spawn, posix_spawnp;
VISIBLE int fexecve(int fd, char *const arguments[], char *const environment[]);
VISIBLE int execv(const char *path, char *const arguments[]);
VISIBLE int execvp(const char *file, char *const arguments[]);
VISIBLE int execl(const char *path, const char *argument, ...);
VISIBLE int execlp(const char *file, const char *argument, ...);
VISIBLE int execle(const char *path, const char *argument, ...);

/* The C library's functions, by number; found on demand for callers before our constructor. */
enum real { EXECVE, EXECVPE, FEXECVE, EXECVEAT, POSIX_SPAWN, POSIX_SPAWNP, REALS };
static void *reals[REALS];
static bool (*records_here)(void), (*is_unfinished)(void);
static void (*leave)(void);

static void *real(enum real which)
{
	static const char *const names[] = {"execve",   "execvpe",     "fexecve",
					    "execveat", "posix_spawn", "posix_spawnp"};

	if (reals[which] == NULL)
		reals[which] = dlsym(RTLD_NEXT, names[which]);
	return reals[which];
}

void gp_exec_prepare(bool (*is_recording)(void), bool (*is_to_be_left)(void), void (*before)(void))
{
	for (int i = 0; i < REALS; i++)
		(void)real((enum real)i);
	records_here = is_recording;
	is_unfinished = is_to_be_left;
	leave = before;
}

/* ---- the file ---- */

static bool is_program(const char *path, struct stat *status)
{
	return gp_sys_stat(path, status) == 0 && S_ISREG(status->st_mode) &&
	       access(path, X_OK) == 0;
}

static bool is_plain_program(const char *path)
{
	struct stat status;

	return is_program(path, &status) && (status.st_mode & (S_ISUID | S_ISGID)) == 0 &&
	       getxattr(path, "security.capability", NULL, 0) < 0;
}

/* The first program of that name in PATH. */
static bool is_plain_program_in_path(const char *name)
{
	const char *folders = getenv("PATH");
	char path[PATH_MAX];
	struct stat status;

	if (folders == NULL)
		folders = "/bin:/usr/bin";
	for (const char *end; *folders != '\0'; folders = *end != '\0' ? end + 1 : end) {
		size_t length, name_length = strlen(name);

		end = strchrnul(folders, ':');
		length = (size_t)(end - folders);
		if (length + name_length + 2 > sizeof(path))
			continue;
		memcpy(path, folders, length);
		path[length] = '/';
		memcpy(path + length + (length > 0), name, name_length + 1);
		if (is_program(path, &status))
			return is_plain_program(path);
	}
	return false;
}

/* Whether the program exists and gains no privileges.  Preserves errno. */
static bool may_touch(const char *file, bool search)
{
	int saved = errno;
	bool may;

	if (file == NULL)
		return false;
	may = search && strchr(file, '/') == NULL ? is_plain_program_in_path(file)
						  : is_plain_program(file);
	errno = saved;
	return may;
}

/* ---- exec ---- */

/* The program to execute, and the function to use. */
struct target {
	enum real which;
	/* a path, a name to search in PATH, or the path by way of the descriptor in /proc */
	const char *file;
	int fd;
	/* for EXECVEAT: relative to the descriptor */
	const char *path;
	int flags;
};

static int call(const struct target *target, char *const arguments[], char *const environment[])
{
	void *function = real(target->which);

	if (function == NULL) {
		errno = ENOSYS;
		return -1;
	}
	if (target->which == FEXECVE)
		return ((fexecve_function *)function)(target->fd, arguments, environment);
	if (target->which == EXECVEAT)
		return ((execveat_function *)function)(target->fd, target->path, arguments,
						       environment, target->flags);
	return ((exec_function *)function)(target->file, arguments, environment);
}

/* Its frame may be large: kept out of the common path. */
__attribute__((noinline)) static int
call_followed(const struct target *target, char *const arguments[], char *const environment[])
{
	size_t size = gp_child_env_size(environment);
	char **with = alloca(size * sizeof(*with));
	char *preload = alloca(gp_child_env_preload_bytes(environment) + 1);

	if (size == 0)
		return call(target, arguments, environment);
	gp_child_env_fill(environment, with, preload);
	return call(target, arguments, with);
}

static int replace(const struct target *target, char *const arguments[], char *const environment[])
{
	bool follows = gp_child_env_applies(environment);
	bool records = records_here != NULL && records_here();
	bool leaves = is_unfinished != NULL && is_unfinished();
	int result, saved;

	if ((follows || leaves) && !may_touch(target->file, target->which == EXECVPE))
		follows = records = leaves = false;
	if (leaves)
		leave();
	result = follows ? call_followed(target, arguments, environment)
			 : call(target, arguments, environment);
	saved = errno;
	if (records)
		gp_log("the recording ended before %s was to be executed, which then failed: %s",
		       target->file, gp_error_text(saved));
	errno = saved;
	return result;
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
	return replace(&(struct target){.which = EXECVE, .file = path}, arguments, environment);
}

int fexecve(int fd, char *const arguments[], char *const environment[])
{
	char place[FD_PATH_BYTES];

	snprintf(place, sizeof(place), FD_PATH, fd);
	return replace(&(struct target){.which = FEXECVE, .file = place, .fd = fd}, arguments,
		       environment);
}

static bool is_relative(const struct target *target)
{
	return target->path != NULL && target->path[0] != '/';
}

/* A path that is too long for the kernel fails there; nothing is touched. */
int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
	     int flags)
{
	struct target target = {EXECVEAT, path, folder, path, flags};
	char place[FD_PATH_BYTES + PATH_MAX];

	if (is_relative(&target) && folder != AT_FDCWD) {
		snprintf(place, sizeof(place), FD_PATH "%s%s", folder, path[0] != '\0' ? "/" : "",
			 path);
		target.file = place;
	}
	return replace(&target, arguments, environment);
}

int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return replace(&(struct target){.which = EXECVPE, .file = file}, arguments, environment);
}

int execv(const char *path, char *const arguments[])
{
	return replace(&(struct target){.which = EXECVE, .file = path}, arguments, environ);
}

int execvp(const char *file, char *const arguments[])
{
	return replace(&(struct target){.which = EXECVPE, .file = file}, arguments, environ);
}

/* ---- exec with an argument list ---- */

/* Number of arguments up to the NULL; if `environment` is wanted, the pointer after it. */
static size_t count_arguments(const char *first, va_list rest, char *const **environment)
{
	size_t count = 0;

	for (const char *at = first; at != NULL; at = va_arg(rest, const char *))
		count++;
	if (environment != NULL)
		*environment = va_arg(rest, char *const *);
	return count;
}

static void collect_arguments(char **arguments, const char *first, va_list rest)
{
	for (const char *at = first; at != NULL; at = va_arg(rest, const char *))
		*arguments++ = (char *)at;
	*arguments = NULL;
}

int execl(const char *path, const char *argument, ...)
{
	va_list rest;
	size_t count;
	char **arguments;

	va_start(rest, argument);
	count = count_arguments(argument, rest, NULL);
	va_end(rest);
	arguments = alloca((count + 1) * sizeof(*arguments));
	va_start(rest, argument);
	collect_arguments(arguments, argument, rest);
	va_end(rest);
	return replace(&(struct target){.which = EXECVE, .file = path}, arguments, environ);
}

int execlp(const char *file, const char *argument, ...)
{
	va_list rest;
	size_t count;
	char **arguments;

	va_start(rest, argument);
	count = count_arguments(argument, rest, NULL);
	va_end(rest);
	arguments = alloca((count + 1) * sizeof(*arguments));
	va_start(rest, argument);
	collect_arguments(arguments, argument, rest);
	va_end(rest);
	return replace(&(struct target){.which = EXECVPE, .file = file}, arguments, environ);
}

int execle(const char *path, const char *argument, ...)
{
	char *const *environment;
	va_list rest;
	size_t count;
	char **arguments;

	va_start(rest, argument);
	count = count_arguments(argument, rest, &environment);
	va_end(rest);
	arguments = alloca((count + 1) * sizeof(*arguments));
	va_start(rest, argument);
	collect_arguments(arguments, argument, rest);
	va_end(rest);
	return replace(&(struct target){.which = EXECVE, .file = path}, arguments, environment);
}

/* ---- spawn ---- */

__attribute__((noinline)) static int
spawn_followed(spawn_function *function, pid_t *pid, const char *file,
	       const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	       char *const arguments[], char *const environment[])
{
	size_t size = gp_child_env_size(environment);
	char **with = alloca(size * sizeof(*with));
	char *preload = alloca(gp_child_env_preload_bytes(environment) + 1);

	if (size == 0)
		return function(pid, file, actions, attributes, arguments, environment);
	gp_child_env_fill(environment, with, preload);
	return function(pid, file, actions, attributes, arguments, with);
}

static int spawn(enum real which, pid_t *pid, const char *file,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const arguments[], char *const environment[])
{
	spawn_function *function = (spawn_function *)real(which);

	if (function == NULL)
		return ENOSYS;
	if (gp_child_env_applies(environment) && may_touch(file, which == POSIX_SPAWNP))
		return spawn_followed(function, pid, file, actions, attributes, arguments,
				      environment);
	return function(pid, file, actions, attributes, arguments, environment);
}

int posix_spawn(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const arguments[],
		char *const environment[])
{
	return spawn(POSIX_SPAWN, pid, file, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const arguments[],
		 char *const environment[])
{
	return spawn(POSIX_SPAWNP, pid, file, actions, attributes, arguments, environment);
}
