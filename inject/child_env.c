#include "inject/child_env.h"

#include <string.h>
#include <sys/auxv.h>

#include "inject/options.h"

#define KEPT_BYTES   16384u
#define MOST_KEPT    64
#define MOST_PRELOAD 16384u /* bytes of a program's own LD_PRELOAD; it is copied to the stack */
#define PRELOAD      "LD_PRELOAD="
#define ASAN         "ASAN_OPTIONS="
#define ASAN_OPTION  "verify_asan_link_order=0" /* see set_environment() of report/run/run.c */
#define LIBRARY      "libgpuprof.so"
#define LOADER_PLACE "$LIB"

static struct {
	char bytes[KEPT_BYTES];
	size_t used;
	/* NAME=VALUE, LD_PRELOAD first; count 0: child environments stay unchanged */
	char *variables[MOST_KEPT];
	size_t count;
	bool is_full;
} kept;

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Whether the names are equal, including the '='. */
static bool is_same_variable(const char *left, const char *right)
{
	size_t length = strcspn(left, "=") + 1;

	return strncmp(left, right, length) == 0;
}

static const char *find(char *const *environment, const char *variable)
{
	for (; environment != NULL && *environment != NULL; environment++)
		if (is_same_variable(variable, *environment))
			return *environment;
	return NULL;
}

static void keep(const char *name, const char *value, size_t length)
{
	size_t name_length = strlen(name);

	if (kept.count == MOST_KEPT || length + name_length + 1 > KEPT_BYTES - kept.used) {
		kept.is_full = true;
		return;
	}
	kept.variables[kept.count++] = kept.bytes + kept.used;
	memcpy(kept.bytes + kept.used, name, name_length);
	memcpy(kept.bytes + kept.used + name_length, value, length);
	kept.bytes[kept.used + name_length + length] = '\0';
	kept.used += name_length + length + 1;
}

/*
 * The entry of LD_PRELOAD (separated by spaces or colons) that loaded this library; NULL if
 * incompatible programs could not skip it.
 */
static const char *find_own_entry(const char *preload, size_t *length)
{
	const char *entry = preload + strlen(PRELOAD);

	for (; *entry != '\0'; entry += *length + (entry[*length] != '\0')) {
		size_t name = strlen(LIBRARY);

		*length = strcspn(entry, " :");
		if (*length > name && memcmp(entry + *length - name, LIBRARY, name) == 0 &&
		    memmem(entry, *length, LOADER_PLACE, strlen(LOADER_PLACE)) != NULL)
			return entry;
	}
	return NULL;
}

void gp_child_env_remember(char *const *environment)
{
	const char *preload = find(environment, PRELOAD);
	const char *asan = find(environment, ASAN);
	size_t length;
	const char *own = preload != NULL ? find_own_entry(preload, &length) : NULL;

	if (own == NULL || getauxval(AT_SECURE) ||
	    strcmp(gp_option_text(GP_OPTION_ID_FOLLOW), "all") != 0)
		return;
	keep(PRELOAD, own, length);
	if (asan != NULL && strstr(asan, ASAN_OPTION) != NULL)
		keep(ASAN, ASAN_OPTION, strlen(ASAN_OPTION));
	for (; *environment != NULL; environment++)
		if (begins_with(*environment, GP_OPTION_PREFIX))
			keep("", *environment, strlen(*environment));
	if (kept.is_full)
		kept.count = 0;
}

/* The program's own LD_PRELOAD, if the library must be appended to it; else NULL. */
static const char *own_preload(char *const *environment)
{
	const char *preload = find(environment, PRELOAD);

	if (preload == NULL || preload[strlen(PRELOAD)] == '\0' || strstr(preload, LIBRARY) != NULL)
		return NULL;
	return strlen(preload) <= MOST_PRELOAD ? preload : NULL;
}

/*
 * A program built with gcc's address sanitizer needs that option to start with a preloaded library.
 */
bool gp_child_env_applies(char *const *environment)
{
	const char *asan;

	if (kept.count == 0 ||
	    (find(environment, PRELOAD) != NULL && own_preload(environment) == NULL))
		return false;
	asan = find(environment, ASAN);
	return asan == NULL || strstr(asan, ASAN_OPTION) != NULL;
}

size_t gp_child_env_size(char *const *environment)
{
	size_t count = kept.count + 1;

	for (; environment != NULL && *environment != NULL; environment++)
		if (++count > GP_CHILD_ENV_VARIABLES)
			return 0;
	return count;
}

size_t gp_child_env_preload_bytes(char *const *environment)
{
	const char *own = own_preload(environment);

	return own == NULL ? 0 : strlen(own) + 1 + strlen(kept.variables[0] + strlen(PRELOAD)) + 1;
}

static char *append_library(const char *own, char *preload)
{
	size_t length = strlen(own);

	memcpy(preload, own, length);
	preload[length] = ':';
	strcpy(preload + length + 1, kept.variables[0] + strlen(PRELOAD));
	return preload;
}

void gp_child_env_fill(char *const *environment, char **with, char *preload)
{
	const char *own = own_preload(environment);

	for (size_t i = 0; i < kept.count; i++)
		if (find(environment, kept.variables[i]) == NULL)
			*with++ = kept.variables[i];
	for (; environment != NULL && *environment != NULL; environment++)
		*with++ = *environment == own ? append_library(own, preload) : *environment;
	*with = NULL;
}
