/* libcupti: activity functions that exist, since clients look them up, and do nothing here. */
#include "tests/sim/cupti_sim.h"

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	(void)kind;
	(void)id;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						  uint64_t *lastId)
{
	(void)kind;
	(void)lastId;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

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

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	(void)funcTimestamp;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	(void)cbid;
	(void)enable;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	(void)cbid;
	(void)enable;
	return CUPTI_ERROR_NOT_SUPPORTED;
}
