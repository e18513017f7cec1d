/*
 * target: examines a program before it starts: whether it can be run and profiled, and what it
 * loads.
 *
 * It examines the program's own file, or the interpreter of a script, but no programs that are
 * started later.
 */
#ifndef REPORT_RUN_TARGET_H
#define REPORT_RUN_TARGET_H

#include <limits.h>
#include <stdbool.h>

/* Why a library cannot be preloaded into a program. */
enum gp_target_bar {
	GP_TARGET_OPEN, /* no reason found */
	GP_TARGET_STATIC,
	GP_TARGET_OTHER_MACHINE, /* 32-bit, or another architecture */
	GP_TARGET_MUSL,
	/* set-user-id, set-group-id or file capabilities: the loader ignores LD_PRELOAD */
	GP_TARGET_PRIVILEGED,
	GP_TARGET_BARS
};

/*
 * Finds the file that execvp() would run. Returns 0; -ENOENT; -EACCES if the file is not
 * executable; -EISDIR if the path is a folder.
 */
int gp_target_find(const char *program, char path[PATH_MAX]);

/*
 * The file that runs in the end: the program, or the interpreter of a script, also one found by
 * `env`.
 */
struct gp_target {
	enum gp_target_bar bar;
	char file[PATH_MAX];
	/* the file's loader, such as /lib64/ld-linux-x86-64.so.2; "" = none; a loader's own path */
	char loader[PATH_MAX];
	bool has_kernels; /* CUDA kernels, in the file itself */
};

void gp_target_resolve(const char *path, struct gp_target *target);

/* Never fails: an unreadable or non-ELF file is GP_TARGET_OPEN. */
enum gp_target_bar gp_target_look(const char *path);

/* The rest of "it is not profiled: ..."; NULL for GP_TARGET_OPEN. */
const char *gp_target_bar_text(enum gp_target_bar bar);

#endif
