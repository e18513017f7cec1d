/* Ranges as NCCL's functions have them: it is not needed for that. */
#include "tests/rules/rule.h"

#include <nvtx3/nvToolsExt.h>

const int COMMUNICATORS = 4, STEPS = 100;

static void in_range(nvtxDomainHandle_t nccl, const char *function, int us)
{
	nvtxEventAttributes_t event = {};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = function;
	nvtxDomainRangePushEx(nccl, &event);
	compute(us);
	nvtxDomainRangePop(nccl);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL");
	double start = now_us();

	CHECK(cudaFree(0));
	for (int i = 0; i < (sin ? COMMUNICATORS : 1); i++)
		in_range(nccl, i == 0 ? "ncclCommInitRank" : "ncclCommInitRankConfig", sin ? 100000 : 2000);
	for (int step = 0; step < STEPS; step++)
		launch_spin(1000);
	CHECK(cudaDeviceSynchronize());
	in_range(nccl, "ncclCommDestroy", 2000);
	return end_loop(start);
}
