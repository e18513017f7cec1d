#include "report/load/trace_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpuprof/count.h"
#include "report/base/array.h"

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), suffix_length = strlen(suffix);

	return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

static int is_trace(const struct dirent *entry)
{
	return ends_in(entry->d_name, ".gpuprof");
}

/* Next to traces of gpuprof, files with these names are exports of them. */
static int is_of_others(const struct dirent *entry)
{
	static const char *const suffixes[] = {".json", ".json.gz", ".sqlite"};
	size_t i = 0;

	while (i < COUNT(suffixes) && !ends_in(entry->d_name, suffixes[i]))
		i++;
	return i < COUNT(suffixes);
}

bool gp_trace_files_is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Takes the path over; NULL: there is no memory. */
static int add(struct gp_trace_files *files, char *path, bool may_be_none)
{
	if (!path || gp_array_grow(&files->files, &files->capacity, files->count,
				   sizeof(*files->files)) != 0) {
		free(path);
		return -ENOMEM;
	}
	files->files[files->count++] = (struct gp_trace_file){path, may_be_none};
	return 0;
}

/* Returns their number, or a negative errno value. */
static int add_entries(struct gp_trace_files *files, const char *folder,
		       int (*is_wanted)(const struct dirent *entry), bool may_be_none)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_wanted, alphasort), result = 0;
	int length = (int)strlen(folder);

	if (count < 0)
		return -errno;
	while (length > 1 && folder[length - 1] == '/')
		length--;
	for (int i = 0; i < count; i++) {
		char *path;

		if (result == 0 &&
		    asprintf(&path, "%.*s/%s", length, folder, entries[i]->d_name) < 0)
			path = NULL;
		if (result == 0)
			result = add(files, path, may_be_none);
		free(entries[i]);
	}
	free(entries);
	return result == 0 ? count : result;
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

/*
 * The traces in the subfolders, for example one for each host of a job. Returns as add_entries().
 */
static int add_below(struct gp_trace_files *files, const char *folder)
{
	struct gp_trace_files folders = {0};
	int result = add_entries(&folders, folder, is_folder, false), sum = 0;

	for (uint32_t i = 0; result >= 0 && i < folders.count; i++) {
		result = add_entries(files, folders.files[i].path, is_trace, false);
		sum += result;
	}
	gp_trace_files_free(&folders);
	return result < 0 ? result : sum;
}

int gp_trace_files_explain_none(const char *folder, char *message, size_t message_bytes)
{
	snprintf(
		message, message_bytes,
		"%s has no trace: the program did not use the GPU, or was not profiled; type: gpuprof doctor",
		folder);
	return -ENODATA;
}

int gp_trace_files_add(struct gp_trace_files *files, const char *path, char *message,
		       size_t message_bytes)
{
	int result;

	if (!gp_trace_files_is_folder(path)) {
		result = add(files, strdup(path), false);
	} else {
		result = add_entries(files, path, is_trace, false);
		if (result == 0)
			result = add_below(files, path);
		if (result == 0)
			result = add_entries(files, path, is_of_others, true);
		if (result == 0)
			return gp_trace_files_explain_none(path, message, message_bytes);
	}
	if (result == -ENOMEM)
		snprintf(message, message_bytes, "no memory");
	else if (result < 0)
		snprintf(message, message_bytes, "cannot read %s: %s", path, strerror(-result));
	return result < 0 ? result : 0;
}

void gp_trace_files_free(struct gp_trace_files *files)
{
	for (uint32_t i = 0; i < files->count; i++)
		free(files->files[i].path);
	free(files->files);
	*files = (struct gp_trace_files){0};
}
