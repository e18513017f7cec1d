/*
 * symbols: the frames of call stacks in words.
 *
 * Native frames by their modules' files (report/symbols/elf_code.h), Python's by what the trace
 * holds of their code.  Each frame is looked up once.
 */
#ifndef REPORT_SYMBOLS_SYMBOLS_H
#define REPORT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/model.h"

/* Whether a function has a name, and what would give it one. */
enum gp_naming {
	GP_NAMED,           /* or nothing gives it one */
	GP_WITHOUT_SYMBOLS, /* its file is that which ran, and does not tell */
	GP_FILE_UNREAD,     /* its file is not here, or is another build than the one that ran */
};

struct gp_place {
	/* demangled; where that is not known, "libx.so+0x1f0" or the like; never NULL */
	const char *function;
	const char *symbol; /* the same as the compiler named it; NULL if not known */
	const char *file;   /* "" if not known */
	const char *module; /* the path of its file; "" of Python's and of code in no file */
	uint32_t line;      /* 0 if not known */
	uint16_t kind;      /* enum gp_frame_kind */
	enum gp_naming naming;
	bool is_stub; /* what the compiler made on the host for a kernel, to launch it */
};

/*
 * The end of its file's path that tells people which it is: the name, and with its folder where all
 * packages of Python have one of that name ("torch/__init__.py").
 */
const char *gp_place_file(const struct gp_place *place);

struct gp_symbols;
struct gp_frame_names;

/* NULL if there is no memory. */
struct gp_symbols *gp_symbols_new(void);
void gp_symbols_free(struct gp_symbols *symbols);

/*
 * The places of a frame (an index in frames), the innermost of inlined functions first; their
 * number is in *count, at least 1. They live until the model is forgotten.
 */
const struct gp_place *gp_symbols_find(struct gp_symbols *symbols, const struct gp_model *model,
				       uint32_t frame, size_t *count);

/*
 * Add the functions of the model's native frames to names, those of each address once; the texts
 * belong to symbols. Returns 0 or -ENOMEM.
 */
int gp_symbols_collect(struct gp_symbols *symbols, const struct gp_model *model,
		       struct gp_frame_names *names);

/*
 * Free what was found for that model; what was read of files stays.  A model is freed after it was
 * forgotten, or after symbols.
 */
void gp_symbols_forget(struct gp_symbols *symbols, const struct gp_model *model);

/*
 * One line for the user on the modules whose functions could not be named, and why; nothing if
 * there are none.
 */
void gp_symbols_explain(const struct gp_symbols *symbols, FILE *out);

#endif
