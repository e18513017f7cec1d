/*
 * libcuda: the residence of managed memory, in blocks of 2 MiB.  Prefetches move blocks, and so do
 * kernels that are known to write to them.  If a tool counts CPU faults, the pages of a block on a
 * device are protected.  A SIGSEGV handler then migrates the block back and reports a CPU fault,
 * unless the device's own code touched the memory.
 */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define BLOCK_BYTES ((uintptr_t)2 << 20)
#define PAGE_BYTES  ((uintptr_t)4096)
#define FAULT_NS    20000

struct managed {
	uintptr_t start, end;
	uint32_t *places; /* residence of each block: a device, or SIM_CPU */
	struct managed *next;
};

static struct managed *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t block_of(const struct managed *m, uintptr_t at)
{
	return at / BLOCK_BYTES - m->start / BLOCK_BYTES;
}

/* The part of a memory range within one block, in bytes and in whole pages. */
struct extent {
	uintptr_t start, end, first_page, last_page;
};

static struct extent extent_of(const struct managed *m, uintptr_t at)
{
	struct extent e = {.start = at / BLOCK_BYTES * BLOCK_BYTES};

	e.end = e.start + BLOCK_BYTES < m->end ? e.start + BLOCK_BYTES : m->end;
	e.start = e.start > m->start ? e.start : m->start;
	e.first_page = (e.start + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	e.last_page = e.end / PAGE_BYTES * PAGE_BYTES;
	return e;
}

static void protect(const struct managed *m, uintptr_t at, int protection)
{
	struct extent e = extent_of(m, at);

	if (e.first_page < e.last_page)
		mprotect((void *)e.first_page, e.last_page - e.first_page, protection);
}

/* Remove the protection: the memory may be reused by code that knows nothing of it. */
static void open_all(const struct managed *m)
{
	for (uintptr_t at = m->start; at < m->end; at = extent_of(m, at).end)
		protect(m, at, PROT_READ | PROT_WRITE);
}

static void remove_locked(uintptr_t start)
{
	for (struct managed **at = &all; *at; at = &(*at)->next) {
		struct managed *m = *at;

		if (m->start != start)
			continue;
		*at = m->next;
		open_all(m);
		free(m->places);
		free(m);
		return;
	}
}

void sim_drv_managed_remove(uintptr_t start)
{
	pthread_mutex_lock(&lock);
	remove_locked(start);
	pthread_mutex_unlock(&lock);
}

void sim_drv_managed_add(const struct sim_range *range)
{
	struct managed *m = malloc(sizeof(*m));
	size_t count;

	*m = (struct managed){.start = range->start, .end = range->start + range->bytes};
	count = block_of(m, m->end - 1) + 1;
	m->places = malloc(count * sizeof(*m->places));
	for (size_t i = 0; i < count; i++)
		m->places[i] = SIM_CPU;
	pthread_mutex_lock(&lock);
	remove_locked(m->start); /* its context was destroyed, which frees it without a report */
	m->next = all;
	all = m;
	pthread_mutex_unlock(&lock);
}

static struct managed *find_locked(uintptr_t at)
{
	struct managed *m;

	for (m = all; m && (at < m->start || at >= m->end); m = m->next)
		;
	return m;
}

static struct sigaction others;

/* Reports the fault, then the migration back to the host.  The thread waits for the migration. */
static void fault_on_cpu(struct managed *m, uintptr_t at, uint64_t instruction)
{
	struct extent extent = extent_of(m, at);
	struct sim_unified_event e = {
		.counter = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
		.value = instruction,
		.address = at / PAGE_BYTES * PAGE_BYTES,
		.start = sim_now_ns()};

	sim_tell_unified(&e);
	e.counter = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
	e.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE;
	e.value = extent.end - extent.start;
	e.address = extent.start;
	e.from = m->places[block_of(m, at)];
	e.to = SIM_CPU;
	e.start = sim_now_ns();
	e.end = e.start + 1200 + e.value / 50;
	sim_wait_until_ns(e.end);
	sim_tell_unified(&e);
	m->places[block_of(m, at)] = SIM_CPU;
}

static uint64_t instruction_of(const ucontext_t *registers)
{
#if defined(__x86_64__)
	return (uint64_t)registers->uc_mcontext.gregs[REG_RIP];
#else
	return registers->uc_mcontext.pc;
#endif
}

/* Taking the lock here is safe, because its holders touch no managed memory. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	struct managed *m;

	pthread_mutex_lock(&lock);
	m = find_locked(at);
	if (m && m->places[block_of(m, at)] != SIM_CPU) {
		protect(m, at, PROT_READ | PROT_WRITE);
		if (!sim_touching)
			fault_on_cpu(m, at, instruction_of(context));
	} else {
		/* the access faults again, now for the previous handler */
		sigaction(number, &others, NULL);
	}
	pthread_mutex_unlock(&lock);
}

