/*
 * The simulated device: devices, contexts, streams, events, memory and host functions on a virtual
 * GPU timeline. libcuda.so.1, libcudart.so.13 and libcupti.so.13 of this directory stand on it;
 * put their directory first in LD_LIBRARY_PATH and unmodified CUDA programs run without a GPU.
 *
 * How it works
 *	Every GPU operation gets its start and end when it is submitted: it starts when its stream,
 *	what its stream waits for, and its copy engine are free, and lasts as long as a simple model
 *	says. Streams therefore overlap as on a GPU, and a host that synchronizes really sleeps.
 *	Times are CLOCK_REALTIME nanoseconds as CUPTI's, counted by CLOCK_MONOTONIC from one
 *	reading. Bytes move at submission, in the order of the calls, which is one of the orders
 *	that a correct program allows. Activity records are placed in buffers at submission too.
 *	A kernel whose function is not loaded yet starts when the compute engine is free, whatever its
 *	stream is: the driver loads it then. The launch does not wait for that, a flush of CUPTI's does.
 *	tests/sim/parity_test.py compares all this with recordings of a real device.
 *
 * What the real device does and this one does not
 *	- Kernels do not run. They last GPUSIM_KERNEL_NS; one whose name contains "spin" lasts as
 *	  many clock cycles (at 1.975 GHz) as its first argument (a long long) says, and one named
 *	  k_touch(char *, size_t) adds one to each byte, since a program prints the sum. In a graph
 *	  the argument counts at capture, and k_touch has no effect.
 *	- Registers, static shared memory, local memory and compile-time cluster sizes come from the
 *	  compiled code, which nobody reads here: records say 16 registers, no static shared memory.
 *	- A function is loaded by its first launch or by cuModuleGetFunction(), not by a graph's nodes.
 *	  Seen were first launches beside one kernel that ran. That the function waits for all that was
 *	  given to its context's compute engine before, a flush for that and 0.3 ms more, and both even
 *	  where a kernel fails meanwhile, is a guess.
 *	- The division of memory between cache and shared memory is the driver's choice, which some
 *	  kernels' records tell; here none says one.
 *	- PTX is searched for its entry names, not compiled; JIT records say that it was, in 0.3 ms.
 *	  A binary module has every function that is asked for.
 *	- A stream's host function delays the operations behind it only by 2 us on the timeline;
 *	  a copy submitted behind one waits for it before it moves its bytes.
 *	- The driver's own launches for some copies and memsets take no grid id; channels are made up.
 *	- The driver opens no file descriptors, and starts no thread but one for host functions.
 *	- Stream ids count through the whole process; the real rule for further contexts is unknown.
 *	- Memory is host memory: a device pointer used by the host does not fault. It is accounted
 *	  in units of 512 bytes, without what pools and modules keep. An allocation in a graph takes
 *	  memory once, at capture.
 *	- Managed memory takes no device memory. It counts as the CPU's from its allocation on and
 *	  moves in blocks of 2 MiB, by prefetches, by k_touch, and back by what the CPU touches, if a
 *	  tool counts CPU faults by then (a handler of SIGSEGV sees them; in a system call such memory
 *	  is a bad address).
 *	- Which calls take a correlation id, with which kinds of records on, is as seen; that it is
 *	  cuLibraryLoadData which takes one with overhead records is a guess.
 *	- The nodes of a child graph are copied without a word to the tools; whether the real device
 *	  tells of them in another way is not known, only that nothing led from copy to original.
 *	- A graph keeps how it is traced, node by node or whole, from its instantiation on. What the
 *	  real device does when GRAPH_TRACE is switched between that and the launch is not known.
 *	- Memory of another process has its size and an address here, but not its bytes. A batch of
 *	  copies makes one record each.
 *	- There are no IPC events, no texture, no external memory, no multicast, no green context: those
 *	  calls return "not supported" (801) after their callbacks. cudaMemcpyDefault calls
 *	  cuMemcpy, and cudart's _ptsz functions the driver's plain ones: what the real one calls
 *	  was not recorded.
 *	- cudart is linked to libcuda, not opened at the first call; the static cudart cannot run
 *	  here (it asks the driver for private tables).
 *	- CUPTI has no external correlation ids, no filter of API records by call, no timestamp
 *	  callback, no markers: NOT_SUPPORTED, or kinds that are accepted and never come.
 *	- CUPTI 11.8 under a newer driver loses track of correlation ids (all calls after the first
 *	  launch share one id); here that needs GPUSIM_FAULT=stuck-correlation.
 *	- In a forked child of a process that used the device calls return "initialization error",
 *	  but for the number of devices, and a CUPTI flush never returns, both as seen.
 *
 * Environment, read once at first use
 *	GPUSIM_DEVICES=n		number of devices (1)
 *	GPUSIM_MEMORY_MIB=n		memory of each device (16384)
 *	GPUSIM_KERNEL_NS=n		duration of a kernel (2000)
 *	GPUSIM_JIT_CACHE_WARM=1		PTX is in the driver's cache from earlier runs
 *	CUDA_MODULE_LOADING=EAGER	functions are loaded with their modules
 *	GPUSIM_CUPTI_VERSION=n		what cuptiGetVersion says and which record layouts are
 *					written: 18 (11.8), 19 to 24 (12.0 to 12.6), 26 (12.8), 28
 *					(12.9 update 1), 130000, 130001 (13.0 update 1, the default),
 *					130100 to 130400 (13.1 to 13.4); later ones write as 13.4;
 *					recorded from a real device were 18, 24, 28 and 130001, the
 *					others' sizes are those of their headers
 *	GPUSIM_DRIVER_VERSION=n		what cuDriverGetVersion says (13000)
 *	GPUSIM_CLOCK_STEP_S=n		the wall clock, which CUPTI's is, is set n seconds ahead, or
 *					back, a second and a fifth after its first reading (0)
 *	GPUSIM_KERNELS_TAKEN=file	eight bytes in which each record of a kernel counts from when the
 *					client asks for the one behind it: what it had of CUPTI, when it
 *					was killed
 *	GPUSIM_FAULT=a,b,...		faults to inject:
 *		subscriber-taken	cuptiSubscribe returns 39, as beside another profiler
 *		drop-records		every tenth GPU record is dropped and counted as dropped
 *		zero-timestamps		every tenth GPU record has start and end 0
 *		late-buffers		no buffer is delivered before a forced flush
 *		flush-hangs		a forced flush never returns
 *		stuck-correlation	ids stop at the first launch, see above
 *		shuffled-records	the records of each buffer come in an order of chance
 *		nvml-hangs		the management library's start never ends
 *		nvml-missing		it cannot be started
 *		moved-fields		records of kernels have eight bytes more, before the name
 *		unreadable-records	of each buffer the second half cannot be read
 *		may-not-subscribe	cuptiSubscribe returns 35, as where only administrators may
 *		may-not-record		cuptiActivityEnable returns 35
 *		old-driver		cuptiSubscribe returns 15, as where CUPTI wants a newer one
 *		kernel-fails		a wait for a device or a stream that is busy returns 700 at once, and so
 *					does every call after it; what runs then never ends
 *	The folders old/ and broken/ beside the libraries hold a libcupti without the functions that
 *	came after 11.8, and one without cuptiActivityRegisterCallbacks: name one with
 *	--cupti (GPUPROF_CUPTI), for the one beside libcudart comes before LD_LIBRARY_PATH.
 *
 * Threads: everything here may be called by any thread at any time.
 */
