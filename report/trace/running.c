#include "report/trace/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/trace/recover.h"
#include "report/trace/ring_files.h"

/* Root watches programs of others, but accepts a ring file only for processes of its owner. */
static bool is_of_owner(const struct gp_process *process, uid_t owner)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", process->pid);
	return owner == geteuid() || (stat(path, &status) == 0 && status.st_uid == owner);
}

/* Returns false if it is not a ring file of a running process, or belongs to another user. */
static bool read_header(const char *path, struct gp_ring_file_header *header)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct gp_process process;
	struct stat status;
	bool is_ours;

	if (fd < 0)
		return false;
	is_ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		  (status.st_uid == geteuid() || geteuid() == 0) &&
		  gp_rings_header(fd, header) == 0;
	close(fd);
	if (!is_ours)
		return false;
	process = (struct gp_process){header->pid, header->start_time, header->boot_id};
	return gp_process_is_live(&process) && is_of_owner(&process, status.st_uid);
}

const struct gp_running *gp_running_of(const struct gp_running_list *list, uint32_t pid)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->programs[i].pid == pid)
			return &list->programs[i];
	return NULL;
}

static int add(struct gp_running_list *list, const struct gp_ring_file_header *header)
{
	struct gp_running *program;
	int result;

	if (gp_running_of(list, header->pid))
		return 0;
	result = gp_array_grow(&list->programs, &list->capacity, list->count,
			       sizeof(*list->programs));
	if (result != 0)
		return result;
	program = &list->programs[list->count++];
	program->pid = header->pid;
	snprintf(program->trace_path, sizeof(program->trace_path), "%s", header->trace_path);
	return 0;
}

static int look_in(struct gp_running_list *list, const char *folder, const char *prefix,
		   const char *part)
{
	struct gp_ring_file_header header;
	DIR *listing = opendir(folder);
	char path[PATH_MAX];
	int result = 0;

	if (!listing)
		return 0;
	while (result == 0 && gp_ring_files_next(listing, folder, prefix, part, path))
		if (read_header(path, &header))
			result = add(list, &header);
	closedir(listing);
	return result;
}

GP_COMPARE_BY(compare_pids, struct gp_running, pid)

int gp_running_find(struct gp_running_list *list)
{
	int result;

	*list = (struct gp_running_list){0};
	result = look_in(list, GP_RING_FILE_FOLDER, GP_RING_FILE_PREFIX, "");
	if (result == 0)
		result = look_in(list, ".", "", GP_RING_FILE_PART);
	if (result == 0)
		result = gp_array_sort(list->programs, list->count, sizeof(*list->programs),
				       compare_pids, NULL);
	return result;
}

void gp_running_free(struct gp_running_list *list)
{
	free(list->programs);
	*list = (struct gp_running_list){0};
}
