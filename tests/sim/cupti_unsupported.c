/* libcupti: activity functions that exist, because clients look them up, and do nothing here. */
#include "tests/sim/cupti_sim.h"

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	(void)enable;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
	(void)enable;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityEnableAllocationSource(uint8_t enable)
{
	(void)enable;
	return CUPTI_ERROR_NOT_SUPPORTED;
}
