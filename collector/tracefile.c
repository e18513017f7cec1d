#include "collector/tracefile.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/process_identity.h"
#include "collector/sys.h"
#include "collector/text.h"
#include "gpuprof/crc32c.h"

#define MAX_COPIES 10000 /* of one name */

static int name_copy(char *path, size_t path_bytes, const char *base_path, uint32_t copy,
		     const char *suffix)
{
	struct gp_text text = gp_text_in(path, path_bytes);

	gp_text_add(&text, base_path);
	if (copy > 1) {
		gp_text_add(&text, ".");
		gp_text_add_decimal(&text, copy);
	}
	gp_text_add(&text, suffix);
	return text.cut ? -ENAMETOOLONG : 0;
}

/* The Chrome trace will use the same name: an existing file of that name must stay. */
static bool is_taken(const char *base_path, uint32_t copy)
{
	char path[GP_PATH_BYTES];
	int fd = -ENOENT;

	if (name_copy(path, sizeof(path), base_path, copy, GP_CHROME_SUFFIX) == 0)
		fd = gp_sys_open(path, O_PATH, 0);
	if (fd >= 0)
		gp_sys_close(fd);
	return fd >= 0;
}

static int create(struct gp_tracefile *file, const char *base_path, int how)
{
	int fd = -EEXIST;

	for (uint32_t copy = 1; copy < MAX_COPIES && fd == -EEXIST; copy++) {
		int error =
			name_copy(file->path, sizeof(file->path), base_path, copy, GP_TRACE_SUFFIX);

		if (error)
			return error;
		if (!is_taken(base_path, copy))
			fd = gp_sys_open(file->path, O_WRONLY | O_CREAT | O_EXCL | how, 0600);
	}
	return fd;
}

/* Writes to an O_APPEND file always go to its end, whatever the offset. */
static int append_flag(const struct gp_tracefile *file)
{
	return file->circular.block_bytes == 0 ? O_APPEND : 0;
}

static int create_as(struct gp_tracefile *file, const char *base_path, char version)
{
	const char magic[8] = {'g', 'p', 'u', 'p', 'r', 'o', 'f', version};
	int error = -EINVAL;

	file->stays_open = file->rests = false;
	file->fd = base_path[0] == '/' ? create(file, base_path, append_flag(file)) : -EINVAL;
	if (file->fd >= 0) {
		error = gp_sys_file_id(file->fd, &file->id);
		if (!error)
			gp_sys_write(file->fd, magic, sizeof(magic), &error);
		gp_tracefile_close(file);
		if (error)
			gp_sys_unlink(file->path);
	} else {
		error = file->fd;
	}
	file->bytes = sizeof(magic);
	file->sequence = file->records = file->limit_bytes = 0;
	memset(file->mark, 0, sizeof(file->mark));
	if (error)
		file->path[0] = '\0';
	return error;
}

int gp_tracefile_create(struct gp_tracefile *file, const char *base_path)
{
	memset(&file->circular, 0, sizeof(file->circular));
	return create_as(file, base_path, GP_TRACE_VERSION);
}

int gp_tracefile_create_circular(struct gp_tracefile *file, const char *base_path, uint64_t bytes)
{
	gp_circular_file_init(&file->circular, bytes, sizeof(GP_TRACE_MAGIC));
	return create_as(file, base_path, GP_TRACE_CIRCULAR);
}

static_assert(offsetof(struct gp_chunk, header) ==
			      offsetof(struct gp_chunk, padding) +
				      sizeof(((struct gp_chunk *)NULL)->padding) &&
		      offsetof(struct gp_chunk, payload) ==
			      offsetof(struct gp_chunk, header) + sizeof(struct gp_chunk_header),
	      "a chunk is written in one piece");

static void seal(struct gp_chunk *chunk, uint64_t sequence, enum gp_chunk_form form)
{
	struct gp_chunk_header *header = &chunk->header;
	size_t unchecked = offsetof(struct gp_chunk_header, records);

	memset((char *)chunk + offsetof(struct gp_chunk, payload) + header->payload_bytes, 0,
	       sizeof(chunk->zeros));
	header->magic = GP_CHUNK_MAGIC;
	header->sequence = sequence;
	header->form = form;
	header->crc = gp_crc32c((const char *)chunk + offsetof(struct gp_chunk, header) + unchecked,
				sizeof(*header) - unchecked + header->payload_bytes);
}

/* Discard a partly written chunk; if that fails, the file is longer. */
static void undo(struct gp_tracefile *file, size_t written)
{
	if (written > 0 && gp_sys_truncate(file->fd, file->bytes) != 0)
		file->bytes += written;
}

