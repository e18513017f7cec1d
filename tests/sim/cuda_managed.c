/*
 * libcuda: where managed memory is, in blocks of 2 MiB. Prefetches move it, and so do kernels that
 * are known to write to it; what the CPU touches is not seen, so it never faults there.
 */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <stdlib.h>

#define BLOCK_BYTES ((uintptr_t)2 << 20)
#define FAULT_NS    20000

struct managed {
	uintptr_t start, end;
	uint32_t *places; /* of each block: a device, or SIM_CPU */
	struct managed *next;
};

static struct managed *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t block_of(const struct managed *m, uintptr_t at)
{
	return at / BLOCK_BYTES - m->start / BLOCK_BYTES;
}

static void remove_locked(uintptr_t start)
{
	for (struct managed **at = &all; *at; at = &(*at)->next) {
		struct managed *m = *at;

		if (m->start != start)
			continue;
		*at = m->next;
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
	remove_locked(m->start); /* freed with its context, which tells nobody */
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

static uint32_t counter_of(uint32_t from, uint32_t to)
{
	if (from == SIM_CPU)
		return CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
	return to == SIM_CPU ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH
			     : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD;
}

/* Takes a time on the stream's timeline, behind all that is there. */
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

/* Moves one block, as far as it is meant, to where it is not; cause: who wants it there. */
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

	if (*place == to)
		return;
	if (cause == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER)
		fault(stream, at, to);
	occupy(stream, 1200 + e.value / 50, &e);
	*place = to;
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
		     CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER);
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
	     CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH);
	return CUDA_SUCCESS;
}
