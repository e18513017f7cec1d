#include "report/doctor/personal.h"

#include <ctype.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/base/memstream.h"

/* The same on every machine. */
static bool is_impersonal(const char *name)
{
	return !name || !*name || strcmp(name, "/") == 0 || strcmp(name, "root") == 0 ||
	       strcmp(name, "localhost") == 0;
}

void gp_personal_find(struct gp_personal *personal)
{
	const struct passwd *entry = getpwuid(getuid());

	*personal = (struct gp_personal){
		.homes = {getenv("HOME"), entry ? entry->pw_dir : NULL},
		.users = {getenv("USER"), getenv("LOGNAME"), entry ? entry->pw_name : NULL},
	};
	if (uname(&personal->machine) == 0)
		personal->host = personal->machine.nodename;
	personal->folder = getcwd(personal->current, sizeof(personal->current));
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c);
}

/* The length of a name at `at`, after the character `before`; 0 if it is part of a longer word. */
static size_t starts_with(const char *at, char before, const char *name)
{
	size_t length;

	if (is_impersonal(name) || (is_of_word(name[0]) && is_of_word(before)))
		return 0;
	length = strlen(name);
	return strncmp(at, name, length) == 0 && !is_of_word(at[length]) ? length : 0;
}

/* The length of the name at `at`, and what replaces it; 0 if there is none. */
static size_t find_name(const struct gp_personal *personal, const char *at, char before,
			const char **instead)
{
	const struct {
		const char *name, *instead;
	} rules[] = {
		{personal->homes[0], "~"},    {personal->homes[1], "~"},
		{personal->folder, "."},      {personal->users[0], "USER"},
		{personal->users[1], "USER"}, {personal->users[2], "USER"},
		{personal->host, "HOST"},
	};
	size_t length, longest = 0;

	for (size_t i = 0; i < COUNT(rules); i++) {
		length = starts_with(at, before, rules[i].name);
		if (length > longest) {
			longest = length;
			*instead = rules[i].instead;
		}
	}
	return longest;
}

/* An absolute path, but neither a lone slash nor the authority of a URL. */
static bool begins_path(const char *at, char before)
{
	return *at == '/' && at[1] != '\0' && !strchr(" /", at[1]) && !is_of_word(before) &&
	       !strchr("-.~/+@$}", before);
}

static bool is_of_system(const char *path)
{
	static const char *const folders[] = {
		"bin",  "dev", "etc",  "lib",  "lib32", "lib64", "nix", "opt",
		"proc", "run", "sbin", "snap", "sys",   "tmp",   "usr", "var",
	};
	size_t length = strcspn(path + 1, "/");

	for (size_t i = 0; i < COUNT(folders); i++)
		if (strlen(folders[i]) == length && strncmp(path + 1, folders[i], length) == 0)
			return true;
	return false;
}

/* Where the last part of a path begins. A path between quotes may have spaces. */
static const char *last_part(const char *path, char before)
{
	const char quote[] = {before, '\0'};
	size_t bytes = strcspn(path, before == '\'' || before == '"' ? quote : " \t\n'\"`:,;()<>|");

	while (bytes > 1 && path[bytes - 1] != '/')
		bytes--;
	return path + bytes;
}

char *gp_personal_mask(const struct gp_personal *personal, const char *text)
{
	char *masked = NULL, before = ' ';
	size_t bytes;
	FILE *out = open_memstream(&masked, &bytes);

	for (const char *at = text; *at; before = at[-1]) {
		const char *instead = NULL;
		size_t length = find_name(personal, at, before, &instead);

		if (length) {
			fputs(instead, out);
			at += length;
		} else if (begins_path(at, before) && !is_of_system(at)) {
			at = last_part(at, before);
			fputs(".../", out);
		} else {
			fputc(*at++, out);
		}
	}
	gp_memstream_close(out, &masked);
	return masked;
}
