/*
 * Call stacks as arguments of slices: one line of text each, the innermost function first.
 *
 * A stack is written for each of its calls, so its line is short: functions of the user and of
 * Python by name, and the names of the libraries between them.  This also avoids symbolizing most
 * libraries, which would take time at the exit of a program.
 */
#include <stdlib.h>
#include <string.h>

#include "report/symbols/call_tree.h"
#include "report/symbols/code_owner.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/base/text/format.h"
#include "report/symbols/symbols.h"

#define LINE_BYTES 480u          /* of the line of a stack */
#define MOST_BYTES (64ull << 20) /* of all stacks in a file; later slices have only the call site */
#define RECENT     16384u        /* cached stacks: a repeated one costs much less */
#define SEPARATOR  " < "

/* Frames of a stack that are resolved; the others are only counted. */
#define MOST_FRAMES 512u

/* The texts of a stack, cached by the lowest bits of its number. */
struct recent {
	uint32_t stack;
	char *line, *place;
};

struct gp_chrome_stacks {
	struct gp_symbols *symbols;
	const struct gp_model *model;
	struct recent recent[RECENT];
	uint64_t bytes;    /* written */
	uint64_t left_out; /* slices without their line */
	char function[GP_SITE_LABEL_BYTES];
};

struct gp_chrome_stacks *gp_chrome_stacks_new(void)
{
	struct gp_chrome_stacks *stacks = calloc(1, sizeof(*stacks));

	stacks->symbols = gp_symbols_new();
	return stacks;
}

static void forget_recent(struct recent *recent)
{
	free(recent->line);
	free(recent->place);
	*recent = (struct recent){0};
}

static void forget_model(struct gp_chrome_stacks *stacks)
{
	for (size_t i = 0; i < RECENT; i++)
		forget_recent(&stacks->recent[i]);
	if (stacks->model)
		gp_symbols_forget(stacks->symbols, stacks->model);
}

void gp_chrome_stacks_use(struct gp_chrome_stacks *stacks, const struct gp_model *model)
{
	forget_model(stacks);
	stacks->model = model;
}

void gp_chrome_stacks_free(struct gp_chrome_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < RECENT; i++)
		forget_recent(&stacks->recent[i]);
	gp_symbols_free(stacks->symbols);
	free(stacks);
}

/* ---- the texts of a stack ---- */

struct line {
	char bytes[LINE_BYTES + GP_SITE_LABEL_BYTES + 64];
	size_t used;
	char last[GP_SITE_LABEL_BYTES]; /* the last label, "" = none */
	uint32_t times;                 /* in a row */
	char place[GP_SITE_LABEL_BYTES];
	enum gp_code_owner rank; /* of the place */
	uint32_t left_out;
};

static void say_times(struct line *line)
{
	if (line->times > 1 && line->used < sizeof(line->bytes))
		line->used +=
			(size_t)snprintf(line->bytes + line->used, sizeof(line->bytes) - line->used,
					 " x%u", line->times);
	line->times = 1;
}

/* Recursive calls are counted.  After the first label that does not fit, all are left out. */
static void append(struct line *line, const char *label)
{
	if (line->left_out > 0) {
		line->left_out++;
		return;
	}
	if (strcmp(label, line->last) == 0) {
		line->times++;
		return;
	}
	say_times(line);
	if (line->used >= LINE_BYTES) {
		line->left_out++;
		return;
	}
	snprintf(line->last, sizeof(line->last), "%s", label);
	line->used += (size_t)snprintf(line->bytes + line->used, sizeof(line->bytes) - line->used,
				       "%s%s", line->used > 0 ? SEPARATOR : "", line->last);
}

/* The place: the innermost function of the user; else of a framework; else any. */
static void take_place(struct line *line, const char *label, enum gp_code_owner rank)
{
	if (line->place[0] != '\0' && rank >= line->rank)
		return;
	line->rank = rank;
	snprintf(line->place, sizeof(line->place), "%s", label);
}

static void take(struct line *line, const char *label, enum gp_code_owner rank)
{
	take_place(line, label, rank);
	if (rank != GP_CODE_BENEATH)
		append(line, label);
}

