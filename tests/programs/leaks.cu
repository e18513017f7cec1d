/*
 * leaks: blocks that are never freed, or freed in a static destructor; a known peak; temporary
 * blocks; frees that wait.
 *
 * tests/e2e/memory_test.py finds source lines by the comments at their ends.
 */
#include "check.h"

#define MIB   (1 << 20)
#define TURNS 20
#define CYCLES 400000000LL /* about 200 ms */

static unsigned long long allocated, freed;

static __attribute__((noinline)) void *allocate(size_t bytes)
{
	void *p;

	CHECK(cudaMalloc(&p, bytes)); /* allocate */
	allocated += bytes;
	return p;
}

static __attribute__((noinline)) void release(void *p, size_t bytes)
{
	CHECK(cudaFree(p)); /* release */
	freed += bytes;
}

/* The destructor frees the memory after main has returned. */
struct Table {
	void *rows = nullptr;

	~Table()
	{
		cudaFree(rows);
	}
};

static Table table;

static __attribute__((noinline)) void leak()
{
	void *host;

	for (int i = 0; i < 3; i++)
		allocate(MIB); /* leak */
	CHECK(cudaMallocHost(&host, 12288)); /* host leak */
}

static __attribute__((noinline)) void reach_the_peak()
{
	void *large = allocate(8 * MIB); /* large */
	void *small = allocate(4 * MIB); /* small */

	release(large, 8 * MIB);
	release(small, 4 * MIB);
}

static __attribute__((noinline)) void work_in_turns()
{
	for (int i = 0; i < TURNS; i++) {
		void *p = allocate(MIB / 4); /* turn */

		release(p, MIB / 4);
	}
}

__global__ void k_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

/* A free waits for the GPU's unfinished work. */
static __attribute__((noinline)) void wait_in_a_free()
{
	void *p = allocate(MIB); /* held while the GPU works */

	k_spin<<<132, 256>>>(CYCLES);
	release(p, MIB); /* wait */
}

int main()
{
	CHECK(cudaFree(nullptr)); /* the context is made here */
	CHECK(cudaMalloc(&table.rows, 65536)); /* table */
	allocated += 65536;
	leak();
	reach_the_peak();
	work_in_turns();
	wait_in_a_free();
	say("device.allocated.bytes", allocated);
	say("device.freed.bytes", freed + 65536);
	say("leak.bytes", 3 * MIB);
	say("kernel.k_spin", 1);
	return 0;
}
