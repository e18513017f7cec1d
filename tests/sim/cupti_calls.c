/* libcupti: external correlation ids, and API calls that the client excludes from records. */
#include "tests/sim/cupti_sim.h"

#define DEPTH 64
#define KINDS CUPTI_EXTERNAL_CORRELATION_KIND_SIZE
#define CBIDS 2048

static __thread struct {
	uint64_t ids[DEPTH];
	uint32_t depth;
} external[KINDS];

static _Atomic bool excluded[2][CBIDS]; /* by domain (driver, runtime) and cbid */

static bool known(CUpti_ExternalCorrelationKind kind)
{
	return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < KINDS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if (!known(kind) || external[kind].depth == DEPTH)
		return CUPTI_ERROR_INVALID_PARAMETER;
	external[kind].ids[external[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						  uint64_t *lastId)
{
	if (!known(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (external[kind].depth == 0)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].depth--;
	if (lastId)
		*lastId = external[kind].ids[external[kind].depth];
	return CUPTI_SUCCESS;
}

void sim_record_external(uint32_t correlation)
{
	for (int kind = 0; kind < KINDS; kind++) {
		CUpti_ActivityExternalCorrelation e = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = (CUpti_ExternalCorrelationKind)kind,
			.correlationId = correlation};

		if (external[kind].depth == 0)
			continue;
		e.externalId = external[kind].ids[external[kind].depth - 1];
		sim_buffers_append(&e, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	}
}

bool sim_call_is_left_out(bool runtime, uint32_t cbid)
{
	return cbid < CBIDS && excluded[runtime][cbid];
}

void sim_exclude_none(bool runtime)
{
	for (int cbid = 0; cbid < CBIDS; cbid++)
		excluded[runtime][cbid] = false;
}

static CUptiResult leave_out(bool runtime, CUpti_CallbackId cbid, bool on)
{
	if (cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	excluded[runtime][cbid] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return leave_out(false, cbid, !enable);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return leave_out(true, cbid, !enable);
}
