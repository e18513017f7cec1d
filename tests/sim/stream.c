#include "tests/sim/call.h"
#include "tests/sim/device.h"

#include <cupti.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_MAGIC 0x5354524du
#define SUBMIT_NS    2000 /* from the call to the earliest possible start on the device */
/* from the end of an operation to the start of the next one in the stream */
#define SWITCH_NS       250
#define FIRST_STREAM_ID 6 /* as in the real driver */

static _Atomic uint32_t next_id = FIRST_STREAM_ID;
static _Atomic uint64_t loaded_ns; /* time when the last function loaded by a launch is ready */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static CUstream free_streams; /* never freed: a stale handle stays recognizable */

static __thread struct {
	CUcontext ctx;
	CUstream stream;
} per_thread;

uint32_t sim_stream_next_id(void)
{
	return next_id++;
}

/*
 * Reuses a destroyed stream.  The counts of its host functions continue, because events recorded in
 * it may still refer to them.
 */
static CUstream take_stream(void)
{
	CUstream s;
	struct CUstream_st old;

	pthread_mutex_lock(&pool_lock);
	s = free_streams;
	if (s)
		free_streams = s->next_free;
	pthread_mutex_unlock(&pool_lock);
	if (!s) {
		s = calloc(1, sizeof(*s));
		s->ends = calloc(SIM_QUEUE_DEPTH, sizeof(*s->ends));
		return s;
	}
	old = *s;
	memset(old.ends, 0, SIM_QUEUE_DEPTH * sizeof(*old.ends));
	*s = (struct CUstream_st){
		.ends = old.ends, .host_submitted = old.host_submitted, .host_done = old.host_done};
	return s;
}

CUstream sim_stream_create(CUcontext ctx, unsigned int flags, int priority)
{
	CUstream s = take_stream();

	s->ctx = ctx;
	s->flags = flags & ~SIM_STREAM_LEGACY;
	s->is_legacy = flags & SIM_STREAM_LEGACY;
	s->priority = priority;
	s->id = sim_stream_next_id();
	s->magic = STREAM_MAGIC;
	sim_tell_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, ctx, s, NULL);
	return s;
}

void sim_stream_destroy(CUstream stream)
{
	sim_tell_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->ctx, stream, NULL);
	sim_host_wait(stream, sim_host_ticket(stream));
	stream->magic = 0;
	pthread_mutex_lock(&pool_lock);
	stream->next_free = free_streams;
	free_streams = stream;
	pthread_mutex_unlock(&pool_lock);
}

CUstream sim_stream_per_thread(void)
{
	CUcontext ctx = sim_current();

	if (ctx && per_thread.ctx != ctx) {
		per_thread.ctx = ctx;
		per_thread.stream = sim_stream_create(ctx, CU_STREAM_DEFAULT, 0);
	}
	return ctx ? per_thread.stream : NULL;
}