#ifndef GPUPROF_TESTS_SIM_DEVICE_H
#define GPUPROF_TESTS_SIM_DEVICE_H

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 128
/* On while the device's own code touches memory, as copies and k_touch do. */
extern __thread bool sim_touching;

#define SIM_QUEUE_DEPTH 1024 /* operations a stream takes before a submission blocks, as seen */

enum sim_fault {
	SIM_FAULT_SUBSCRIBER_TAKEN = 1 << 0,
	SIM_FAULT_DROP_RECORDS = 1 << 1,
	SIM_FAULT_ZERO_TIMESTAMPS = 1 << 2,
	SIM_FAULT_LATE_BUFFERS = 1 << 3,
	SIM_FAULT_FLUSH_HANGS = 1 << 4,
	SIM_FAULT_STUCK_CORRELATION = 1 << 5,
	SIM_FAULT_SHUFFLED_RECORDS = 1 << 6,
	SIM_FAULT_NVML_HANGS = 1 << 7,
	SIM_FAULT_NVML_MISSING = 1 << 8,
	SIM_FAULT_MOVED_FIELDS = 1 << 9,
	SIM_FAULT_MAY_NOT_SUBSCRIBE = 1 << 10,
	SIM_FAULT_MAY_NOT_RECORD = 1 << 11,
	SIM_FAULT_OLD_DRIVER = 1 << 12,
	SIM_FAULT_UNREADABLE_RECORDS = 1 << 13,
	SIM_FAULT_KERNEL_FAILS = 1 << 14,
};

