/*
 * Enters and leaves every API call, and calls the tool's hooks.  A call that is reported to the
 * tool gets a correlation id.  A call inside it (of the runtime into the driver) shares that id.
 * libcupti fills struct sim_tools.  Without libcupti, or with nothing enabled, a call costs two
 * tests.
 */
#ifndef GPUPROF_TESTS_SIM_CALL_H
#define GPUPROF_TESTS_SIM_CALL_H

#include "tests/sim/device.h"

/* Values of CUpti_CallbackDomain. */
enum sim_domain { SIM_DRIVER = 1, SIM_RUNTIME = 2, SIM_DOMAINS };

#define SIM_MAX_CBID 1024

struct sim_call {
	enum sim_domain domain;
	uint32_t cbid;
	const char *name;
	const void *params; /* the structure of the generated_*_meta.h headers */
	const char *symbol; /* the kernel's mangled name, of launches */
	int per_thread;     /* a _ptsz or _ptds function: stream 0 is the thread's own */
	bool quiet;         /* no callback */
	int result;
	uint32_t correlation;
	uint64_t data; /* of the tool; kept from enter to exit */
	uint64_t start_ns;
	struct sim_call *outer;
};

void sim_call_enter(struct sim_call *call);
/* Returns result. */
int sim_call_exit(struct sim_call *call, int result);
/* The id of the calling thread's current call; 0 = no call, or a call without an id. */
uint32_t sim_correlation(void);
/* The same for an operation that the call starts: a call without an id gets one now. */
uint32_t sim_take_correlation(void);
/* True inside a _ptsz or _ptds function. */
bool sim_per_thread_default(void);

/* A resource event, numbered as in CUpti_CallbackIdResource, and its data for libcupti. */
struct sim_resource {
	uint32_t event;
	CUcontext ctx;
	CUstream stream;
	void *descriptor;
};

/* An allocation or a free. */
struct sim_memory_event {
	bool release;
	uint8_t kind; /* CUpti_ActivityMemoryKind */
	uint64_t address, bytes;
	CUcontext ctx;
	CUstream stream; /* of the asynchronous ones */
	bool async;
	CUmemoryPool pool;
	const char *name;
};

/*
 * A wait of the host or of a stream, or a query for completion, numbered as in
 * CUpti_ActivitySynchronizationType.
 */
struct sim_sync_event {
	uint32_t type;
	CUstream stream;
	CUevent event;
	CUresult result;
	uint64_t start, end;
};

/* Work of the driver's JIT compiler, numbered as in CUpti_ActivityJitOperationType. */
struct sim_jit_event {
	uint32_t operation;
	uint64_t id; /* of one piece of code */
	CUcontext ctx;
	uint64_t start, end;
};

/* A migration or fault of managed memory, numbered as in CUpti_ActivityUnifiedMemoryCounterKind. */
struct sim_unified_event {
	uint32_t counter;
	uint32_t flags; /* access type of a fault, cause of a migration */
	uint64_t value, address;
	uint32_t from, to; /* devices; SIM_CPU */
	uint64_t start, end;
};

#define SIM_CPU 0xffffffffu

/*
 * The hooks of a tool.  All but callback may be NULL.  They are set before anything is enabled and
 * never reset.
 */
struct sim_tools {
	_Atomic uint8_t callback[SIM_DOMAINS][SIM_MAX_CBID]; /* enabled, by callback id */
	_Atomic bool records[SIM_DOMAINS];                   /* API records are enabled */
	/*
	 * which calls get a correlation id although they are not enabled: all; those of cudart that
	 * load code
	 */
	_Atomic bool counts_every_call, counts_loads;
	_Atomic bool cpu_faults; /* CPU accesses to managed memory fault */
	/* graphs instantiated from now on have no records of their nodes */
	_Atomic bool whole_graphs;
	void (*api)(struct sim_call *call, bool exit);
	void (*api_record)(const struct sim_call *call, uint64_t end_ns);
	void (*operation)(const struct sim_op *op);
	void (*resource)(const struct sim_resource *resource);
	void (*memory)(const struct sim_memory_event *event);
	void (*sync)(const struct sim_sync_event *event);
	void (*event_record)(CUevent event, CUstream stream);
	void (*pool)(uint32_t operation, CUmemoryPool pool);
	void (*overhead)(uint32_t kind, uint64_t start, uint64_t end);
	void (*jit)(const struct sim_jit_event *event);
	void (*unified)(const struct sim_unified_event *event);
	/* called on the thread that ran the function */
	void (*host_function)(const struct sim_host_function *function, uint64_t start,
			      uint64_t end);
};

extern struct sim_tools sim_tools;

void sim_tell_resource(uint32_t event, CUcontext ctx, CUstream stream, void *descriptor);
void sim_tell_memory(const struct sim_memory_event *event);
void sim_tell_overhead(uint32_t kind, uint64_t start, uint64_t end);
void sim_tell_jit(const struct sim_jit_event *event);
void sim_tell_unified(const struct sim_unified_event *event);

#endif
