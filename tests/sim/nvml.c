/*
 * libnvidia-ml: the links.  PCI Express 5.0 with 16 lanes to the host; with several devices, 18
 * NVLinks from each to switches.  The numbers of an H200.
 */
#include "tests/sim/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIELD_LINK_SPEED  90u
#define NOT_SUPPORTED     3
#define INVALID_ARGUMENT  2
#define NOT_FOUND         6
#define DRIVER_NOT_LOADED 9
#define NVLINKS           18u
#define REMOTE_IS_SWITCH  2
#define VALUE_IS_UNSIGNED 1

struct sim_field_value { /* nvmlFieldValue_t */
	unsigned int field, scope;
	long long timestamp_us, latency_us;
	int type, result;
	unsigned long long value;
};

/* nvml.h is not among the headers of the Toolkit that the build needs. */
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned int *generation);
int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned int *lanes);
int nvmlDeviceGetNvLinkState(void *device, unsigned int link, int *state);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned int link, int *type);
int nvmlDeviceGetFieldValues(void *device, int count, struct sim_field_value *values);

static bool has_nvlink(unsigned int link)
{
	return sim_config()->devices > 1 && link < NVLINKS;
}

int nvmlInit_v2(void)
{
	while (sim_config()->faults & SIM_FAULT_NVML_HANGS)
		pause();
	return sim_config()->faults & SIM_FAULT_NVML_MISSING ? DRIVER_NOT_LOADED : 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	for (int i = 0; i < sim_config()->devices; i++) {
		CUuuid own = sim_device_uuid(i);
		char text[64];
		int length = snprintf(text, sizeof(text), "GPU-");

		for (int j = 0; j < 16; j++)
			length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%02x",
					   j == 4 || j == 6 || j == 8 || j == 10 ? "-" : "",
					   (unsigned char)own.bytes[j]);
		if (strcmp(text, uuid) == 0) {
			*device = sim_device(i);
			return 0;
		}
	}
	return NOT_FOUND;
}

int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned int *generation)
{
	*generation = 5;
	return device ? 0 : INVALID_ARGUMENT;
}

int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned int *lanes)
{
	*lanes = 16;
	return device ? 0 : INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned int link, int *state)
{
	*state = 1;
	return device && has_nvlink(link) ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned int link, int *type)
{
	*type = REMOTE_IS_SWITCH;
	return device && has_nvlink(link) ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(void *device, int count, struct sim_field_value *values)
{
	for (int i = 0; i < count; i++) {
		values[i].result =
			values[i].field == FIELD_LINK_SPEED && has_nvlink(0) ? 0 : NOT_SUPPORTED;
		values[i].type = VALUE_IS_UNSIGNED;
		values[i].value = 26562;
	}
	return device ? 0 : INVALID_ARGUMENT;
}
