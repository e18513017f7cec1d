/*
 * python_process: a running process as `gpuprof attach` sees it, and its Python.
 */
#ifndef REPORT_ATTACH_PYTHON_PROCESS_H
#define REPORT_ATTACH_PYTHON_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GP_PROCESS_GROUPS 64 /* further ones are left out */

struct gp_python_process {
	pid_t pid;
	unsigned long long start_time; /* tells a later process of that number from this one */
	uid_t user;                    /* effective */
	gid_t group, groups[GP_PROCESS_GROUPS];
	size_t group_count;
	unsigned major, minor; /* of its Python; 0: it is no Python program */
	char interpreter
		[PATH_MAX]; /* the program to call, or a name to search; "" without Python */
};

/* 0; -ESRCH: there is no such process, or it has ended; -EACCES: its mappings may not be read. */
int gp_python_process_read(struct gp_python_process *process, pid_t pid);

/* Whether it is still that process, and has not ended. */
bool gp_python_process_lives(const struct gp_python_process *process);

/* Whether it sees the same file under this path: it may be in a container of its own. */
bool gp_python_process_sees(const struct gp_python_process *process, const char *path);

#endif
