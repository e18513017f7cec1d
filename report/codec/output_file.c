#include "report/codec/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/trace.h"
#include "report/codec/gzip.h"
#include "report/base/memory.h"
#include "report/base/shared_folder.h"

/* For the small writes of exporters; json_write bypasses it with a buffer of its own. */
#define BUFFER_BYTES (1u << 16)

/* A device, a pipe, or a link (/dev/stdout): a rename would replace it. */
static bool is_special(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* The version tells a trace from a text that begins with the same word. */
bool gp_output_is_trace(const char *path)
{
	char magic[sizeof(GP_TRACE_MAGIC)] = "";
	size_t word = sizeof(magic) - 1;
	struct stat status;
	bool found = false;
	int fd;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		found = read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
			memcmp(magic, GP_TRACE_MAGIC, word) == 0 && magic[word] > 0 &&
			magic[word] < '\t';
		close(fd);
	}
	return found;
}

static void explain(int error, const char *path, char *message, size_t message_bytes)
{
	char text[GP_SHARED_FOLDER_TEXT];
	const char *advice = error == -ENOSPC  ? "free disk space or name another file"
			     : error == -EFBIG ? "type: ulimit -f unlimited"
			     : error == -EPERM ? "name it by a path without such links"
					       : "name a writable file";

	if (error == -EEXIST)
		snprintf(message, message_bytes,
			 "%s is a trace, and gpuprof does not overwrite traces; name another file",
			 path);
	else
		snprintf(message, message_bytes, "cannot write %s: %s; %s",
			 strcmp(path, "-") == 0 ? "standard output" : path,
			 error == -ESTALE ? "the trace is no longer in that folder"
					  : gp_shared_folder_error(error, path, text),
			 advice);
}

/* Opens the folder of a path. If a trace is named, it must be there. */
static int open_folder(const char *path, const char *trace)
{
	size_t bytes = (size_t)(basename(path) - path);
	char *folder = bytes > 0 ? strndup(path, bytes) : strdup(".");
	char link[PATH_MAX];
	struct stat status;
	int fd;

	if (!folder)
		return -ENOMEM;
	fd = trace ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)
		   : gp_shared_folder_enter(folder, link);
	if (trace && fd < 0)
		fd = -errno;
	free(folder);
	if (fd >= 0 && trace && fstatat(fd, trace + bytes, &status, AT_SYMLINK_NOFOLLOW) != 0) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/*
 * Who else may read the user's existing file may read the new one, too: a monitoring system, for
 * example.
 */
static void keep_mode(const struct gp_output_file *file, int fd)
{
	struct stat status;

	if (fstatat(file->folder, basename(file->path), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode) && status.st_uid == geteuid())
		(void)fchmod(fd, 0600 | (status.st_mode & 0044));
}

/*
 * Creates a file of our own, also in a folder that everybody can write to. It first removes an
 * existing file: the rest of a killed run, or a file that another user has put there to read the
 * output.
 */
