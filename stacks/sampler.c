#include "stacks/sampler.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/sys.h"
#include "stacks/python_code_reader.h"
#include "stacks/memory.h"
#include "stacks/python.h"
#include "stacks/snapshot.h"
#include "stacks/stack_tree.h"

#define MOST_LISTED       65536u /* threads of an interpreter: ends the walk of a cyclic list */
#define MOST_INTERPRETERS 16u
#define MOST_TRIES        16u /* for a thread that calls and returns meanwhile */
#define ENOUGH_ATTEMPTS                                                                            \
	5u /* consecutive attempts that agree on the start of a stack, or on its outer frames */
#define STATE_BYTES        256u  /* of a thread state, maximum that is read */
#define OWN_ID_BYTES       1024u /* of a thread descriptor, in which the id is searched */
#define LEAST_SHIM         3u    /* owners from this value on are not functions */
#define OWNED_BY_GENERATOR 1u
#define TAG_BITS           3u         /* 3.14: in the lowest bits of references */
#define MOST_OFFSET        (1u << 24) /* in a code object */
#define BUDGET_PART        16u        /* of --max-memory */
#define PASSES_MEASURED    4u         /* one out of this many */
#define MOST_STORED_NS     5000000
/* parts of a second: during a longer copy the thread had lost its CPU */
#define PER_LONG_COPY 10000u
/* of the first record of a stack; each further one is twice as long */
#define RUN_NS   1000000000u
#define MOST_RUN 64u

/* A frame; callers follow their callees. */
struct link {
	uint64_t frame;
	uint64_t code;
	uint64_t instruction;
	/* of the stack tree: this frame and its callers; for a hidden frame, its caller's */
	uint32_t node;
	uint8_t owner;
	struct gp_python_code_seen seen;
};

/* The outermost frame of a stack and its code, which seldom change. */
struct base {
	uint64_t frame;
	uint64_t code;
};

/* A sampled thread and its last stack. */
struct thread {
	uint64_t state;      /* the interpreter's thread state */
	uint64_t descriptor; /* the C library's: pthread_t */
	uint32_t id;
	uint32_t index; /* in sampler.threads */
	uint32_t pass;  /* the last pass over the interpreter's lists that found it */
	uint64_t chain; /* start of its chain of frames (3.11, 3.12) */
	uint32_t stack;
	uint32_t count; /* number of samples with this stack; 0 = none */
	uint64_t start_ticks;
	uint64_t last_ticks;
	uint64_t run_ticks; /* start of the time that is not emitted yet */
	struct base base;
	struct gp_snapshot snapshot;
	uint32_t link_count;
	bool is_cut;
	struct link links[GP_STACK_DEPTH];
};

/* The outer frames on which several attempts agree, if the stack changed each time. */
struct outside {
	struct link *links; /* GP_STACK_DEPTH */
	uint32_t count;
	uint32_t agreed; /* number of attempts */
};

/*
 * All threads, in the order of the interpreter's lists.  Usually these are unchanged: then one
 * combined read is enough.
 */
struct thread_list {
	uint64_t interpreters[MOST_INTERPRETERS];
	struct thread *threads[GP_SAMPLER_THREADS];
	uint8_t interpreter_of[GP_SAMPLER_THREADS]; /* for a thread: index of its interpreter */
	uint32_t interpreter_count, thread_count;
	bool is_whole; /* can be checked in one combined read */
};

/*
 * The interpreter's list begins with the newest thread; if there are too many, the oldest are
 * sampled, including the main thread.
 */
struct listed {
	uint64_t states[GP_SAMPLER_THREADS], descriptors[GP_SAMPLER_THREADS];
	/* of all; the last GP_SAMPLER_THREADS are here, each at its number modulo that */
	uint32_t count;
};

static struct sampler {
	struct gp_python_code_reader *codes;
	uint64_t states[GP_SAMPLER_THREADS];        /* thread states; 0 = none */
	struct thread *threads[GP_SAMPLER_THREADS]; /* parallel to it; NULL = never used */
	struct link *links;                         /* GP_STACK_DEPTH, of the current stack */
	struct outside outside;
	uint8_t (*pages)[GP_SNAPSHOT_PAGE_BYTES];
	uint64_t period_ns; /* 0 = off */
	uint32_t least_rest;
	uint64_t due_ns;
	uint64_t run_ticks;
	uint64_t long_copy_ticks;
	uint64_t bytes; /* of mapped memory */
	uint32_t most_threads;
	uint32_t id_offset; /* offset of the thread id in a descriptor */
	struct listed listed;
	struct thread_list thread_list;
	uint32_t pass;        /* number of the last pass over the interpreter's lists */
	uint32_t passes;      /* number of samples of all threads */
	uint64_t taken_ns;    /* duration of the last measured pass */
	uint64_t paid_ns;     /* time of the last payment */
	int64_t allowance_ns; /* remaining CPU time; negative: overdrawn */
	struct gp_python_known python;
} sampler;

