#include "tests/sim/device.h"

#include <stdlib.h>
#include <string.h>

static struct sim_config config;

static const struct {
	const char *name;
	enum sim_fault fault;
} fault_names[] = {
	{"subscriber-taken", SIM_FAULT_SUBSCRIBER_TAKEN},
	{"drop-records", SIM_FAULT_DROP_RECORDS},
	{"zero-timestamps", SIM_FAULT_ZERO_TIMESTAMPS},
	{"late-buffers", SIM_FAULT_LATE_BUFFERS},
	{"flush-hangs", SIM_FAULT_FLUSH_HANGS},
	{"stuck-correlation", SIM_FAULT_STUCK_CORRELATION},
	{"shuffled-records", SIM_FAULT_SHUFFLED_RECORDS},
	{"nvml-hangs", SIM_FAULT_NVML_HANGS},
	{"nvml-missing", SIM_FAULT_NVML_MISSING},
	{"no-energy", SIM_FAULT_NO_ENERGY},
	{"moved-fields", SIM_FAULT_MOVED_FIELDS},
	{"unreadable-records", SIM_FAULT_UNREADABLE_RECORDS},
	{"may-not-subscribe", SIM_FAULT_MAY_NOT_SUBSCRIBE},
	{"may-not-record", SIM_FAULT_MAY_NOT_RECORD},
	{"old-driver", SIM_FAULT_OLD_DRIVER},
	{"kernel-fails", SIM_FAULT_KERNEL_FAILS},
	{"counters-forbidden", SIM_FAULT_COUNTERS_FORBIDDEN},
	{"counters-busy", SIM_FAULT_COUNTERS_BUSY},
	{"other-chip", SIM_FAULT_OTHER_CHIP},
	{"counters-overflow", SIM_FAULT_COUNTERS_OVERFLOW},
	{"counters-slow", SIM_FAULT_COUNTERS_SLOW},
	{"counters-drop", SIM_FAULT_COUNTERS_DROP},
	{"counters-broken", SIM_FAULT_COUNTERS_BROKEN},
};

static uint64_t number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : fallback;
}

static unsigned int faults(const char *list)
{
	unsigned int found = 0;

	for (size_t i = 0; list && i < sizeof(fault_names) / sizeof(fault_names[0]); i++)
		if (strstr(list, fault_names[i].name))
			found |= fault_names[i].fault;
	return found;
}

static void read_environment(void)
{
	const char *mode = getenv("CUDA_MODULE_LOADING");

	config.devices = (int)number("GPUSIM_DEVICES", 1);
	if (config.devices > SIM_MAX_DEVICES)
		config.devices = SIM_MAX_DEVICES;
	config.node = (int)number("GPUSIM_NODE", 0);
	config.ranks = (int)number("GPUSIM_RANKS", 1);
	config.memory_bytes = number("GPUSIM_MEMORY_MIB", 16384) << 20;
	config.kernel_ns = number("GPUSIM_KERNEL_NS", 2000);
	config.eager_loading = mode && !strcmp(mode, "EAGER");
	config.jit_cache_warm = number("GPUSIM_JIT_CACHE_WARM", 0) != 0;
	config.cupti_version = (uint32_t)number("GPUSIM_CUPTI_VERSION", 130001);
	config.driver_version = (int)number("GPUSIM_DRIVER_VERSION", 13000);
	config.clock_step_ns = (int64_t)number("GPUSIM_CLOCK_STEP_S", 0) * 1000000000;
	config.power_mw = (uint32_t)number("GPUSIM_POWER_MW", 300000);
	config.clock_reasons = (uint32_t)number("GPUSIM_CLOCK_REASONS", 0);
	config.counters_lock = getenv("GPUSIM_COUNTERS_LOCK");
	config.faults = faults(getenv("GPUSIM_FAULT"));
}

const struct sim_config *sim_config(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
	return &config;
}
