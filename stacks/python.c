#include "stacks/python.h"

#include <pthread.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "gpuprof/record.h"
#include "stacks/stack_hash.h"
#include "stacks/thread_memory.h"
#include "stacks/loader.h"

#define OBJECT_TYPE        8u
#define LEAST_SHIM         3u /* owners from this value on are not functions */
#define OWNED_BY_GENERATOR 1u
#define ENTRY_MARK         68u /* 3.11: whether this is the last frame of its activation */
#define TAG_BITS           3u  /* from 3.14 on, in the lowest bits of references */
#define NO_ADDRESS         1u
#define SHORT_NAME         8u  /* before the name with its classes, from 3.11 on */
#define LINE               64u /* size of a cache line */
#define MOST_PREPARED      24u
#define LAST_OF_ACTIVATION ((uint64_t)1 << 63) /* combined with a code object's id, in a hash */

enum { UNKNOWN, CHECKING, READY, REFUSED };

/* An interpreter, described by its module. */
struct interpreter {
	void *(*thread_state)(void);
	uint64_t code_type;
	uint64_t text_type;
	uint64_t evaluator_start;
	uint64_t evaluator_end;
	struct gp_python_layout layout;
	struct gp_python_list list;
	uint64_t runtime;
	uint64_t bytes_type;
};

static struct {
	uint32_t state; /* atomic; the rest is valid once it is READY */
	uint32_t epoch; /* atomic; of gp_modules_epoch(), when the module was loaded */
	uint32_t module_id;
	struct interpreter its;
} python __attribute__((aligned(LINE)));

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

static uint32_t half_at(uint64_t address)
{
	return *(const uint32_t *)address;
}

static uint8_t byte_at(uint64_t address)
{
	return *(const uint8_t *)address;
}

/* ---- finding the interpreter ---- */

/*
 * Before 3.11 only a function reports the version, which not every thread may call: then by symbols
 * that each version introduced.
 */
static uint32_t version_of(const struct gp_module *module)
{
	static const struct {
		const char *name;
		uint32_t version;
	} firsts[] = {
		{"Py_NewRef", 0x030a0000},
		{"PyObject_CallNoArgs", 0x03090000},
		{"PyCode_NewWithPosOnlyArgs", 0x03080000},
	};
	uint64_t bytes, version = gp_modules_symbol(module, "Py_Version", &bytes);

	if (version != 0)
		return (uint32_t)word_at(version);
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		if (gp_modules_symbol(module, firsts[i].name, &bytes) != 0)
			return firsts[i].version;
	return 0x03070000; /* the first version with the runtime symbol */
}

static void refuse(uint32_t version)
{
	char note[] =
		"Python 3.   is not supported here: its functions are not in call stacks, and its threads are not sampled";
	uint32_t minor = (version >> 16) & 0xff;

	if (minor >= 10)
		note[9] = (char)('0' + minor / 10 % 10);
	note[minor >= 10 ? 10 : 9] = (char)('0' + minor % 10);
	gp_emit_info(GP_INFO_NOTE, note);
	gp_store32_release(&python.state, REFUSED);
}

enum kind { NONE, UNDERSTOOD, NOT_UNDERSTOOD };

/* The module stays loaded during this. */
static enum kind read_module(const struct gp_module *module, struct interpreter *its,
			     uint32_t *version)
{
	uint64_t bytes, evaluator_bytes = 0;
	uint64_t runtime = gp_modules_symbol(module, "_PyRuntime", &bytes), function = 0;

	if (runtime != 0)
		function = gp_modules_symbol(module, "PyGILState_GetThisThreadState", &bytes);
	if (function == 0)
		return NONE;
	*version = version_of(module);
	const struct gp_python_layout *layout = gp_python_layout_of(*version);

	if (layout == NULL || !gp_python_layout_agrees(layout, *version, (const void *)runtime))
		return NOT_UNDERSTOOD;
	uint64_t evaluator =
		gp_modules_symbol(module, "_PyEval_EvalFrameDefault", &evaluator_bytes);

	*its = (struct interpreter){
		.thread_state = (void *(*)(void))function,
		.code_type = gp_modules_symbol(module, "PyCode_Type", &bytes),
		.text_type = gp_modules_symbol(module, "PyUnicode_Type", &bytes),
		.evaluator_start = evaluator,
		.evaluator_end = evaluator + evaluator_bytes,
		.layout = *layout,
		.list = gp_python_layout_list(layout, (const void *)runtime),
		.runtime = runtime,
		.bytes_type = gp_modules_symbol(module, "PyBytes_Type", &bytes),
	};
	return UNDERSTOOD;
}

