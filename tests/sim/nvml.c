/*
 * libnvidia-ml: links and energy.  PCI Express 5.0 with 16 lanes to the host; with several devices,
 * 18 NVLinks from each to switches.  The numbers of an H200.  The power does not change, nor does
 * the reason for the clock; the energy is the power times the monotonic clock.
 */
#include "tests/sim/device.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIELD_LINK_SPEED  90u
#define FIELD_POWER       186u
#define NOT_SUPPORTED     3
#define INVALID_ARGUMENT  2
#define NOT_FOUND         6
#define DRIVER_NOT_LOADED 9
#define NVLINKS           18u
#define REMOTE_IS_SWITCH  2
#define VALUE_IS_UNSIGNED 1
#define CLOCK_OF_SM       1

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
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits);

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
		bool is_power = values[i].field == FIELD_POWER;
		bool is_speed = values[i].field == FIELD_LINK_SPEED && has_nvlink(0);

		values[i].result = is_power || is_speed ? 0 : NOT_SUPPORTED;
		values[i].type = VALUE_IS_UNSIGNED;
		values[i].value = is_power ? sim_config()->power_mw : 26562;
	}
	return device ? 0 : INVALID_ARGUMENT;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
	struct timespec now;

	if (sim_config()->faults & SIM_FAULT_NO_ENERGY)
		return NOT_SUPPORTED;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*millijoules = (unsigned long long)(((double)now.tv_sec + (double)now.tv_nsec / 1e9) *
					    sim_config()->power_mw);
	return device ? 0 : INVALID_ARGUMENT;
}

/* The mean over a second, of which nothing is known here. */
int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts)
{
	*milliwatts = sim_config()->power_mw / 2;
	return device ? 0 : INVALID_ARGUMENT;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz)
{
	*mhz = type == CLOCK_OF_SM ? 1500 : 0;
	return device ? 0 : INVALID_ARGUMENT;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits)
{
	*bits = sim_config()->clock_reasons;
	return device ? 0 : INVALID_ARGUMENT;
}
