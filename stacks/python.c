#include "stacks/python.h"

#include <pthread.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "gpuprof/record.h"
#include "stacks/hash.h"

#define OBJECT_TYPE        8u
#define LEAST_SHIM         3u /* owners from here on are no functions */
#define OWNED_BY_GENERATOR 1u
#define ENTRY_MARK         68u /* 3.11: is this the last frame of its activation? */
#define TAG_BITS           3u  /* 3.14: in the lowest bits of references */
#define NO_ADDRESS         1u
#define LINE               64u /* of the caches */
#define MOST_PREPARED      24u
#define LAST_OF_ACTIVATION ((uint64_t)1 << 63) /* beside a code object's number, in a hash */

enum { UNKNOWN, LOOKING, READY, REFUSED };

static struct {
	uint32_t state; /* atomic; the rest is valid once it is READY */
	uint32_t epoch; /* atomic; of gp_modules_epoch(), when the module was there */
	uint32_t module_id;
	const struct gp_python_layout *layout;
	void *(*thread_state)(void);
	uint64_t code_type;
	uint64_t text_type;
	uint64_t evaluator_start;
	uint64_t evaluator_end;
} python;

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

static uint8_t byte_at(uint64_t address)
{
	return *(const uint8_t *)address;
}

/* ---- finding the interpreter ---- */

/* "3.9.18 (...": the only way to ask before 3.11. */
static uint32_t parse_version(const char *text)
{
	uint32_t major = 0, minor = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		major = major * 10 + (uint32_t)(*text - '0');
	if (*text == '.')
		text++;
	for (; *text >= '0' && *text <= '9'; text++)
		minor = minor * 10 + (uint32_t)(*text - '0');
	return major << 24 | minor << 16;
}

static uint32_t version_of(const struct gp_module *module)
{
	uint64_t bytes;
	uint64_t version = gp_modules_symbol(module, "Py_Version", &bytes);
	uint64_t function = gp_modules_symbol(module, "Py_GetVersion", &bytes);

	if (version != 0)
		return (uint32_t)word_at(version);
	return function != 0 ? parse_version(((const char *(*)(void))function)()) : 0;
}

static void refuse(uint32_t version)
{
	char note[] =
		"Python 3.   is not known well enough here: call stacks have native frames only";
	uint32_t minor = (version >> 16) & 0xff;

	if (minor >= 10)
		note[9] = (char)('0' + minor / 10 % 10);
	note[minor >= 10 ? 10 : 9] = (char)('0' + minor % 10);
	gp_emit_info(GP_INFO_NOTE, note);
	gp_store32_release(&python.state, REFUSED);
}

void gp_python_notice(const struct gp_module *module)
{
	uint64_t bytes;
	uint64_t runtime = gp_modules_symbol(module, "_PyRuntime", &bytes);
	uint64_t function = gp_modules_symbol(module, "PyGILState_GetThisThreadState", &bytes);
	uint64_t evaluator = gp_modules_symbol(module, "_PyEval_EvalFrameDefault", &bytes);

	if (runtime == 0 || function == 0 || !gp_replace32(&python.state, UNKNOWN, LOOKING))
		return;
	uint32_t version = version_of(module);
	const struct gp_python_layout *layout = gp_python_layout_of(version);

	if (layout == NULL || !gp_python_layout_agrees(layout, version, (const void *)runtime)) {
		refuse(version);
		return;
	}
	gp_store32(&python.epoch, gp_modules_epoch());
	python.module_id = module->id;
	python.layout = layout;
	python.thread_state = (void *(*)(void))function;
	python.evaluator_start = evaluator;
	python.evaluator_end = evaluator != 0 ? evaluator + bytes : 0;
	python.code_type = gp_modules_symbol(module, "PyCode_Type", &bytes);
	python.text_type = gp_modules_symbol(module, "PyUnicode_Type", &bytes);
	gp_store32_release(&python.state, READY);
}

/* One that was unloaded must not be called; the next that is met takes its place. */
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

bool gp_python_is_evaluator(uint64_t pc)
{
	return pc > python.evaluator_start && pc <= python.evaluator_end;
}

/* ---- reading frames ---- */

/* Where a walk is. */
struct cursor {
	uint64_t frame; /* 0 = the end */
	uint64_t chain; /* of activations, where the version has one */
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
	if (index < 0) /* it has not begun */
		return 0;
	return (uint64_t)index * (layout->instruction == GP_PYTHON_UNITS ? 2u : 1u);
}

uint64_t gp_python_offset(const struct gp_python_frame *frame)
{
	uint64_t start = frame->code + python.layout->code.start;

	if (python.layout->instruction != GP_PYTHON_POINTER)
		return frame->instruction;
	return frame->instruction > start ? frame->instruction - start : 0;
}

/* A frame that was made but whose function has not begun is not shown by Python either. */
static bool is_complete(const struct gp_python_layout *layout, uint64_t frame, uint64_t code,
			uint64_t instruction)
{
	if (layout->instruction != GP_PYTHON_POINTER ||
	    byte_at(frame + layout->frame.owner) == OWNED_BY_GENERATOR)
		return true;
	uint32_t first;

	memcpy(&first, (const void *)(code + layout->code.first_traceable), sizeof(first));
	return instruction >= code + layout->code.start + 2u * (uint64_t)first;
}

/* What ends with this frame, if an activation does. */
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