/* By the first thread that finds it. */
static void set_interpreter(enum kind kind, uint32_t version, const struct interpreter *its,
			    uint32_t module_id)
{
	if (kind == NONE || !gp_replace32(&python.state, UNKNOWN, CHECKING))
		return;
	if (kind == NOT_UNDERSTOOD) {
		refuse(version);
		return;
	}
	gp_store32(&python.epoch, gp_modules_epoch());
	python.module_id = module_id;
	python.its = *its;
	gp_store32_release(&python.state, READY);
}

void gp_python_notice(const struct gp_module *module)
{
	struct interpreter its;
	uint32_t version = 0;

	if (gp_load32(&python.state) == UNKNOWN) {
		enum kind kind = read_module(module, &its, &version);

		set_interpreter(kind, version, &its, module->id);
	}
}

/* An unloaded interpreter must not be called; the next one replaces it. */
static bool is_still_loaded(void)
{
	uint32_t epoch = gp_modules_epoch();

	if (__builtin_expect(gp_load32(&python.epoch) == epoch, 1))
		return true;
	if (!gp_modules_is_loaded(python.module_id)) {
		gp_replace32(&python.state, READY, UNKNOWN);
		return false;
	}
	gp_store32(&python.epoch, epoch);
	return true;
}

bool gp_python_get_known(struct gp_python_known *known)
{
	if (gp_load32_acquire(&python.state) != READY || !is_still_loaded())
		return false;
	*known = (struct gp_python_known){
		.layout = python.its.layout,
		.list = python.its.list,
		.runtime = python.its.runtime,
		.code_type = python.its.code_type,
		.text_type = python.its.text_type,
		.bytes_type = python.its.bytes_type,
	};
	return true;
}

/* ---- searching the interpreter in all modules ---- */

/* Used by the searching thread only. */
static struct {
	uint64_t load_count; /* the loader's counts when all modules were searched */
	uint64_t waiting;    /* bias of a module whose interpreter had not been started then */
	bool has_begun, is_anew;
	uint64_t bias; /* bias of the module with an interpreter, and its description */
	enum kind kind;
	uint32_t version;
	struct interpreter its;
} search;

/* If no module came or went, only a waiting one is checked. */
static void begin_search(uint64_t load_count)
{
	search.has_begun = true;
	search.is_anew = load_count != search.load_count;
	search.load_count = load_count;
	if (search.is_anew)
		search.waiting = UINT64_MAX;
}

static bool has_started(const struct interpreter *its)
{
	return word_at(its->runtime + its->list.interpreters) != 0;
}

/* Holds the loader's lock: no module comes or goes meanwhile; accesses only memory. */
static int search_module(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	const struct gp_module module = {.bias = info->dlpi_addr,
					 .headers = info->dlpi_phdr,
					 .header_count = info->dlpi_phnum};

	(void)bytes, (void)unused;
	if (!search.has_begun)
		begin_search(info->dlpi_adds + info->dlpi_subs);
	if (!search.is_anew && search.waiting != module.bias)
		return search.waiting == UINT64_MAX;
	search.kind = read_module(&module, &search.its, &search.version);
	if (search.kind == UNDERSTOOD && !has_started(&search.its)) {
		search.waiting = module.bias;
		search.kind = NONE;
	}
	search.bias = module.bias;
	return search.kind != NONE;
}

