/*
 * probe: the smallest program that uses CUDA. `gpuprof doctor` starts itself as the probe, with and
 * without the preloaded library, and reads its output. The probe may crash or hang in the driver.
 *
 * It prints a line "NAME VALUE" for each result, "step NAME" before each step, and "step done" at
 * the end.
 */
#ifndef REPORT_DOCTOR_PROBE_H
#define REPORT_DOCTOR_PROBE_H

/* What it does, besides loading libraries and opening a range; each does more than the last. */
enum gp_probe_kind {
	GP_PROBE_RANGES,  /* nothing */
	GP_PROBE_GPU,     /* a context on the first GPU that allows one, and a memset there */
	GP_PROBE_KERNELS, /* and some kernels; all on a second thread */
	GP_PROBE_KINDS
};

/* The argument of `gpuprof doctor --probe`, by kind. */
extern const char *const gp_probe_words[GP_PROBE_KINDS];

/*
 * libraries: NULL-terminated, that a program would have loaded; they are loaded first. Returns the
 * exit status.
 */
int gp_probe(enum gp_probe_kind kind, char *const *libraries);

#endif
