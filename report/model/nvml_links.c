#include "report/model/nvml_links.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * NVML's interface as far as it is used: every driver's library has had these functions since 2020
 * (driver 450), and their numbers do not change.
 */
#define MOST_NVLINKS      18u /* NVML_NVLINK_MAX_LINKS */
#define ENABLED           1   /* nvmlEnableState_t */
#define REMOTE_IS_SWITCH  2   /* nvmlIntNvLinkDeviceType_t */
#define FIELD_LINK_SPEED  90u /* NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: of each active link */
#define VALUE_IS_UNSIGNED 1   /* nvmlValueType_t */

struct field_value { /* nvmlFieldValue_t */
	unsigned int field, scope;
	long long timestamp_us, latency_us;
	int type, result;
	union {
		unsigned int whole;
		unsigned long long any;
	} value;
};

static struct {
	int (*init)(void);
	int (*handle_of)(const char *uuid, void **device);
	int (*pcie_generation)(void *device, unsigned int *generation);
	int (*pcie_lanes)(void *device, unsigned int *lanes);
	int (*nvlink_state)(void *device, unsigned int link, int *state);
	int (*nvlink_remote)(void *device, unsigned int link, int *type);
	int (*fields)(void *device, int count, struct field_value *values);
} nvml;

/* Returns whether all are there. */
static bool find_functions(void *library)
{
	const struct {
		void *function;
		const char *name;
	} rows[] = {
		{&nvml.init, "nvmlInit_v2"},
		{&nvml.handle_of, "nvmlDeviceGetHandleByUUID"},
		/* the most that both the device and the place it is in can do */
		{&nvml.pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration"},
		{&nvml.pcie_lanes, "nvmlDeviceGetMaxPcieLinkWidth"},
		{&nvml.nvlink_state, "nvmlDeviceGetNvLinkState"},
		{&nvml.nvlink_remote, "nvmlDeviceGetNvLinkRemoteDeviceType"},
		{&nvml.fields, "nvmlDeviceGetFieldValues"},
	};
	bool has_all = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *found = dlsym(library, rows[i].name);

		memcpy(rows[i].function, &found, sizeof(found));
		has_all = has_all && found;
	}
	return has_all;
}

static bool open_library(void)
{
	void *library = nvml.init ? NULL : dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);

	return library ? find_functions(library) && nvml.init() == 0 : nvml.fields != NULL;
}

static void write_uuid(char text[64], const uint8_t uuid[16])
{
	int length = snprintf(text, 64, "GPU-");

	for (int i = 0; i < 16; i++)
		length += snprintf(text + length, 64 - (size_t)length, "%s%02x",
				   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* Returns whether it is known. */
static bool ask_pcie(void *device, struct gp_record_link *link)
{
	unsigned int generation = 0, lanes = 0;

	if (nvml.pcie_generation(device, &generation) != 0 ||
	    nvml.pcie_lanes(device, &lanes) != 0 || generation == 0 || lanes == 0)
		return false;
	link->link_kind = GP_LINK_PCIE;
	link->generation = (uint16_t)generation;
	link->lanes = lanes;
	return true;
}

static unsigned int nvlink_speed(void *device)
{
	struct field_value value = {.field = FIELD_LINK_SPEED};

	return nvml.fields(device, 1, &value) == 0 && value.result == 0 &&
			       value.type == VALUE_IS_UNSIGNED
		       ? value.value.whole
		       : 0;
}

/* Only where all of them go to switches: then they all serve each peer. */
static bool ask_nvlink(void *device, struct gp_record_link *link)
{
	unsigned int lanes = 0;

	for (unsigned int i = 0; i < MOST_NVLINKS; i++) {
		int state = 0, remote = 0;

		if (nvml.nvlink_state(device, i, &state) != 0 || state != ENABLED)
			continue;
		if (nvml.nvlink_remote(device, i, &remote) != 0 || remote != REMOTE_IS_SWITCH)
			return false;
		lanes++;
	}
	link->link_kind = GP_LINK_NVLINK;
	link->lanes = lanes;
	link->lane_mbytes_per_s = lanes > 0 ? nvlink_speed(device) : 0;
	return link->lane_mbytes_per_s > 0;
}

size_t gp_link_facts(const uint8_t uuid[16], struct gp_record_link links[GP_LINKS_OF_DEVICE])
{
	char text[64];
	void *device = NULL;
	size_t count = 0;

	for (size_t i = 0; i < GP_LINKS_OF_DEVICE; i++)
		links[i] = (struct gp_record_link){.kind = GP_RECORD_LINK, .slots = 1};
	write_uuid(text, uuid);
	if (!open_library() || nvml.handle_of(text, &device) != 0)
		return 0;
	count += ask_pcie(device, &links[count]);
	count += ask_nvlink(device, &links[count]);
	return count;
}
