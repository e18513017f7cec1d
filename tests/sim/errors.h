/* Names and texts of error codes, which are equal in the driver and the runtime. */
#ifndef GPUPROF_TESTS_SIM_ERRORS_H
#define GPUPROF_TESTS_SIM_ERRORS_H

struct sim_error {
	int code;
	const char *driver_name, *runtime_name, *text;
};

/* NULL: not an error code. */
const struct sim_error *sim_error(int code);

#endif
