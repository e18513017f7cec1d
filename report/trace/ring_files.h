/* ring_files: finds ring files (gpuprof/ring_file.h) by their names. */
#ifndef REPORT_TRACE_RING_FILES_H
#define REPORT_TRACE_RING_FILES_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

/*
 * Finds the next entry of an open folder that begins with prefix and contains part. Returns false
 * after the last one.
 */
bool gp_ring_files_next(DIR *listing, const char *folder, const char *prefix, const char *part,
			char path[PATH_MAX]);

#endif
