#include "tests/sim/memory.h"

#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_BYTES    ((size_t)2 << 20)
#define SLAB_BYTES    ((size_t)32 << 20)
#define MIN_SHIFT     9 /* 512 bytes: the driver's alignment */
#define MAX_SHIFT     20
#define ACCOUNT_BYTES 512

struct free_block {
	struct free_block *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *ranges;
static struct free_block *free_blocks[MAX_SHIFT + 1];
static char *slab, *slab_end;

/* Overlapping ranges compare equal, so a search for one byte finds the range around it. */
static int compare(const void *a, const void *b)
{
	const struct sim_range *x = a, *y = b;

	if (x->start + (x->bytes ? x->bytes : 1) <= y->start)
		return -1;
	return y->start + (y->bytes ? y->bytes : 1) <= x->start;
}

void *sim_reserve(size_t bytes)
{
	char *p = mmap(NULL, bytes + HUGE_BYTES, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *aligned;

	if (p == MAP_FAILED)
		return NULL;
	aligned = (char *)(((uintptr_t)p + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	if (aligned > p)
		munmap(p, (size_t)(aligned - p));
	munmap(aligned + bytes, (size_t)(p + HUGE_BYTES - aligned));
	return aligned;
}

/*
 * In huge pages, if the system has some: in virtual machines, the first access to each page of 4 KiB
 * can take 50 us, and a copy would wait for it.
 */
static void *map(size_t bytes)
{
	void *p = sim_reserve(bytes);

	if (p && mprotect(p, bytes, PROT_READ | PROT_WRITE)) {
		munmap(p, bytes);
		p = NULL;
	}
	if (p)
		madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static int shift_of(size_t bytes)
{
	int shift = MIN_SHIFT;

	while (((size_t)1 << shift) < bytes)
		shift++;
	return shift;
}

static size_t page_round(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

/*
 * Small blocks have powers of two as sizes and come from slabs, so that many blocks need few
 * mappings.
 */
static void *take_block(int shift)
{
	size_t bytes = (size_t)1 << shift;
	void *p = free_blocks[shift];

	if (p) {
		free_blocks[shift] = free_blocks[shift]->next;
		return p;
	}
	if ((size_t)(slab_end - slab) < bytes) {
		slab = map(SLAB_BYTES);
		slab_end = slab ? slab + SLAB_BYTES : NULL;
	}
	if (!slab)
		return NULL;
	p = slab;
	slab += bytes;
	return p;
}

static bool is_block(size_t bytes)
{
	return bytes <= (size_t)1 << MAX_SHIFT;
}

static void *take(size_t bytes)
{
	return is_block(bytes) ? take_block(shift_of(bytes)) : map(page_round(bytes));
}

static void give(void *p, size_t bytes)
{
	struct free_block *block = p;
	int shift = shift_of(bytes);

	if (!is_block(bytes)) {
		munmap(p, page_round(bytes));
		return;
	}
	block->next = free_blocks[shift];
	free_blocks[shift] = block;
}

bool sim_memory_charge(struct sim_device *device, uint64_t bytes)
{
	uint64_t used = device->used_bytes, limit = sim_config()->memory_bytes;

	do {
		if (bytes > limit || used + bytes > limit)
			return false;
	} while (!atomic_compare_exchange_weak(&device->used_bytes, &used, used + bytes));
	return true;
}

static bool takes_device_memory(const struct sim_range *r)
{
	return !r->registered && !r->mapped &&
	       (r->kind == SIM_MEMORY_DEVICE || r->kind == SIM_MEMORY_ARRAY);
}

static CUresult remember(const struct sim_range *range)
{
	struct sim_range *copy = malloc(sizeof(*copy));
	struct sim_range **found;

	*copy = *range;
	found = tsearch(copy, &ranges, compare);
	if (*found == copy)
		return CUDA_SUCCESS;
	free(copy);
	return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult sim_memory_alloc(CUcontext ctx, enum sim_memory_kind kind, size_t bytes, CUmemoryPool pool,
			  struct sim_range *out)
{
	void *p;

	*out = (struct sim_range){
		.bytes = bytes, .kind = kind, .device = ctx->device, .ctx = ctx, .pool = pool};
	if (bytes > (UINT64_C(1) << 46))
		return CUDA_ERROR_OUT_OF_MEMORY;
	out->reserved = (bytes + ACCOUNT_BYTES - 1) & ~(size_t)(ACCOUNT_BYTES - 1);
	if (takes_device_memory(out) && !sim_memory_charge(ctx->device, out->reserved))
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	p = take(bytes);
	out->start = (uintptr_t)p;
	if (p)
		remember(out);
	pthread_mutex_unlock(&lock);
	if (!p && takes_device_memory(out))
		ctx->device->used_bytes -= out->reserved;
	return p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_memory_register(const struct sim_range *range)
{
	CUresult r;

	pthread_mutex_lock(&lock);
	r = remember(range);
	pthread_mutex_unlock(&lock);
	return r;
}

static struct sim_range *find_locked(uintptr_t address)
{
	struct sim_range key = {.start = address, .bytes = 1};
	struct sim_range **found = tfind(&key, &ranges, compare);

	return found ? *found : NULL;
}

CUresult sim_memory_free(uintptr_t start, struct sim_range *out)
{
	struct sim_range *r;

	pthread_mutex_lock(&lock);
	r = find_locked(start);
	if (!r || r->start != start) {
		pthread_mutex_unlock(&lock);
		return CUDA_ERROR_INVALID_VALUE;
	}
	*out = *r;
	tdelete(r, &ranges, compare);
	free(r);
	if (!out->registered && !out->mapped)
		give((void *)out->start, out->bytes);
	pthread_mutex_unlock(&lock);
	if (takes_device_memory(out))
		out->device->used_bytes -= out->reserved;
	return CUDA_SUCCESS;
}

struct doomed {
	CUcontext ctx;
	struct sim_range *found;
};

static void find_of_context(const void *node, VISIT visit, void *closure)
{
	struct doomed *d = closure;
	struct sim_range *r = *(struct sim_range *const *)node;

	if ((visit == postorder || visit == leaf) && r->ctx == d->ctx)
		d->found = r;
}

static struct sim_range *any_of(CUcontext ctx)
{
	struct doomed d = {.ctx = ctx};

	pthread_mutex_lock(&lock);
	twalk_r(ranges, find_of_context, &d);
	pthread_mutex_unlock(&lock);
	return d.found;
}

void sim_memory_release(CUcontext ctx)
{
	struct sim_range *r, gone;

	while ((r = any_of(ctx)) != NULL)
		sim_memory_free(r->start, &gone);
}

bool sim_memory_find(uintptr_t address, struct sim_range *out)
{
	struct sim_range *r;

	pthread_mutex_lock(&lock);
	r = find_locked(address);
	if (r)
		*out = *r;
	pthread_mutex_unlock(&lock);
	return r != NULL;
}

bool sim_memory_covers(uintptr_t address, size_t bytes)
{
	struct sim_range r;

	return sim_memory_find(address, &r) && bytes <= r.start + r.bytes - address;
}

enum sim_memory_kind sim_memory_kind(uintptr_t address)
{
	struct sim_range r;

	return sim_memory_find(address, &r) ? r.kind : SIM_MEMORY_PAGEABLE;
}
