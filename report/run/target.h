/*
 * target: a look at the program before it starts: can it be run, can it be profiled, what does it
 * need?
 *
 * Only its own file is looked at, and where that is a script, its interpreter's.  What the program
 * starts later is not.
 */
#ifndef REPORT_RUN_TARGET_H
#define REPORT_RUN_TARGET_H

#include <limits.h>
#include <stdbool.h>

/* Why a preloaded library cannot get into a program. */
enum gp_target_bar {
	GP_TARGET_OPEN, /* nothing seen that bars it */
	GP_TARGET_STATIC,
	GP_TARGET_OTHER_MACHINE, /* 32-bit, or another architecture */
	GP_TARGET_MUSL,
	/* set-user-id, set-group-id or file capabilities: the loader ignores LD_PRELOAD */
	GP_TARGET_PRIVILEGED,
	GP_TARGET_BARS
};

/*
 * The file that execvp would run for this name.  Returns 0; -ENOENT; -EACCES where there is a
 * file that cannot be executed; or -EISDIR where a path is that of a folder.
 */
int gp_target_find(const char *program, char path[PATH_MAX]);

/*
 * What runs in the end: the program itself, or the interpreter of a script, also one that `env`
 * looks up.
 */
struct gp_target {
	enum gp_target_bar bar;
	char file[PATH_MAX];
	/*
	 * that file's program interpreter, as /lib64/ld-linux-x86-64.so.2; "" = none; of one,
	 * itself
	 */
	char loader[PATH_MAX];
	bool has_kernels; /* of CUDA, in that file itself */
};

void gp_target_resolve(const char *path, struct gp_target *target);

/* Never fails: what cannot be read or is no ELF file bars nothing. */
enum gp_target_bar gp_target_look(const char *path);

/* The bar as the rest of "it runs unprofiled: ..."; NULL for GP_TARGET_OPEN. */
const char *gp_target_bar_text(enum gp_target_bar bar);

#endif
