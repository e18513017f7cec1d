/*
 * environment: builds the environment of the program, without changing this process's own.
 */
#ifndef REPORT_RUN_ENVIRONMENT_H
#define REPORT_RUN_ENVIRONMENT_H

#include <stddef.h>

struct gp_environment {
	char **entries; /* NAME=VALUE, NULL-terminated, as for execve() */
	size_t count;
};

/* Copies `from`. Functions that return int return 0 or -ENOMEM. */
int gp_environment_copy(struct gp_environment *environment, char *const *from);
void gp_environment_free(struct gp_environment *environment);

/* NULL if it is not set; valid until it is changed. */
const char *gp_environment_get(const struct gp_environment *environment, const char *name);

/* Replaces all entries of that name. */
int gp_environment_set(struct gp_environment *environment, const char *name, const char *value);

/*
 * Joins value and the old value with a colon, value first (prepend) or last (append). An empty old
 * value is replaced.
 */
int gp_environment_prepend(struct gp_environment *environment, const char *name, const char *value);
int gp_environment_append(struct gp_environment *environment, const char *name, const char *value);

#endif