bool gp_python_search(void)
{
	if (gp_load32(&python.state) != UNKNOWN)
		return false;
	search.has_begun = false;
	search.kind = NONE;
	gp_loader_iterate_quick(search_module, NULL);
	if (search.kind != NONE)
		search.load_count = 0; /* the next search starts over */
	return search.kind != NONE;
}

void gp_python_adopt(void)
{
	struct gp_module module = {.id = 0};
	bool is_first;

	/* a module unloaded meanwhile does not count */
	if (search.kind == NOT_UNDERSTOOD ||
	    (gp_modules_find((uint64_t)search.its.thread_state, &module, &is_first) &&
	     module.bias == search.bias))
		set_interpreter(search.kind, search.version, &search.its, module.id);
}

void gp_python_forget(void)
{
	search.load_count = 0;
	gp_store32_release(&python.state, UNKNOWN);
}

bool gp_python_is_evaluator(uint64_t pc)
{
	return pc > python.its.evaluator_start && pc <= python.its.evaluator_end;
}

/* ---- reading frames ---- */

/* The position of a walk. */
struct cursor {
	uint64_t frame; /* 0 = the end */
	uint64_t chain; /* of activations, if the version has one */
};

static struct cursor begin(const struct gp_python_layout *layout, uint64_t thread)
{
	struct cursor cursor = {word_at(thread + layout->thread.frame), 0};

	if (layout->thread.chain_frame >= 0 && cursor.frame != 0) {
		cursor.chain = cursor.frame;
		cursor.frame = word_at(cursor.chain + (uint64_t)layout->thread.chain_frame);
	}
	return cursor;
}

static uint64_t code_of(const struct gp_python_layout *layout, uint64_t frame)
{
	return word_at(frame + layout->frame.code) & ~(uint64_t)TAG_BITS;
}

static uint64_t instruction_of(const struct gp_python_layout *layout, uint64_t frame)
{
	uint64_t at = frame + layout->frame.instruction;
	int32_t index;

	if (layout->instruction == GP_PYTHON_POINTER)
		return word_at(at);
	memcpy(&index, (const void *)at, sizeof(index));
	if (index < 0) /* not started */
		return 0;
	return (uint64_t)index * (layout->instruction == GP_PYTHON_UNITS ? 2u : 1u);
}

static uint32_t offset_of(const struct gp_python_layout *layout, uint64_t code,
			  uint64_t instruction)
{
	uint64_t start = code + layout->code.start;

	if (layout->instruction != GP_PYTHON_POINTER)
		return (uint32_t)instruction;
	return instruction > start ? (uint32_t)(instruction - start) : 0;
}

static uint8_t owner_of(const struct gp_python_layout *layout, uint64_t frame)
{
	return layout->instruction == GP_PYTHON_POINTER ? byte_at(frame + layout->frame.owner) : 0;
}

static bool is_shim(const struct gp_python_layout *layout, const struct gp_python_link *link)
{
	return layout->activation == GP_PYTHON_SHIM && link->owner >= LEAST_SHIM;
}

/* Python does not show a frame whose function has not begun either. */
static bool is_complete(const struct gp_python_layout *layout, const struct gp_python_link *link)
{
	uint32_t first;

	if (layout->instruction != GP_PYTHON_POINTER || link->owner == OWNED_BY_GENERATOR)
		return true;
	memcpy(&first, (const void *)(link->code + layout->code.first_traceable), sizeof(first));
	return link->instruction >= link->code + layout->code.start + 2u * (uint64_t)first;
}