static bool is_shim(const struct gp_python_layout *layout, uint64_t frame)
{
	return layout->activation == GP_PYTHON_SHIM &&
	       byte_at(frame + layout->frame.owner) >= LEAST_SHIM;
}

/*
 * All frames into `frames`, innermost first, with neither ids nor numbers of code.  A frame that is left out may be the last of its
 * activation: then the one inside of it is.
 */
static uint32_t read_frames(const struct gp_python_layout *layout, uint64_t thread,
			    struct gp_python_frame *frames, bool *is_cut)
{
	struct cursor cursor = begin(layout, thread);
	uint32_t count = 0, first_of_activation = 0;

	for (; cursor.frame != 0 && count < GP_STACK_DEPTH;
	     cursor.frame = word_at(cursor.frame + layout->frame.previous)) {
		uint64_t end = 0;

		if (is_shim(layout, cursor.frame)) {
			end = cursor.frame;
		} else {
			struct gp_python_frame *frame = &frames[count];

			frame->address = cursor.frame;
			frame->code = code_of(layout, cursor.frame);
			frame->instruction = instruction_of(layout, cursor.frame);
			frame->activation = 0;
			count += is_complete(layout, cursor.frame, frame->code, frame->instruction);
			end = end_of_activation(layout, &cursor);
		}
		if (end != 0 && count > first_of_activation)
			frames[count - 1].activation = end;
		if (end != 0)
			first_of_activation = count;
	}
	*is_cut = cursor.frame != 0;
	return count;
}

/* ---- numbers ---- */

static bool is_code_as_before(const struct gp_python_frame *frame,
			      const struct gp_python_frame *before)
{
	return before != NULL && frame->code == before->code &&
	       gp_code_is_still(python.layout, before->code, before->code_id);
}

static bool is_at_as_before(const struct gp_python_frame *frame,
			    const struct gp_python_frame *before)
{
	return frame->instruction == before->instruction &&
	       (frame->activation != 0) == (before->activation != 0);
}

/* Is it what the layout says?  Asked once for each code object. */
static bool is_code(uint64_t code)
{
	return word_at(code + OBJECT_TYPE) == python.code_type &&
	       word_at(word_at(code + python.layout->code.file) + OBJECT_TYPE) ==
		       python.text_type &&
	       word_at(word_at(code + python.layout->code.name) + OBJECT_TYPE) == python.text_type;
}

static uint64_t hash_frame(const struct gp_python_frame *frame, uint64_t callers)
{
	return gp_hash_add(callers,
			   ((uint64_t)frame->code_id << 32 | (uint32_t)gp_python_offset(frame)) +
				   (frame->activation != 0 ? LAST_OF_ACTIVATION : 0));
}

/*
 * Outermost frames that are what they were keep their numbers.  `before` is a frame's counterpart in the last walk: most that are elsewhere
 * execute the same code as then.
 */
static bool number_all(struct gp_python_walk *walk, struct gp_python_frame *frames, uint32_t count,
		       bool is_cut)
{
	const struct gp_python_frame *last = walk->frames[walk->current];
	uint32_t last_count = walk->is_cut == is_cut ? walk->count : 0;
	uint64_t callers = gp_hash_add(0, is_cut);
	bool same = true;

	for (uint32_t i = 0; i < count; i++) {
		struct gp_python_frame *frame = &frames[count - 1 - i];
		const struct gp_python_frame *before =
			i < last_count ? &last[last_count - 1 - i] : NULL;

		if (is_code_as_before(frame, before)) {
			frame->code_id = before->code_id;
			same = same && is_at_as_before(frame, before);
		} else if (is_code(frame->code)) {
			frame->code_id = gp_code_find(python.layout, frame->code, &walk->scratch);
			same = false;
		} else {
			return false;
		}
		frame->hash = same ? before->hash : hash_frame(frame, callers);
		callers = frame->hash;
	}
	return true;
}

/* A frame's code and instruction are near its beginning; what tells code objects apart is in their second and third line. */
void gp_python_prepare(const struct gp_python_walk *walk)
{
	const struct gp_python_frame *frames = walk->frames[walk->current];

	for (uint32_t i = 0; i < walk->count && i < MOST_PREPARED; i++) {
		__builtin_prefetch((const void *)frames[i].address);
		__builtin_prefetch((const void *)(frames[i].address + LINE));
		__builtin_prefetch((const void *)(frames[i].code + LINE));
		__builtin_prefetch((const void *)(frames[i].code + 2 * LINE));
		gp_code_prepare(frames[i].code_id);
	}
}

uint64_t gp_python_walk(struct gp_python_walk *walk)
{
	if (gp_load32_acquire(&python.state) != READY || !is_still_loaded())
		return 0;
	const struct gp_python_layout *layout = python.layout;
	uint64_t thread = (uint64_t)python.thread_state();

	if (thread == 0 || word_at(thread + layout->thread.thread_id) != (uint64_t)pthread_self())
		return 0;
	struct gp_python_frame *frames = walk->frames[!walk->current];
	bool is_cut;
	uint32_t count = read_frames(layout, thread, frames, &is_cut);

	if (!number_all(walk, frames, count, is_cut)) {
		walk->count = 0;
		return 0;
	}
	walk->current = !walk->current;
	walk->count = count;
	walk->is_cut = is_cut;
	return count > 0 ? frames[0].hash : 0;
}

const struct gp_python_frame *gp_python_frames(const struct gp_python_walk *walk)
{
	return walk->frames[walk->current];
}
