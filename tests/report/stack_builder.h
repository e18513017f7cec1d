/*
 * stack_builder: call stacks for a model of tests/report/model_builder.h.
 *
 * Frames come from the outermost inwards; build_stacks_end() before build_end().  Native ones lie
 * in modules whose files are not there, so that their functions are called "libx.so+0x1233".
 */
#ifndef TESTS_REPORT_STACK_BUILDER_H
#define TESTS_REPORT_STACK_BUILDER_H

#include <stdio.h>

#include "tests/report/model_builder.h"

#define BUILD_OUTERMOST GP_NONE

static inline uint32_t build_stack_text(struct build *b, enum gp_string_space space,
					const void *bytes, size_t length)
{
	uint32_t index = BUILD_GROW(b, texts, text_count);
	char *copy = malloc(length + 1);

	build_check(copy != NULL);
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	b->model->texts[index] = (struct gp_text){.space = (uint16_t)space,
						  .id = index + 1,
						  .length = (uint32_t)length,
						  .bytes = copy};
	return index + 1;
}

static inline uint32_t build_frame(struct build *b, enum gp_frame_kind kind, uint32_t parent,
				   uint32_t origin, uint64_t address)
{
	uint32_t index = BUILD_GROW(b, frames, frame_count);

	b->model->frames[index] = (struct gp_frame){.id = index + 1,
						    .parent = parent,
						    .origin = origin,
						    .kind = (uint16_t)kind,
						    .address = address};
	return index;
}

/* Called by parent; returns the frame, which is the stack of a call that is made there. */
static inline uint32_t build_native(struct build *b, uint32_t parent, const char *path,
				    uint64_t address)
{
	uint32_t id = build_stack_text(b, GP_STRING_MODULE, path, strlen(path));
	uint32_t module = BUILD_GROW(b, modules, module_count);

	b->model->modules[module] = (struct gp_record_module){.id = id};
	return build_frame(b, GP_FRAME_NATIVE, parent, module, address);
}

static inline uint32_t build_python(struct build *b, uint32_t parent, const char *file,
				    const char *name, uint8_t line)
{
	char code[256] = {(char)line, 0, 0, 0, 1};
	size_t file_bytes = strlen(file) + 1, name_bytes = strlen(name) + 1;

	build_check(8 + file_bytes + name_bytes <= sizeof(code));
	memcpy(code + 8, file, file_bytes);
	memcpy(code + 8 + file_bytes, name, name_bytes);
	return build_frame(b, GP_FRAME_PYTHON, parent,
			   build_stack_text(b, GP_STRING_CODE, code, 8 + file_bytes + name_bytes),
			   0);
}

static inline int build_compare_texts(const void *a, const void *b)
{
	return gp_text_compare(a, b, NULL);
}

/* What looks at a thread found: from one at its start, if it ends later, to another at its end. */
static inline struct gp_sample build_sample(uint32_t thread, uint32_t stack, uint64_t start_ms,
					    uint64_t end_ms)
{
	return (struct gp_sample){.start_ns = start_ms * 1000000,
				  .end_ns = end_ms * 1000000,
				  .thread_id = thread,
				  .stack = stack,
				  .count = end_ms > start_ms ? 2 : 1};
}

/* Texts are sorted; Python's frames name theirs by index. */
static inline void build_stacks_end(struct build *b)
{
	struct gp_model *m = b->model;

	if (m->text_count > 0)
		qsort(m->texts, m->text_count, sizeof(*m->texts), build_compare_texts);
	for (uint32_t i = 0; i < m->frame_count; i++)
		for (uint32_t t = 0; m->frames[i].kind == GP_FRAME_PYTHON && t < m->text_count; t++)
			if (m->texts[t].id == m->frames[i].origin) {
				m->frames[i].origin = t;
				break;
			}
}

/* The stack of the call that was built last. */
static inline void build_stack_of_last(struct build *b, uint32_t frame)
{
	b->model->calls[b->model->call_count - 1].stack = frame;
}

/* Samples of warps at a line of the file, or of BUILD_STALL_FILE; line 0 = unknown. */
#define BUILD_STALL_FILE "/home/me/a.cu"

static inline void build_stall_at(struct build *b, const char *kernel, const char *file,
				  uint32_t line, const char *reason, uint32_t samples)
{
	const char *texts[] = {kernel, file, reason};
	uint32_t index = BUILD_GROW(b, stalls, stall_count), ids[3];

	for (size_t i = 0; i < 3; i++)
		ids[i] = build_stack_text(b, GP_STRING_STALL, texts[i], strlen(texts[i]));
	b->model->stalls[index] = (struct gp_record_stall){.kernel_id = ids[0],
							   .file_id = line != 0 ? ids[1] : 0,
							   .line = line,
							   .reason_id = ids[2],
							   .samples = samples,
							   .not_issued = samples / 2};
}

static inline void build_stall(struct build *b, const char *kernel, uint32_t line,
			       const char *reason, uint32_t samples)
{
	build_stall_at(b, kernel, BUILD_STALL_FILE, line, reason, samples);
}

#endif
