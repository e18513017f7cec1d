/* process_identity: identifies this process, also for a reader after its death. */
#ifndef COLLECTOR_PROCESS_IDENTITY_H
#define COLLECTOR_PROCESS_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_PATH_BYTES 1024u /* longest path of the trace format, including its NUL */

/* Field 22 of /proc/self/stat: clock ticks from boot to the start of the process; 0 = not known. */
uint64_t gp_process_identity_start_time(void);

/*
 * Number of threads of the process, including a main thread that has ended while others go on; 0 =
 * unknown.
 */
uint32_t gp_process_identity_thread_count(bool *main_has_ended);

/*
 * An upper bound of it, 0 = unknown, without opening a descriptor, whose number the program may
 * expect to get.
 */
uint32_t gp_process_identity_max_thread_count(void);

/* The id of a namespace, from its link /proc/self/ns/...; 0 = unknown. */
uint32_t gp_process_identity_namespace(const char *path);

/* The kernel's boot id, NUL-terminated; "" = unknown. */
void gp_process_identity_boot_id(char *text, size_t size);

#endif
