/*
 * probe: the smallest program that uses CUDA.  `gpuprof doctor` starts itself as one, with and
 * without the library preloaded, and reads what it prints; it may crash or hang in the driver.
 *
 * It prints a line "NAME VALUE" for whatever it has found out; before each step it prints "step
 * NAME", and at the end "step done".
 */
#ifndef REPORT_DOCTOR_PROBE_H
#define REPORT_DOCTOR_PROBE_H

#include <stdbool.h>

/*
 * Load the libraries, ended by NULL, that a program would have by then; open a range; and, where
 * use_gpu, make a context on the first GPU that gives one and set some memory there.  Returns the
 * exit status.
 */
int gp_probe(bool use_gpu, char *const *libraries);

#endif
