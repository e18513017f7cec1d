/*
 * hang: a long kernel or a failing one, and different ends of the program meanwhile.  The long
 * kernel reads the GPU's clock to end.
 *
 *	hang			everything ends soon
 *	hang wait [warm]	waits for a kernel of 20 seconds, to be killed
 *	hang exit [warm]	exits while a kernel of three seconds runs
 *	hang streams		like wait, with another stream whose kernels end and are waited for
 *	hang fault		aborts at the error of a kernel that wrote to unmapped memory
 *
 * A kernel is loaded at its first launch in a process.  The driver and CUPTI then wait for the
 * running kernel.  warm: all kernels were launched before.
 */
#include "check.h"

#include <cstdlib>
#include <cstring>

__global__ void k_before()
{
}

__global__ void k_spin(long long ns)
{
	long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ns);
}

__global__ void k_fault(int *nowhere)
{
	*nowhere = 1;
}

__global__ void k_after()
{
}

/* These kernels end, although CUPTI may deliver no record of them while the other kernel runs. */
static void wait_beside_it()
{
	cudaStream_t hung, other;

	CHECK(cudaStreamCreateWithFlags(&hung, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < 10; i++)
		k_after<<<1, 1, 0, other>>>();
	CHECK(cudaStreamSynchronize(other));
	k_spin<<<1, 1, 0, hung>>>(20000000000);
	for (int i = 0; i < 20; i++) {
		k_after<<<1, 1, 0, other>>>();
		CHECK(cudaStreamSynchronize(other));
	}
	CHECK(cudaStreamSynchronize(hung));
}

int main(int argc, char **argv)
{
	const char *end = argc > 1 ? argv[1] : "";
	bool streams = !strcmp(end, "streams"), warm = streams || (argc > 2 && !strcmp(argv[2], "warm"));

	k_before<<<1, 1>>>();
	if (warm) {
		k_spin<<<1, 1>>>(0);
		k_after<<<1, 1>>>();
	}
	if (streams) {
		CHECK(cudaStreamSynchronize(0));
		wait_beside_it();
		return 0;
	}
	CHECK(cudaDeviceSynchronize());
	if (!strcmp(end, "fault"))
		k_fault<<<1, 1>>>((int *)16);
	else
		k_spin<<<1, 1>>>(!strcmp(end, "wait") ? 20000000000 : *end ? 3000000000 : 2000000);
	k_after<<<1, 1>>>();
	k_after<<<1, 1>>>();
	say("kernel.k_before", 1);
	say("kernel.k_spin", warm ? 2 : 1);
	say("kernel.k_after", warm ? 3 : 2);
	fflush(stdout);
	if (!strcmp(end, "exit"))
		return 3;
	if (cudaDeviceSynchronize() != cudaSuccess)
		abort();
	return 0;
}
