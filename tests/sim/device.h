/*
 * The simulated device: devices, contexts, streams, events, memory and host functions on a virtual
 * GPU timeline.  The libcuda.so.1, libcudart.so.13 and libcupti.so.13 of this folder are built on
 * it.  With their folder first in LD_LIBRARY_PATH, unmodified CUDA programs run without a GPU.
 *
 * How it works
 *	The start and end of every GPU operation are computed when it is submitted.  An operation
 *	starts when its stream, the events that the stream waits for, and its copy engine are free.
 *	A simple model gives its duration.  So streams overlap as on a GPU, and a host thread that
 *	synchronizes really sleeps.  Times are CLOCK_REALTIME nanoseconds, as in CUPTI, counted by
 *	CLOCK_MONOTONIC from one reading.  Bytes are moved at submission, in the order of the calls,
 *	which is one of the orders that a correct program allows.  Activity records are also put
 *	into buffers at submission. A kernel whose function is not loaded yet starts when the
 *	compute engine is free, whatever its stream: the driver loads the function then.  A CUPTI
 *	flush waits for that; the launch call does not. tests/sim/parity_test.py compares all this
 *	with recordings of a real device.
 *
 * Differences from a real device
 *	- Kernels do not execute.  A kernel lasts GPUSIM_KERNEL_NS.  A kernel whose name contains
 *	  "spin" lasts as many clock cycles (at 1.975 GHz) as its first argument, a long long.  A
 *	  kernel k_touch(char *, size_t) adds one to each byte, because a program prints the sum.
 *	  In a graph the argument counts at capture, and k_touch has no effect.
 *	- Registers, static shared memory, local memory and compile-time cluster sizes come from the
 *	  compiled code, which is not read here: records have 16 registers, no static shared memory.
 *	- A function is loaded by its first launch or by cuModuleGetFunction(), not by graph nodes.
 *	  Observed were first launches concurrent with one running kernel.  Three things are
 *	  guesses: the function waits for all earlier work of its context's compute engine; a flush
 *	  waits for that and 0.3 ms more; and both also happen if a kernel fails meanwhile.
 *	- The driver divides memory between cache and shared memory, and the records of some kernels
 *	  contain the division; here no record does.
 *	- PTX is searched for its entry names, not compiled.  JIT records report a compilation of
 *	  0.3 ms.  A binary module has every function that the program requests.
 *	- A host function in a stream delays the later operations by only 2 us on the timeline.  A
 *	  copy submitted after it waits for the function before it moves its bytes.
 *	- The driver's own launches for some copies and memsets get no grid id.  Channels are made
 *	  up.
 *	- The driver opens no file descriptors, and starts no thread except one for host functions.
 *	- Stream ids count through the whole process.  The real rule for further contexts is
 *	  unknown.
 *	- Device memory is host memory: a host access to a device pointer does not fault.  Memory is
 *	  accounted in units of 512 bytes, without the reserves of pools and modules.  An allocation
 *	  in a graph takes memory once, at capture.
 *	- Managed memory takes no device memory.  It initially resides on the CPU and moves in
 *	  blocks of 2 MiB: by prefetches, by k_touch, and back by CPU accesses if a tool counts CPU
 *	  faults at that time.  (A SIGSEGV handler detects them; in a system call such memory is a
 *	  bad address.)
 *	- The rule which calls get a correlation id, by enabled record kinds, is as observed.  That
 *	  cuLibraryLoadData gets one with overhead records is a guess.
 *	- The nodes of a child graph are copied without a report to the tools.  A real device may
 *	  report them in another way; observed is only that no report links a copy to its original.
 *	- Instantiation decides whether a graph is traced by nodes or as a whole.  The real behavior
 *	  if GRAPH_TRACE is switched between instantiation and launch is unknown.
 *	- Memory of another process has its size and an address here, but not its bytes.  A batch of
 *	  copies makes one record for each copy.
 *	- IPC events, textures, external memory, multicast and green contexts are missing: their
 *	  calls return "not supported" (801) after their callbacks.  cudaMemcpyDefault calls
 *	  cuMemcpy, and cudart's _ptsz functions call the driver's plain ones; the calls of the real
 *	  runtime were not recorded.
 *	- cudart is linked to libcuda instead of opening it at the first call.  The static cudart
 *	  cannot run here, because it queries private tables of the driver.
 *	- CUPTI has no markers: functions return NOT_SUPPORTED, or kinds are accepted and never
 *	  delivered.
 *	- CUPTI 11.8 under a newer driver assigns one correlation id to all calls after the first
 *	  launch; here only with GPUSIM_FAULT=stuck-correlation.
 *	- In a forked child of a process that used the device, calls except those for the number of
 *	  devices return "initialization error", and a CUPTI flush never returns.  Both are
 *	  observed.
 *
 * Environment, read once at first use
 *	GPUSIM_DEVICES=n		number of devices (1)
 *	GPUSIM_NODE=n			the devices of node n have UUIDs of their own (0)
 *	GPUSIM_MEETINGS=file		the n-th kernel with "AllReduce" in its name ends on all
 *					processes with this file together: all wait in its launch
 *	GPUSIM_RANKS=n			how many processes these are (1)
 *	GPUSIM_MEMORY_MIB=n		memory of each device (16384)
 *	GPUSIM_KERNEL_NS=n		duration of a kernel (2000)
 *	GPUSIM_JIT_CACHE_WARM=1		the driver's cache has the PTX from earlier runs
 *	CUDA_MODULE_LOADING=EAGER	functions are loaded with their modules
 *	GPUSIM_CUPTI_VERSION=n		result of cuptiGetVersion, and the version of the record
 *					layouts: 18 (11.8), 19 to 24 (12.0 to 12.6), 26 (12.8), 28
 *					(12.9 update 1), 130000, 130001 (13.0 update 1, default),
 *					130100 to 130400 (13.1 to 13.4); later ones write as 13.4.
 *					18, 24, 28 and 130001 were recorded from a real device; the
 *					sizes of the others come from their headers
 *	GPUSIM_DRIVER_VERSION=n		result of cuDriverGetVersion (13000)
 *	GPUSIM_CLOCK_STEP_S=n		1.2 s after the first reading, set CUPTI's clock, the wall
 *					clock, n seconds ahead, or back if n is negative (0)
 *	GPUSIM_KERNELS_TAKEN=file	eight bytes that count kernel records: a record counts once
 *					the client requests the next one.  So a test knows what the
 *					client had received from CUPTI when it was killed
 *	GPUSIM_POWER_MW=n		power of each device (300000)
 *	GPUSIM_CLOCK_REASONS=n		why its clocks are lowered, a mask of NVML's (0)
 *	GPUSIM_COUNTERS_LOCK=file	one process at a time has the hardware counters: the one that
 *					has locked this file.  Others get 26 (each has its own)
 *	GPUSIM_FAULT=a,b,...		faults to inject:
 *		subscriber-taken	cuptiSubscribe returns 39, as beside another profiler
 *		drop-records		every tenth GPU record is dropped and counted as dropped
 *		zero-timestamps		every tenth GPU record has start and end 0
 *		late-buffers		no buffer is delivered before a forced flush
 *		flush-hangs		a forced flush never returns
 *		stuck-correlation	ids stop at the first launch, see above
 *		shuffled-records	the records of each buffer are in random order
 *		nvml-hangs		the initialization of the management library never returns
 *		nvml-missing		the management library cannot be initialized
 *		no-energy		the device does not count its energy
 *		moved-fields		records of kernels have eight more bytes before the name
 *		unreadable-records	the second half of each buffer is unreadable
 *		may-not-subscribe	cuptiSubscribe returns 35, as if only for administrators
 *		may-not-record		cuptiActivityEnable returns 35
 *		old-driver		cuptiSubscribe returns 15, as if CUPTI needs a newer driver
 *		kernel-fails		a wait for a busy device or stream returns 700 immediately;
 *					later calls return 700, too, and running work never ends
 *		counters-forbidden	PM sampling, PC sampling and the range profiler return 35
 *		counters-busy		the first configuration of PM sampling returns 26, as does the
 *					first start of PC sampling, whose later ones return 999, and of
 *					the range profiler
 *		counters-slow		their setup takes 0.3 s; that of PM sampling registers a
 *					destructor after which any use aborts, as PC sampling always does
 *		counters-overflow	the fourth decoding, or third fetch, finds the hardware's buffer
 *					full; sessions of the range profiler lose their last range
 *		counters-drop		fetches of PC samples have 7 more outside of kernels, and 5
 *					dropped ones
 *		counters-broken		stopping the range profiler returns 999
 *		other-chip		the first device has a chip of its own, which alone can be measured
 *	The folder old/ beside the libraries holds a libcupti without the functions that came after
 *	11.8.  The libcupti in broken/ lacks cuptiActivityRegisterCallbacks.  Select one with
 *	--cupti (GPUPROF_CUPTI), because the libcupti beside libcudart precedes LD_LIBRARY_PATH.
 *
 * Any thread may call any function at any time.
 */
