/* libcudart: registration of the code of nvcc's programs, and launches. */
#include "tests/sim/memory.h"
#include "tests/sim/module.h"
#include "tests/sim/runtime.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

/* Prototypes of functions that only compiled code calls. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
			    int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
		       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
			      int external, size_t bytes, int constant, int global);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
void __cudaRegisterUnifiedTable(void **handle, void *table);
char __cudaInitModule(void **handle);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
				    size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **arguments,
				  size_t shared, cudaStream_t stream);
cudaError_t __cudaGetProcAddress(const char *symbol, void **function, unsigned int version,
				 unsigned long long flags,
				 enum cudaDriverEntryPointQueryResult *status);

struct binary {
	void *image; /* first member, because the compiled code reads *handle */
	CUlibrary library;
	struct entity *variables;
	bool placed; /* the variables have memory */
	pthread_mutex_t lock;
};

/* A kernel or a variable, by its address in the host program. */
struct entity {
	const void *host;
	char *name;
	struct binary *binary;
	size_t bytes;             /* of a variable; 0: a kernel */
	_Atomic(CUkernel) kernel; /* set when the kernel is loaded */
	struct sim_range memory;
	void **managed; /* from here the program reads the address of a managed variable */
	struct entity *next, *next_variable;
};

static struct entity *buckets[BUCKETS];
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