static void handle_faults(void)
{
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaction(SIGSEGV, &ours, &others);
}

static void watch_block(const struct managed *m, uintptr_t at)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!sim_tools.cpu_faults)
		return;
	pthread_once(&once, handle_faults);
	protect(m, at, PROT_NONE);
}

static uint32_t counter_of(uint32_t from, uint32_t to)
{
	if (from == SIM_CPU)
		return CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
	return to == SIM_CPU ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH
			     : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD;
}

/* Occupies the stream's timeline for `ns`, after all earlier work. */
static void occupy(CUstream stream, uint64_t ns, struct sim_unified_event *e)
{
	e->start = sim_stream_ready_ns(stream);
	e->end = e->start + ns;
	sim_stream_extend(stream, e->end);
	sim_tell_unified(e);
}

static void fault(CUstream stream, uintptr_t at, uint32_t device)
{
	struct sim_unified_event e = {
		.counter = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
		.flags = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE,
		.value = 1,
		.address = at,
		.from = device,
	};

	occupy(stream, FAULT_NS, &e);
}

/* Migrates the affected part of one block to the other side.  cause: the side that needs it. */
static void move_block(CUstream stream, struct managed *m, uintptr_t at, uintptr_t end, uint32_t to,
		       uint32_t cause)
{
	uint32_t *place = &m->places[block_of(m, at)];
	struct sim_unified_event e = {.counter = counter_of(*place, to),
				      .flags = cause,
				      .value = end - at,
				      .address = at,
				      .from = *place,
				      .to = to};

	if (*place == to) {
		if (to != SIM_CPU)
			watch_block(m, at); /* the device's own code may have opened it */
		return;
	}
	if (cause == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE)
		fault(stream, at, to);
	occupy(stream, 1200 + e.value / 50, &e);
	*place = to;
	if (to == SIM_CPU)
		protect(m, at, PROT_READ | PROT_WRITE);
	else
		watch_block(m, at);
}

static void move(CUstream stream, uintptr_t at, size_t bytes, uint32_t to, uint32_t cause)
{
	uintptr_t end = at + bytes;
	struct managed *m;

	pthread_mutex_lock(&lock);
	m = find_locked(at);
	while (m && at < end) {
		uintptr_t block_end = at / BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES;

		if (block_end > end)
			block_end = end;
		move_block(stream, m, at, block_end, to, cause);
		at = block_end;
	}
	pthread_mutex_unlock(&lock);
}

void sim_drv_fault_in(CUstream stream, CUdeviceptr at, size_t bytes)
{
	if (sim_memory_kind(at) == SIM_MEMORY_MANAGED && sim_memory_covers(at, bytes))
		move(stream, at, bytes, (uint32_t)stream->ctx->device->ordinal,
		     CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE);
}

static bool is_managed(CUdeviceptr at, size_t bytes)
{
	return bytes && sim_memory_kind(at) == SIM_MEMORY_MANAGED && sim_memory_covers(at, bytes);
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
			    CUmemLocation location)
{
	(void)advice;
	(void)location;
	return is_managed(devPtr, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
				   unsigned int flags, CUstream hStream)
{
	bool to_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (r)
		return r;
	if (flags || !is_managed(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	if (to_device && !sim_device(location.id))
		return CUDA_ERROR_INVALID_DEVICE;
	move(s, devPtr, count, to_device ? (uint32_t)location.id : SIM_CPU,
	     CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER);
	return CUDA_SUCCESS;
}
