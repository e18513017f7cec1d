/*
 * import: loads traces of other profilers as models: Chrome traces of torch.profiler, plain or
 * gzip, and SQLite exports of nsys.
 *
 * To add an importer: write a file in report/import/, and add a row to the table in import.c.
 */
#ifndef REPORT_IMPORT_IMPORT_H
#define REPORT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/build/build.h"
#include "report/model/load_options.h"

struct gp_importer {
	/* Whether a file with that beginning, after decompression, is of this format. */
	bool (*knows)(const uint8_t *head, size_t bytes);
	/*
	 * Loads the file's content into `load`, whose model is new, up to the point before
	 * resolving and joining; sets the recorder and its unknown facts. Returns 0, or a negative
	 * errno value with one line for the user in message.
	 */
	int (*load)(const char *path, struct gp_model_builder *b, char *message,
		    size_t message_bytes);
	/* The number of processes in a readable file; NULL: one. */
	uint32_t (*count_processes)(const char *path);
};

/*
 * Finds the importer for the file; NULL if it is a gpuprof trace, an unknown format, or unreadable.
 * Returns 0 or -ENOMEM.
 */
int gp_import_find(const char *path, const struct gp_importer **importer);

bool gp_import_is_known(const char *path);

/*
 * The number of processes in a trace file, each of which is a model of its own (struct
 * gp_load_options); 1 also for one that cannot be read.
 */
uint32_t gp_import_process_count(const char *path);

#endif
