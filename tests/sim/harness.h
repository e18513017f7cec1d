/*
 * Shared code for tests of the simulated device.  Each test runs in its own child process with its
 * own environment, because a process configures the device once.
 */
#ifndef GPUPROF_TESTS_SIM_HARNESS_H
#define GPUPROF_TESTS_SIM_HARNESS_H

#include <cupti.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* In a test body: end the child, which fails the test, if the condition is false. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* environment: "NAME=VALUE NAME=VALUE", or NULL */
static inline int in_child(const char *environment, void (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		char *copy = strdup(environment ? environment : "");

		for (char *pair = strtok(copy, " "); pair; pair = strtok(NULL, " "))
			putenv(strdup(pair));
		body();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* ---- kernels without a compiler: what nvcc's code does at load time -------------------------- */

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
			    int *warp_size);

static char empty_kernel, spin_kernel;

static inline void register_kernels(void)
{
	void **binary = __cudaRegisterFatBinary("");

	__cudaRegisterFunction(binary, &empty_kernel, NULL, "k_empty", -1, NULL, NULL, NULL, NULL,
			       NULL);
	__cudaRegisterFunction(binary, &spin_kernel, NULL, "k_spin", -1, NULL, NULL, NULL, NULL,
			       NULL);
}

static inline cudaError_t launch(cudaStream_t stream)
{
	dim3 grid = {2, 1, 1}, block = {32, 1, 1};

	return cudaLaunchKernel(&empty_kernel, grid, block, NULL, 0, stream);
}

/* A kernel of known duration. */
static inline cudaError_t launch_ms(cudaStream_t stream, int ms)
{
	long long cycles = ms * 1975000LL;
	void *arguments[] = {&cycles};
	dim3 one = {1, 1, 1};

	return cudaLaunchKernel(&spin_kernel, one, one, arguments, 0, stream);
}

/* ---- a CUPTI client that keeps everything ---------------------------------------------------- */

#define MAX_CALLS    4096
#define MAX_RECORDS  65536
#define BUFFER_BYTES 65536

struct call {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
	bool exit;
	uint32_t correlation;
	uint64_t data; /* set by the enter callback */
	int result;
	char symbol[64];
};

static struct {
	CUpti_SubscriberHandle subscriber;
	struct call calls[MAX_CALLS];
	size_t call_count;
	CUpti_Activity *records[MAX_RECORDS]; /* pointers into the buffers, which are kept */
	size_t record_count;
	_Atomic size_t requested, completed;
	pthread_t completer;
	bool refuse; /* return no buffer to CUPTI */
	/* called in each callback, without a lock */
	void (*also)(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data);
	pthread_mutex_t lock;
} client = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void on_api(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			  const CUpti_CallbackData *data)
{
	struct call *c = &client.calls[client.call_count++];

	*c = (struct call){.domain = domain,
			   .cbid = cbid,
			   .exit = data->callbackSite == CUPTI_API_EXIT,
			   .correlation = data->correlationId};
	if (c->exit) {
		c->data = *data->correlationData;
		c->result = *(int *)data->functionReturnValue;
	} else {
		*data->correlationData = data->correlationId + 1000;
	}
	if (data->symbolName)
		snprintf(c->symbol, sizeof(c->symbol), "%s", data->symbolName);
}

static inline void on_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			       const void *data)
{
	(void)unused;
	pthread_mutex_lock(&client.lock);
	if (domain != CUPTI_CB_DOMAIN_RESOURCE)
		on_api(domain, cbid, data);
	else
		client.calls[client.call_count++] = (struct call){.domain = domain, .cbid = cbid};
	pthread_mutex_unlock(&client.lock);
	if (client.also)
		client.also(domain, cbid, data);
}

static inline void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = client.refuse ? NULL : calloc(1, BUFFER_BYTES);
	*size = client.refuse ? 0 : BUFFER_BYTES;
	*max_records = 0;
	client.requested++;
}

static inline void on_complete(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)ctx;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&client.lock);
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		client.records[client.record_count++] = record;
	client.completed++;
	client.completer = pthread_self();
	pthread_mutex_unlock(&client.lock);
}

/* Subscribes, and enables records of kernels, copies and memsets. */
static inline void start_client(void)
{
	REQUIRE(!cuptiSubscribe(&client.subscriber, (CUpti_CallbackFunc)on_callback, NULL));
	REQUIRE(!cuptiActivityRegisterCallbacks(on_request, on_complete));
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
}

static inline size_t count_records(CUpti_ActivityKind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < client.record_count; i++)
		count += client.records[i]->kind == kind;
	return count;
}

/* The n-th record of a kind; NULL: there are fewer. */
static inline void *nth_record(CUpti_ActivityKind kind, size_t n)
{
	for (size_t i = 0; i < client.record_count; i++)
		if (client.records[i]->kind == kind && n-- == 0)
			return client.records[i];
	return NULL;
}

/* All kernel records start with the fields of CUPTI 11.8. */
static inline CUpti_ActivityKernel8 *nth_kernel(size_t n)
{
	return nth_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, n);
}

#endif