static struct entity **bucket(const void *host)
{
	return &buckets[((uintptr_t)host * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

static void insert(struct entity *e)
{
	pthread_rwlock_wrlock(&table_lock);
	e->next = *bucket(e->host);
	*bucket(e->host) = e;
	pthread_rwlock_unlock(&table_lock);
}

static struct entity *find(const void *host)
{
	struct entity *e;

	pthread_rwlock_rdlock(&table_lock);
	for (e = *bucket(host); e && e->host != host; e = e->next)
		;
	pthread_rwlock_unlock(&table_lock);
	return e;
}

void **__cudaRegisterFatBinary(void *image)
{
	struct binary *b = calloc(1, sizeof(*b));

	b->image = image;
	pthread_mutex_init(&b->lock, NULL);
	return (void **)b;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

static void remove_entities(const struct binary *binary)
{
	pthread_rwlock_wrlock(&table_lock);
	for (size_t i = 0; i < BUCKETS; i++) {
		struct entity **at = &buckets[i];

		while (*at)
			if ((*at)->binary == binary)
				*at = (*at)->next;
			else
				at = &(*at)->next;
	}
	pthread_rwlock_unlock(&table_lock);
}

void __cudaUnregisterFatBinary(void **handle)
{
	remove_entities((struct binary *)handle);
}

static struct entity *new_entity(void **handle, const void *host, const char *name, size_t bytes)
{
	struct entity *e = calloc(1, sizeof(*e));

	e->host = host;
	e->name = strdup(name);
	e->binary = (struct binary *)handle;
	e->bytes = bytes;
	insert(e);
	return e;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
			    int *warp_size)
{
	(void)device;
	(void)thread_limit;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp_size;
	new_entity(handle, host, name, 0);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
		       size_t bytes, int constant, int global)
{
	struct entity *e = new_entity(handle, host, name, bytes);

	(void)device;
	(void)external;
	(void)constant;
	(void)global;
	e->next_variable = e->binary->variables;
	e->binary->variables = e;
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
			      int external, size_t bytes, int constant, int global)
{
	__cudaRegisterVar(handle, (char *)host, device, name, external, bytes, constant, global);
	((struct binary *)handle)->variables->managed = host;
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
	(void)handle;
	(void)name;
	(void)host;
	(void)bytes;
}

void __cudaRegisterUnifiedTable(void **handle, void *table)
{
	(void)handle;
	(void)table;
}

static void place_variable(struct entity *v)
{
	struct sim_memory_event e = {.kind = 6 /* device static */,
				     .bytes = v->bytes,
				     .ctx = sim_current(),
				     .name = v->name};

	if (sim_memory_alloc(sim_current(), v->managed ? SIM_MEMORY_MANAGED : SIM_MEMORY_DEVICE,
			     v->bytes, NULL, &v->memory))
		return;
	memset((void *)v->memory.start, 0, v->bytes);
	if (v->managed)
		*v->managed = (void *)v->memory.start;
	e.address = v->memory.start;
	sim_tell_memory(&e);
}

/*
 * Loads a program's binary at the first use of anything in it.  Its variables get memory once there
 * is a context.
 */
static void load(struct binary *b)
{
	pthread_mutex_lock(&b->lock);
	if (!b->library)
		cuLibraryLoadData(&b->library, b->image, NULL, NULL, 0, NULL, NULL, 0);
	if (!b->placed && sim_current()) {
		b->placed = true;
		for (struct entity *v = b->variables; v; v = v->next_variable)
			place_variable(v);
	}
	pthread_mutex_unlock(&b->lock);
}

char __cudaInitModule(void **handle)
{
	struct binary *b = (struct binary *)handle;

	if (sim_rt_init() || sim_rt_bind())
		return 0;
	load(b);
	return 1;
}

/* Registers a kernel handle like a host function, because launches accept either. */
static void add_handle(const struct entity *e, CUkernel kernel)
{
	struct entity *alias = calloc(1, sizeof(*alias));

	alias->host = kernel;
	alias->name = e->name;
	alias->binary = e->binary;
	alias->kernel = kernel;
	insert(alias);
}

static CUkernel load_kernel(struct entity *e)
{
	CUkernel kernel;
	bool fresh = false;

	load(e->binary);
	pthread_mutex_lock(&e->binary->lock);
	kernel = e->kernel;
	if (!kernel) {
		cuLibraryGetKernel(&kernel, e->binary->library, e->name);
		e->kernel = kernel;
		fresh = true;
	}
	pthread_mutex_unlock(&e->binary->lock);
	if (fresh)
		add_handle(e, kernel);
	return kernel;
}

CUkernel sim_rt_kernel(const void *function)
{
	struct entity *e = find(function);
	CUkernel kernel;

	if (!e || e->bytes)
		return NULL;
	kernel = e->kernel;
	return kernel ? kernel : load_kernel(e);
}

/*
 * The runtime knows the names of host functions, and treats all other addresses as kernel handles.
 */
const char *sim_rt_kernel_name(const void *function)
{
	CUkernel kernel = sim_rt_kernel(function);
	const char *name = NULL;

	if (kernel && kernel != function)
		return kernel->function.name;
	cuKernelGetName(&name, kernel);
	return name;
}

void sim_rt_place_variables(const void *function)
{
	struct entity *e = function ? find(function) : NULL;

	if (e)
		load(e->binary);
}

bool sim_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
	struct entity *e = find(symbol);

	if (!e || !e->bytes)
		return false;
	load(e->binary);
	*address = e->memory.start;
	*bytes = e->bytes;
	return e->memory.start != 0;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	cudaError_t r = sim_rt_init();

	if (r)
		return r;
	*kernel = (cudaKernel_t)sim_rt_kernel(function);
	return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

#define MAX_CONFIGURATIONS 16

static __thread struct {
	struct {
		dim3 grid, block;
		size_t shared;
		void *stream;
	} stack[MAX_CONFIGURATIONS];
	int depth;
} configurations;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
	int i = configurations.depth;

	if (i == MAX_CONFIGURATIONS)
		return 1;
	configurations.stack[i].grid = grid;
	configurations.stack[i].block = block;
	configurations.stack[i].shared = shared;
	configurations.stack[i].stream = stream;
	configurations.depth++;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	int i = --configurations.depth;

	*grid = configurations.stack[i].grid;
	*block = configurations.stack[i].block;
	*shared = configurations.stack[i].shared;
	*(void **)stream = configurations.stack[i].stream;
	return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t shared, cudaStream_t stream)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
				    size_t shared, cudaStream_t stream)
{
	return cudaLaunchKernel_ptsz((const void *)kernel, grid, block, arguments, shared, stream);
}

cudaError_t __cudaGetProcAddress(const char *symbol, void **function, unsigned int version,
				 unsigned long long flags,
				 enum cudaDriverEntryPointQueryResult *status)
{
	return cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status);
}
