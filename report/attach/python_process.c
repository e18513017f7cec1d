#include "report/attach/python_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES (PATH_MAX + 256)

static FILE *open_file_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* Its state letter and start time; false: it is gone. */
static bool read_stat(pid_t pid, char *state, unsigned long long *start_time)
{
	FILE *file = open_file_of(pid, "stat");
	char line[LINE_BYTES] = "", *rest;

	if (file == NULL)
		return false;
	(void)!fgets(line, sizeof(line), file);
	fclose(file);
	rest = strrchr(line, ')'); /* the name before it may contain anything */
	return rest != NULL &&
	       sscanf(rest,
		      ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
		      "%*d %*d %*d %*d %llu",
		      state, start_time) == 2;
}

/* "Groups:\t4 24 27 " */
static void read_groups(struct gp_python_process *process, const char *text)
{
	unsigned group;
	int used;

	while (process->group_count < GP_PROCESS_GROUPS &&
	       sscanf(text, "%u%n", &group, &used) == 1) {
		process->groups[process->group_count++] = group;
		text += used;
	}
}

static void read_owner(struct gp_python_process *process)
{
	FILE *file = open_file_of(process->pid, "status");
	char line[LINE_BYTES];

	while (file != NULL && fgets(line, sizeof(line), file)) {
		(void)!sscanf(line, "Uid: %*u %u", &process->user);
		(void)!sscanf(line, "Gid: %*u %u", &process->group);
		if (strncmp(line, "Groups:", 7) == 0)
			read_groups(process, line + 7);
	}
	if (file != NULL)
		fclose(file);
}

/* python3.14, or libpython3.14.so.1.0. */
static bool take_version(struct gp_python_process *process, const char *name)
{
	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	return sscanf(name, "python%u.%u", &process->major, &process->minor) == 2;
}

/* Its own program if that is a Python; else the Python of that version that a search finds. */
static void name_interpreter(struct gp_python_process *process)
{
	char link[64], path[PATH_MAX] = "";
	const char *slash;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)process->pid);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		path[0] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL && strncmp(slash + 1, "python", 6) == 0)
		snprintf(process->interpreter, sizeof(process->interpreter), "%s", link);
	else
		snprintf(process->interpreter, sizeof(process->interpreter), "python%u.%u",
			 process->major, process->minor);
}

static int read_mappings(struct gp_python_process *process)
{
	FILE *file = open_file_of(process->pid, "maps");
	char line[LINE_BYTES];

	if (file == NULL)
		return errno == ENOENT ? -ESRCH : -EACCES;
	while (process->minor == 0 && fgets(line, sizeof(line), file)) {
		const char *slash = strrchr(line, '/');

		if (slash != NULL && take_version(process, slash + 1))
			name_interpreter(process);
	}
	fclose(file);
	return 0;
}

int gp_python_process_read(struct gp_python_process *process, pid_t pid)
{
	char state = 0;

	*process = (struct gp_python_process){.pid = pid};
	if (!read_stat(pid, &state, &process->start_time) || state == 'Z' || state == 'X')
		return -ESRCH;
	read_owner(process);
	return read_mappings(process);
}

bool gp_python_process_lives(const struct gp_python_process *process)
{
	unsigned long long start_time;
	char state;

	return read_stat(process->pid, &state, &start_time) && state != 'Z' && state != 'X' &&
	       start_time == process->start_time;
}

bool gp_python_process_sees(const struct gp_python_process *process, const char *path)
{
	char theirs[LINE_BYTES];
	struct stat own, other;

	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", (int)process->pid, path);
	return stat(path, &own) == 0 && stat(theirs, &other) == 0 && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}