/* The address of the activation that ends with this frame, if one does; advances the cursor. */
static uint64_t end_of_activation(const struct gp_python_layout *layout, struct cursor *cursor)
{
	uint64_t chain = cursor->chain;

	if (layout->activation == GP_PYTHON_EACH)
		return NO_ADDRESS;
	if (layout->activation != GP_PYTHON_ENTRY || byte_at(cursor->frame + ENTRY_MARK) == 0)
		return 0;
	cursor->chain = word_at(chain + layout->thread.chain_next);
	return chain;
}

/*
 * Distinguishes a code object from all others at the same address: its version, or its line table
 * and first line; and its names, because versions restart with each interpreter.  Reads only
 * adjacent data.
 */
static uint32_t mark_of_code(const struct gp_python_layout *layout, uint64_t code)
{
	uint64_t names = word_at(code + layout->code.file) * 3;
	uint32_t own;

	if (layout->code.version != 0) {
		own = half_at(code + layout->code.version);
		names += word_at(code + layout->code.name - SHORT_NAME);
	} else {
		own = half_at(code + layout->code.first_line) * 0xc2b2ae35u +
		      (uint32_t)(word_at(code + layout->code.table) >> 4);
		names += word_at(code + layout->code.name);
	}
	return (own * 0x85ebca6bu + (uint32_t)(names >> 4) * 0x9e3779b1u) | 1;
}

/* Whether the mark is enough: without a version, temporary code needs more. */
static bool has_mark(const struct gp_python_layout *layout, uint64_t code, uint32_t id)
{
	return layout->code.version != 0 ? half_at(code + layout->code.version) != 0
					 : gp_python_code_is_permanent(id);
}

/* Whether the object has the expected type.  Checked once for each code object. */
static bool is_code(uint64_t code)
{
	return word_at(code + OBJECT_TYPE) == python.its.code_type &&
	       word_at(word_at(code + python.its.layout.code.file) + OBJECT_TYPE) ==
		       python.its.text_type &&
	       word_at(word_at(code + python.its.layout.code.name) + OBJECT_TYPE) ==
		       python.its.text_type;
}

/* ---- remembered stacks ---- */

/* Before 3.11 the frame of a function moves with each call. */
static uint32_t tag_of(const struct gp_python_layout *layout, uint64_t frame)
{
	if (layout->activation == GP_PYTHON_EACH)
		return 0;
	return (uint32_t)(gp_stack_hash_add(frame, instruction_of(layout, frame)) >> 32);
}

static void forget(struct gp_python_walk *walk)
{
	walk->taken |= (1u << GP_PYTHON_FIRST_PASTS) - 1;
	for (uint32_t i = 0; i < GP_PYTHON_PASTS; i++)
		if (walk->taken & 1u << i)
			walk->pasts[i].may_come_again = false;
	walk->last = &walk->pasts[0];
	walk->last->link_count = 0;
	walk->module_id = python.module_id;
}

/* A remembered stack with this tag that may match; NULL = none. */
static struct gp_python_past *recall(struct gp_python_walk *walk, uint32_t tag)
{
	uint32_t set = tag % GP_PYTHON_SETS;

	for (uint32_t way = 0; way < GP_PYTHON_WAYS; way++) {
		struct gp_python_past *past = &walk->pasts[set * GP_PYTHON_WAYS + way];

		if (walk->tags[set][way] == tag && past->may_come_again)
			return past;
	}
	return NULL;
}

/*
 * A slot to overwrite, except the last stack, with which the next one is compared.  Stacks that are
 * not remembered need only two slots.
 */
static struct gp_python_past *take_past(const struct gp_python_layout *layout,
					struct gp_python_walk *walk, uint32_t tag)
{
	uint32_t ways = layout->activation == GP_PYTHON_EACH ? 2 : GP_PYTHON_WAYS;
	uint32_t set = tag % GP_PYTHON_SETS, way;
	struct gp_python_past *past;

	do {
		way = walk->next_way++ % ways;
		past = &walk->pasts[set * GP_PYTHON_WAYS + way];
	} while (past == walk->last);
	if (!gp_thread_memory_take(&walk->taken, set * GP_PYTHON_WAYS + way, sizeof(*past))) {
		set = 0;
		way = walk->last == &walk->pasts[0];
		past = &walk->pasts[way];
	}
	walk->tags[set][way] = tag;
	return past;
}

