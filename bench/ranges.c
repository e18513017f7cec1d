/*
 * ranges: measures the cost of a pair of nvtxRangePush and nvtxRangePop on the calling thread.
 *
 *   bench/ranges                                  without a tool
 *   LD_PRELOAD=libgpuprof.so bench/ranges         recorded by gpuprof
 *   bench/ranges LIBCUPTI                         recorded by CUPTI, as markers (GPU machine)
 *
 * Prints the median and the lowest of ROUNDS rounds, in ns, of a literal message and of a
 * registered one in a domain.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#define ROUNDS 25
/* a burst that fits in a ring: waits for free slots are not measured */
#define PAIRS        2000
#define BUFFER_BYTES (8u << 20)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void literal(void)
{
	nvtxRangePushA("forward pass of layer 12");
	nvtxRangePop();
}

static void registered(void)
{
	static nvtxDomainHandle_t domain;
	static nvtxEventAttributes_t event;

	if (event.version == 0) {
		domain = nvtxDomainCreateA("bench");
		event.version = NVTX_VERSION;
		event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
		event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
		event.message.registered = nvtxDomainRegisterStringA(domain, "forward");
	}
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void measure(const char *name, void (*pair)(void))
{
	static const struct timespec pause = {0, 100000000};
	double results[ROUNDS];

	pair();
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start_ns;

		nanosleep(&pause, NULL);
		start_ns = now_ns();
		for (int i = 0; i < PAIRS; i++)
			pair();
		results[round] = (double)(now_ns() - start_ns) / PAIRS;
	}
	qsort(results, ROUNDS, sizeof(results[0]), compare);
	printf("%-12s %6.1f ns, lowest %.1f\n", name, results[ROUNDS / 2], results[0]);
}

/* ---- CUPTI's markers ---- */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*records = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid_bytes)
{
	(void)context, (void)stream, (void)bytes, (void)valid_bytes;
	free(buffer);
}

static void use_cupti(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	__typeof__(&cuptiActivityEnable) enable;
	__typeof__(&cuptiActivityRegisterCallbacks) register_callbacks;

	if (handle == NULL) {
		fprintf(stderr, "ranges: %s\n", dlerror());
		exit(1);
	}
	*(void **)&enable = dlsym(handle, "cuptiActivityEnable");
	*(void **)&register_callbacks = dlsym(handle, "cuptiActivityRegisterCallbacks");
	if (register_callbacks == NULL || enable == NULL ||
	    register_callbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
	    enable(CUPTI_ACTIVITY_KIND_MARKER) != CUPTI_SUCCESS) {
		fprintf(stderr, "ranges: %s records no markers\n", library);
		exit(1);
	}
	setenv("NVTX_INJECTION64_PATH", library, 1);
}

int main(int count, char **arguments)
{
	if (count > 1)
		use_cupti(arguments[1]);
	measure("literal", literal);
	measure("registered", registered);
	return 0;
}
