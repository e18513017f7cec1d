#include "report/symbols/source_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/base/named_file.h"

struct file {
	char *path;
	char **lines; /* of text; NULL = not readable */
	uint32_t line_count;
	char *text;
};

struct gp_source_text {
	int64_t until_s;
	size_t bytes; /* of all files */
	struct file files[GP_SOURCE_TEXT_FILES];
	uint32_t file_count;
};

struct gp_source_text *gp_source_text_new(int64_t until_s)
{
	struct gp_source_text *sources = calloc(1, sizeof(*sources));

	sources->until_s = until_s;
	return sources;
}

void gp_source_text_free(struct gp_source_text *sources)
{
	for (uint32_t i = 0; sources && i < sources->file_count; i++) {
		free(sources->files[i].path);
		free(sources->files[i].lines);
		free(sources->files[i].text);
	}
	free(sources);
}

static bool is_source(const char *path)
{
	static const char *const endings[] = {".cu", ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",
					      ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".tpp",
					      ".py", ".ptx", ".cl",  ".f90", ".cuf"};
	const char *ending = strrchr(path, '.');

	for (size_t i = 0; ending && i < COUNT(endings); i++)
		if (strcasecmp(ending, endings[i]) == 0)
			return path[0] == '/' && !gp_named_file_is_of_kernel(path);
	return false;
}

static char *read_all(int fd, size_t bytes)
{
	char *text = malloc(bytes + 1);
	size_t used = 0;
	ssize_t got = 1;

	while (used < bytes && (got = read(fd, text + used, bytes - used)) > 0)
		used += (size_t)got;
	if (got < 0 || memchr(text, '\0', used)) {
		free(text);
		return NULL;
	}
	text[used] = '\0';
	return text;
}

static char *read_source(struct gp_source_text *sources, const char *path)
{
	size_t most_bytes = GP_SOURCE_TEXT_ALL_BYTES - sources->bytes;
	struct stat status;
	char *text = NULL;
	int fd = is_source(path) ? gp_named_file_open(path, O_NOFOLLOW) : -1;

	if (fd < 0)
		return NULL;
	if (most_bytes > GP_SOURCE_TEXT_BYTES)
		most_bytes = GP_SOURCE_TEXT_BYTES;
	if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= (off_t)most_bytes &&
	    status.st_mtime <= sources->until_s)
		text = read_all(fd, (size_t)status.st_size);
	sources->bytes += text ? (size_t)status.st_size : 0;
	close(fd);
	return text;
}

/* Without the spaces around it; a longer one is cut before a character. */
static char *trim(char *line)
{
	size_t length;

	line += strspn(line, " ");
	length = strlen(line);
	if (length > GP_SOURCE_TEXT_LINE_BYTES) {
		length = GP_SOURCE_TEXT_LINE_BYTES;
		while (length > 0 && (line[length] & 0xc0) == 0x80)
			length--;
	}
	while (length > 0 && line[length - 1] == ' ')
		length--;
	line[length] = '\0';
	return line;
}

/* Ends each line, and replaces its tabs. */
static void split(struct file *file)
{
	uint32_t count = 1;
	char *next = file->text, *line;

	for (char *at = file->text; *at; at++) {
		count += *at == '\n';
		if (*at == '\t' || *at == '\r')
			*at = ' ';
	}
	file->lines = malloc(count * sizeof(*file->lines));
	while (file->lines && (line = strsep(&next, "\n")))
		file->lines[file->line_count++] = trim(line);
}

static struct file *find_file(struct gp_source_text *sources, const char *path)
{
	struct file *file;

	for (uint32_t i = 0; i < sources->file_count; i++)
		if (strcmp(sources->files[i].path, path) == 0)
			return &sources->files[i];
	if (sources->file_count == GP_SOURCE_TEXT_FILES)
		return NULL;
	file = &sources->files[sources->file_count];
	*file = (struct file){.path = strdup(path)};
	if (!file->path)
		return NULL;
	sources->file_count++;
	file->text = read_source(sources, path);
	if (file->text)
		split(file);
	return file;
}

const char *gp_source_text_line(struct gp_source_text *sources, const char *path, uint32_t line)
{
	struct file *file = sources ? find_file(sources, path) : NULL;

	if (!file || line == 0 || line > file->line_count)
		return NULL;
	return file->lines[line - 1][0] ? file->lines[line - 1] : NULL;
}

const char *gp_source_text_indented(struct gp_source_text *sources, const char *path, uint32_t line)
{
	const char *text = gp_source_text_line(sources, path, line);
	const char *start = text ? find_file(sources, path)->text : NULL;

	while (text && text > start && text[-1] == ' ')
		text--;
	return text;
}
