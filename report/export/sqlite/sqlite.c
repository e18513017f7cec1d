/*
 * A SQLite database with the tables of nsys: report/export/sqlite/sqlite_tables.h.
 *
 * SQLite opens a file by name.  If out is an empty plain file, SQLite writes to it; if it is a pipe
 * or compressed, to a temporary file that is copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/export/sqlite/sqlite_writer.h"

#define API_IDS    65536u
#define COPY_BYTES 16384u

/* ---- one process ---- */

static void free_ids(struct gp_sqlite_ids *ids)
{
	free(ids->full);
	free(ids->brief);
	free(ids->mangled);
	free(ids->apis);
	free(ids->texts);
	*ids = (struct gp_sqlite_ids){0};
}

static bool allocate_ids(struct gp_sqlite_ids *ids, const struct gp_model *model)
{
	size_t names = (size_t)model->name_count + 1;

	ids->full = calloc(names, sizeof(*ids->full));
	ids->brief = calloc(names, sizeof(*ids->brief));
	ids->mangled = calloc(names, sizeof(*ids->mangled));
	ids->apis = calloc(API_IDS, sizeof(*ids->apis));
	ids->texts = calloc((size_t)model->range_text_count + 1, sizeof(*ids->texts));
	return ids->texts;
}

static void begin_process(struct gp_sqlite_export *e)
{
	gp_gpu_numbers_next(&e->gpus);
	gp_sqlite_begin_stacks(e);
	gp_sqlite_write_about(e);
	gp_sqlite_write_domains(e);
}

static void end_process(struct gp_sqlite_export *e, FILE *messages)
{
	gp_sqlite_end_stacks(e, messages);
	gp_groups_free(&e->categories);
	e->ranges = 0;
}

static void write_events(struct gp_sqlite_export *e, const struct gp_slice_choice *choice)
{
	uint64_t end_ns = e->offset_ns + gp_model_end_ns(e->model);

	if (end_ns > e->last_ns)
		e->last_ns = end_ns;
	allocate_ids(&e->ids, e->model);
	e->error = gp_sqlite_write_events(e, choice);
	e->ranges += e->model->range_count;
	if (e->stacks.left_out > 0)
		gp_sqlite_put_missing(
			e, "calls without their stack, because there are too many stacks",
			e->stacks.left_out);
	e->stacks.left_out = 0;
	gp_symbols_forget(e->stacks.symbols, e->model);
	free_ids(&e->ids);
}

/* ---- all processes ---- */

static int write_models(struct gp_sqlite_export *e, const struct gp_export_source *source,
			const struct gp_export_options *options)
{
	size_t written = 0;

	e->base_unix_ns = gp_export_base_unix_ns(source);
	for (size_t i = 0; i < source->count && e->error == 0; i++) {
		e->model = source->get(source->context, i);
		if (!e->model)
			continue;
		e->offset_ns = e->model->base_unix_ns - e->base_unix_ns;
		if (gp_export_is_first(source, i)) {
			end_process(e, options->messages);
			begin_process(e);
		}
		if (e->error == 0)
			write_events(e, &options->choice);
		if (options->progress)
			options->progress(options->progress_context);
		written++;
	}
	end_process(e, options->messages);
	if (e->error == 0 && written > 0)
		gp_sqlite_write_session(e);
	return e->error != 0 ? e->error : written > 0 ? 0 : -ENODATA;
}

static int write_database(const struct gp_export_source *source,
			  const struct gp_export_options *options, const char *path)
{
	struct gp_sqlite_export e = {.names = gp_names_new()};
	int result = gp_sqlite_open(&e.db, path), closed;

	if (result == 0)
		result = write_models(&e, source, options);
	closed = gp_sqlite_close(e.db);
	gp_names_free(e.names);
	gp_gpu_numbers_free(&e.gpus);
	return result < 0 ? result : closed;
}

/* ---- the file ---- */

/* The name of out if it is an empty plain file; false: it is not, or was renamed or removed. */
static bool find_path(FILE *out, char *path, size_t bytes)
{
	struct stat of_out, of_path;
	char link[32];
	ssize_t length;
	int fd = fileno(out);

	if (fd < 0 || fstat(fd, &of_out) != 0 || !S_ISREG(of_out.st_mode) || of_out.st_size != 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, bytes - 1);
	if (length <= 0 || (size_t)length == bytes - 1)
		return false;
	path[length] = '\0';
	return stat(path, &of_path) == 0 && of_path.st_dev == of_out.st_dev &&
	       of_path.st_ino == of_out.st_ino;
}

static int copy(FILE *from, FILE *out)
{
	char bytes[COPY_BYTES];
	size_t count;

	while ((count = fread(bytes, 1, sizeof(bytes), from)) > 0)
		if (fwrite(bytes, 1, count, out) != count)
			return -EIO;
	return ferror(from) || fflush(out) != 0 ? -EIO : 0;
}

static int write_copied(const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	FILE *file;
	int fd, result;

	snprintf(path, sizeof(path), "%s/gpuprof-XXXXXX", folder && *folder ? folder : "/tmp");
	fd = mkstemp(path);
	file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file) {
		result = errno != 0 ? -errno : -EIO;
		if (fd >= 0)
			close(fd);
		return result;
	}
	result = find_path(file, path, sizeof(path)) ? write_database(source, options, path) : -EIO;
	unlink(path);
	if (result == 0)
		result = copy(file, out);
	fclose(file);
	return result;
}

static int write_sqlite(const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out)
{
	char path[4096];

	return find_path(out, path, sizeof(path)) ? write_database(source, options, path)
						  : write_copied(source, options, out);
}

const struct gp_exporter gp_exporter_sqlite = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.help = "the tables of nsys export --type=sqlite",
	.readers = "sqlite3, pandas, scripts written for nsys",
	.heeds = GP_EXPORT_PART,
	.write = write_sqlite,
};