/* ---- emitting samples ---- */

static void end_run(struct thread *thread)
{
	struct gp_record_sample sample = {
		.kind = GP_RECORD_SAMPLE,
		.slots = sizeof(sample) / GP_SLOT_BYTES,
		.thread_id = thread->id,
		.start_ticks = thread->start_ticks,
		.duration_ticks = thread->last_ticks - thread->start_ticks,
		.stack_id = thread->stack,
		.count = thread->count,
	};

	if (thread->count > 0)
		gp_emit((const struct gp_record *)&sample);
	thread->count = 0;
}

/*
 * A constant stack is emitted after a second, then after two more, and so on: a killed process
 * loses at most half of it, and a thread that sleeps for hours costs few records.
 */
static void add_sample(struct thread *thread, uint32_t stack, uint64_t ticks)
{
	bool is_other = stack != thread->stack;

	if (is_other || ticks - thread->start_ticks > thread->run_ticks) {
		end_run(thread);
		thread->run_ticks = is_other ? sampler.run_ticks : thread->run_ticks * 2;
		if (thread->run_ticks > sampler.run_ticks * MOST_RUN)
			thread->run_ticks = sampler.run_ticks * MOST_RUN;
	}
	if (thread->count == 0)
		thread->start_ticks = ticks;
	thread->stack = stack;
	thread->last_ticks = ticks;
	thread->count++;
	gp_count(GP_COUNTER_SAMPLES, 1);
}

/* ---- one stack, from copies ---- */

static bool word_at(struct gp_snapshot *snapshot, uint64_t address, uint64_t *word)
{
	return gp_snapshot_read(snapshot, address, word, sizeof(*word));
}

static bool read_instruction(struct gp_snapshot *snapshot, uint64_t frame, uint64_t *instruction)
{
	const struct gp_python_layout *layout = &sampler.python.layout;
	uint64_t at = frame + layout->frame.instruction;
	int32_t index;

	if (layout->instruction == GP_PYTHON_POINTER)
		return word_at(snapshot, at, instruction);
	if (!gp_snapshot_read(snapshot, at, &index, sizeof(index)))
		return false;
	*instruction =
		index < 0 ? 0
			  : (uint64_t)index * (layout->instruction == GP_PYTHON_UNITS ? 2u : 1u);
	return true;
}

/* The needed part of a frame, and its caller's address. */
static bool read_link(struct gp_snapshot *snapshot, struct link *link, uint64_t *previous)
{
	const struct gp_python_layout *layout = &sampler.python.layout;

	link->owner = 0;
	if (layout->instruction == GP_PYTHON_POINTER &&
	    !gp_snapshot_read(snapshot, link->frame + layout->frame.owner, &link->owner, 1))
		return false;
	if (!word_at(snapshot, link->frame + layout->frame.code, &link->code) ||
	    !read_instruction(snapshot, link->frame, &link->instruction))
		return false;
	link->code &= ~(uint64_t)TAG_BITS;
	return word_at(snapshot, link->frame + layout->frame.previous, previous);
}

/*
 * Before 3.11 frames are objects: one without references is not executing, and its caller is
 * invalid.
 */
static bool is_alive(struct gp_snapshot *snapshot, uint64_t frame)
{
	uint64_t references;

	return sampler.python.layout.activation != GP_PYTHON_EACH ||
	       (word_at(snapshot, frame, &references) && references != 0);
}

/* All function frames, innermost first. */
static bool read_links(struct gp_snapshot *snapshot, uint64_t frame, uint32_t *count, bool *is_cut)
{
	bool has_shims = sampler.python.layout.activation == GP_PYTHON_SHIM;
	uint32_t frames = 0;

	for (*count = 0; frame != 0 && *count < GP_STACK_DEPTH && frames < GP_PYTHON_LINKS;
	     frames++) {
		struct link *link = &sampler.links[*count];

		link->frame = frame;
		if (!is_alive(snapshot, frame) || !read_link(snapshot, link, &frame)) {
			*is_cut = snapshot->count == GP_SNAPSHOT_PAGES;
			return *is_cut;
		}
		*count += !has_shims || link->owner < LEAST_SHIM;
	}
	*is_cut = frame != 0;
	return true;
}

