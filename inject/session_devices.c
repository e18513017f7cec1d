#include "inject/session_devices.h"

#include <stdbool.h>
#include <stdio.h>

#include "collector/atomic.h"
#include "gpuprof/option.h"
#include "inject/log.h"
#include "inject/options.h"
#include "inject/process_trace.h"

static uint32_t
	added; /* devices that are not reported yet, a bit for each; others have no energy */

void gp_session_devices_add(uint16_t device_id)
{
	if (device_id < 32)
		(void)gp_or32(&added, UINT32_C(1) << device_id);
}

/* Whether gpuprof-run sees the links. */
static bool is_seen(void)
{
	static bool has_logged;

	if (gp_process_trace_in_session())
		return true;
	if (!has_logged)
		gp_log("no energy is sampled (--energy): gpuprof-run does that, and it did not start this program, or does not share its temporary folder with it");
	has_logged = true;
	return false;
}

/* With MIG this is the UUID of the whole GPU, whose energy is counted. */
static void report(const struct gp_driver *driver, CUdevice device)
{
	char name[sizeof(GP_SESSION_DEVICE) + 2 * sizeof(CUuuid)] = GP_SESSION_DEVICE;
	CUuuid uuid;

	if (driver->cuDeviceGetUuid == NULL ||
	    driver->cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS)
		return;
	for (size_t i = 0; i < sizeof(uuid.bytes); i++)
		snprintf(name + sizeof(GP_SESSION_DEVICE) - 1 + 2 * i, 3, "%02x",
			 (unsigned char)uuid.bytes[i]);
	gp_process_trace_report(name);
}

void gp_session_devices_report(const struct gp_driver *driver)
{
	uint32_t devices = gp_load32(&added) != 0 ? gp_swap32(&added, 0) : 0;

	if (devices == 0 || gp_option_interval_ns(GP_OPTION_ID_ENERGY) == 0 || !is_seen())
		return;
	for (CUdevice i = 0; i < 32; i++)
		if ((devices >> i & 1) != 0)
			report(driver, i);
}
