#include "report/diff/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(int error, const char *path, const char *why, char *message, size_t message_bytes)
{
	snprintf(message, message_bytes, "cannot read %s: %s", path, why);
	return error;
}

int gp_small_file_read(const char *path, size_t most_bytes, char **text, char *message,
		       size_t message_bytes)
{
	FILE *file = fopen(path, "re");
	size_t length;

	*text = NULL;
	if (!file)
		return refuse(-errno, path, strerror(errno), message, message_bytes);
	*text = malloc(most_bytes + 2);
	if (!*text) {
		fclose(file);
		return refuse(-ENOMEM, path, "no memory", message, message_bytes);
	}
	errno = 0;
	length = fread(*text, 1, most_bytes + 1, file);
	(*text)[length] = '\0';
	if (ferror(file)) {
		int error = errno ? errno : EIO;

		fclose(file);
		return refuse(-error, path, strerror(error), message, message_bytes);
	}
	fclose(file);
	if (length > most_bytes)
		return refuse(-EFBIG, path, "it is too large", message, message_bytes);
	if (memchr(*text, '\0', length))
		return refuse(-EINVAL, path, "it is no text", message, message_bytes);
	return 0;
}
