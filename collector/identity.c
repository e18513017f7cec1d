#include "collector/identity.h"

#include <string.h>

#include "collector/sys.h"

#define START_TIME_FIELD 22
#define AFTER_NAME_FIELD 3

/* The second field, the program's name in parentheses, may itself hold spaces, parentheses and
 * newlines. */
static const char *after_name(const char *line)
{
	const char *end = strrchr(line, ')');

	return end != NULL && end[1] == ' ' ? end + 2 : NULL;
}

uint64_t gp_identity_start_time(void)
{
	char line[1024];
	const char *at;
	uint64_t time = 0;
	ssize_t bytes = gp_sys_read_file("/proc/self/stat", line, sizeof(line) - 1);

	line[bytes < 0 ? 0 : bytes] = '\0';
	at = after_name(line);
	for (int field = AFTER_NAME_FIELD; at != NULL && field < START_TIME_FIELD; field++) {
		at = strchr(at, ' ');
		at = at != NULL ? at + 1 : NULL;
	}
	for (; at != NULL && *at >= '0' && *at <= '9'; at++)
		time = time * 10 + (uint64_t)(*at - '0');
	return time;
}

uint32_t gp_identity_namespace(const char *path)
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

void gp_identity_boot_id(char *text, size_t size)
{
	gp_sys_read_line("/proc/sys/kernel/random/boot_id", text, size);
}
