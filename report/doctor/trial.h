/*
 * trial: runs the probe, plain or recorded, and collects the results.
 *
 * The recorded probe goes the same way as a user's program: `gpuprof run`, the preloaded library,
 * the driver, CUPTI, the rings, a trace in the usual folder. The trace is read and removed.
 */
#ifndef REPORT_DOCTOR_TRIAL_H
#define REPORT_DOCTOR_TRIAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/doctor/probe.h"

#define GP_TRIAL_RESULT_NONE (-1) /* the step was not reached */

/* The result of a driver function. */
struct gp_trial_result {
	int code;
	char name[64];
};

struct gp_trial {
	bool is_made;
	bool timed_out;
	int status;             /* of the probe or the launcher, as from waitpid() */
	char step[32];          /* the last step; "done" = all */
	char said[2048];        /* stderr */
	char unloadable[512];   /* error of the last library that could not be loaded first */
	char library[PATH_MAX]; /* the loaded libgpuprof.so; "" = none */

	/* the driver; "" and GP_TRIAL_RESULT_NONE if not reached */
	char driver[PATH_MAX];
	char driver_error[512];
	unsigned long version;
	int devices;
	char device[256]; /* the used GPU, or the last one tried */
	struct gp_trial_result init, count, context, work, kernels;

	/* the trace */
	bool has_trace;
	char cupti[PATH_MAX];
	unsigned long cupti_version;
	char rings[PATH_MAX]; /* "" = in memory, or no trace */
	uint64_t calls, ops, ranges, energies;
	uint64_t counted; /* hardware counters of kernels */
};

/* Without a profiler. Returns 0, or -errno if no process could be started. */
int gp_trial_plain(struct gp_trial *trial, unsigned limit_s);

struct gp_trial_options {
	const char *folder; /* empty folder for the trace */
	/*
	 * a descriptor of it, through which it is emptied afterwards: its name may lead elsewhere
	 * by then; -1 = not emptied
	 */
	int folder_fd;
	enum gp_probe_kind probe;
	char *const *arguments; /* of gpuprof run, NULL-terminated; NULL = none */
	unsigned limit_s;
	char *const *libraries; /* NULL-terminated list to load before CUDA is used; NULL = none */
	/* `rings` and `cupti`: the options that decide whether recording works here */
	const char *rings;
	const char *cupti;
};

int gp_trial_recorded(struct gp_trial *trial, const struct gp_trial_options *options);

/* Finds the last line of gpuprof that contains `part`, without its prefix; "" if there is none. */
void gp_trial_find_line(const struct gp_trial *trial, const char *part, char *line, size_t bytes);

/* Whether the probe went through all possible steps. */
bool gp_trial_ended_well(const struct gp_trial *trial);

#endif
