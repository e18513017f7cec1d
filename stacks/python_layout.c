#include "stacks/python_layout.h"

#include <stddef.h>
#include <string.h>

#include "gpuprof/record.h"

#define FIRST_WITH_OFFSETS 13u
#define OFFSETS            72u /* words of the table that every version since then has */
#define MOST_APART         4u

/* Indexes in the table, whose beginning is the same in every version since then. */
#define INTERPRETERS     5u
#define NEXT_INTERPRETER 8u
#define THREADS          9u

static const struct gp_python_layout layouts[] = {
	{8,
	 GP_PYTHON_BYTES,
	 GP_PYTHON_EACH,
	 GP_LINES_LNOTAB,
	 {24, -1, 0, 176},
	 {32, 24, 104, 0},
	 {104, 112, 40, 120, 0, 0, 0},
	 {48, 72}},
	{9,
	 GP_PYTHON_BYTES,
	 GP_PYTHON_EACH,
	 GP_LINES_LNOTAB,
	 {24, -1, 0, 176},
	 {32, 24, 104, 0},
	 {104, 112, 40, 120, 0, 0, 0},
	 {48, 72}},
	{10,
	 GP_PYTHON_UNITS,
	 GP_PYTHON_EACH,
	 GP_LINES_3_10,
	 {24, -1, 0, 176},
	 {32, 24, 96, 0},
	 {104, 112, 40, 120, 0, 0, 0},
	 {48, 72}},
	{11,
	 GP_PYTHON_POINTER,
	 GP_PYTHON_ENTRY,
	 GP_LINES_3_11,
	 {56, 8, 16, 152},
	 {32, 48, 56, 69},
	 {112, 128, 72, 136, 0, 168, 184},
	 {48, 72}},
	{12,
	 GP_PYTHON_POINTER,
	 GP_PYTHON_SHIM,
	 GP_LINES_3_11,
	 {56, 0, 8, 136},
	 {0, 8, 56, 70},
	 {112, 128, 68, 136, 92, 176, 192},
	 {40, 56}},
	{13,
	 GP_PYTHON_POINTER,
	 GP_PYTHON_SHIM,
	 GP_LINES_3_11,
	 {72, -1, 0, 152},
	 {0, 8, 56, 70},
	 {112, 128, 68, 136, 92, 184, 200},
	 {40, 56}},
	{14,
	 GP_PYTHON_POINTER,
	 GP_PYTHON_SHIM,
	 GP_LINES_3_11,
	 {72, -1, 0, 152},
	 {0, 8, 56, 74},
	 {112, 128, 68, 136, 92, 192, 208},
	 {40, 56}},
	{15,
	 GP_PYTHON_POINTER,
	 GP_PYTHON_SHIM,
	 GP_LINES_3_11,
	 {72, -1, 0, 176},
	 {0, 8, 56, 74},
	 {112, 128, 68, 136, 92, 192, 208},
	 {40, 56}},
};

const struct gp_python_layout *gp_python_layout_of(uint32_t version_hex)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (version_hex >> 24 == 3 && ((version_hex >> 16) & 0xff) == layouts[i].minor)
			return &layouts[i];
	return NULL;
}

/*
 * Groups of the table come and go between versions, but the order within a group stays: search the
 * adjacent values.
 */
static bool has_run(const uint64_t *words, const uint64_t *run, size_t length)
{
	for (size_t i = 0; i + length <= OFFSETS; i++)
		if (memcmp(words + i, run, length * sizeof(*run)) == 0)
			return true;
	return false;
}

/*
 * The two relevant offsets of a thread are a few words apart: 3.15 has three others between them.
 */
static bool has_near(const uint64_t *words, uint64_t first, uint64_t second)
{
	for (size_t i = 0; i + MOST_APART < OFFSETS; i++)
		for (size_t apart = 1; words[i] == first && apart <= MOST_APART; apart++)
			if (words[i + apart] == second)
				return true;
	return false;
}

bool gp_python_layout_agrees(const struct gp_python_layout *layout, uint32_t version_hex,
			     const void *runtime)
{
	const uint64_t frame[] = {layout->frame.previous, layout->frame.code,
				  layout->frame.instruction};
	const uint64_t code[] = {layout->code.file, layout->code.name - 8u, layout->code.name,
				 layout->code.table, layout->code.first_line};
	uint64_t words[OFFSETS];

	if (layout->minor < FIRST_WITH_OFFSETS)
		return true;
	memcpy(words, runtime, sizeof(words));
	return memcmp(words, "xdebugpy", 8) == 0 && words[1] == version_hex &&
	       words[2] == 0 /* built without the global lock */ &&
	       has_near(words, layout->thread.frame, layout->thread.thread_id) &&
	       has_run(words, frame, sizeof(frame) / sizeof(frame[0])) &&
	       has_run(words, code, sizeof(code) / sizeof(code[0]));
}

struct gp_python_list gp_python_layout_list(const struct gp_python_layout *layout,
					    const void *runtime)
{
	static const struct gp_python_list lists[] = {
		[8] = {32, 0, 8, 8, 16},   [9] = {32, 0, 8, 8, 16},   [10] = {32, 0, 8, 8, 16},
		[11] = {40, 0, 16, 8, 16}, [12] = {40, 0, 72, 8, 16}, [13] = {0, 0, 0, 8, 16},
	};
	uint64_t words[OFFSETS];
	struct gp_python_list list;

	if (layout->minor < FIRST_WITH_OFFSETS)
		return lists[layout->minor];
	memcpy(words, runtime, sizeof(words));
	list = lists[FIRST_WITH_OFFSETS];
	list.interpreters = (uint16_t)words[INTERPRETERS];
	list.next_interpreter = (uint16_t)words[NEXT_INTERPRETER];
	list.threads = (uint16_t)words[THREADS];
	return list;
}