CUstream sim_stream_resolve(CUstream handle)
{
	if (handle == CU_STREAM_PER_THREAD || (!handle && sim_per_thread_default()))
		return sim_stream_per_thread();
	if (!handle || handle == CU_STREAM_LEGACY)
		return sim_current() ? sim_current()->legacy : NULL;
	return handle->magic == STREAM_MAGIC ? handle : NULL;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool synchronises_with_legacy(CUstream s)
{
	return !s->is_legacy && !(s->flags & CU_STREAM_NON_BLOCKING);
}

/* Under the context's lock. */
static uint64_t ready_locked(CUstream s)
{
	uint64_t ready = s->tail;

	if (s->is_legacy)
		ready = max_u64(ready, s->ctx->blocking_tail);
	else if (synchronises_with_legacy(s))
		ready = max_u64(ready, s->ctx->legacy_tail);
	return ready;
}

static void extend_locked(CUstream s, uint64_t end)
{
	CUcontext ctx = s->ctx;

	s->tail = max_u64(s->tail, end);
	ctx->tail = max_u64(ctx->tail, end);
	if (s->is_legacy)
		ctx->legacy_tail = max_u64(ctx->legacy_tail, end);
	else if (synchronises_with_legacy(s))
		ctx->blocking_tail = max_u64(ctx->blocking_tail, end);
}

uint64_t sim_stream_ready_ns(CUstream stream)
{
	uint64_t ready;

	pthread_mutex_lock(&stream->ctx->lock);
	ready = ready_locked(stream);
	pthread_mutex_unlock(&stream->ctx->lock);
	return max_u64(ready + SWITCH_NS, sim_now_ns() + SUBMIT_NS);
}

void sim_stream_extend(CUstream stream, uint64_t until)
{
	pthread_mutex_lock(&stream->ctx->lock);
	extend_locked(stream, until);
	pthread_mutex_unlock(&stream->ctx->lock);
}

static enum sim_engine engine_of(const struct sim_op *op)
{
	if (op->kind != SIM_OP_COPY)
		return SIM_ENGINE_COMPUTE;
	switch (op->copy.kind) {
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
		return SIM_ENGINE_TO_DEVICE;
	case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
		return SIM_ENGINE_TO_HOST;
	default:
		return SIM_ENGINE_COMPUTE;
	}
}

/* Places the operation under the context's lock; kernels share the compute engine freely. */
static void place_locked(struct sim_op *op, uint64_t earliest, uint64_t duration_ns)
{
	enum sim_engine engine = engine_of(op);
	uint64_t *engine_tail = &op->stream->ctx->engine_tail[engine];

	op->start = earliest;
	if (engine != SIM_ENGINE_COMPUTE)
		op->start = max_u64(op->start, *engine_tail);
	op->end = op->start + duration_ns;
	*engine_tail = max_u64(*engine_tail, op->end);
	extend_locked(op->stream, op->end);
	op->stream->ends[op->stream->sequence++ % SIM_QUEUE_DEPTH] = op->end;
}

/* Waits until the stream takes one more operation, with the context's lock held before and after.
 */
static uint64_t wait_for_room_locked(CUstream s)
{
	uint64_t now = sim_now_ns(), oldest;

	while ((oldest = s->ends[s->sequence % SIM_QUEUE_DEPTH]) > now) {
		pthread_mutex_unlock(&s->ctx->lock);
		sim_wait_until_ns(oldest);
		pthread_mutex_lock(&s->ctx->lock);
		now = sim_now_ns();
	}
	return now;
}

void sim_submit_at(struct sim_op *op, uint64_t earliest, uint64_t duration_ns)
{
	CUcontext ctx = op->stream->ctx;

	pthread_mutex_lock(&ctx->lock);
	place_locked(op, earliest, duration_ns);
	pthread_mutex_unlock(&ctx->lock);
	op->correlation = sim_take_correlation();
	if (sim_tools.operation && !op->unrecorded)
		sim_tools.operation(op);
}

uint64_t sim_loaded_ns(void)
{
	return loaded_ns;
}

/* Like the real driver, loads a function when the device has finished all earlier work. */
static uint64_t load_locked(CUcontext ctx)
{
	uint64_t done = ctx->engine_tail[SIM_ENGINE_COMPUTE], last = loaded_ns;

	while (last < done && !atomic_compare_exchange_weak(&loaded_ns, &last, done))
		;
	return done;
}

void sim_submit(struct sim_op *op, uint64_t duration_ns)
{
	CUcontext ctx = op->stream->ctx;
	uint64_t now, earliest;

	pthread_mutex_lock(&ctx->lock);
	now = wait_for_room_locked(op->stream);
	earliest = max_u64(ready_locked(op->stream) + SWITCH_NS, now + SUBMIT_NS);
	if (op->kind == SIM_OP_KERNEL && op->kernel.loads)
		earliest = max_u64(earliest, load_locked(ctx));
	place_locked(op, earliest, duration_ns);
	pthread_mutex_unlock(&ctx->lock);
	op->correlation = sim_take_correlation();
	if (sim_tools.operation && !op->unrecorded)
		sim_tools.operation(op);
}

/* The rates of an H200: about 50 GB/s to and from the host, 2 TB/s on the device. */
uint64_t sim_op_duration_ns(const struct sim_op *op)
{
	if (op->kind == SIM_OP_SET)
		return 1100 + op->bytes / 2500;
	if (op->kind == SIM_OP_PEER)
		return 2000 + op->bytes / 200;
	return engine_of(op) == SIM_ENGINE_COMPUTE ? 900 + op->bytes / 2000 : 1200 + op->bytes / 50;
}

bool sim_stream_idle(CUstream stream)
{
	uint64_t tail;

	pthread_mutex_lock(&stream->ctx->lock);
	tail = ready_locked(stream);
	pthread_mutex_unlock(&stream->ctx->lock);
	return tail <= sim_now_ns() && sim_host_idle(stream, sim_host_ticket(stream));
}

void sim_stream_wait(CUstream stream)
{
	uint64_t tail;

	pthread_mutex_lock(&stream->ctx->lock);
	tail = ready_locked(stream);
	pthread_mutex_unlock(&stream->ctx->lock);
	sim_wait_until_ns(tail);
	sim_host_wait(stream, sim_host_ticket(stream));
}

bool sim_context_fails(CUcontext ctx)
{
	uint64_t tail;

	if (!(sim_config()->faults & SIM_FAULT_KERNEL_FAILS))
		return false;
	pthread_mutex_lock(&ctx->lock);
	tail = ctx->tail;
	pthread_mutex_unlock(&ctx->lock);
	if (tail > sim_now_ns())
		sim_fail();
	return tail > sim_now_ns();
}

void sim_context_wait(CUcontext ctx)
{
	uint64_t tail;

	pthread_mutex_lock(&ctx->lock);
	tail = ctx->tail;
	pthread_mutex_unlock(&ctx->lock);
	sim_wait_until_ns(tail);
	sim_host_wait(NULL, 0);
}