/*
 * Words of a thread: while they are unchanged, it is the same thread with the same innermost frame.
 */
enum { ITS_FRAME, ITS_DESCRIPTOR, ITS_ID, ITS_CHAIN, MOST_WORDS };
static_assert(MOST_WORDS <= GP_SNAPSHOT_WORDS, "one snapshot");

/* Their addresses; returns the number for the interpreter's version. */
static uint32_t find_words(const struct thread *thread, uint64_t addresses[GP_SNAPSHOT_WORDS])
{
	const struct gp_python_layout *layout = &sampler.python.layout;

	addresses[ITS_FRAME] = thread->state + layout->thread.frame;
	addresses[ITS_DESCRIPTOR] = thread->state + layout->thread.thread_id;
	addresses[ITS_ID] = thread->descriptor + sampler.id_offset;
	addresses[ITS_CHAIN] = thread->chain + (uint64_t)layout->thread.chain_frame;
	return layout->thread.chain_frame >= 0 && thread->chain != 0 ? ITS_CHAIN + 1 : ITS_CHAIN;
}

/*
 * Another thread may have replaced it since the list was read; and before 3.12 a starting thread
 * has its creator's descriptor until it begins.
 */
static bool is_still(const struct thread *thread)
{
	const uint64_t *words = thread->snapshot.words;

	return words[ITS_DESCRIPTOR] == thread->descriptor && (uint32_t)words[ITS_ID] == thread->id;
}

enum sample {
	SEEN,
	SEEN_OUTSIDE,
	IDLE, /* or no longer that thread */
	MISSED
};

/*
 * The innermost frame, 0 = none; false: the chain started elsewhere, and its start was read too
 * late.
 */
static bool find_frame(struct thread *thread, uint32_t words, uint64_t *frame)
{
	const struct gp_python_layout *layout = &sampler.python.layout;
	uint64_t first = thread->snapshot.words[ITS_FRAME], chain = thread->chain;

	*frame = first;
	if (layout->thread.chain_frame < 0)
		return true;
	thread->chain = first;
	if (words > ITS_CHAIN && first == chain) {
		*frame = thread->snapshot.words[ITS_CHAIN];
		return true;
	}
	if (first == 0 ||
	    !gp_snapshot_now(first + (uint64_t)layout->thread.chain_frame, frame, sizeof(*frame)))
		*frame = 0;
	return first == 0;
}

/* A long copy counts as MOVED: the longer it takes, the likelier data changed and changed back. */
static enum gp_snapshot_result take(struct gp_snapshot *snapshot, const uint64_t *addresses,
				    uint32_t count)
{
	uint64_t start_ticks = gp_clock_ticks();
	enum gp_snapshot_result result = gp_snapshot_take(snapshot, addresses, count);
	bool is_long = gp_clock_ticks() - start_ticks > sampler.long_copy_ticks;

	return result == GP_SNAPSHOT_TAKEN && is_long ? GP_SNAPSHOT_MOVED : result;
}

/* The descriptor of an ended thread is unmapped with its stack. */
static bool has_gone(const struct thread *thread)
{
	uint32_t id;

	return !gp_snapshot_now(thread->descriptor + sampler.id_offset, &id, sizeof(id));
}

/* One attempt; MISSED: the thread moved on, and *count frames may be the rest of its stack. */
static enum sample try_sample(struct thread *thread, uint32_t *count, bool *is_cut)
{
	uint64_t addresses[GP_SNAPSHOT_WORDS], frame;
	uint32_t words = find_words(thread, addresses);
	struct gp_snapshot *snapshot = &thread->snapshot;
	enum gp_snapshot_result result = take(snapshot, addresses, words);
	bool is_sure;

	*count = 0;
	if (result == GP_SNAPSHOT_UNMAPPED) { /* the old content is gone */
		snapshot->count = 0;
		thread->chain = 0;
		return has_gone(thread) ? IDLE : MISSED;
	}
	if (!is_still(thread))
		return IDLE;
	is_sure = find_frame(thread, words, &frame) && result == GP_SNAPSHOT_TAKEN;
	if (frame == 0)
		return is_sure ? IDLE : MISSED;
	if (!read_links(snapshot, frame, count, is_cut)) {
		*count = 0;
		return MISSED;
	}
	is_sure &= gp_snapshot_is_whole(snapshot);
	gp_snapshot_keep_read(snapshot);
	return is_sure ? SEEN : MISSED;
}

static bool is_same_base(const struct base *a, const struct base *b)
{
	return a->frame == b->frame && a->code == b->code;
}

