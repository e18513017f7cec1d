/*
 * nvml: opens the driver's management library, libnvidia-ml.so.1 (NVML).
 *
 * Use it in a process of its own: the library may take long if an unused GPU has to be brought up
 * first, and it is not ours.
 */
#ifndef REPORT_MODEL_NVML_H
#define REPORT_MODEL_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_nvml_function {
	void *function; /* the address of a function pointer; of a missing one NULL is stored */
	const char *name;
	bool is_optional;
};

struct gp_nvml_field { /* nvmlFieldValue_t */
	unsigned int field, scope;
	long long timestamp_us, latency_us;
	int type, result;
	union {
		unsigned int whole;
		unsigned long long any;
	} value;
};
#define GP_NVML_IS_UNSIGNED 1 /* nvmlValueType_t */

#define GP_NVML_NO_PERMISSION 4 /* nvmlReturn_t */

#define GP_NVML_UUID_BYTES 64

/*
 * Finds the functions, and initializes the library.  Returns 0; -ENOENT if there is no library;
 * -ENOSYS if a function is missing that is not optional; or the library's own error, which is
 * positive.
 */
int gp_nvml_open(const struct gp_nvml_function *functions, size_t count);

/* The text by which the library knows a GPU. */
void gp_nvml_write_uuid(char text[GP_NVML_UUID_BYTES], const uint8_t uuid[16]);

#endif
