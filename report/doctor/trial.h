/*
 * trial: a probe is run, plain or recorded, and what came of it.
 *
 * The recorded one goes the whole way that a user's program goes: `gpuprof run`, the preloaded
 * library, the driver, CUPTI, the rings, a trace in the folder where traces will go; the trace is
 * read, and removed again.
 */
#ifndef REPORT_DOCTOR_TRIAL_H
#define REPORT_DOCTOR_TRIAL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define GP_TRIAL_RESULT_NONE (-1) /* the step was not reached */

/* What a function of the driver returned. */
struct gp_trial_result {
	int code;
	char name[64];
};

struct gp_trial {
	bool is_made;
	bool timed_out;
	int status;           /* of the probe or of the launcher, as waitpid() has it */
	char step[32];        /* where it was when it ended; "done" = at its end */
	char said[2048];      /* stderr */
	char unloadable[512]; /* of the libraries to load first, the last that could not be: why */
	char library[PATH_MAX]; /* the loaded libgpuprof.so; "" = none */

	/* the driver; "" and GP_TRIAL_RESULT_NONE where it was not reached */
	char driver[PATH_MAX];
	char driver_error[512];
	unsigned long version;
	int devices;
	char device[256]; /* the one that was used, else the last one tried */
	struct gp_trial_result init, count, context, work;

	/* the trace */
	bool has_trace;
	char cupti[PATH_MAX];
	unsigned long cupti_version;
	char rings[PATH_MAX]; /* "" = in memory, or no trace */
	uint64_t calls, ops, ranges;
};

/* Without any profiler.  0 or -errno: no process could be made. */
int gp_trial_plain(struct gp_trial *trial, unsigned limit_s);

struct gp_trial_options {
	const char *folder; /* an empty one, for the trace; emptied afterwards */
	bool use_gpu;       /* false: ranges only */
	unsigned limit_s;
	char *const *libraries; /* loaded before CUDA is used, ended by NULL; NULL = none */
	const char *rings;      /* of the options those that decide whether anything works here */
	const char *cupti;
};

int gp_trial_recorded(struct gp_trial *trial, const struct gp_trial_options *options);

/* The probe went through all steps that it could. */
bool gp_trial_ended_well(const struct gp_trial *trial);

#endif