static struct base base_of(const struct link *links, uint32_t count)
{
	return (struct base){links[count - 1].frame, links[count - 1].code};
}

/*
 * Whether the outermost frame belongs to a generator.  A suspended generator's frame has no caller.
 */
static bool ends_in_generator(const struct link *links, uint32_t count)
{
	return links[count - 1].owner == OWNED_BY_GENERATOR;
}

static bool is_same_function(const struct link *a, const struct link *b)
{
	return a->frame == b->frame && a->code == b->code && a->owner == b->owner;
}

/*
 * Keep the outer frames that are equal in each attempt: the frames that wait for their callees, and
 * a frame that makes call after call, at its current place.  Inner frames changed between the
 * attempts.
 */
static void keep_outside(struct outside *outside, uint32_t count)
{
	uint32_t same = 0;
	bool stands = true;

	while (outside->agreed > 0 && stands && same < count && same < outside->count) {
		const struct link *now = &sampler.links[count - 1 - same];
		const struct link *before = &outside->links[outside->count - 1 - same];

		if (!is_same_function(now, before))
			break;
		stands = now->instruction == before->instruction;
		same++;
	}
	outside->count = outside->agreed > 0 ? same : count;
	memcpy(outside->links, &sampler.links[count - outside->count],
	       outside->count * sizeof(outside->links[0]));
	outside->agreed++;
}

static enum sample take_outside(struct thread *thread, const struct outside *outside,
				uint32_t *count)
{
	if (outside->agreed < ENOUGH_ATTEMPTS || outside->count == 0)
		return MISSED;
	thread->base = base_of(outside->links, outside->count);
	*count = outside->count;
	memcpy(sampler.links, outside->links, *count * sizeof(sampler.links[0]));
	return SEEN_OUTSIDE;
}

/*
 * Whether a stack may begin there: at its previous start, or in a frame that cannot be suspended.
 */
static bool may_begin(const struct thread *thread, uint32_t count)
{
	struct base base = base_of(sampler.links, count);

	return is_same_base(&base, &thread->base) || !ends_in_generator(sampler.links, count);
}

/*
 * A frame that is innermost before and after may have been suspended and resumed in between.  While
 * suspended it has no caller, and the stack seems to begin there: if the start differs from the
 * last time, several attempts must agree.
 */
static enum sample sample(struct thread *thread, uint32_t *count, bool *is_cut)
{
	struct outside *outside = &sampler.outside;
	struct base found = {0, 0};
	uint32_t agreed = 0;

	thread->snapshot.data = sampler.pages;
	outside->agreed = 0;
	for (uint32_t i = 0; i < MOST_TRIES; i++) {
		enum sample result = try_sample(thread, count, is_cut);

		if (result == MISSED) {
			if (*count > 0 && !*is_cut && may_begin(thread, *count) &&
			    outside->agreed < ENOUGH_ATTEMPTS)
				keep_outside(outside, *count);
			continue;
		}
		if (result == IDLE || *is_cut || *count == 0)
			return result;
		struct base base = base_of(sampler.links, *count);

		agreed = is_same_base(&base, &found) ? agreed + 1 : 1;
		found = base;
		if (is_same_base(&base, &thread->base) ||
		    (agreed >= ENOUGH_ATTEMPTS && !ends_in_generator(sampler.links, *count))) {
			thread->base = base;
			return SEEN;
		}
	}
	*is_cut = false;
	return take_outside(thread, outside, count);
}

/* ---- from frames to the id of a stack ---- */

/* Number of unchanged frames, from outside. */
static uint32_t count_same(const struct thread *thread, uint32_t count, bool is_cut)
{
	uint32_t same = 0;

	if (is_cut || thread->is_cut)
		return 0;
	while (same < count && same < thread->link_count) {
		const struct link *now = &sampler.links[count - 1 - same];
		const struct link *before = &thread->links[thread->link_count - 1 - same];

		if (now->frame != before->frame || now->code != before->code ||
		    now->instruction != before->instruction || now->owner != before->owner)
			break;
		same++;
	}
	return same;
}

static bool is_complete(const struct link *link)
{
	const struct gp_python_layout *layout = &sampler.python.layout;

	if (layout->instruction != GP_PYTHON_POINTER || link->owner == OWNED_BY_GENERATOR)
		return true;
	return link->instruction >=
	       link->code + layout->code.start + 2u * (uint64_t)link->seen.first_traceable;
}