/* Whether only the owner of our file, or root, can put another file at its name. */
static bool is_folder_private(const struct gp_tracefile *file)
{
	char folder[GP_PATH_BYTES];
	struct gp_text text = gp_text_in(folder, sizeof(folder));
	struct stat status;

	gp_text_add(&text, file->path);
	*strrchr(folder, '/') = '\0';
	if (gp_sys_stat(folder[0] != '\0' ? folder : "/", &status) != 0)
		return false;
	return (status.st_uid == 0 || status.st_uid == file->id.owner) &&
	       ((status.st_mode & S_ISVTX) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

/*
 * Whether this is the file that was created.  Where others may write to the folder, it must be the
 * same inode: they may have put a file of the same length at the name, even another one of ours.
 * Elsewhere the length tells: inode numbers change on some file systems.
 */
static bool is_ours(const struct gp_tracefile *file, uint64_t bytes, const struct gp_file_id *id)
{
	if (bytes != file->bytes || id->owner != file->id.owner)
		return false;
	return (id->device == file->id.device && id->inode == file->id.inode) ||
	       is_folder_private(file);
}

static int reopen(struct gp_tracefile *file)
{
	uint64_t bytes;
	int fd = gp_sys_open(file->path, O_WRONLY | O_NONBLOCK | append_flag(file), 0);
	struct gp_file_id id;
	int error;

	if (fd < 0)
		return fd;
	error = gp_sys_length(fd, &bytes);
	if (!error)
		error = gp_sys_file_id(fd, &id);
	if (!error && !is_ours(file, bytes, &id))
		error = -ESTALE;
	if (error)
		gp_sys_close(fd);
	else
		file->fd = fd;
	return error;
}

/*
 * At the beginning of a flush.  A file that stayed open is checked like one that is opened by name.
 */
static int begin(struct gp_tracefile *file)
{
	uint64_t bytes;

	if (file->rests && (gp_sys_length(file->fd, &bytes) != 0 || bytes != file->bytes ||
			    !gp_sys_has_name(file->fd))) {
		gp_sys_close(file->fd);
		file->fd = -1;
	}
	file->rests = false;
	return file->fd < 0 ? reopen(file) : 0;
}

static void mark(struct gp_tracefile *file)
{
	bool is_far = file->bytes - file->mark[1].bytes >= GP_TRACEFILE_RESERVED_BYTES;

	/*
	 * the end of the first chunk counts, however short it is: it is the earliest possible mark
	 */
	if (file->sequence == 0 || (file->sequence > 1 && !is_far))
		return;
	file->mark[0] = file->mark[1];
	file->mark[1] = (struct gp_tracefile_mark){file->bytes, file->sequence, file->records};
}

int gp_tracefile_make_space(struct gp_tracefile *file, uint64_t *records)
{
	bool is_enough = file->bytes - file->mark[1].bytes >= GP_TRACEFILE_RESERVED_BYTES;
	bool is_all = file->mark[0].sequence == 0;
	const struct gp_tracefile_mark *end = &file->mark[is_enough || is_all ? 1 : 0];
	int error = begin(file);

	if (!error && end->sequence == 0)
		error = -ENOSPC;
	if (!error)
		error = gp_sys_truncate(file->fd, end->bytes);
	if (error)
		return error;
	*records = file->records - end->records;
	file->bytes = end->bytes;
	file->sequence = end->sequence;
	file->records = end->records;
	file->mark[0] = file->mark[1] = *end;
	return 0;
}

bool gp_tracefile_has_space(const struct gp_tracefile *file, uint32_t payload_bytes,
			    uint32_t after_bytes)
{
	uint64_t needed = sizeof(struct gp_chunk) - GP_CHUNK_MAX_BYTES + payload_bytes;

	return file->limit_bytes == 0 || file->bytes + needed + after_bytes <= file->limit_bytes;
}

/*
 * A torn chunk does not count; the next one replaces it.  If only the zeros are missing, the chunk
 * is valid.  Beyond the block is the content of another one.
 */
static int put(struct gp_tracefile *file, struct gp_chunk *chunk, enum gp_chunk_form form,
	       uint64_t *at, uint64_t end)
{
	size_t needed = sizeof(chunk->header) + chunk->header.payload_bytes;
	size_t bytes = sizeof(chunk->header) + gp_chunk_padded_bytes(chunk->header.payload_bytes);
	size_t written;
	int error = *at + bytes <= end ? begin(file) : -ENOSPC;

	if (error)
		return error;
	seal(chunk, file->sequence, form);
	written = gp_sys_write_at(file->fd, &chunk->header, bytes, *at, &error);
	if (written > 0 && *at + written > file->bytes)
		file->bytes = *at + written;
	if (written < needed)
		return error;
	*at += bytes;
	file->sequence++;
	file->circular.is_in_vain = false;
	return 0;
}

int gp_tracefile_keep(struct gp_tracefile *file, struct gp_chunk *chunk)
{
	return put(file, chunk, GP_CHUNK_KEPT, &file->circular.kept_at, file->circular.kept_end);
}

static int append(struct gp_tracefile *file, struct gp_chunk *chunk)
{
	uint32_t payload_bytes = chunk->header.payload_bytes;
	size_t before = -file->bytes & 7;
	size_t needed = before + sizeof(chunk->header) + payload_bytes;
	size_t bytes = before + sizeof(chunk->header) + gp_chunk_padded_bytes(payload_bytes);
	size_t written;
	int error =
		gp_tracefile_has_space(file, payload_bytes, 0) ? begin(file) : GP_TRACEFILE_FULL;

	if (error)
		return error;
	mark(file);
	seal(chunk, file->sequence, GP_CHUNK_PACKED);
	written = gp_sys_write(file->fd,
			       (const char *)chunk + offsetof(struct gp_chunk, header) - before,
			       bytes, &error);
	if (written < needed) {
		undo(file, written);
		return error;
	}
	/* If only the zeros are missing, the next chunk writes them, and this one is valid. */
	file->bytes += written;
	file->sequence++;
	file->records += chunk->program_records;
	return 0;
}

int gp_tracefile_append(struct gp_tracefile *file, struct gp_chunk *chunk)
{
	if (file->circular.block_bytes != 0)
		return put(file, chunk, GP_CHUNK_PACKED, &file->circular.at, file->circular.end);
	return append(file, chunk);
}

void gp_tracefile_close(struct gp_tracefile *file)
{
	file->rests = file->stays_open && file->fd >= 0;
	if (file->rests)
		return;
	if (file->fd >= 0)
		gp_sys_close(file->fd);
	file->fd = -1;
}
