#include "inject/output_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/job_place.h"
#include "gpuprof/option.h"
#include "collector/process_info.h"
#include "collector/sys.h"

/* A file name is the value of -o, followed by ".9999.json.gz" or the ending of a temporary file. */
#define MOST_NAME_BYTES  (NAME_MAX - 31u)
#define MOST_VALUE_BYTES 128u /* of %n and others, if the name is longer */

static char start_directory[PATH_MAX];
static char library[PATH_MAX];

void gp_output_path_remember(void)
{
	Dl_info information;

	if (getcwd(start_directory, sizeof(start_directory)) == NULL)
		start_directory[0] = '\0';
	if (dladdr((void *)gp_output_path_remember, &information) == 0)
		return;
	if (realpath(information.dli_fname, library) == NULL)
		snprintf(library, sizeof(library), "%s", information.dli_fname);
}

const char *gp_output_path_library(void)
{
	return library;
}

/* A result under construction; full is sticky. */
struct text {
	char *bytes;
	size_t limit;
	size_t length;
	size_t value_limit; /* of the value of a % sequence */
	bool full;
};

static void append(struct text *text, const char *piece, size_t length)
{
	if (text->length + length >= text->limit) {
		text->full = true;
		return;
	}
	memcpy(text->bytes + text->length, piece, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

/* A value must not lead to another folder by slashes or "..", nor hide the file. */
static void append_value(struct text *text, const char *value)
{
	const char *end = value + strnlen(value, text->value_limit);

	while (end > value && (*end & 0xc0) == 0x80) /* not in the middle of a UTF-8 character */
		end--;
	for (const char *at = value; at < end; at++)
		append(text, *at == '/' || (*at == '.' && at == value) ? "_" : at, 1);
}

static void append_program(struct text *text)
{
	char name[NAME_MAX + 1];

	append_value(text, gp_process_info_program(name, sizeof(name)) > 0 ? name : "program");
}

static void append_host(struct text *text)
{
	char name[HOST_NAME_MAX + 1] = "";

	gethostname(name, sizeof(name) - 1);
	append_value(text, name);
}

static void append_pid(struct text *text)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)getpid());
	append_value(text, number);
}

/* The rank of its job, so that names sort by it; the pid of a process without one. */
static void append_rank(struct text *text)
{
	char number[16];
	long rank = gp_job_rank();

	snprintf(number, sizeof(number), "%05ld", rank);
	if (rank < 0)
		append_pid(text);
	else
		append_value(text, number);
}

/* %q{NAME}: returns the text after the sequence, or NULL if it is malformed. */
static const char *append_variable(struct text *text, const char *braces)
{
	const char *end = strchr(braces, '}');
	char name[128];

	if (*braces != '{' || end == NULL || (size_t)(end - braces) > sizeof(name))
		return NULL;
	memcpy(name, braces + 1, (size_t)(end - braces) - 1);
	name[end - braces - 1] = '\0';
	const char *value = getenv(name);

	append_value(text, value != NULL ? value : "");
	return end + 1;
}

/* One % sequence, from the character after the sign; returns the text after it, or NULL. */
static const char *append_sequence(struct text *text, const char *sequence)
{
	switch (*sequence) {
	case 'p':
		append_pid(text);
		return sequence + 1;
	case 'n':
		append_program(text);
		return sequence + 1;
	case 'h':
		append_host(text);
		return sequence + 1;
	case 'r':
		append_rank(text);
		return sequence + 1;
	case 'q':
		return append_variable(text, sequence + 1);
	case '%':
		append(text, "%", 1);
		return sequence + 1;
	default:
		return NULL;
	}
}

/* A percent sign in the path of a folder stands for itself. */
static void append_place(struct text *text, const char *place, bool double_percent)
{
	for (; *place != '\0'; place++) {
		if (*place == '%' && double_percent)
			append(text, "%", 1);
		append(text, place, 1);
	}
}

static int begin_absolute(struct text *text, const char *path, bool double_percent)
{
	text->bytes[0] = '\0';
	if (*path == '/')
		return 0;
	if (start_directory[0] == '\0')
		return -ENOENT; /* the folder was removed before the program started */
	append_place(text, start_directory, double_percent);
	if (start_directory[1] != '\0')
		append(text, "/", 1);
	return 0;
}

int gp_output_path_absolute(const char *template, char *absolute, size_t absolute_bytes)
{
	struct text text = {.bytes = absolute, .limit = absolute_bytes};

	int error = begin_absolute(&text, template, true);

	append(&text, template, strlen(template));
	return error == 0 && text.full ? -ENAMETOOLONG : error;
}

/* Returns 0 or -EINVAL. */
static int append_expanded(struct text *text, const char *template)
{
	while (*template != '\0') {
		if (*template != '%') {
			append(text, template ++, 1);
			continue;
		}
		template = append_sequence(text, template + 1);
		if (template == NULL)
			return -EINVAL;
	}
	return 0;
}

/* Keeps the name if nothing else would be left. */
static void drop_end(struct text *text, const char *end)
{
	size_t bytes = strlen(end);

	if (text->length > bytes && strcmp(text->bytes + text->length - bytes, end) == 0 &&
	    text->bytes[text->length - bytes - 1] != '/')
		text->bytes[text->length -= bytes] = '\0';
}

/* Append the default name to a folder. */
static int complete(struct text *text, bool is_folder)
{
	struct stat status;

	if (!is_folder && (gp_sys_stat(text->bytes, &status) != 0 || !S_ISDIR(status.st_mode))) {
		drop_end(text, ".gpuprof"); /* it is added to every name later */
		return 0;
	}
	drop_end(text, "/.");
	if (!is_folder)
		append(text, "/", 1);
	return append_expanded(text, gp_option_rows[GP_OPTION_ID_OUTPUT].value);
}

static int expand(struct text *text, const char *template)
{
	size_t length = strlen(template);
	int error = begin_absolute(text, template, false);

	if (error == 0)
		error = append_expanded(text, template);
	if (error == 0)
		error = complete(text, length > 0 && template[length - 1] == '/');
	return error == 0 && text->full ? -ENAMETOOLONG : error;
}

int gp_output_path_expand(const char *template, char *path, size_t path_bytes)
{
	struct text text = {.bytes = path, .limit = path_bytes, .value_limit = SIZE_MAX};
	int error = expand(&text, template);

	if (error != 0 || strlen(strrchr(path, '/') + 1) <= MOST_NAME_BYTES)
		return error;
	text = (struct text){.bytes = path, .limit = path_bytes, .value_limit = MOST_VALUE_BYTES};
	return expand(&text, template);
}

/* The folders of a template from the first % sequence on. */
static size_t count_sequence_folders(const char *template)
{
	size_t count = 0;
	bool has_sequence = false;

	for (; *template != '\0'; template ++) {
		if (*template == '%' && template[1] == '%')
			template ++;
		else if (*template == '%')
			has_sequence = true;
		count += has_sequence && *template == '/';
	}
	return count;
}

static size_t count_slashes(const char *path)
{
	size_t count = 0;

	for (; *path != '\0'; path++)
		count += *path == '/';
	return count;
}

void gp_output_path_make_folders(const char *template, char *path)
{
	size_t slashes = count_slashes(path), made = count_sequence_folders(template);

	for (char *at = path; *at != '\0' && made > 0; at++) {
		if (*at != '/' || slashes-- > made)
			continue;
		*at = '\0';
		gp_sys_make_folder(path); /* if it cannot be made, opening the file says why */
		*at = '/';
	}
}