static uint32_t offset_of(const struct link *link)
{
	uint64_t start = link->code + sampler.python.layout.code.start;
	uint64_t offset = link->instruction;

	if (sampler.python.layout.instruction == GP_PYTHON_POINTER)
		offset = offset > start ? offset - start : 0;
	return offset < MOST_OFFSET ? (uint32_t)offset : MOST_OFFSET;
}

/* The node of a frame under its caller's; GP_NO_NODE: not a code object, or the tree is full. */
static uint32_t add_node(struct link *link, uint32_t caller)
{
	uint32_t offset;

	if (!gp_python_code_reader_find(sampler.codes, &sampler.python, link->code, &link->seen))
		return GP_NO_NODE;
	offset = offset_of(link);
	if (offset == MOST_OFFSET)
		return GP_NO_NODE;
	return is_complete(link)
		       ? gp_stack_tree_child(caller, GP_FRAME_PYTHON, link->seen.id, offset)
		       : caller;
}

/*
 * Store the found frames as the thread's last stack.  GP_NO_NODE: a frame is not a code object, or
 * the tree is full.
 */
static uint32_t take_links(struct thread *thread, uint32_t count, bool is_cut)
{
	uint32_t same = count_same(thread, count, is_cut);
	uint32_t was = thread->link_count, node = 0;

	if (is_cut)
		node = gp_stack_tree_child(0, GP_FRAME_CUT, 0, 0);
	for (uint32_t i = 0; i < count && node != GP_NO_NODE; i++) {
		struct link *link = &sampler.links[count - 1 - i];

		if (i < same) {
			link->seen = thread->links[was - 1 - i].seen;
			node = thread->links[was - 1 - i].node;
		} else {
			node = gp_stack_tree_is_half_full() ? GP_NO_NODE : add_node(link, node);
		}
		link->node = node;
	}
	thread->link_count = node != GP_NO_NODE ? count : 0;
	thread->is_cut = is_cut;
	memcpy(thread->links, sampler.links, thread->link_count * sizeof(sampler.links[0]));
	return node;
}

/* ---- one thread ---- */

/* MISSED: the thread moved, so its previous stack has ended. */
static void sample_thread(struct thread *thread)
{
	uint64_t ticks = gp_clock_ticks();
	uint32_t count = 0, stack = GP_NO_NODE;
	bool is_cut = false;
	enum sample result = sample(thread, &count, &is_cut);

	if (result == SEEN || result == SEEN_OUTSIDE)
		stack = take_links(thread, count, is_cut);
	if (stack != GP_NO_NODE && stack != 0 &&
	    (stack == thread->stack || gp_stack_tree_emit(stack))) {
		add_sample(thread, stack, ticks);
		gp_count(GP_COUNTER_SAMPLES_OUTSIDE, result == SEEN_OUTSIDE);
		return;
	}
	end_run(thread);
	if (result != IDLE && stack != 0)
		gp_count(GP_COUNTER_SAMPLES_LOST, 1);
}

/* ---- memory ---- */

static uint64_t left_bytes(void)
{
	return gp_memory_budget_share(UINT64_MAX, BUDGET_PART) - sampler.bytes;
}

static void *map(size_t bytes)
{
	void *memory = bytes <= left_bytes() ? gp_memory_map(bytes) : NULL;

	sampler.bytes += memory != NULL ? bytes : 0;
	return memory;
}

static bool map_all(void)
{
	sampler.codes = map(gp_python_code_reader_bytes());
	sampler.links = map(GP_STACK_DEPTH * sizeof(*sampler.links));
	sampler.outside.links = map(GP_STACK_DEPTH * sizeof(*sampler.links));
	sampler.pages = map(GP_SNAPSHOT_COPIES * GP_SNAPSHOT_PAGES * sizeof(*sampler.pages));
	sampler.most_threads = GP_SAMPLER_THREADS;
	if (left_bytes() / sizeof(struct thread) < GP_SAMPLER_THREADS)
		sampler.most_threads = (uint32_t)(left_bytes() / sizeof(struct thread));
	return sampler.codes != NULL && sampler.links != NULL && sampler.outside.links != NULL &&
	       sampler.pages != NULL;
}

/* ---- all threads ---- */

/*
 * The offset of the thread id in the C library's thread descriptor, found in our own descriptor. 0
 * = not found.
 */
static uint32_t find_id_offset(void)
{
	uint32_t words[OWN_ID_BYTES / sizeof(uint32_t)], own = gp_sys_thread_id();

	if (!gp_snapshot_now((uint64_t)pthread_self(), words, sizeof(words)))
		return 0;
	for (uint32_t i = 1; i < OWN_ID_BYTES / sizeof(uint32_t); i++)
		if (words[i] == own)
			return i * (uint32_t)sizeof(uint32_t);
	return 0;
}