/* Whether this is still the code object of the link. */
static bool is_code_still(const struct gp_python_layout *layout, const struct gp_python_link *link,
			  uint32_t id)
{
	return link->mark != 0 ? mark_of_code(layout, link->code) == link->mark
			       : gp_python_code_is_still(layout, link->code, id);
}

static uint64_t add_frame(uint64_t callers, uint32_t code_id, uint32_t offset, bool is_last)
{
	return gp_stack_hash_add(callers, ((uint64_t)code_id << 32 | offset) +
						  (is_last ? LAST_OF_ACTIVATION : 0));
}

/* The hashes of the outermost `kept` frames are right; compute those of the others. */
static void number_frames(struct gp_python_past *past, uint32_t kept)
{
	uint32_t at = past->count - kept;
	uint64_t hash = kept > 0 ? past->frames[at].hash : gp_stack_hash_add(0, past->is_cut);

	while (at > 0) {
		struct gp_python_frame *frame = &past->frames[--at];

		hash = add_frame(hash, frame->code_id, frame->offset, frame->activation != 0);
		frame->hash = hash;
	}
	past->number = hash;
	past->is_numbered = true;
}

/* ---- repeated stacks ---- */

/* A frame at a known address executes another place.  False: other code. */
static __attribute__((noinline)) bool
update_frame(struct gp_python_walk *walk, struct gp_python_past *past, struct gp_python_link *link)
{
	const struct gp_python_layout *layout = &python.its.layout;
	struct gp_python_frame *frame = &past->frames[link->frame];
	uint64_t code = code_of(layout, link->address);

	link->instruction = instruction_of(layout, link->address);
	if (!link->is_shown)
		return false;
	if (code != link->code || !is_code_still(layout, link, frame->code_id)) {
		if (!is_code(code))
			return false;
		link->code = code;
		frame->code_id = gp_python_code_find(layout, code, &walk->scratch);
		link->mark =
			has_mark(layout, code, frame->code_id) ? mark_of_code(layout, code) : 0;
	}
	frame->offset = offset_of(layout, code, link->instruction);
	return is_complete(layout, link);
}

static bool is_unchanged(const struct gp_python_layout *layout, const struct gp_python_past *past,
			 const struct gp_python_link *link)
{
	return is_shim(layout, link) ||
	       (code_of(layout, link->address) == link->code &&
		instruction_of(layout, link->address) == link->instruction &&
		is_code_still(layout, link, past->frames[link->frame].code_id));
}

/*
 * Whether the interpreter's frames match a remembered stack; updates those that execute another
 * place.  The address of each frame is predicted before its callee's link is read and compared, so
 * that no load waits for another.
 */
static bool is_repeated(const struct gp_python_layout *layout, struct gp_python_walk *walk,
			struct gp_python_past *past, struct cursor cursor)
{
	uint32_t changed = 0;

	for (uint32_t i = 0; i < past->link_count; i++) {
		struct gp_python_link *link = &past->links[i];

		if (cursor.frame != link->address || owner_of(layout, link->address) != link->owner)
			return false;
		if (!is_unchanged(layout, past, link)) {
			past->is_numbered = false;
			if (!update_frame(walk, past, link))
				return false;
			changed = link->frame + 1u;
		}
		if (layout->activation == GP_PYTHON_ENTRY &&
		    end_of_activation(layout, &cursor) != past->frames[link->frame].activation)
			return false;
		cursor.frame = word_at(link->address + layout->frame.previous);
	}
	if (cursor.frame != 0)
		return false;
	if (changed > 0)
		number_frames(past, past->count - changed);
	return true;
}

/* ---- new stacks ---- */

/*
 * All frames, if each belongs to a function and is an activation: a faster version of read_links().
 */