struct sim_config {
	int devices;
	uint64_t memory_bytes;
	uint64_t kernel_ns;
	bool jit_cache_warm;
	bool eager_loading;
	uint32_t cupti_version;
	int driver_version;
	int64_t clock_step_ns;
	unsigned int faults; /* of enum sim_fault */
};

const struct sim_config *sim_config(void);

/* ---- clock ---------------------------------------------------------------------------------- */

uint64_t sim_now_ns(void);
uint64_t sim_wall_clock_ns(uint64_t when); /* the clock's value then: it may have been set */
void sim_wait_until_ns(uint64_t when);
/* A condition that can be waited for until a time of sim_now_ns(). */
void sim_cond_init(pthread_cond_t *cond);
void sim_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t when);

/* ---- the process ---------------------------------------------------------------------------- */

/*
 * Called inside cuInit before anybody else gets to see it: from now on the device ends with an exit
 * handler, which runs after those registered later and before those registered earlier, and does
 * not work in forked children.
 */
void sim_started(void);
bool sim_is_started(void);
bool sim_forked(void);
/* The result of every call from now on; 0 while the device works. */
int sim_unusable(void);

/* By SIM_FAULT_KERNEL_FAILS: a kernel of the process has failed, from now on. */
void sim_fail(void);

/* ---- devices and contexts ------------------------------------------------------------------- */

enum sim_engine { SIM_ENGINE_COMPUTE, SIM_ENGINE_TO_DEVICE, SIM_ENGINE_TO_HOST, SIM_ENGINES };

struct sim_device {
	int ordinal;
	int primary_refs;
	_Atomic(CUcontext) primary;
	_Atomic uint64_t used_bytes;
	CUmemoryPool default_pool;
	CUmemoryPool current_pool;
	CUmemoryPool pools;
	_Atomic bool pools_freed; /* memory was returned to a pool since the last synchronization */
};

struct CUctx_st {
	struct sim_device *device;
	uint32_t uid; /* from 1, as CUPTI counts contexts */
	pthread_mutex_t lock;
	uint64_t tail;          /* end of everything submitted */
	uint64_t legacy_tail;   /* of the legacy default stream */
	uint64_t blocking_tail; /* of the streams that synchronize with it */
	uint64_t engine_tail[SIM_ENGINES];
	CUstream legacy;
	CUstream graph_stream; /* the driver's own, from the first graph on */
	unsigned int flags;
	bool dead;
};

struct sim_device *sim_device(int ordinal); /* NULL: no such device */
CUuuid sim_device_uuid(int ordinal);
CUcontext sim_context_create(struct sim_device *device, unsigned int flags);
void sim_context_destroy(CUcontext ctx);
CUresult sim_primary_retain(struct sim_device *device, CUcontext *ctx);
CUresult sim_primary_release(struct sim_device *device, bool reset);
/* The calling thread's current context and its stack. */
CUcontext sim_current(void);
void sim_set_current(CUcontext ctx);
void sim_push_current(CUcontext ctx);
CUcontext sim_pop_current(void);

/* ---- streams -------------------------------------------------------------------------------- */

struct sim_capture;

struct CUstream_st {
	uint32_t magic;
	CUcontext ctx;
	uint32_t id; /* as CUPTI numbers streams */
	unsigned int flags;
	int priority;
	bool is_legacy;
	uint64_t tail;
	uint64_t sequence;
	uint64_t *ends;                     /* of the last SIM_QUEUE_DEPTH operations */
	uint64_t host_submitted, host_done; /* host functions, under the host function lock */
	struct sim_capture *capture;
	struct CUstream_st *next_free;
};

#define SIM_STREAM_LEGACY 0x100u /* flag: the context's legacy default stream */