/* The memory of an ended thread is reused for the next one. */
static struct thread *thread_at(uint32_t index)
{
	struct thread **thread = &sampler.threads[index];

	if (*thread == NULL)
		*thread = map(sizeof(**thread));
	if (*thread != NULL)
		(*thread)->index = index;
	return *thread;
}

static struct thread *find_thread(uint64_t state)
{
	uint32_t unused = GP_SAMPLER_THREADS;

	for (uint32_t i = 0; i < GP_SAMPLER_THREADS; i++) {
		if (sampler.states[i] == state)
			return sampler.threads[i];
		if (sampler.states[i] == 0 && unused == GP_SAMPLER_THREADS)
			unused = i;
	}
	return unused < GP_SAMPLER_THREADS ? thread_at(unused) : NULL;
}

static uint64_t *state_of(const struct thread *thread)
{
	return &sampler.states[thread->index];
}

/*
 * A thread of the interpreter, possibly another one than before at this address.  NULL: not a
 * thread of the process, or too many.
 */
static struct thread *find_or_add_thread(uint64_t state, uint64_t descriptor)
{
	struct thread *thread = find_thread(state);
	uint32_t id;

	if (thread == NULL || !gp_snapshot_now(descriptor + sampler.id_offset, &id, sizeof(id)))
		return NULL;
	thread->pass = sampler.pass;
	if (*state_of(thread) == state && thread->descriptor == descriptor && thread->id == id)
		return thread;
	end_run(thread);
	*state_of(thread) = 0;
	if (id == 0 || !gp_sys_has_thread(id))
		return NULL;
	*state_of(thread) = thread->state = state;
	thread->descriptor = descriptor;
	thread->id = id;
	thread->stack = thread->link_count = thread->snapshot.count = 0;
	thread->base = (struct base){0, 0};
	thread->chain = 0;
	return thread;
}

/*
 * Read the list of an interpreter's threads, which start and end meanwhile.  False: the list broke
 * off.
 */
static bool list_threads(uint64_t interpreter, struct listed *listed)
{
	const struct gp_python_list *list = &sampler.python.list;
	uint16_t descriptor = sampler.python.layout.thread.thread_id;
	uint64_t state, words[STATE_BYTES / sizeof(uint64_t)];

	listed->count = 0;
	if (!gp_snapshot_now(interpreter + list->threads, &state, sizeof(state)))
		return false;
	while (state != 0 && listed->count < MOST_LISTED) {
		uint32_t at = listed->count % GP_SAMPLER_THREADS;

		if (!gp_snapshot_now(state, words, descriptor + sizeof(uint64_t)) ||
		    words[list->interpreter / sizeof(uint64_t)] != interpreter)
			return false;
		listed->states[at] = state;
		listed->descriptors[at] = words[descriptor / sizeof(uint64_t)];
		listed->count++;
		state = words[list->next / sizeof(uint64_t)];
	}
	return state == 0;
}

/* Skips a listed thread that does not exist: it ended without cleanup, or has not begun. */
static void find_threads(uint64_t interpreter, struct thread_list *thread_list)
{
	struct listed *listed = &sampler.listed;
	uint32_t left = sampler.most_threads - thread_list->thread_count, first = 0;

	thread_list->is_whole &= list_threads(interpreter, listed);
	if (listed->count > left) {
		first = listed->count - left;
		thread_list->is_whole = false;
	}
	for (uint32_t i = first; i < listed->count; i++) {
		uint32_t at = i % GP_SAMPLER_THREADS;
		struct thread *thread =
			find_or_add_thread(listed->states[at], listed->descriptors[at]);

		if (thread == NULL) {
			thread_list->is_whole = false;
			continue;
		}
		thread_list->interpreter_of[thread_list->thread_count] =
			(uint8_t)thread_list->interpreter_count;
		thread_list->threads[thread_list->thread_count++] = thread;
	}
}

static void forget_ended(void)
{
	for (uint32_t i = 0; i < GP_SAMPLER_THREADS; i++)
		if (sampler.states[i] != 0 && sampler.threads[i]->pass != sampler.pass) {
			end_run(sampler.threads[i]);
			sampler.states[i] = 0;
		}
}

