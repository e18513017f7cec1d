/* streams [THREADS STREAMS LAUNCHES]: threads that each launch into their own streams. */
#include "check.h"

#include <pthread.h>

#define MAX_THREADS 64

__global__ void k_work()
{
}

static int stream_count, launch_count;

static void *work(void *)
{
	cudaStream_t *streams = (cudaStream_t *)calloc(stream_count, sizeof(cudaStream_t));

	for (int s = 0; s < stream_count; s++)
		CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
	for (int i = 0; i < launch_count; i++)
		for (int s = 0; s < stream_count; s++)
			k_work<<<1, 32, 0, streams[s]>>>();
	for (int s = 0; s < stream_count; s++) {
		CHECK(cudaStreamSynchronize(streams[s]));
		CHECK(cudaStreamDestroy(streams[s]));
	}
	free(streams);
	return nullptr;
}

int main(int argc, char **argv)
{
	int thread_count = argument(argc, argv, 1, 8);
	pthread_t threads[MAX_THREADS];

	if (thread_count > MAX_THREADS)
		thread_count = MAX_THREADS;
	stream_count = argument(argc, argv, 2, 8);
	launch_count = argument(argc, argv, 3, 50);
	CHECK(cudaFree(0));
	for (int i = 0; i < thread_count; i++)
		pthread_create(&threads[i], nullptr, work, nullptr);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], nullptr);
	say("streams", (unsigned long long)thread_count * stream_count);
	say("kernel.k_work", (unsigned long long)thread_count * stream_count * launch_count);
	return 0;
}
