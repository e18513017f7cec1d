#include "report/export/parquet/parquet_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/base/shared_folder.h"
#include "report/codec/output_file.h"
#include "report/model/process_name.h"

enum { RANK, HOST, FIXED_COLUMNS };

#define NO_HOST    "unknown" /* names the files of traces without a host */
#define NAME_BYTES 240

struct file {
	struct gp_output_file output;
	struct gp_parquet *parquet; /* NULL = not open */
};

struct gp_parquet_folder {
	const char *path;
	const struct gp_parquet_table *tables;
	size_t table_count;
	char **names; /* of files, without their suffix */
	uint32_t name_count, name_capacity;
	char *host;    /* of the current process; NULL = unknown */
	uint32_t rank; /* or GP_NONE */
	struct file files[];
};

/* ---- the folder ---- */

static bool is_empty(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool is_empty = true;

	while (folder && is_empty && (entry = readdir(folder)) != NULL)
		is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (folder)
		closedir(folder);
	return folder && is_empty;
}

static int fail(int error, const char *path, char *message, size_t message_bytes)
{
	char text[GP_SHARED_FOLDER_TEXT];

	snprintf(message, message_bytes, "cannot write to %s: %s", path,
		 gp_shared_folder_error(error, path, text));
	return error;
}

/* Makes a folder, not through another user's link. Returns 0 or -errno. */
static int make_below(const char *path)
{
	char parent[PATH_MAX], link[PATH_MAX];
	size_t bytes = strlen(path);
	int folder, result;
	char *name;

	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--;
	if (bytes >= sizeof(parent) - 2)
		return -ENAMETOOLONG;
	snprintf(parent, sizeof(parent), "%s%.*s", memchr(path, '/', bytes) ? "" : "./", (int)bytes,
		 path);
	name = strrchr(parent, '/');
	*name = '\0';
	folder = gp_shared_folder_enter(name == parent ? "/" : parent, link);
	if (folder < 0)
		return folder;
	result = mkdirat(folder, name + 1, 0777) < 0 ? -errno : 0;
	close(folder);
	if (result != -EEXIST)
		return result;
	folder = gp_shared_folder_enter(path, link);
	if (folder >= 0)
		close(folder);
	return folder < 0 ? folder : -EEXIST;
}

/* Files of another export beside the new ones would be read as the same job. */
static int make_folder(const char *path, char *message, size_t message_bytes)
{
	int result = make_below(path);

	if (result == 0 || (result == -EEXIST && is_empty(path)))
		return 0;
	if (result != -EEXIST)
		return fail(result, path, message, message_bytes);
	snprintf(message, message_bytes,
		 "%s exists, but is not an empty folder; name a new folder after -o", path);
	return -EEXIST;
}

int gp_parquet_folder_open(struct gp_parquet_folder **folder, const char *path,
			   const struct gp_parquet_table *tables, size_t table_count, char *message,
			   size_t message_bytes)
{
	struct gp_parquet_folder *opened;
	int result = make_folder(path, message, message_bytes);

	*folder = NULL;
	if (result != 0)
		return result;
	opened = calloc(1, sizeof(*opened) + table_count * sizeof(opened->files[0]));
	opened->path = path;
	opened->tables = tables;
	opened->table_count = table_count;
	*folder = opened;
	return 0;
}

/* ---- the files of a host ---- */

static int write_rest(struct file *file)
{
	int error = gp_parquet_close(file->parquet);

	file->parquet = NULL;
	if ((error == 0 || error == -EIO) && fflush(file->output.stream) != 0)
		error = -errno;
	return error;
}

/* All are written before the first one gets its name: there are all of them, or none. */
static int close_files(struct gp_parquet_folder *folder, int result, char *message,
		       size_t message_bytes)
{
	for (size_t i = 0; i < folder->table_count; i++) {
		int error = folder->files[i].parquet ? write_rest(&folder->files[i]) : 0;

		result = result == 0 ? error : result;
	}
	for (size_t i = 0; i < folder->table_count; i++)
		if (folder->files[i].output.stream)
			result = gp_output_file_close(&folder->files[i].output, result, message,
						      message_bytes);
	return result;
}

static void open_parquet(struct file *file, const struct gp_parquet_table *table)
{
	struct gp_parquet_column columns[FIXED_COLUMNS + GP_PARQUET_MOST_COLUMNS] = {
		[RANK] = {"rank", GP_PARQUET_SIGNED}, [HOST] = {"host", GP_PARQUET_TEXT}};

	memcpy(columns + FIXED_COLUMNS, table->columns,
	       table->column_count * sizeof(table->columns[0]));
	gp_parquet_open(&file->parquet, file->output.stream, columns,
			FIXED_COLUMNS + table->column_count);
}

