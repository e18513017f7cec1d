#include "report/run/environment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool entry_is(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=';
}

/* Takes ownership of the entry; NULL is a failed allocation. */
static int add(struct gp_environment *environment, char *entry)
{
	char **entries;

	if (!entry)
		return -ENOMEM;
	entries = realloc(environment->entries, (environment->count + 2) * sizeof(*entries));
	if (!entries) {
		free(entry);
		return -ENOMEM;
	}
	entries[environment->count++] = entry;
	entries[environment->count] = NULL;
	environment->entries = entries;
	return 0;
}

static void remove_all(struct gp_environment *environment, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < environment->count; i++) {
		if (entry_is(environment->entries[i], name))
			free(environment->entries[i]);
		else
			environment->entries[kept++] = environment->entries[i];
	}
	environment->count = kept;
}

int gp_environment_copy(struct gp_environment *environment, char *const *from)
{
	memset(environment, 0, sizeof(*environment));
	for (; *from; from++) {
		int error = add(environment, strdup(*from));

		if (error) {
			gp_environment_free(environment);
			return error;
		}
	}
	return 0;
}

void gp_environment_free(struct gp_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->entries[i]);
	free(environment->entries);
	memset(environment, 0, sizeof(*environment));
}

const char *gp_environment_get(const struct gp_environment *environment, const char *name)
{
	for (size_t i = 0; i < environment->count; i++)
		if (entry_is(environment->entries[i], name))
			return environment->entries[i] + strlen(name) + 1;
	return NULL;
}

/* Sets NAME=FIRST:SECOND; without the colon if one is empty. */
static int set_joined(struct gp_environment *environment, const char *name, const char *first,
		      const char *second)
{
	const char *colon = *first && *second ? ":" : "";
	char *entry;

	if (asprintf(&entry, "%s=%s%s%s", name, first, colon, second) < 0)
		return -ENOMEM;
	remove_all(environment, name); /* first and second may point into the old entry */
	return add(environment, entry);
}

static const char *get_or_empty(const struct gp_environment *environment, const char *name)
{
	const char *value = gp_environment_get(environment, name);

	return value ? value : "";
}

int gp_environment_set(struct gp_environment *environment, const char *name, const char *value)
{
	return set_joined(environment, name, value, "");
}

int gp_environment_prepend(struct gp_environment *environment, const char *name, const char *value)
{
	return set_joined(environment, name, value, get_or_empty(environment, name));
}

int gp_environment_append(struct gp_environment *environment, const char *name, const char *value)
{
	return set_joined(environment, name, get_or_empty(environment, name), value);
}