static void find_all_threads(struct thread_list *thread_list)
{
	const struct gp_python_known *python = &sampler.python;
	uint64_t at = python->runtime + python->list.interpreters, interpreter;

	sampler.pass++;
	thread_list->interpreter_count = thread_list->thread_count = 0;
	thread_list->is_whole = true;
	while (gp_snapshot_now(at, &interpreter, sizeof(interpreter)) && interpreter != 0 &&
	       thread_list->interpreter_count < MOST_INTERPRETERS) {
		find_threads(interpreter, thread_list);
		thread_list->interpreters[thread_list->interpreter_count++] = interpreter;
		at = interpreter + python->list.next_interpreter;
	}
	forget_ended();
}

/* ---- all threads again, in one read ---- */

#define INTERPRETER_PIECES 2u /* its next interpreter, its first thread */
#define THREAD_PIECES      4u /* its next thread, its interpreter, its descriptor, its id */
#define MOST_AT_ONCE       32u
#define MOST_LIST_PIECES                                                                           \
	(1u + MOST_INTERPRETERS * INTERPRETER_PIECES + MOST_AT_ONCE * THREAD_PIECES)
static_assert(MOST_LIST_PIECES <= GP_SNAPSHOT_PIECES, "one call");

/* The pieces to read, and the expected values. */
struct check {
	struct gp_snapshot_piece pieces[MOST_LIST_PIECES];
	uint64_t known[MOST_LIST_PIECES], answers[MOST_LIST_PIECES];
	uint32_t count;
};

static void add_check(struct check *check, uint64_t address, size_t bytes, uint64_t known)
{
	uint32_t i = check->count++;

	check->answers[i] = 0;
	check->known[i] = known;
	check->pieces[i] = (struct gp_snapshot_piece){address, &check->answers[i], bytes};
}

static void check_interpreter(struct check *check, const struct thread_list *thread_list,
			      uint32_t index)
{
	const struct gp_python_list *list = &sampler.python.list;
	uint64_t address = thread_list->interpreters[index], first = 0;
	bool is_last = index + 1 == thread_list->interpreter_count;

	for (uint32_t i = thread_list->thread_count; i-- > 0;)
		if (thread_list->interpreter_of[i] == index)
			first = thread_list->threads[i]->state;
	add_check(check, address + list->next_interpreter, sizeof(uint64_t),
		  is_last ? 0 : thread_list->interpreters[index + 1]);
	add_check(check, address + list->threads, sizeof(uint64_t), first);
}

static void check_thread(struct check *check, const struct thread_list *thread_list, uint32_t index)
{
	const struct gp_python_list *list = &sampler.python.list;
	const struct thread *thread = thread_list->threads[index];
	bool is_last = index + 1 == thread_list->thread_count ||
		       thread_list->interpreter_of[index + 1] != thread_list->interpreter_of[index];

	add_check(check, thread->state + list->next, sizeof(uint64_t),
		  is_last ? 0 : thread_list->threads[index + 1]->state);
	add_check(check, thread->state + list->interpreter, sizeof(uint64_t),
		  thread_list->interpreters[thread_list->interpreter_of[index]]);
	add_check(check, thread->state + sampler.python.layout.thread.thread_id, sizeof(uint64_t),
		  thread->descriptor);
	add_check(check, thread->descriptor + sampler.id_offset, sizeof(uint32_t), thread->id);
}

static bool is_unchanged(const struct thread_list *thread_list)
{
	struct check check = {.count = 0};

	if (!thread_list->is_whole || thread_list->interpreter_count == 0 ||
	    thread_list->thread_count > MOST_AT_ONCE)
		return false;
	add_check(&check, sampler.python.runtime + sampler.python.list.interpreters,
		  sizeof(uint64_t), thread_list->interpreters[0]);
	for (uint32_t i = 0; i < thread_list->interpreter_count; i++)
		check_interpreter(&check, thread_list, i);
	for (uint32_t i = 0; i < thread_list->thread_count; i++)
		check_thread(&check, thread_list, i);
	return gp_snapshot_pieces_now(check.pieces, check.count) &&
	       memcmp(check.answers, check.known, check.count * sizeof(check.known[0])) == 0;
}

static void sample_all(void)
{
	struct thread_list *thread_list = &sampler.thread_list;

	if (!is_unchanged(thread_list))
		find_all_threads(thread_list);
	for (uint32_t i = 0; i < thread_list->thread_count; i++)
		sample_thread(thread_list->threads[i]);
}

/* ---- periodic work ---- */

static void end_runs(void)
{
	for (uint32_t i = 0; i < GP_SAMPLER_THREADS; i++)
		if (sampler.states[i] != 0)
			end_run(sampler.threads[i]);
}

