#include "report/codec/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (256u * 1024)

/*
 * Traces unpack to 10 to 20 times their size. A file that was made to fill memory and time unpacks
 * to a thousand times.
 */
#define MOST_EXPANSION 128u
#define SMALL_BYTES    (64u << 20) /* is unpacked from any file */

/* zlib passes uncompressed data through. */
struct gp_input {
	gzFile file;
	uint64_t bytes; /* read so far */
};

static int open_file(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return S_ISDIR(status.st_mode) ? -EISDIR : -ESPIPE;
}

static void skip_byte_order_mark(gzFile file)
{
	static const char mark[] = "\xef\xbb\xbf";
	char head[sizeof(mark) - 1];

	if (gzread(file, head, sizeof(head)) != sizeof(head) ||
	    memcmp(head, mark, sizeof(head)) != 0)
		gzrewind(file);
}

bool gp_input_is_utf16(const uint8_t *head, size_t bytes)
{
	return bytes >= 2 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0);
}

int gp_input_open(const char *path, struct gp_input **input)
{
	int fd = open_file(path);

	if (fd < 0)
		return fd;
	*input = calloc(1, sizeof(**input));
	if (*input) {
		(*input)->file = gzdopen(fd, "rb");
		if ((*input)->file) {
			gzbuffer((*input)->file, BUFFER_BYTES);
			skip_byte_order_mark((*input)->file);
			return 0;
		}
	}
	free(*input);
	*input = NULL;
	close(fd);
	return -ENOMEM;
}

void gp_input_close(struct gp_input *input)
{
	if (!input)
		return;
	gzclose_r(input->file);
	free(input);
}

/* Damaged or truncated compressed data ends the input; the data before is read. */
ssize_t gp_input_read(void *context, void *buffer, size_t bytes)
{
	struct gp_input *input = context;
	int got = gzread(input->file, buffer, (unsigned)bytes), error;

	if (got >= 0) {
		input->bytes += (uint64_t)got;
		return input->bytes <= SMALL_BYTES || gzdirect(input->file) ||
				       input->bytes / MOST_EXPANSION <=
					       (uint64_t)gzoffset(input->file)
			       ? got
			       : -EFBIG;
	}
	gzerror(input->file, &error);
	if (error == Z_ERRNO)
		return errno != 0 ? -errno : -EIO;
	return error == Z_MEM_ERROR ? -ENOMEM : 0;
}

ssize_t gp_input_head(const char *path, uint8_t *head, size_t bytes)
{
	struct gp_input *input;
	ssize_t got = gp_input_open(path, &input);

	if (got == 0) {
		got = gp_input_read(input, head, bytes);
		gp_input_close(input);
	}
	return got > 0 || got == -ENOMEM ? got : 0;
}

bool gp_input_is_compressed(const char *path)
{
	struct gp_input *input;
	bool is_compressed;

	if (gp_input_open(path, &input) != 0)
		return false;
	is_compressed = gzdirect(input->file) == 0;
	gp_input_close(input);
	return is_compressed;
}
