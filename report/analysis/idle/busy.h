/*
 * busy: how long each GPU was busy: the union of its operations, of all streams, contexts and
 * processes.
 */
#ifndef REPORT_ANALYSIS_IDLE_BUSY_H
#define REPORT_ANALYSIS_IDLE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/interval.h"
#include "report/model/devices.h"
#include "report/model/model.h"

struct gp_busy {
	uint64_t operations;  /* timed ones, wherever they lie; 0 of sums */
	uint64_t possible_ns; /* the time that counts, see gp_busy_of() */
	uint64_t inside_ns;   /* the union's part within that */
	uint64_t outside_ns;  /* its other part */
	uint64_t more_ns;     /* for so much longer it may be; 0 where each operation is known */
};

/* A time span, in Unix ns. */
struct gp_window {
	uint64_t start_unix_ns, end_unix_ns;
};

/*
 * Whether a process has no last call: it lives, or was killed, with a sign of life after its last
 * recorded call. Most likely it was in a call that did not return, or waited for a kernel that did
 * not end.
 */
bool gp_busy_is_open(const struct gp_model *model);

/*
 * From the first to the last API call of all processes, of such as have no last one to the last
 * that is known of them (gp_recorded_last_known_ns()); of the operations, too, of traces of other
 * recorders, and where there is no call.
 */
struct gp_window gp_busy_window(struct gp_model *const *models, size_t model_count);

/*
 * The same of one process, which also lived in all parts that it recorded, where it did not record
 * throughout.
 */
struct gp_window gp_busy_life(struct gp_model *model);

/*
 * The time of a launch to reach an idle device: operations that begin later after their call had to
 * wait.
 */
#define GP_BUSY_LATENCY_NS 50000u

/*
 * The time that counts, of the window: the lives of the processes, as gp_busy_window() has them; of
 * a process that recorded in part, its recorded parts (report/model/recorded.h). Operations
 * launched before a part are not recorded, and may run on into it: if the first operation of a part
 * has to wait, the part counts from its start on. Disjoint, in order, none is empty.
 */
struct gp_busy_parts {
	struct gp_interval *intervals; /* free it */
	size_t count;
	uint64_t total_ns;
};

/* Returns 0 or -ENOMEM. */
int gp_busy_parts_of(struct gp_busy_parts *parts, struct gp_model *const *models,
		     size_t model_count, struct gp_window window);

struct gp_device_ops;

/*
 * Of a device: if one of the processes that use it recorded in part, the parts that any of these
 * recorded; other processes say nothing about this device.
 */
void gp_busy_device_parts(struct gp_busy_parts *parts, const struct gp_device_ops *ops,
			  size_t device, size_t model_count, struct gp_window window);

/* For how long any of them lived, as gp_busy_window() has it. */
void gp_busy_lives_ns(uint64_t *lives_ns, struct gp_model *const *models, size_t model_count);

/*
 * The same without the times in which the recording of all living processes paused: the sum of
 * their parts.
 */
void gp_busy_recorded_ns(uint64_t *recorded_ns, struct gp_model *const *models, size_t model_count);

/*
 * How much of the GPUs' time was used, of the parts that count.
 *
 * One struct gp_busy per device, in the order of the list, which gets the devices that it lacked.
 * Free it.
 */
struct gp_busy *gp_busy_of(struct gp_model *const *models, size_t model_count,
			   struct gp_window window, struct gp_device_list *devices);

#endif
