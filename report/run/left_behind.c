#include "report/run/left_behind.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpuprof/option.h"

#define MOST_NAMED    3
#define NAME_BYTES    32
#define ENTRY_BYTES   256 /* more than the session's */
#define PATH_OF_BYTES 64

static FILE *open_file_of(const char *pid, const char *name)
{
	char path[PATH_OF_BYTES];

	if (snprintf(path, sizeof(path), "/proc/%s/%s", pid, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* Reads to the next NUL. Returns false at the end. */
static bool read_entry(FILE *file, char entry[ENTRY_BYTES])
{
	size_t length = 0;
	int c;

	while ((c = getc_unlocked(file)) > 0)
		if (length < ENTRY_BYTES - 1)
			entry[length++] = (char)c;
	entry[length] = 0;
	return c == 0;
}

static bool is_of_session(const char *pid, const char *session)
{
	FILE *environment = open_file_of(pid, "environ");
	const size_t prefix = strlen(GP_SESSION_VARIABLE "=");
	char entry[ENTRY_BYTES];
	bool is_of = false;

	while (environment && !is_of && read_entry(environment, entry))
		is_of = strncmp(entry, GP_SESSION_VARIABLE "=", prefix) == 0 &&
			strcmp(entry + prefix, session) == 0;
	if (environment)
		fclose(environment);
	return is_of;
}

static void name_process(const char *pid, char *text, size_t text_bytes)
{
	FILE *file = open_file_of(pid, "comm");
	size_t length = strlen(text);
	char name[NAME_BYTES] = "";

	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
	snprintf(text + length, text_bytes - length, "%spid %s (%s)", length ? ", " : "", pid,
		 name);
}

size_t gp_left_behind(const char *session, char *text, size_t text_bytes)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	text[0] = 0;
	while (processes && (entry = readdir(processes)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_of_session(entry->d_name, session) && count++ < MOST_NAMED)
			name_process(entry->d_name, text, text_bytes);
	if (processes)
		closedir(processes);
	return count;
}
