/*
 * Launches kernels in ranges and allocates memory in two threads as fast as it can, until its own
 * timer kills it.  Before and after each call it notes it in memory that outlives it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/gpuprof.h"
#include "tests/lib/cuda_start.h"
#include "tests/torture/truth.h"

#define NS_PER_SECOND 1000000000ll

static volatile struct truth *truth;
static CUcontext context;
static CUfunction kernel;
static char range_names[RANGE_NAMES][4];

static void expect(int is_so)
{
	if (!is_so)
		_exit(1);
}

static const char *setting(const char *variable)
{
	const char *value = getenv(variable);

	return value ? value : "";
}

static void start_timer(const char *phase)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	long long ns = atoll(setting(DELAY_VARIABLE));
	struct itimerspec when = {.it_value = {ns / NS_PER_SECOND, ns % NS_PER_SECOND + 1}};
	timer_t timer;

	if (strcmp(setting(PHASE_VARIABLE), phase) != 0)
		return;
	expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	expect(timer_settime(timer, 0, &when, NULL) == 0);
}

static void open_truth(void)
{
	int fd = open(setting(TRUTH_VARIABLE), O_RDWR | O_CLOEXEC);

	expect(fd >= 0);
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	expect(truth != MAP_FAILED);
	close(fd);
}

static void launch(uint32_t worker)
{
	truth->workers[worker].launches_begun++;
	cuda_check(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	truth->workers[worker].launches_done++;
}

static void allocate(uint32_t worker)
{
	uint64_t number = truth->workers[worker].allocations_begun++;
	CUdeviceptr memory;

	cuda_check(cuMemAlloc_v2(&memory, LEAST_BYTES + number));
	truth->workers[worker].allocations_done++;
	cuda_check(cuMemFree_v2(memory));
}

static void push(uint32_t worker)
{
	uint64_t number = truth->workers[worker].pushes_begun++;

	gpuprof_range_push(range_names[number % RANGE_NAMES]);
	truth->workers[worker].pushes_done++;
}

static void pop(uint32_t worker)
{
	truth->workers[worker].pops_begun++;
	gpuprof_range_pop();
	truth->workers[worker].pops_done++;
}

static void *work(void *number)
{
	uint32_t worker = (uint32_t)(uintptr_t)number;

	truth->workers[worker].thread = (uint32_t)syscall(SYS_gettid);
	cuda_check(cuCtxSetCurrent(context));
	while (truth->workers[worker].allocations_begun < MOST_ROUNDS) {
		push(worker);
		for (int i = 0; i < 7; i++)
			launch(worker);
		pop(worker);
		allocate(worker);
	}
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	open_truth();
	for (uint32_t i = 0; i < RANGE_NAMES; i++)
		snprintf(range_names[i], sizeof(range_names[i]), "%u", i);
	start_timer("start");
	context = cuda_start();
	cuda_load_kernels(&kernel, 1, "step_kernel_", "");
	start_timer("work");
	expect(pthread_create(&thread, NULL, work, (void *)1) == 0);
	work((void *)0);
}
