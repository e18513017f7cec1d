#include "report/advice/rules/rules.h"

#include "report/advice/rules/copies.h"
#include "report/advice/rules/buffer_threads.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_BYTES, 262144, BYTES, "a smaller copy costs little")                           \
	LIMIT(WRITE_BYTES_A_NS, 200, COUNT, "GB/s: a thread writes no faster, even to its caches") \
	LIMIT(MOST_COPIES, 8, COUNT, "different copies that one iteration has at most")            \
	LIMIT(FEW, 3, COUNT, "copies are enough if they cost much: ...")                           \
	LIMIT(FEW_PERCENT, 10, PERCENT, "... of the recorded time ...")                            \
	LIMIT(FEW_NS, 100000000, NS, "... and so much time")
GP_LIMITS(LIMITS);

/* The last copy to the device of one site and size, and what its thread has done since. */
struct last {
	uint32_t site;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t row_bytes;     /* of the copies up to this one that seem to be the same */
	bool launched;          /* a kernel */
	uint64_t outside_ns;    /* outside of calls */
	uint64_t brought_bytes; /* of the largest copy from the device */
};

struct thread {
	uint32_t id, count, oldest;
	struct last copies[MOST_COPIES];
	uint64_t last_ns; /* end of its last call */
};

/* Of the whole process. */
struct around {
	uint64_t locked_bytes;
	struct gp_buffer_threads fillers;
};

struct own {
	uint64_t pinned;            /* the copies from page-locked memory */
	uint64_t buffers;           /* of their size that fit into page-locked memory ... */
	bool is_unknown;            /* ... of which the trace has no allocation */
	uint64_t first_ns, last_ns; /* from the copy before the first one to the last one */
};

static bool is_locked(const struct gp_memory_event *event)
{
	return event->op == GP_MEMORY_ALLOC && (event->memory_kind == GP_MEMORY_PINNED ||
						event->memory_kind == GP_MEMORY_REGISTERED);
}

/* All page-locked memory, including what was freed. */
static uint64_t locked_bytes(const struct gp_model *model)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < model->memory_count; i++)
		if (is_locked(&model->memory[i]))
			bytes += model->memory[i].bytes;
	return bytes;
}

static uint64_t locked_buffers(const struct gp_model *model, uint64_t copy_bytes)
{
	uint64_t buffers = 0;

	for (uint32_t i = 0; i < model->memory_count; i++)
		if (is_locked(&model->memory[i]))
			buffers += model->memory[i].bytes / copy_bytes;
	return buffers;
}

static bool looks_the_same(const struct last *last, const struct around *around, uint64_t start_ns)
{
	return last->launched &&
	       !gp_buffer_threads_turn(&around->fillers, last->start_ns, start_ns) &&
	       last->brought_bytes < last->bytes &&
	       last->outside_ns * WRITE_BYTES_A_NS < last->bytes;
}

/* The last copy of that site and size; else a new one, which replaces the oldest. */
static struct last *find_last(struct thread *thread, uint32_t site, uint64_t bytes)
{
	struct last *last;

	for (uint32_t i = 0; i < thread->count; i++)
		if (thread->copies[i].site == site && thread->copies[i].bytes == bytes)
			return &thread->copies[i];
	if (thread->count < MOST_COPIES) {
		last = &thread->copies[thread->count++];
	} else {
		last = &thread->copies[thread->oldest];
		thread->oldest = (thread->oldest + 1) % MOST_COPIES;
	}
	*last = (struct last){.site = site, .bytes = bytes};
	return last;
}

/* Without the copy, the host saves the call without its wait, and the GPU the copy. */
static void save_copy(struct gp_advisor *advisor, const struct gp_case *found,
		      const struct gp_call *call, const struct gp_op *op)
{
	uint64_t copy_ns = op->end_ns - op->start_ns;
	uint64_t held_ns = call->duration_ns - gp_copy_waited_ns(advisor, call, op);
	uint64_t end_ns = copy_ns > held_ns ? op->end_ns : gp_call_end_ns(call);

	gp_advisor_stretch(advisor, found, end_ns - (copy_ns > held_ns ? copy_ns : held_ns), end_ns,
			   1);
}

static void keep(struct gp_case *found, const struct gp_op *op, uint64_t before_ns, uint64_t at_ns)
{
	struct own *own = found->own;

	own->pinned += op->source_kind == GP_COPY_PINNED;
	if (found->count == 1 || before_ns < own->first_ns)
		own->first_ns = before_ns;
	if (at_ns > own->last_ns)
		own->last_ns = at_ns;
}

static void take_copy(struct gp_advisor *advisor, struct thread *thread, const struct gp_call *call,
		      const struct gp_op *op, const struct around *around)
{
	uint32_t site = gp_advisor_site(advisor, call);
	uint64_t copy_ns = op->end_ns - op->start_ns;
	uint64_t took_ns = copy_ns > call->duration_ns ? copy_ns : call->duration_ns;
	struct last *last = find_last(thread, site, op->bytes);
	struct gp_case *found;

	last->row_bytes =
		op->bytes + (looks_the_same(last, around, call->start_ns) ? last->row_bytes : 0);
	if (last->row_bytes > op->bytes &&
	    (op->source_kind != GP_COPY_PINNED || last->row_bytes > around->locked_bytes)) {
		found = gp_advisor_case(advisor, site, op->bytes, 0);
		gp_advisor_add(advisor, found, call->start_ns, took_ns, 0, NULL);
		save_copy(advisor, found, call, op);
		found->bytes += op->bytes;
		keep(found, op, last->start_ns, call->start_ns);
	}
	last->start_ns = call->start_ns;
	last->outside_ns = last->brought_bytes = 0;
	last->launched = false;
}