static int create(struct gp_output_file *file, const char *trace)
{
	const char *name;
	int fd;

	if (asprintf(&file->temporary, "%s.tmp", file->path) < 0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	name = basename(file->temporary);
	file->folder = open_folder(file->path, trace);
	if (file->folder < 0)
		return file->folder;
	if (unlinkat(file->folder, name, 0) != 0 && errno != ENOENT)
		return -errno;
	fd = openat(file->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!trace)
		keep_mode(file, fd);
	return fd;
}

void gp_output_file_clean(const char *path, const char *trace)
{
	int folder = open_folder(path, trace);
	char *temporary;

	if (folder < 0)
		return;
	if (asprintf(&temporary, "%s.tmp", basename(path)) >= 0) {
		(void)unlinkat(folder, temporary, 0);
		free(temporary);
	}
	close(folder);
}

/* ---- the temporary files, which are removed if the program ends for lack of memory ---- */

static struct gp_output_file *open_files;

static void remove_temporary(const struct gp_output_file *file)
{
	(void)unlinkat(file->folder, basename(file->temporary), 0);
}

static void remove_all(void)
{
	for (const struct gp_output_file *file = open_files; file; file = file->next)
		remove_temporary(file);
}

static void note_open(struct gp_output_file *file)
{
	if (!open_files)
		gp_memory_add_last_act(remove_all);
	file->next = open_files;
	open_files = file;
}

static void note_closed(const struct gp_output_file *file)
{
	struct gp_output_file **at = &open_files;

	while (*at && *at != file)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = file->next;
	if (!open_files)
		gp_memory_remove_last_act(remove_all);
}

static int open_stream(struct gp_output_file *file, const char *path, const char *trace)
{
	bool is_direct = !trace && is_special(path);
	int fd;

	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	if (!trace && strcmp(path, "-") == 0) {
		file->stream = stdout;
		return 0;
	}
	if (gp_output_is_trace(path))
		return -EEXIST;
	fd = is_direct ? gp_shared_folder_open(path, O_TRUNC) : create(file, trace);
	if (fd < 0)
		return fd;
	file->stream = fdopen(fd, "w");
	if (!file->stream) {
		int error = errno;

		close(fd);
		if (file->temporary)
			remove_temporary(file);
		return -error;
	}
	setvbuf(file->stream, NULL, _IOFBF, BUFFER_BYTES);
	if (file->temporary)
		note_open(file);
	return 0;
}

static void release(struct gp_output_file *file)
{
	note_closed(file);
	free(file->path);
	free(file->temporary);
	if (file->folder >= 0)
		close(file->folder);
	*file = (struct gp_output_file){.folder = -1};
}

int gp_output_file_open(struct gp_output_file *file, const char *path, const char *trace,
			char *message, size_t message_bytes)
{
	int result;

	*file = (struct gp_output_file){.folder = -1};
	signal(SIGXFSZ, SIG_IGN); /* makes writes beyond RLIMIT_FSIZE fail instead */
	result = open_stream(file, path, trace);
	if (result == 0)
		return 0;
	explain(result, path, message, message_bytes);
	release(file);
	return result;
}

int gp_output_file_compress(struct gp_output_file *file)
{
	FILE *stream = gp_gzip_open(file->stream);

	if (!stream)
		return -ENOMEM;
	file->packed = file->stream;
	file->stream = stream;
	return 0;
}

/* Ends the compression and returns to the file's own stream. */
static int end_compression(struct gp_output_file *file)
{
	int error = fclose(file->stream) != 0 ? -errno : 0;

	file->stream = file->packed;
	file->packed = NULL;
	return error;
}

/* Why a write failed: errno may be of a later call by now, so the disk is asked for more room. */
static int error_of_write(const struct gp_output_file *file)
{
	int before = errno, fd = fileno(file->stream), error;
	struct stat status;

	if (!file->temporary || fstat(fd, &status) != 0)
		return before;
	error = posix_fallocate(fd, status.st_size, BUFFER_BYTES);
	return error == ENOSPC || error == EDQUOT || error == EFBIG ? error : before;
}

static int close_stream(struct gp_output_file *file)
{
	bool failed = ferror(file->stream) != 0;
	int before = failed ? error_of_write(file) : 0;

	errno = 0;
	if (file->stream == stdout)
		failed |= fflush(stdout) != 0;
	else
		failed |= fclose(file->stream) != 0;
	if (!failed)
		return 0;
	return errno != 0 ? -errno : before != 0 ? -before : -EIO;
}

int gp_output_file_close(struct gp_output_file *file, int result, char *message,
			 size_t message_bytes)
{
	int unpacked = file->packed ? end_compression(file) : 0;
	int closed = close_stream(file);

	if (unpacked < 0)
		closed = unpacked;
	if (result == 0 || (result == -EIO && closed < 0))
		result = closed;
	if (result == 0 && file->temporary &&
	    renameat(file->folder, basename(file->temporary), file->folder, basename(file->path)) !=
		    0)
		result = -errno;
	if (result < 0) {
		explain(result, file->path, message, message_bytes);
		if (file->temporary)
			remove_temporary(file);
	}
	release(file);
	return result;
}

bool gp_output_is_same(const char *left, const char *right)
{
	struct stat a, b;

	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

char *gp_output_path(const char *trace_path, const char *suffix)
{
	size_t length = strlen(trace_path), ending = strlen(GP_TRACE_SUFFIX);
	char *path;

	while (length > 1 && trace_path[length - 1] == '/') /* a folder */
		length--;
	if (length > ending && strcmp(trace_path + length - ending, GP_TRACE_SUFFIX) == 0)
		length -= ending;
	return asprintf(&path, "%.*s%s", (int)length, trace_path, suffix) < 0 ? NULL : path;
}