#ifndef GPUPROF_TESTS_SIM_DEVICE_H
#define GPUPROF_TESTS_SIM_DEVICE_H

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 128
/* Set while the device's own code, such as a copy or k_touch, accesses memory. */
extern __thread bool sim_touching;

#define SIM_QUEUE_DEPTH 1024 /* operations in a stream before a submission blocks; observed */

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
	SIM_FAULT_COUNTERS_FORBIDDEN = 1 << 15,
	SIM_FAULT_COUNTERS_BUSY = 1 << 16,
	SIM_FAULT_COUNTERS_OVERFLOW = 1 << 17,
	SIM_FAULT_COUNTERS_SLOW = 1 << 18,
	SIM_FAULT_COUNTERS_DROP = 1 << 19,
	SIM_FAULT_COUNTERS_BROKEN = 1 << 20,
	SIM_FAULT_NO_ENERGY = 1 << 21,
	SIM_FAULT_OTHER_CHIP = 1 << 22,
};

struct sim_config {
	int devices, node; /* node: whose devices these are, by UUID */
	int ranks;
	uint64_t memory_bytes;
	uint64_t kernel_ns;
	bool jit_cache_warm;
	bool eager_loading;
	uint32_t cupti_version;
	int driver_version;
	int64_t clock_step_ns;
	uint32_t power_mw, clock_reasons;
	const char *counters_lock; /* NULL: each process has counters of its own */
	unsigned int faults;       /* bit mask of enum sim_fault */
};