static bool is_large(const struct gp_op *op)
{
	return op && op->copy_kind == GP_COPY_HTOD && op->bytes >= LEAST_BYTES;
}

static void note(struct gp_advisor *advisor, struct thread *thread, const struct gp_call *call,
		 const struct gp_op *op)
{
	uint64_t outside_ns =
		call->start_ns > thread->last_ns ? call->start_ns - thread->last_ns : 0;
	uint8_t class = gp_advisor_class(advisor, call);
	bool launched = class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH;
	uint64_t brought_bytes = op && op->copy_kind == GP_COPY_DTOH ? op->bytes : 0;

	for (uint32_t i = 0; i < thread->count; i++) {
		struct last *last = &thread->copies[i];

		last->outside_ns += outside_ns;
		last->launched |= launched;
		if (brought_bytes > last->brought_bytes)
			last->brought_bytes = brought_bytes;
	}
}

static void take_call(struct gp_advisor *advisor, struct thread *thread, const struct gp_call *call,
		      const struct around *around)
{
	const struct gp_op *op = gp_host_copy(advisor, call);

	if (thread->id != call->thread_id)
		*thread = (struct thread){.id = call->thread_id, .last_ns = call->start_ns};
	note(advisor, thread, call, op);
	if (gp_call_end_ns(call) > thread->last_ns)
		thread->last_ns = gp_call_end_ns(call);
	if (is_large(op))
		take_copy(advisor, thread, call, op, around);
}

static bool has_any(const struct gp_advisor *advisor)
{
	const struct gp_call_list *copies = gp_advisor_calls(advisor, GP_API_COPY);

	for (uint32_t i = 0; i < copies->count; i++)
		if (is_large(gp_host_copy(advisor, gp_advisor_call(advisor, copies, i))))
			return true;
	return false;
}

/* Another thread may have filled a ring of page-locked buffers. */
static bool may_be_ring(const struct own *own, uint64_t copies)
{
	return own->pinned * 2 > copies && (own->is_unknown || own->buffers > 1);
}

static void judge(struct gp_advisor *advisor, struct gp_case *found, uint64_t all_locked_bytes)
{
	struct own *own = found->own;

	found->is_grave = found->count >= FEW && found->saves_ns >= FEW_NS &&
			  found->saves_ns >= advisor->span_ns / (100 / FEW_PERCENT);
	if (!gp_advisor_is_worth(advisor, found))
		return;
	if (gp_buffer_threads_work(advisor, found, own->first_ns, own->last_ns,
				   found->bytes / WRITE_BYTES_A_NS)) {
		found->saves_ns = found->saves_in_loop_ns = 0;
		found->is_grave = false;
		return;
	}
	own->is_unknown = all_locked_bytes == 0;
	own->buffers = locked_buffers(advisor->model, found->detail);
	found->is_doubtful = may_be_ring(own, found->count);
}

static void look(struct gp_advisor *advisor)
{
	struct thread thread = {.id = UINT32_MAX};
	struct around around = {.locked_bytes = 0};
	struct gp_case *found;

	if (!has_any(advisor))
		return;
	around.locked_bytes = locked_bytes(advisor->model);
	gp_buffer_threads_find(&around.fillers, advisor->model);
	for (uint32_t i = 0; i < advisor->model->call_count; i++)
		take_call(advisor, &thread, &advisor->model->calls[i], &around);
	gp_buffer_threads_free(&around.fillers);
	gp_advisor_save_once(advisor);
	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		judge(advisor, found, around.locked_bytes);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	gp_document_add_number(values, "copy_bytes", GP_UNIT_BYTES, found->detail);
	gp_document_add_flag(values, "is_doubtful", found->is_doubtful);
	if (found->is_doubtful && !own->is_unknown)
		gp_document_add_number(values, "buffer_count", GP_UNIT_COUNT, own->buffers);
}

const struct gp_rule gp_rule_repeated_copy = {
	.id = "repeated-copy",
	.title = "the same bytes are probably copied to the device repeatedly",
	.found =
		"{count} copies of {copy_bytes} to the device, which took {time_ns}, [{?is_doubtful}may|seem to] transfer the same bytes as before: the thread had no time to write others[{?is_doubtful}; another thread may have written them, into alternating buffers: [page-locked memory has room for {buffer_count}|this trace does not record page-locked memory]]",
	.change =
		"[{?is_doubtful}nothing, if a data loader fills the buffers; copy constant data (weights, tables) once, before the loop, and keep it on the device|if so, and if no other thread fills the buffer: copy once, before the loop, and keep the data on the device]",
	.meaning =
		"A line copies as many bytes as in the previous iteration, and a kernel was launched in between. The thread was outside of CUDA for too short a time to write that many new bytes, and did not get them from the device. gpuprof does not compare the bytes or their addresses. The finding can be wrong if other threads or devices write the buffer, or if the copies are pieces of a large pageable array. The rule is silent if ranges of other threads begin or end between the copies, or if stack samples found these threads at work. If there is page-locked memory for two or more such buffers, it may be the ring of a data loader: then the finding comes last. The saving is the time in the calls without their waits, or the time of the copies.",
	.remedy =
		"Copy constant data (weights, tables) before the loop, and keep it on the device.",
	.ignore =
		"Another thread or device fills the buffers meanwhile, a large array is processed in pieces, or the program is a copy benchmark.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 200000,
		      .count = 16,
		      .reason = "Fewer copies prove little"},
	.limits = limits,
	.exception = "a count of {FEW} is enough for a saving of {FEW_PERCENT} % and {FEW_NS}",
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
