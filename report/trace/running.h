/*
 * running: the programs that are being recorded now, found by their ring files in /dev/shm and in
 * the working folder.
 *
 * Those whose rings are in memory of their own (--rings=memory), or beside a trace elsewhere, are
 * not found.
 */
#ifndef REPORT_TRACE_RUNNING_H
#define REPORT_TRACE_RUNNING_H

#include <stdint.h>

struct gp_running {
	uint32_t pid;
	char trace_path[1024];
};

struct gp_running_list {
	struct gp_running *programs; /* by pid */
	uint32_t count, capacity;
};

/*
 * Those of this user; of root, everybody's.  Returns 0 or -ENOMEM; gp_running_free() in either
 * case.
 */
int gp_running_find(struct gp_running_list *list);
void gp_running_free(struct gp_running_list *list);

/* The program of that pid, or NULL. */
const struct gp_running *gp_running_of(const struct gp_running_list *list, uint32_t pid);

#endif
