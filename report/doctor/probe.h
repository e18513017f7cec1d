/*
 * probe: the smallest program that uses CUDA. `gpuprof doctor` starts itself as the probe, with and
 * without the preloaded library, and reads its output. The probe may crash or hang in the driver.
 *
 * It prints a line "NAME VALUE" for each result, "step NAME" before each step, and "step done" at
 * the end.
 */
#ifndef REPORT_DOCTOR_PROBE_H
#define REPORT_DOCTOR_PROBE_H

#include <stdbool.h>

/*
 * Loads the libraries (NULL-terminated) that a program would have loaded, and opens a range. With
 * use_gpu, creates a context on the first GPU that allows one, and sets some memory there. Returns
 * the exit status.
 */
int gp_probe(bool use_gpu, char *const *libraries);

#endif