static void read_activations(const struct gp_python_layout *layout, struct gp_python_past *past,
			     struct cursor cursor)
{
	uint32_t count = 0;

	for (; cursor.frame != 0 && count < GP_STACK_DEPTH; count++) {
		past->links[count] = (struct gp_python_link){
			.address = cursor.frame,
			.code = code_of(layout, cursor.frame),
			.instruction = instruction_of(layout, cursor.frame),
			.mark = mark_of_code(layout, code_of(layout, cursor.frame)),
			.frame = (uint16_t)count,
			.is_shown = true,
		};
		past->frames[count].activation = NO_ADDRESS;
		cursor.frame = word_at(cursor.frame + layout->frame.previous);
	}
	past->count = past->link_count = count;
	past->is_cut = cursor.frame != 0;
}

/*
 * All frames of the interpreter.  If the last frame of an activation is not shown, its callee ends
 * the activation.
 */
static void read_links(const struct gp_python_layout *layout, struct gp_python_past *past,
		       struct cursor cursor)
{
	uint32_t links = 0, count = 0, first_of_activation = 0;

	for (; cursor.frame != 0 && count < GP_STACK_DEPTH && links < GP_PYTHON_LINKS;
	     cursor.frame = word_at(cursor.frame + layout->frame.previous)) {
		struct gp_python_link *link = &past->links[links++];

		link->address = cursor.frame;
		link->code = code_of(layout, cursor.frame);
		link->instruction = instruction_of(layout, cursor.frame);
		link->owner = owner_of(layout, cursor.frame);
		link->is_shown = !is_shim(layout, link) && is_complete(layout, link);
		link->mark = is_shim(layout, link) ? 0 : mark_of_code(layout, link->code);
		link->frame = (uint16_t)count;
		past->frames[count].activation = 0;
		count += link->is_shown;

		uint64_t end =
			is_shim(layout, link) ? cursor.frame : end_of_activation(layout, &cursor);

		if (end != 0 && count > first_of_activation)
			past->frames[count - 1].activation = end;
		if (end != 0)
			first_of_activation = count;
	}
	past->count = count;
	past->link_count = links;
	past->is_cut = cursor.frame != 0;
}

/* The next function frame from outside; NULL = no more. */
static struct gp_python_link *next_shown(struct gp_python_past *past, uint32_t *at)
{
	while (*at > 0)
		if (past->links[--*at].is_shown)
			return &past->links[*at];
	return NULL;
}

/*
 * The id of a frame's code, possibly from its counterpart in the remembered stack; false: not a
 * code object.
 */
static bool find_code(const struct gp_python_layout *layout, struct gp_python_walk *walk,
		      struct gp_python_link *link, const struct gp_python_link *before,
		      uint32_t *id)
{
	if (before != NULL && before->code == link->code) {
		*id = walk->last->frames[before->frame].code_id;
		if (before->mark != 0 ? before->mark == link->mark
				      : gp_python_code_is_still(layout, link->code, *id)) {
			link->mark = before->mark;
			return true;
		}
	}
	if (!is_code(link->code))
		return false;
	*id = gp_python_code_find(layout, link->code, &walk->scratch);
	if (!has_mark(layout, link->code, *id))
		link->mark = 0;
	return true;
}

/*
 * Determine the code of each frame from outside inwards, and its hash.  Most frames at other
 * addresses execute the code of their counterparts; the outermost ones at the same instruction keep
 * the hashes.  Words that were just written are not read, because a load of two half stores stalls.
 */
static bool identify(const struct gp_python_layout *layout, struct gp_python_walk *walk,
		     struct gp_python_past *past)
{
	const struct gp_python_past *last = walk->last;
	uint32_t at = past->link_count, other = last->link_count, id;
	bool is_alike = last->is_numbered && last->is_cut == past->is_cut;
	uint64_t hash = gp_stack_hash_add(0, past->is_cut);
	struct gp_python_link *link, *before;

