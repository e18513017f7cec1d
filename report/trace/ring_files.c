#include "report/trace/ring_files.h"

#include <stdio.h>
#include <string.h>

bool gp_ring_files_next(DIR *listing, const char *folder, const char *prefix, const char *part,
			char path[PATH_MAX])
{
	struct dirent *entry;

	while ((entry = readdir(listing)) != NULL)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
		    strstr(entry->d_name, part) &&
		    snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name) < PATH_MAX)
			return true;
	return false;
}
