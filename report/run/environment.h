/*
 * environment: the variables that the program starts with, built without touching our own.
 */
#ifndef REPORT_RUN_ENVIRONMENT_H
#define REPORT_RUN_ENVIRONMENT_H

#include <stddef.h>

struct gp_environment {
	char **entries; /* NAME=VALUE, ended by NULL: as execve takes it */
	size_t count;
};

/* A copy.  The functions that return int return 0 or -ENOMEM. */
int gp_environment_copy(struct gp_environment *environment, char *const *from);
void gp_environment_free(struct gp_environment *environment);

/* NULL where it is not set; valid until it is set. */
const char *gp_environment_get(const struct gp_environment *environment, const char *name);

/* Replaces every entry of that name. */
int gp_environment_set(struct gp_environment *environment, const char *name, const char *value);

/* Join value and the old one with a colon, value first (prepend) or last; an empty old one is
 * replaced. */
int gp_environment_prepend(struct gp_environment *environment, const char *name, const char *value);
int gp_environment_append(struct gp_environment *environment, const char *name, const char *value);

#endif
