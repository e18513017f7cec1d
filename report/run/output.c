#include "report/run/output.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "gpuprof/trace.h"
#include "report/base/shared_folder.h"

/* An output, and the option that names it. */
struct kind {
	const char *what, *option;
};

static int refuse(int error, char *message, size_t message_bytes, const char *what,
		  const char *name)
{
	snprintf(message, message_bytes, "cannot write %s: %s; use another name", name, what);
	return error;
}

/* Appends text; doubles every '%' if it goes into a template. Returns false if it does not fit. */
static bool append(char *absolute, const char *text, bool double_percent)
{
	size_t length = strlen(absolute);

	for (; *text && length + 2 < GP_OUTPUT_BYTES; text++) {
		if (*text == '%' && double_percent)
			absolute[length++] = '%';
		absolute[length++] = *text;
	}
	absolute[length] = 0;
	return !*text;
}

/* The first % part that is not %p, %n, %h, %r, %% or %q{VARIABLE}; or NULL. */
static const char *find_unknown_part(const char *template)
{
	for (const char *part = strchr(template, '%'); part; part = strchr(part + 2, '%')) {
		const char *end = part[1] == 'q' && part[2] == '{' ? strchr(part, '}') : NULL;

		if (!end && (!part[1] || !strchr("pnhr%", part[1])))
			return part;
	}
	return NULL;
}

static int make_absolute(const char *name, const struct kind *kind, char absolute[GP_OUTPUT_BYTES],
			 char *message, size_t message_bytes)
{
	char here[PATH_MAX] = "";

	absolute[0] = 0;
	if (name[0] != '/' && !getcwd(here, sizeof(here))) {
		snprintf(message, message_bytes,
			 "cannot write %s: the current folder is gone; name another folder with %s",
			 kind->what, kind->option);
		return -ENOENT;
	}
	if (!append(absolute, here, true) ||
	    (here[0] && here[1] && !append(absolute, "/", false)) || !append(absolute, name, false))
		return refuse(-ENAMETOOLONG, message, message_bytes, "the name is too long", name);
	return 0;
}

/* /proc and /sys are writable for root, but cannot hold files. */
static bool takes_files(const char *folder)
{
	struct statfs system;

	return statfs(folder, &system) == 0 && system.f_type != PROC_SUPER_MAGIC &&
	       system.f_type != SYSFS_MAGIC;
}

/* Whether `mkdir -p folder` would work: the first existing part of the path is writable. */
static bool can_be_made(const char *folder)
{
	char part[GP_OUTPUT_BYTES];
	char *slash;

	snprintf(part, sizeof(part), "%s", folder);
	while (access(part, F_OK) < 0 && errno == ENOENT) {
		slash = strrchr(part, '/');
		if (!slash || slash[1] == 0)
			return false;
		slash[slash == part ? 1 : 0] = 0;
	}
	return access(part, W_OK | X_OK) == 0 && takes_files(part);
}

static int check_folder(const char *folder, const struct kind *kind, char *message,
			size_t message_bytes)
{
	char word[GP_SHELL_WORD_BYTES], link[PATH_MAX];
	int fd = gp_shared_folder_enter(folder, link), error = 0;

	if (fd >= 0)
		close(fd);
	if (fd < 0)
		error = fd;
	else if (access(folder, W_OK | X_OK) < 0)
		error = -errno;
	else if (!takes_files(folder))
		error = -EPERM;
	if (link[0])
		snprintf(
			message, message_bytes,
			"cannot write %s to %s: %s is another user's link to a folder that is not owned by that user; name the folder by a path without such links",
			kind->what, folder, link);
	else if (error == -ENOENT && can_be_made(folder))
		snprintf(message, message_bytes, "cannot write %s to %s: %s; type: mkdir -p %s",
			 kind->what, folder, strerror(-error),
			 gp_shell_word(folder, word, sizeof(word)));
	else if (error)
		snprintf(message, message_bytes,
			 "cannot write %s to %s: %s; name another folder with %s", kind->what,
			 folder, strerror(-error), kind->option);
	return error;
}

void gp_output_folder(const char *absolute, char folder[GP_OUTPUT_BYTES])
{
	size_t length = 0, slash = 0;

	for (; *absolute; absolute++) {
		if (*absolute == '%' && *++absolute != '%')
			break;
		if (*absolute == '/')
			slash = length;
		folder[length++] = *absolute;
	}
	folder[slash ? slash : 1] = 0;
}

static bool is_folder(const char *absolute)
{
	struct stat status;

	return absolute[strlen(absolute) - 1] == '/' ||
	       (stat(absolute, &status) == 0 && S_ISDIR(status.st_mode));
}

/* The length of a % part. */
static size_t part_length(const char *part)
{
	const char *end = part[1] == 'q' ? strchr(part, '}') : NULL;

	return end ? (size_t)(end - part) + 1 : strnlen(part, 2);
}

void gp_output_pattern(const char *absolute, char pattern[GP_OUTPUT_PATTERN_BYTES])
{
	size_t length = strlen(absolute), suffix_length = strlen(GP_TRACE_SUFFIX);
	const char *end = absolute + length, *at = absolute;
	char *out = pattern;

	if (length > suffix_length && strcmp(end - suffix_length, GP_TRACE_SUFFIX) == 0)
		end -= suffix_length;
	while (at < end) {
		if (*at == '%' && at[1] != '%') {
			*out++ = '*';
			at += part_length(at);
			continue;
		}
		if (strchr("*?[\\", *at))
			*out++ = '\\';
		*out++ = *at;
		at += *at == '%' ? 2 : 1;
	}
	strcpy(out, is_folder(absolute) ? "/*" GP_TRACE_SUFFIX : "*" GP_TRACE_SUFFIX);
}

static int check(const char *name, const struct kind *kind, char absolute[GP_OUTPUT_BYTES],
		 char *message, size_t message_bytes)
{
	const char *unknown = find_unknown_part(name);
	char folder[GP_OUTPUT_BYTES] = "";
	int error;

	if (unknown) {
		snprintf(
			message, message_bytes,
			"the output name %s has the unknown part '%.2s'; use %%p %%n %%h %%r %%%% %%q{VARIABLE}",
			name, unknown);
		return -EINVAL;
	}
	if (!*name)
		return refuse(-ENOENT, message, message_bytes, "the name is empty", "the trace");
	error = make_absolute(name, kind, absolute, message, message_bytes);
	if (error)
		return error;
	gp_output_folder(absolute, folder);
	return check_folder(folder, kind, message, message_bytes);
}

/* Files are created beside that name: -o /dev/null would fill /dev. */
static bool is_device(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
}

int gp_output_template(const char *name, char absolute[GP_OUTPUT_BYTES], char *message,
		       size_t message_bytes)
{
	if (is_device(name))
		return refuse(-ENOTSUP, message, message_bytes,
			      "it is a device, and traces are files (NAME.gpuprof)", name);
	return check(name, &(struct kind){"traces", "-o"}, absolute, message, message_bytes);
}

int gp_output_summary(const char *name, char absolute[GP_OUTPUT_BYTES], char *message,
		      size_t message_bytes)
{
	if (!*name || name[strlen(name) - 1] == '/')
		return refuse(-EISDIR, message, message_bytes, "it is a folder", name);
	return check(name, &(struct kind){"the summary", "-s"}, absolute, message, message_bytes);
}
