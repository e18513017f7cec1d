#include "report/import/import.h"

#include <string.h>

#include "report/codec/input.h"
#include "report/import/kineto.h"
#include "report/import/nsys.h"

#define HEAD_BYTES 64u

/* White space and a bracket, or UTF-16. The importer recognizes JSON that is no trace. */
static bool is_json(const uint8_t *head, size_t bytes)
{
	size_t at = 0;

	if (gp_input_is_utf16(head, bytes))
		return true;
	while (at < bytes && strchr(" \t\r\n", head[at]) && head[at] != '\0')
		at++;
	return at < bytes && (head[at] == '{' || head[at] == '[');
}

static bool is_sqlite(const uint8_t *head, size_t bytes)
{
	static const char magic[] = "SQLite format 3";

	return bytes >= sizeof(magic) && memcmp(head, magic, sizeof(magic)) == 0;
}

static const struct gp_importer importers[] = {
	{is_json, gp_kineto_load, NULL},
	{is_sqlite, gp_nsys_load, gp_nsys_count_processes},
};

int gp_import_find(const char *path, const struct gp_importer **importer)
{
	uint8_t head[HEAD_BYTES];
	ssize_t bytes = gp_input_head(path, head, sizeof(head));

	*importer = NULL;
	for (size_t i = 0; bytes > 0 && i < sizeof(importers) / sizeof(importers[0]); i++) {
		if (!importers[i].knows(head, (size_t)bytes))
			continue;
		*importer = &importers[i];
		break;
	}
	return bytes < 0 ? (int)bytes : 0;
}

bool gp_import_is_known(const char *path)
{
	const struct gp_importer *importer;

	return gp_import_find(path, &importer) == 0 && importer;
}

uint32_t gp_import_process_count(const char *path)
{
	const struct gp_importer *importer;
	uint32_t count = 1;

	if (gp_import_find(path, &importer) == 0 && importer && importer->count_processes)
		count = importer->count_processes(path);
	return count > 0 ? count : 1;
}
