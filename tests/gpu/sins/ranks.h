/*
 * Two ranks that wait for each other after each step, as in a collective operation, on two GPUs, or
 * alternating on one.  The program says what a rank does in a step, and defines MEET, the name of the
 * kernel in which they wait, like that of NCCL's.
 */
#ifndef GPUPROF_TESTS_GPU_SINS_RANKS_H
#define GPUPROF_TESTS_GPU_SINS_RANKS_H

#include "tests/rules/rule.h"

#include <sys/mman.h>
#include <sys/wait.h>

const int RANKS = 2, STEPS = 20;
const long long GIVE_UP_CYCLES = 5000000 * CYCLES_PER_US;

/* One step of a rank. */
static void work(int rank, bool sin);

/*
 * Announces that its rank has reached a step, and ends when the other rank has reached it, or need
 * not be awaited. 
 */
__global__ void MEET(volatile int *steps, int rank, int step)
{
	long long start = clock64();

	steps[rank] = step;
	__threadfence_system();
	while (steps[1 - rank] < step && clock64() - start < GIVE_UP_CYCLES)
		;
}

static void meet(int *steps, int rank, int step)
{
	MEET<<<1, 1>>>(steps, rank, step);
	CHECK(cudaGetLastError());
}

static int run_rank(int *page, int rank, bool sin)
{
	const char name[] = {(char)('0' + rank), '\0'};
	int devices, *steps;
	double start;

	setenv("RANK", name, 1);
	CHECK(cudaGetDeviceCount(&devices));
	CHECK(cudaSetDevice(rank % devices));
	CHECK(cudaHostRegister(page, sizeof(int) * RANKS, cudaHostRegisterMapped));
	CHECK(cudaHostGetDevicePointer((void **)&steps, page, 0));
	warm_up();
	meet(steps, rank, 1);
	CHECK(cudaDeviceSynchronize());
	start = now_us();
	for (int i = 0; i < STEPS; i++) {
		work(rank, sin);
		meet(steps, rank, i + 2);
	}
	if (rank == 0)
		return end_loop(start);
	CHECK(cudaDeviceSynchronize());
	return 0;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	int *page = (int *)mmap(NULL, sizeof(int) * RANKS, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, failures = 0;

	if (page == MAP_FAILED)
		return 1;
	for (int rank = 0; rank < RANKS; rank++)
		if (fork() == 0)
			exit(run_rank(page, rank, sin));
	for (int rank = 0; rank < RANKS; rank++)
		failures += wait(&status) < 0 || status != 0;
	return failures;
}

#endif
