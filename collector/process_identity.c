#include "collector/process_identity.h"

#include <string.h>
#include <sys/stat.h>

#include "collector/sys.h"

#define START_TIME_FIELD 22
#define THREADS_FIELD    20
#define AFTER_NAME_FIELD 3
#define ZOMBIE           'Z'
#define LINE_BYTES       1024

/*
 * The second field, the program's name in parentheses, may itself contain spaces, parentheses and
 * newlines.
 */
static const char *after_name(const char *line)
{
	const char *end = strrchr(line, ')');

	return end != NULL && end[1] == ' ' ? end + 2 : NULL;
}

/* The line of /proc/self/stat from the process state on; NULL if it cannot be read. */
static const char *read_status(char *line, size_t size)
{
	ssize_t bytes = gp_sys_read_file("/proc/self/stat", line, size - 1);

	line[bytes < 0 ? 0 : bytes] = '\0';
	return after_name(line);
}

static uint64_t number_in(const char *status, int wanted)
{
	uint64_t number = 0;

	for (int field = AFTER_NAME_FIELD; status != NULL && field < wanted; field++) {
		status = strchr(status, ' ');
		status = status != NULL ? status + 1 : NULL;
	}
	for (; status != NULL && *status >= '0' && *status <= '9'; status++)
		number = number * 10 + (uint64_t)(*status - '0');
	return number;
}

uint64_t gp_process_identity_start_time(void)
{
	char line[LINE_BYTES];

	return number_in(read_status(line, sizeof(line)), START_TIME_FIELD);
}

uint32_t gp_process_identity_thread_count(bool *main_has_ended)
{
	char line[LINE_BYTES];
	const char *status = read_status(line, sizeof(line));

	*main_has_ended = status != NULL && *status == ZOMBIE;
	return (uint32_t)number_in(status, THREADS_FIELD);
}

/* The link count of the folder is the number of threads plus two. */
uint32_t gp_process_identity_max_thread_count(void)
{
	struct stat folder;

	if (gp_sys_stat("/proc/self/task", &folder) != 0 || folder.st_nlink < 3)
		return 0;
	return (uint32_t)folder.st_nlink - 2;
}

uint32_t gp_process_identity_namespace(const char *path)
{
	char link[64];
	const char *at;
	uint32_t inode = 0;

	gp_sys_read_link(path, link, sizeof(link));
	at = strchr(link, '[');
	for (at = at != NULL ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
		inode = inode * 10 + (uint32_t)(*at - '0');
	return inode;
}

void gp_process_identity_boot_id(char *text, size_t size)
{
	gp_sys_read_line("/proc/sys/kernel/random/boot_id", text, size);
}
