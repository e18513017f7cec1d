/*
 * import: traces that others wrote, as models: Chrome traces of torch.profiler, plain or compressed
 * with gzip, and nsys's SQLite files.
 *
 * A further one is one file in report/import/ and one row in the table of import.c.
 */
#ifndef REPORT_IMPORT_IMPORT_H
#define REPORT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/build/build.h"

struct gp_importer {
	/* Whether a file that begins so is one: as it is, or what of it was compressed. */
	bool (*knows)(const uint8_t *head, size_t bytes);
	/*
	 * Take the file's content into the load, whose model is new: ready to be resolved and
	 * joined, with its recorder and what that does not say.  Returns 0, or a negative errno
	 * value with one line for the user in message.
	 */
	int (*load)(const char *path, struct gp_model_builder *b, char *message,
		    size_t message_bytes);
};

/*
 * The importer for the file. NULL: none, as it is a trace of gpuprof's, no known format, or cannot
 * be read. Returns 0 or -ENOMEM.
 */
int gp_import_find(const char *path, const struct gp_importer **importer);

bool gp_import_is_known(const char *path);

#endif
