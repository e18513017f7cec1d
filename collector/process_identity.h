/* identity: what makes this process this process, also for a reader after its death. */
#ifndef COLLECTOR_IDENTITY_H
#define COLLECTOR_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_PATH_BYTES 1024u /* longest path, with its NUL, that the wire takes */

/* Field 22 of /proc/self/stat: clock ticks from boot to the start of the process; 0 = not known. */
uint64_t gp_process_identity_start_time(void);

/* How many threads the process has, the main one among them also when it has ended while others go on; 0 = not known. */
uint32_t gp_process_identity_thread_count(bool *main_has_ended);

/* As many, or 0 = not known, without a descriptor: to read takes the lowest number, which the program may just now expect to get. */
uint32_t gp_process_identity_max_thread_count(void);

/* The number of a namespace, from its link /proc/self/ns/...; 0 = not known. */
uint32_t gp_process_identity_namespace(const char *path);

/* The kernel's boot id, NUL-terminated; "" = not known. */
void gp_process_identity_boot_id(char *text, size_t size);

#endif
