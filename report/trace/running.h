/*
 * running: finds the programs that are being recorded by their ring files in /dev/shm and in the
 * current folder.
 *
 * It does not find programs with rings in memory (--rings=memory), or beside a trace in another
 * folder.
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
 * Lists the programs of this user, or of all users for root. Returns 0 or -ENOMEM. Call
 * gp_running_free() in both cases.
 */
int gp_running_find(struct gp_running_list *list);
void gp_running_free(struct gp_running_list *list);

/* The program with that pid, or NULL. */
const struct gp_running *gp_running_of(const struct gp_running_list *list, uint32_t pid);

#endif