const struct sim_config *sim_config(void);

/* ---- clock ---------------------------------------------------------------------------------- */

uint64_t sim_now_ns(void);
/* the value of the wall clock at `when`; the clock may have been set since */
uint64_t sim_wall_clock_ns(uint64_t when);
void sim_wait_until_ns(uint64_t when);
/* sim_now_ns() less CLOCK_MONOTONIC */
uint64_t sim_since_monotonic_ns(void);
/* A condition variable for waits with a deadline of sim_now_ns(). */
void sim_cond_init(pthread_cond_t *cond);
void sim_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t when);

/* ---- collectives ---------------------------------------------------------------------------- */

/* Starts this rank's next collective at `start`.  Returns the time when all ranks have. */
uint64_t sim_meet(uint64_t start);

/* ---- the process ---------------------------------------------------------------------------- */

/*
 * Called inside cuInit, before anything else.  From now on the device ends with an exit handler,
 * which runs after the handlers registered later and before those registered earlier.  The device
 * does not work in forked children.
 */
void sim_started(void);
bool sim_is_started(void);
bool sim_forked(void);
/* The result that every call returns; 0 while the device works. */
int sim_unusable(void);

/* For SIM_FAULT_KERNEL_FAILS: from now on a kernel of the process has failed. */
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
	uint32_t uid; /* from 1; CUPTI's number of the context */
	pthread_mutex_t lock;
	uint64_t tail;          /* end time of all submitted work */
	uint64_t legacy_tail;   /* of the legacy default stream */
	uint64_t blocking_tail; /* of the streams that synchronize with the legacy stream */
	uint64_t engine_tail[SIM_ENGINES];
	CUstream legacy;
	CUstream graph_stream; /* internal stream of the driver, created for the first graph */
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
	uint32_t id; /* CUPTI's number of the stream */
	unsigned int flags;
	int priority;
	bool is_legacy;
	uint64_t tail;
	uint64_t sequence;
	uint64_t *ends;                     /* end times of the last SIM_QUEUE_DEPTH operations */
	uint64_t host_submitted, host_done; /* host functions, under the host function lock */
	struct sim_capture *capture;
	struct CUstream_st *next_free;
};