static uint64_t give_up(const char *note)
{
	end_runs();
	sampler.period_ns = 0;
	gp_emit_info(GP_INFO_NOTE, note);
	return UINT64_MAX;
}

void gp_sampler_begin(uint64_t period_ns, uint32_t least_rest)
{
	if (period_ns == 0)
		return;
	gp_snapshot_begin();
	if (!map_all()) {
		gp_emit_info(
			GP_INFO_NOTE,
			"the program's Python stacks are not sampled: there is too little memory for it (--max-memory, ulimit -v)");
		return;
	}
	sampler.least_rest = least_rest;
	sampler.period_ns = period_ns;
}

/*
 * The duration of a pass over all threads; reading the clock costs as much as a short pass, so only
 * some are measured.
 */
static uint64_t sample_and_measure(void)
{
	uint64_t start_ns, end_ns;

	if (sampler.passes++ % PASSES_MEASURED != 0) {
		sample_all();
	} else {
		start_ns = gp_sys_own_time_ns();
		sample_all();
		end_ns = gp_sys_own_time_ns();
		sampler.taken_ns = end_ns > start_ns ? end_ns - start_ns : 0;
	}
	gp_count(GP_COUNTER_SAMPLING_NS, sampler.taken_ns);
	return sampler.taken_ns;
}

/*
 * A pass is paid from the CPU time allowance accumulated since the last one, and from a reserve for
 * the start of the program, when passes are long because much is new.  Returns the ns until the
 * next one can be paid.
 */
static uint64_t spend(uint64_t now_ns, uint64_t taken_ns)
{
	if (sampler.least_rest == 0)
		return 0;
	sampler.allowance_ns += (int64_t)((now_ns - sampler.paid_ns) / sampler.least_rest);
	sampler.paid_ns = now_ns;
	if (sampler.allowance_ns > MOST_STORED_NS)
		sampler.allowance_ns = MOST_STORED_NS;
	sampler.allowance_ns -= (int64_t)taken_ns;
	return sampler.allowance_ns < 0 ? (uint64_t)-sampler.allowance_ns * sampler.least_rest : 0;
}

static bool is_prepared(void)
{
	if (sampler.id_offset == 0)
		sampler.id_offset = find_id_offset();
	sampler.run_ticks = RUN_NS / 1000000000u * gp_clock_ticks_per_second();
	sampler.long_copy_ticks = gp_clock_ticks_per_second() / PER_LONG_COPY;
	return sampler.id_offset != 0;
}

static bool knows_python(void)
{
	if (gp_python_get_known(&sampler.python))
		return true;
	gp_python_adopt();
	return gp_python_get_known(&sampler.python);
}

uint64_t gp_sampler_pass(uint64_t now_ns, bool is_wanted)
{
	uint64_t rest_ns;

	if (sampler.period_ns == 0)
		return UINT64_MAX;
	if (!is_wanted || (!gp_python_get_known(&sampler.python) && !gp_python_search())) {
		end_runs();
		return UINT64_MAX;
	}
	if (now_ns < sampler.due_ns)
		return sampler.due_ns - now_ns;
	if (gp_sys_is_confined()) /* before any copy: a filter may end the process for it */
		return give_up(
			"the program restricts its system calls (seccomp): its Python stacks were sampled only until then");
	if (!is_prepared())
		return give_up(
			"the program's Python stacks are not sampled: a process may not copy its own memory here (process_vm_readv)");
	if (!knows_python())
		return UINT64_MAX;
	rest_ns = spend(now_ns, sample_and_measure());
	sampler.due_ns = now_ns + (rest_ns > sampler.period_ns ? rest_ns : sampler.period_ns);
	return sampler.due_ns - now_ns;
}

void gp_sampler_end(void)
{
	end_runs();
	sampler.period_ns = 0;
}

static void unmap(void *memory, size_t bytes)
{
	if (memory != NULL)
		gp_memory_unmap(memory, bytes);
}

void gp_sampler_forget(void)
{
	unmap(sampler.codes, gp_python_code_reader_bytes());
	unmap(sampler.links, GP_STACK_DEPTH * sizeof(*sampler.links));
	unmap(sampler.outside.links, GP_STACK_DEPTH * sizeof(*sampler.links));
	unmap(sampler.pages, GP_SNAPSHOT_COPIES * GP_SNAPSHOT_PAGES * sizeof(*sampler.pages));
	for (uint32_t i = 0; i < GP_SAMPLER_THREADS; i++)
		unmap(sampler.threads[i], sizeof(struct thread));
	memset(&sampler, 0, sizeof(sampler));
}
