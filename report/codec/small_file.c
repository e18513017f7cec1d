#include "report/codec/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(int error, const char *path, const char *why, char *message, size_t message_bytes)
{
	snprintf(message, message_bytes, "cannot read %s: %s", path, why);
	return error;
}

/* Does not wait for the writer of a pipe. */
static FILE *open_now(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = NULL;

	if (fd >= 0 && fcntl(fd, F_SETFL, 0) == 0)
		file = fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static int read_text(const char *path, size_t most_bytes, char **text, char *message,
		     size_t message_bytes)
{
	FILE *file = open_now(path);
	struct stat status;
	size_t length;
	bool is_pipe;

	*text = NULL;
	if (!file)
		return refuse(-errno, path, strerror(errno), message, message_bytes);
	*text = malloc(most_bytes + 2);
	errno = 0;
	length = fread(*text, 1, most_bytes + 1, file);
	(*text)[length] = '\0';
	if (ferror(file)) {
		int error = errno ? errno : EIO;

		fclose(file);
		return refuse(-error, path, strerror(error), message, message_bytes);
	}
	is_pipe = fstat(fileno(file), &status) == 0 && S_ISFIFO(status.st_mode);
	fclose(file);
	if (length > most_bytes)
		return refuse(-EFBIG, path, "it is too large", message, message_bytes);
	if (memchr(*text, '\0', length))
		return refuse(-EINVAL, path, "it is not a text file", message, message_bytes);
	if (length == 0 && is_pipe)
		return refuse(-ENODATA, path, "no program writes to this pipe", message,
			      message_bytes);
	return 0;
}

int gp_small_file_read(const char *path, size_t most_bytes, const char *origin, char **text,
		       char *message, size_t message_bytes)
{
	int result = read_text(path, most_bytes, text, message, message_bytes);
	size_t length = result != 0 ? strlen(message) : 0;

	if (result != 0)
		snprintf(message + length, message_bytes - length, "; %s", origin);
	return result;
}
