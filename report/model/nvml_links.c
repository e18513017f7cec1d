#include "report/model/nvml_links.h"

#include <stdbool.h>

#include "gpuprof/count.h"
#include "report/model/nvml.h"

/*
 * NVML's interface as far as it is used: every driver's library has had these functions since 2020
 * (driver 450), and their numbers do not change.
 */
#define MOST_NVLINKS     18u /* NVML_NVLINK_MAX_LINKS */
#define ENABLED          1   /* nvmlEnableState_t */
#define REMOTE_IS_SWITCH 2   /* nvmlIntNvLinkDeviceType_t */
#define FIELD_LINK_SPEED 90u /* NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: of each active link */

static struct {
	bool is_open;
	int (*handle_of)(const char *uuid, void **device);
	int (*pcie_generation)(void *device, unsigned int *generation);
	int (*pcie_lanes)(void *device, unsigned int *lanes);
	int (*nvlink_state)(void *device, unsigned int link, int *state);
	int (*nvlink_remote)(void *device, unsigned int link, int *type);
	int (*fields)(void *device, int count, struct gp_nvml_field *values);
} nvml;

static bool open_library(void)
{
	static const struct gp_nvml_function functions[] = {
		{&nvml.handle_of, "nvmlDeviceGetHandleByUUID", false},
		/* the most that both the device and the place it is in can do */
		{&nvml.pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration", false},
		{&nvml.pcie_lanes, "nvmlDeviceGetMaxPcieLinkWidth", false},
		{&nvml.nvlink_state, "nvmlDeviceGetNvLinkState", false},
		{&nvml.nvlink_remote, "nvmlDeviceGetNvLinkRemoteDeviceType", false},
		{&nvml.fields, "nvmlDeviceGetFieldValues", false},
	};

	if (!nvml.is_open)
		nvml.is_open = gp_nvml_open(functions, COUNT(functions)) == 0;
	return nvml.is_open;
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
	struct gp_nvml_field value = {.field = FIELD_LINK_SPEED};

	return nvml.fields(device, 1, &value) == 0 && value.result == 0 &&
			       value.type == GP_NVML_IS_UNSIGNED
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
	char text[GP_NVML_UUID_BYTES];
	void *device = NULL;
	size_t count = 0;

	for (size_t i = 0; i < GP_LINKS_OF_DEVICE; i++)
		links[i] = (struct gp_record_link){.kind = GP_RECORD_LINK, .slots = 1};
	gp_nvml_write_uuid(text, uuid);
	if (!open_library() || nvml.handle_of(text, &device) != 0)
		return 0;
	count += ask_pcie(device, &links[count]);
	count += ask_nvlink(device, &links[count]);
	return count;
}
