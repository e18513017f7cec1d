/*
 * windows [STEP...]: launches of one kernel, the first with one block, each next one with one more,
 * which identifies the launches in a trace.  Steps, in order:
 *
 *    launch=N     N launches
 *    profiler=N   N launches from cudaProfilerStart to cudaProfilerStop
 *    range=N      N launches in the NVTX range "window" of the domain "tests"
 *    toggle       sends SIGUSR2, which the program ignores, to itself, and waits half a second
 *    for=MS       a launch each millisecond for MS milliseconds
 *    samples=N    each millisecond a range as above with three launches, until N windows were
 *                 recorded
 *
 * Prints the number of launches.  The file "starts", if it can be created, has a line for each:
 * nanoseconds from the start of the process to the launch.
 */
#include "check.h"

#include "../../include/gpuprof/gpuprof.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <vector>

__global__ void k_window()
{
}

static std::vector<long long> starts_ns;

/* CLOCK_BOOTTIME, like the start time of a process in /proc. */
static long long now_ns()
{
	timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void launch(int count)
{
	for (int i = 0; i < count; i++) {
		starts_ns.push_back(now_ns());
		k_window<<<(unsigned)starts_ns.size(), 32>>>();
	}
}

static void launch_for(long long ms)
{
	for (long long end_ns = now_ns() + ms * 1000000; now_ns() < end_ns; usleep(1000))
		launch(1);
}

static void launch_in_profiler(int count)
{
	CHECK(cudaProfilerStart());
	launch(count);
	CHECK(cudaProfilerStop());
}

static void launch_in_range(int count)
{
	static nvtxDomainHandle_t domain = nvtxDomainCreateA("tests");
	nvtxEventAttributes_t range = {};

	range.version = NVTX_VERSION;
	range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	range.messageType = NVTX_MESSAGE_TYPE_ASCII;
	range.message.ascii = "window";
	nvtxDomainRangePushEx(domain, &range);
	launch(count);
	nvtxDomainRangePop(domain);
}

static void launch_in_samples(int count)
{
	for (int was_recording = 0, windows = 0; windows < count; usleep(1000)) {
		int is_recording = gpuprof_is_recording();

		windows += was_recording && !is_recording;
		was_recording = is_recording;
		launch_in_range(3);
	}
}

static void toggle(int)
{
	CHECK(cudaDeviceSynchronize());
	kill(getpid(), SIGUSR2);
	usleep(500000);
}

static void do_step(const char *step)
{
	static const struct {
		const char *name;
		void (*function)(int);
	} steps[] = {
		{ "launch=", launch },
		{ "profiler=", launch_in_profiler },
		{ "range=", launch_in_range },
		{ "samples=", launch_in_samples },
		{ "toggle", toggle },
		{ "for=", [](int ms) { launch_for(ms); } },
	};

	for (const auto &known : steps)
		if (strncmp(step, known.name, strlen(known.name)) == 0)
			return known.function(atoi(step + strlen(known.name)));
	fprintf(stderr, "%s is not a step\n", step);
	exit(2);
}

/* Field 22 of /proc/self/stat, in clock ticks, after the name in parentheses. */
static long long process_start_ns()
{
	char line[1024] = "";
	long long ticks = 0;
	FILE *file = fopen("/proc/self/stat", "r");

	if (file != NULL && fgets(line, sizeof(line), file) != NULL && strrchr(line, ')') != NULL)
		sscanf(strrchr(line, ')') + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lld",
		       &ticks);
	if (file != NULL)
		fclose(file);
	return ticks * (1000000000ll / sysconf(_SC_CLK_TCK));
}

static void write_starts()
{
	long long start_ns = process_start_ns();
	FILE *file = fopen("starts", "w");

	for (long long launch_ns : starts_ns)
		if (file != NULL)
			fprintf(file, "%lld\n", launch_ns - start_ns);
	if (file != NULL)
		fclose(file);
}

int main(int argc, char **argv)
{
	signal(SIGUSR2, SIG_IGN); /* until the first context, from which on gpuprof may handle it */
	CHECK(cudaFree(0));
	for (int i = 1; i < argc; i++)
		do_step(argv[i]);
	if (argc == 1)
		launch(10);
	CHECK(cudaDeviceSynchronize());
	if (argc > 1)
		write_starts();
	else
		say("kernel.k_window", starts_ns.size());
	return 0;
}