CUstream sim_stream_create(CUcontext ctx, unsigned int flags, int priority);
void sim_stream_destroy(CUstream stream);
/* The argument for a stream (NULL, the special handles, a created one); NULL: not a stream. */
CUstream sim_stream_resolve(CUstream handle);
/* The calling thread's default stream in the current context, made at its first use. */
CUstream sim_stream_per_thread(void);
uint32_t sim_stream_next_id(void);
bool sim_stream_idle(CUstream stream);
void sim_stream_wait(CUstream stream);
void sim_context_wait(CUcontext ctx);

/* For SIM_FAULT_KERNEL_FAILS: the awaited work has failed. */
bool sim_context_fails(CUcontext ctx);

struct CUevent_st {
	uint32_t magic;
	uint32_t id; /* as CUPTI numbers events: from 1, at the first record */
	CUcontext ctx;
	unsigned int flags;
	bool recorded;
	uint64_t when;
	CUstream host_stream; /* complete only when this many host functions of it are done */
	uint64_t host_ticket;
	CUgraph capture_graph; /* recorded into a graph: see graph.h */
	CUstream capture_origin;
	struct sim_node **capture_nodes;
	size_t capture_count;
	struct CUevent_st *next_free;
};

CUevent sim_event_create(CUcontext ctx, unsigned int flags);
bool sim_event_valid(CUevent event);
void sim_event_destroy(CUevent event);
/* Gives it its number, which records show, at its first use. */
void sim_event_number(CUevent event);
void sim_event_record(CUevent event, CUstream stream);
void sim_event_wait(CUstream stream, CUevent event);
bool sim_event_done(CUevent event);
void sim_event_sync(CUevent event);

/* ---- operations ----------------------------------------------------------------------------- */

enum sim_op_kind { SIM_OP_KERNEL, SIM_OP_COPY, SIM_OP_PEER, SIM_OP_SET, SIM_OP_GRAPH };

/* One operation on the timeline; submission fills start and end and reports it to the tools. */
struct sim_op {
	enum sim_op_kind kind;
	CUstream stream;
	uint64_t start, end;
	uint32_t correlation;
	uint64_t graph_node;
	uint32_t graph;
	bool unrecorded; /* a node of a graph that is traced as a whole */
	uint64_t bytes;
	union {
		struct {
			CUfunction function;
			unsigned int grid[3], block[3], cluster[3];
			unsigned int shared_bytes;
			bool loads; /* its function, which was not loaded before */
			bool cooperative;
			/* has the attribute, whatever its value: libcupti checks no further */
			bool says_cooperative;
			int64_t grid_id;
		} kernel;
		struct {
			uint8_t kind, from, to; /* CUpti_ActivityMemcpyKind, ...MemoryKind */
			bool async;
			CUcontext from_ctx, to_ctx;
		} copy;
		struct {
			uint32_t value;
			uint8_t memory; /* CUpti_ActivityMemoryKind */
			bool async;
		} set;
	};
};

/* Appends an operation to its stream; blocks while the stream's queue is full. */
void sim_submit(struct sim_op *op, uint64_t duration_ns);
/* Same, not before a time: nodes of a graph, which also must not wait for one another. */
void sim_submit_at(struct sim_op *op, uint64_t earliest, uint64_t duration_ns);
uint64_t sim_op_duration_ns(const struct sim_op *op);
/* When the last of the functions that launches load is there. */
uint64_t sim_loaded_ns(void);
/* When the stream could start an operation submitted now. */
uint64_t sim_stream_ready_ns(CUstream stream);
/* Moves a stream's end to no earlier than a time. */
void sim_stream_extend(CUstream stream, uint64_t until);

/* ---- host functions ------------------------------------------------------------------------- */

struct sim_host_function {
	CUstream stream;
	void (*fn)(void *);
	void *data;
	uint32_t correlation;
	uint32_t graph; /* 0 = of none */
	uint64_t graph_node;
};

/* Runs it on the host function thread once the timeline is at due. */
void sim_host_submit(const struct sim_host_function *function, uint64_t due);
bool sim_host_idle(CUstream stream, uint64_t ticket);
/* Waits until the first ticket host functions of a stream are done; not on their own thread. */
void sim_host_wait(CUstream stream, uint64_t ticket);
uint64_t sim_host_ticket(CUstream stream);

#endif