#define SIM_STREAM_LEGACY 0x100u /* flag: the context's legacy default stream */

CUstream sim_stream_create(CUcontext ctx, unsigned int flags, int priority);
void sim_stream_destroy(CUstream stream);
/* The stream of an argument: NULL, a special handle, or a created stream.  NULL: not a stream. */
CUstream sim_stream_resolve(CUstream handle);
/* The calling thread's default stream in the current context, made at its first use. */
CUstream sim_stream_per_thread(void);
uint32_t sim_stream_next_id(void);
bool sim_stream_idle(CUstream stream);
void sim_stream_wait(CUstream stream);
void sim_context_wait(CUcontext ctx);

/* For SIM_FAULT_KERNEL_FAILS: whether work that a wait covers has failed. */
bool sim_context_fails(CUcontext ctx);

struct CUevent_st {
	uint32_t magic;
	uint32_t id; /* CUPTI's number of the event: from 1, assigned at the first record */
	CUcontext ctx;
	unsigned int flags;
	bool recorded;
	uint64_t when;
	/* the event is complete only after host_ticket host functions of this stream */
	CUstream host_stream;
	uint64_t host_ticket;
	CUgraph capture_graph; /* the graph into which the event was captured; see graph.h */
	CUstream capture_origin;
	struct sim_node **capture_nodes;
	size_t capture_count;
	struct CUevent_st *next_free;
};

CUevent sim_event_create(CUcontext ctx, unsigned int flags);
bool sim_event_valid(CUevent event);
void sim_event_destroy(CUevent event);
/* Assigns the event's number at its first use.  Records contain it. */
void sim_event_number(CUevent event);
void sim_event_record(CUevent event, CUstream stream);
void sim_event_wait(CUstream stream, CUevent event);
bool sim_event_done(CUevent event);
void sim_event_sync(CUevent event);

/* ---- operations ----------------------------------------------------------------------------- */

enum sim_op_kind { SIM_OP_KERNEL, SIM_OP_COPY, SIM_OP_PEER, SIM_OP_SET, SIM_OP_GRAPH };

/*
 * One operation on the timeline.  Submission computes start and end, and reports the operation to
 * the tools.
 */
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
			bool loads; /* the launch loads the function */
			bool cooperative;
			/*
			 * has the cooperative attribute with any value: libcupti does not check the
			 * value
			 */
			bool has_cooperative;
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
/*
 * The same with an earliest start time, for the nodes of a graph, which do not wait for each other
 * as in a stream.
 */
void sim_submit_at(struct sim_op *op, uint64_t earliest, uint64_t duration_ns);
uint64_t sim_op_duration_ns(const struct sim_op *op);
/* Time when the last function loaded by a launch is ready. */
uint64_t sim_loaded_ns(void);
/* Time at which the stream could start an operation that is submitted now. */
uint64_t sim_stream_ready_ns(CUstream stream);
/* Extends the stream's submitted work to at least this time. */
void sim_stream_extend(CUstream stream, uint64_t until);

/* ---- host functions ------------------------------------------------------------------------- */

struct sim_host_function {
	CUstream stream;
	void (*fn)(void *);
	void *data;
	uint32_t correlation;
	uint32_t graph; /* 0 = not from a graph */
	uint64_t graph_node;
};

/* Runs the function on the host function thread, once the time `due` is reached. */
void sim_host_submit(const struct sim_host_function *function, uint64_t due);
bool sim_host_idle(CUstream stream, uint64_t ticket);
/*
 * Waits until the first `ticket` host functions of a stream are done.  Not on the host function
 * thread.
 */
void sim_host_wait(CUstream stream, uint64_t ticket);
uint64_t sim_host_ticket(CUstream stream);

#endif