static int open_file(struct gp_parquet_folder *folder, size_t table, const char *name,
		     char *message, size_t message_bytes)
{
	struct file *file = &folder->files[table];
	char *path;
	int result;

	asprintf(&path, "%s/%s/%s.parquet", folder->path, folder->tables[table].name, name);
	*strrchr(path, '/') = '\0';
	result = make_below(path);
	result = result == 0 || result == -EEXIST ? 0 : fail(result, path, message, message_bytes);
	path[strlen(path)] = '/';
	if (result == 0)
		result = gp_output_file_open(&file->output, path, NULL, message, message_bytes);
	free(path);
	if (result != 0)
		return result;
	open_parquet(file, &folder->tables[table]);
	return 0;
}

static bool is_used(const struct gp_parquet_folder *folder, const char *name)
{
	for (uint32_t i = 0; i < folder->name_count; i++)
		if (strcmp(folder->names[i], name) == 0)
			return true;
	return false;
}

/*
 * A host's name as that of a file; a trace may hold any text.  A host whose files are complete gets
 * new ones, with a number.
 */
static void name_file(const struct gp_parquet_folder *folder, char name[NAME_BYTES])
{
	const char *host = folder->host ? folder->host : NO_HOST;
	size_t used = 0;

	for (; host[used] != '\0' && used < NAME_BYTES - 16; used++)
		name[used] = isalnum((unsigned char)host[used]) || strchr("-_", host[used]) ||
					     (host[used] == '.' && used > 0)
				     ? host[used]
				     : '_';
	name[used] = '\0';
	for (uint32_t number = 2; is_used(folder, name); number++)
		snprintf(name + used, NAME_BYTES - used, ".%u", number);
}

static int open_files(struct gp_parquet_folder *folder, char *message, size_t message_bytes)
{
	char name[NAME_BYTES];
	char *copy;
	int result;

	name_file(folder, name);
	copy = strdup(name);
	gp_array_grow(&folder->names, &folder->name_capacity, folder->name_count,
		      sizeof(*folder->names));
	result = 0;
	folder->names[folder->name_count++] = copy;
	for (size_t i = 0; i < folder->table_count && result == 0; i++)
		result = open_file(folder, i, name, message, message_bytes);
	return result;
}

static bool is_of_host(const struct gp_parquet_folder *folder, const char *host)
{
	if (folder->name_count == 0)
		return false;
	return host && folder->host ? strcmp(host, folder->host) == 0 : host == folder->host;
}

int gp_parquet_folder_begin(struct gp_parquet_folder *folder, const struct gp_model *model,
			    char *message, size_t message_bytes)
{
	const char *host = model->info[GP_INFO_HOST];
	int result;

	folder->rank = gp_model_rank(model);
	if (is_of_host(folder, host))
		return 0;
	result = close_files(folder, 0, message, message_bytes);
	free(folder->host);
	folder->host = host ? strdup(host) : NULL;
	return result == 0 ? open_files(folder, message, message_bytes) : result;
}

/* ---- rows ---- */

static void put_value(struct gp_parquet *parquet, size_t column, const struct gp_value *value)
{
	if (value->kind == GP_VALUE_TEXT)
		gp_parquet_put_text(parquet, column, value->text);
	else if (value->kind == GP_VALUE_WHOLE)
		gp_parquet_put_whole(parquet, column, value->whole);
	else if (value->kind == GP_VALUE_REAL)
		gp_parquet_put_real(parquet, column, value->real);
}

void gp_parquet_folder_put(struct gp_parquet_folder *folder, size_t table,
			   const struct gp_value *values)
{
	struct gp_parquet *parquet = folder->files[table].parquet;

	if (folder->rank != GP_NONE)
		gp_parquet_put_whole(parquet, RANK, folder->rank);
	if (folder->host)
		gp_parquet_put_text(parquet, HOST, folder->host);
	for (size_t i = 0; i < folder->tables[table].column_count; i++)
		put_value(parquet, FIXED_COLUMNS + i, &values[i]);
	gp_parquet_end_row(parquet);
}

void gp_parquet_folder_end(struct gp_parquet_folder *folder)
{
	for (size_t i = 0; i < folder->table_count; i++)
		gp_parquet_end_group(folder->files[i].parquet);
}

int gp_parquet_folder_close(struct gp_parquet_folder *folder, int result, char *message,
			    size_t message_bytes)
{
	result = close_files(folder, result, message, message_bytes);
	for (uint32_t i = 0; i < folder->name_count; i++)
		free(folder->names[i]);
	free(folder->names);
	free(folder->host);
	free(folder);
	return result;
}
