/* Collectives: kernels with "AllReduce" in their names end on all ranks at the same time. */
#include "tests/sim/device.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_MEETINGS 65536
#define POLL_NS       20000
#define GIVE_UP_NS    UINT64_C(10000000000) /* a rank may have been killed */

struct meeting {
	_Atomic uint32_t arrived;
	_Atomic uint64_t latest_ns; /* by CLOCK_MONOTONIC, which all processes share */
};

static struct meeting *meetings;

static void open_meetings(void)
{
	const char *path = getenv("GPUSIM_MEETINGS");
	int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *memory = MAP_FAILED;

	if (file >= 0 && ftruncate(file, MOST_MEETINGS * sizeof(*meetings)) == 0)
		memory = mmap(NULL, MOST_MEETINGS * sizeof(*meetings), PROT_READ | PROT_WRITE,
			      MAP_SHARED, file, 0);
	if (file >= 0)
		close(file);
	meetings = memory == MAP_FAILED ? NULL : memory;
}

uint64_t sim_meet(uint64_t start)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static _Atomic uint32_t next;
	uint64_t since = sim_since_monotonic_ns(), own = start - since, latest, give_up;
	struct meeting *meeting;
	uint32_t number;

	pthread_once(&once, open_meetings);
	number = next++;
	if (!meetings || number >= MOST_MEETINGS)
		return start;
	meeting = &meetings[number];
	latest = meeting->latest_ns;
	while (latest < own && !atomic_compare_exchange_weak(&meeting->latest_ns, &latest, own))
		;
	meeting->arrived++;
	give_up = sim_now_ns() + GIVE_UP_NS;
	while (meeting->arrived < (uint32_t)sim_config()->ranks && sim_now_ns() < give_up)
		sim_wait_until_ns(sim_now_ns() + POLL_NS);
	return meeting->latest_ns + since;
}