	while ((link = next_shown(past, &at)) != NULL) {
		struct gp_python_frame *frame = &past->frames[link->frame];
		uint32_t offset = offset_of(layout, link->code, link->instruction);
		bool is_last = frame->activation != 0;

		before = next_shown(walk->last, &other);
		if (!find_code(layout, walk, link, before, &id))
			return false;
		const struct gp_python_frame *known =
			before != NULL ? &last->frames[before->frame] : NULL;

		is_alike = is_alike && known != NULL && known->code_id == id &&
			   known->offset == offset && (known->activation != 0) == is_last;
		hash = is_alike ? known->hash : add_frame(hash, id, offset, is_last);
		frame->code_id = id;
		frame->offset = offset;
		frame->hash = hash;
	}
	past->number = hash;
	past->is_numbered = true;
	return true;
}

static __attribute__((noinline)) uint64_t walk_anew(const struct gp_python_layout *layout,
						    struct gp_python_walk *walk, uint32_t tag,
						    struct cursor cursor)
{
	struct gp_python_past *past = take_past(layout, walk, tag);

	past->may_come_again = false;
	past->is_numbered = false;
	(layout->activation == GP_PYTHON_EACH ? read_activations : read_links)(layout, past,
									       cursor);
	if (!identify(layout, walk, past))
		return 0;
	past->may_come_again = !past->is_cut && layout->activation != GP_PYTHON_EACH;
	walk->last = past;
	return past->count > 0 ? past->number : 0;
}

/*
 * A frame's code and instruction are near its beginning; a code object's distinguishing data is in
 * its second and third cache line.
 */
static void prefetch_frames(const struct gp_python_past *past)
{
	for (uint32_t i = 0; i < past->link_count && i < MOST_PREPARED; i++) {
		const struct gp_python_link *link = &past->links[i];

		__builtin_prefetch((const void *)link->address);
		__builtin_prefetch((const void *)(link->address + LINE));
		__builtin_prefetch((const void *)(link->code + LINE));
		if (link->mark == 0) {
			__builtin_prefetch((const void *)(link->code + 2 * LINE));
			gp_python_code_prefetch(past->frames[link->frame].code_id);
		}
	}
}

static uint64_t find_thread(void)
{
	if (gp_load32_acquire(&python.state) != READY || !is_still_loaded())
		return 0;
	return (uint64_t)python.its.thread_state();
}

void gp_python_begin(struct gp_python_walk *walk)
{
	uint64_t thread = find_thread();

	walk->thread = thread;
	if (thread == 0)
		return;
	__builtin_prefetch((const void *)(thread + python.its.layout.thread.frame));
	__builtin_prefetch((const void *)(thread + python.its.layout.thread.thread_id));
	if (walk->module_id != python.module_id)
		forget(walk);
	prefetch_frames(walk->last);
}

uint64_t gp_python_walk(struct gp_python_walk *walk)
{
	const struct gp_python_layout *layout = &python.its.layout;

	if (walk->thread == 0) /* the interpreter may have been found since */
		gp_python_begin(walk);
	uint64_t thread = walk->thread;

	if (thread == 0 || word_at(thread + layout->thread.thread_id) != (uint64_t)pthread_self())
		return 0;
	struct cursor cursor = begin(layout, thread);

	if (cursor.frame == 0)
		return 0;
	uint32_t tag = tag_of(layout, cursor.frame);
	struct gp_python_past *past;

	/*
	 * stacks that differ outside may share an innermost frame; a partly updated stack is
	 * invalid
	 */
	while (layout->activation != GP_PYTHON_EACH && (past = recall(walk, tag)) != NULL) {
		if (is_repeated(layout, walk, past, cursor)) {
			walk->last = past;
			return past->count > 0 ? past->number : 0;
		}
		past->may_come_again = false;
	}
	return walk_anew(layout, walk, tag, cursor);
}
