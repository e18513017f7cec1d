/*
 * The same bytes, copied again.  The records have neither the addresses nor the bytes of a copy:
 * what they tell is that a call site copies as many bytes to the device as the time before, that a
 * kernel was launched in between, that the thread had no time since to write new ones, at 50 GB/s
 * outside of calls of CUDA, nor did a copy from the device bring as many; and of page-locked
 * memory, that they are more in a row than the process ever allocated: else they may be pieces of a
 * whole. Nor is it told where a range of another thread, which itself has nothing done by a GPU,
 * begins or ends between two copies, or looks found it at work for as long as it takes to write
 * them: it fills buffers.  Where these may be a ring of page-locked ones, it is told last, and as
 * what may be. Speaks from 16 of these on, each of 256 KiB or more, that took 3 % of the recorded
 * time and 200 us; from 3 on, where it is 10 % and 100 ms.
 */
#include "report/advice/rules/rules.h"

#include <errno.h>

#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"
#include "report/advice/rules/fillers.h"

#define LEAST_BYTES       (256u << 10)
#define MEMORY_BYTES_A_NS 50 /* that a thread writes at most */

/* Few are worth a word where that part of the recorded time could be saved, and that much. */
#define FEW      3u
#define FEW_PART 10u
#define FEW_NS   100000000u

/* A copy to the device, the last one of that place and size, and what its thread did since. */
struct last {
	uint32_t site;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t row_bytes;     /* of those in a row that look the same */
	bool launched;          /* a kernel, since then */
	uint64_t outside_ns;    /* the thread was in no call */
	uint64_t brought_bytes; /* from the device, at most in one copy */
};

/* Different ones of an iteration; with more the oldest is forgotten. */
#define MOST_COPIES 8u

struct thread {
	uint32_t id, count, oldest;
	struct last copies[MOST_COPIES];
	uint64_t last_ns; /* end of its last call */
};

/* What is asked of each copy, of the whole process. */
struct around {
	uint64_t locked_bytes;
	struct gp_fillers fillers;
};

/* What is kept of a case. */
struct own {
	uint64_t pinned;            /* copies from page-locked memory */
	uint64_t buffers;           /* of their size that there is room for in it; ... */
	bool is_unknown;            /* ... no such allocation is in the trace */
	uint64_t first_ns, last_ns; /* from the first one, or the one before it, to the last */
};

static bool is_locked(const struct gp_memory_event *event)
{
	return event->op == GP_MEMORY_ALLOC && (event->memory_kind == GP_MEMORY_PINNED ||
						event->memory_kind == GP_MEMORY_REGISTERED);
}

/* Of page-locked memory, whatever of it was freed meanwhile. */
static uint64_t locked_bytes(const struct gp_model *model)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < model->memory_count; i++)
		if (is_locked(&model->memory[i]))
			bytes += model->memory[i].bytes;
	return bytes;
}

/* How many of so many bytes it has room for. */
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
	return last->launched && !gp_fillers_turn(&around->fillers, last->start_ns, start_ns) &&
	       last->brought_bytes < last->bytes &&
	       last->outside_ns * MEMORY_BYTES_A_NS < last->bytes;
}

/* That of the same place and size; else one that is to have these, in a row of none. */
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

/*
 * What is not copied spares the host all of the call in which it does not wait for other work, and
 * the GPU the copy.
 */
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

/* What came between the thread's calls, and in this one, counts for each of its last copies. */
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

/* Else what threads did between copies need not be looked at. */
static bool has_any(const struct gp_advisor *advisor)
{
	const struct gp_call_list *copies = gp_advisor_calls(advisor, GP_API_COPY);

	for (uint32_t i = 0; i < copies->count; i++)
		if (is_large(gp_host_copy(advisor, gp_advisor_call(advisor, copies, i))))
			return true;
	return false;
}

/*
 * Of a ring of page-locked buffers each copy has others, whose bytes a thread may have written of
 * which nothing is known.
 */
static bool may_be_ring(const struct own *own, uint64_t copies)
{
	return own->pinned * 2 > copies && (own->is_unknown || own->buffers > 1);
}

static void judge(struct gp_advisor *advisor, struct gp_case *found, uint64_t all_locked_bytes)
{
	struct own *own = found->own;

	found->is_grave = found->count >= FEW && found->saves_ns >= FEW_NS &&
			  found->saves_ns >= advisor->span_ns / FEW_PART;
	if (!gp_advisor_is_worth(advisor, found))
		return;
	if (gp_fillers_work(advisor, found, own->first_ns, own->last_ns,
			    found->bytes / MEMORY_BYTES_A_NS)) {
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

	if (!has_any(advisor))
		return;
	around.locked_bytes = locked_bytes(advisor->model);
	if (gp_fillers_find(&around.fillers, advisor->model) != 0)
		advisor->error = -ENOMEM;
	for (uint32_t i = 0; i < advisor->model->call_count && advisor->error == 0; i++)
		take_call(advisor, &thread, &advisor->model->calls[i], &around);
	gp_fillers_free(&around.fillers);
	gp_advisor_save_once(advisor);
	for (uint32_t i = 0; i < advisor->case_count && advisor->error == 0; i++)
		if (gp_advisor_is_present(advisor, &advisor->cases[i]))
			judge(advisor, &advisor->cases[i], around.locked_bytes);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	(void)advisor;
	fprintf(out,
		"%s copies of %s to the device, which took %s, %s of the same bytes as before: the thread had no time to write others",
		gp_format_count(found->count).text, gp_format_bytes(found->detail).text,
		gp_format_ns(found->time_ns).text, found->is_doubtful ? "may be" : "seem to be");
	if (found->is_doubtful && own->is_unknown)
		fputs("; another one may have, into alternating buffers: of page-locked memory this trace does not tell",
		      out);
	else if (found->is_doubtful)
		fprintf(out,
			"; another one may have, into alternating buffers: page-locked memory has room for %s",
			gp_format_count(own->buffers).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fputs(found->is_doubtful
		      ? "nothing, where a loader fills them; what does not change (weights, tables) is to be copied once, before the loop, and kept on the device"
		      : "if they are, and no other thread fills them meanwhile: copy once, before the loop, and keep them on the device",
	      out);
}

const struct gp_rule gp_rule_repeated_copy = {
	.id = "repeated-copy",
	.title = "the same bytes are probably copied to the device repeatedly",
	.meaning =
		"A line copies as many bytes as in the previous iteration, and a kernel was launched in between. The thread was outside of CUDA for too short a time to write that many new bytes, and did not get them from the device. gpuprof does not compare the bytes or their addresses. The finding can be wrong if other threads or devices write the buffer, or if the copies are pieces of a large pageable array. The rule is silent if ranges of other threads begin or end between the copies, or if stack samples found these threads at work. If there is page-locked memory for two or more such buffers, it may be the ring of a data loader: then the finding comes last. The saving is the time in the calls without their waits, or the time of the copies.",
	.change =
		"Copy constant data (weights, tables) before the loop, and keep it on the device.",
	.ignore =
		"Another thread or device fills the buffers meanwhile, a large array is processed in pieces, or the program is a copy benchmark.",
	.threshold = {.saves_percent = 3, .saves_ns = 200000, .count = 16},
	.few = "from 3 times on, where 10 % and 100 ms could be saved",
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
