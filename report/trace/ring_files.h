/* ring_files: where ring files lie (gpuprof/ring_file.h), found by their names. */
#ifndef REPORT_TRACE_RING_FILES_H
#define REPORT_TRACE_RING_FILES_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

/*
 * The next entry of an open folder that begins with prefix and has part in it: its path, or false
 * where there is none.
 */
bool gp_ring_files_next(DIR *listing, const char *folder, const char *prefix, const char *part,
			char path[PATH_MAX]);

#endif