static void take_frame(struct gp_chrome_stacks *stacks, uint32_t index, struct line *line)
{
	const struct gp_model *model = stacks->model;
	const struct gp_frame *frame = &model->frames[index];
	enum gp_code_owner rank = GP_CODE_OWN;
	char label[GP_SITE_LABEL_BYTES];
	const struct gp_place *places;
	const char *path = "";
	size_t count;

	if (frame->kind == GP_FRAME_NATIVE && frame->origin != GP_NONE) {
		path = gp_model_module_path(model, &model->modules[frame->origin]);
		rank = gp_code_owner_of_module(path);
	}
	if (rank != GP_CODE_OWN) {
		snprintf(label, sizeof(label), "%s", basename(path));
		take(line, label, rank);
		return;
	}
	places = gp_symbols_find(stacks->symbols, model, index, &count);
	for (size_t i = 0; i < count; i++)
		take(line, gp_site_label(&places[i], label), gp_code_owner_of_place(&places[i]));
}

/* More frames cannot change it. */
static bool is_full(const struct line *line)
{
	return line->left_out > 0 && line->rank == GP_CODE_OWN;
}

static void make_texts(struct gp_chrome_stacks *stacks, uint32_t stack, struct recent *recent)
{
	struct line line = {.rank = GP_CODE_OWNERS, .times = 1};
	uint32_t looked_at = 0;

	for (uint32_t at = stack; at != GP_NONE; at = stacks->model->frames[at].parent)
		if (looked_at < MOST_FRAMES && !is_full(&line)) {
			take_frame(stacks, at, &line);
			looked_at++;
		} else {
			line.left_out++;
		}
	say_times(&line);
	if (line.left_out > 0)
		snprintf(line.bytes + line.used, sizeof(line.bytes) - line.used,
			 SEPARATOR "(%u more)", line.left_out);
	recent->stack = stack;
	recent->line = strdup(line.used > 0 ? line.bytes : line.place);
	recent->place = strdup(line.place);
}

static const struct recent *find_texts(struct gp_chrome *chrome, uint32_t stack)
{
	struct recent *recent = &chrome->stacks->recent[stack % RECENT];

	if (recent->line && recent->stack == stack)
		return recent;
	forget_recent(recent);
	make_texts(chrome->stacks, stack, recent);
	return recent;
}

/* ---- arguments ---- */

void gp_chrome_put_stack(struct gp_chrome *chrome, const char *key, uint32_t stack)
{
	struct gp_chrome_stacks *stacks = chrome->stacks;
	const struct recent *texts = stack != GP_NONE ? find_texts(chrome, stack) : NULL;
	const char *text;

	if (!texts)
		return;
	text = stacks->bytes < MOST_BYTES ? texts->line : texts->place;
	stacks->left_out += stacks->bytes >= MOST_BYTES;
	stacks->bytes += strlen(text);
	gp_chrome_put_text(&chrome->json, key, text);
}

void gp_chrome_put_stack_place(struct gp_chrome *chrome, const char *key, uint32_t stack)
{
	const struct recent *texts = stack != GP_NONE ? find_texts(chrome, stack) : NULL;

	if (texts)
		gp_chrome_put_text(&chrome->json, key, texts->place);
}

struct gp_chrome_function gp_chrome_function(struct gp_chrome *chrome, uint32_t frame)
{
	struct gp_chrome_stacks *stacks = chrome->stacks;
	size_t count;
	struct gp_place place = *gp_symbols_find(stacks->symbols, stacks->model, frame, &count);
	uint32_t line = place.line;

	place.line = 0;
	return (struct gp_chrome_function){gp_site_label(&place, stacks->function), place.file,
					   line};
}

void gp_chrome_explain_stacks(const struct gp_chrome *chrome)
{
	if (chrome->stacks->left_out > 0 && chrome->options->messages)
		fprintf(chrome->options->messages,
			"gpuprof: the Chrome trace has whole call stacks for its first slices only, and just the call site for %s others; `gpuprof export --format speedscope` has all\n",
			gp_format_count(chrome->stacks->left_out).text);
}
