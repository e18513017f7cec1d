/*
 * symbols: names the frames of call stacks.
 *
 * Native frames are looked up in the files of their modules (report/symbols/elf_code.h), Python
 * frames in the code objects of the trace. Each frame is looked up once.
 */
#ifndef REPORT_SYMBOLS_SYMBOLS_H
#define REPORT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/model.h"

/* Whether a function has a name, and how it could get one. */
enum gp_naming {
	GP_NAMED,           /* or nothing can give it one */
	GP_WITHOUT_SYMBOLS, /* the file is the recorded one, but has no symbols */
	GP_FILE_UNREAD,     /* the file is missing, or has changed since the recording */
};

struct gp_place {
	/* demangled; if unknown, a text such as "libx.so+0x1f0"; never NULL */
	const char *function;
	const char *symbol; /* the compiler's name; NULL = unknown */
	const char *file;   /* "" = unknown */
	const char *module; /* path of its file; "" for Python and JIT-compiled code */
	uint32_t line;      /* 0 = unknown */
	uint16_t kind;      /* enum gp_frame_kind */
	enum gp_naming naming;
	bool is_stub; /* the compiler's host function that launches a kernel */
};

/*
 * The end of the file's path that identifies it: the file name; with its folder if all Python
 * packages have a file of that name ("torch/__init__.py").
 */
const char *gp_place_file(const struct gp_place *place);

/*
 * "forward (net.py:31)"; "forward (net.py)" without the line, or of Python code whose line is not
 * known; "forward" if the file is not known, nor the line of a native function.
 */
void gp_place_put(const struct gp_place *place, bool with_line, char *text, size_t bytes);

struct gp_symbols;
struct gp_frame_names;

struct gp_symbols *gp_symbols_new(void);
void gp_symbols_free(struct gp_symbols *symbols);

/*
 * The places of a frame (an index in frames), the innermost inlined function first. *count is at
 * least 1. They live until gp_symbols_forget().
 */
const struct gp_place *gp_symbols_find(struct gp_symbols *symbols, const struct gp_model *model,
				       uint32_t frame, size_t *count);

/*
 * Adds the functions of the model's native frames to names, once for each address. The texts belong
 * to symbols. Returns 0 or -ENOMEM.
 */
int gp_symbols_collect(struct gp_symbols *symbols, const struct gp_model *model,
		       struct gp_frame_names *names);

/*
 * Frees the results for a model, but not the data of files. Free a model only after
 * gp_symbols_forget() or gp_symbols_free().
 */
void gp_symbols_forget(struct gp_symbols *symbols, const struct gp_model *model);

/*
 * Prints a line about the modules whose functions have no names, with the reasons; nothing if there
 * are none.
 */
void gp_symbols_explain(const struct gp_symbols *symbols, FILE *out);

#endif
