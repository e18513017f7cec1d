/*
 * losses: all that a trace can lack: name, meaning, amount and sentence. All outputs take them from
 * here (include/gpuprof/counter.def, loss.def).
 */
#ifndef REPORT_MODEL_LOSSES_H
#define REPORT_MODEL_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "report/model/model.h"

enum gp_loss_kind {
	GP_LOSS_TELEMETRY, /* how recording went */
	GP_LOSS_STRAIN,    /* nothing is lost, but the recorder was at a limit */
	GP_LOSS_LOSS,      /* calls, operations or their times */
	GP_LOSS_TEXT_LOSS, /* names and the like: every call and operation is there */
	/* the end, matches or whole fields: the summary has its own lines for it */
	GP_LOSS_INCOMPLETE,
	GP_LOSS_PART, /* a part of a trace cannot know it, lost or not */
};

/* After the counters, which have their own numbers (enum gp_counter). */
enum gp_lost {
	GP_LOST_BEFORE = GP_COUNTERS - 1,
#define GP_LOSS(NAME, KIND, count, sentence) GP_LOST_##NAME,
#include "report/model/loss.def"
#undef GP_LOSS
	GP_LOSSES
};

/* In exports, before the name: "loss LOST_CUPTI" has the count. */
#define GP_LOSS_KEY "loss "

struct gp_loss {
	const char *name; /* "LOST_CUPTI": the id in exports */
	const char *unit;
	enum gp_loss_kind kind;
	const char *sentence; /* the words after the count, in the plural */
};

/* By the number of a counter or of enum gp_lost. */
extern const struct gp_loss gp_loss_table[GP_LOSSES];
uint64_t gp_loss_count(const struct gp_model *model, unsigned number);

/*
 * The loss of that key of an export, GP_LOSS_KEY and its name, is counted in the model. Exports have
 * the sentence, too, which is for people: those of older versions have it alone, and it is a key as
 * well. Losses that joining finds again are not set.
 */
void gp_loss_restore(struct gp_model *model, const char *key, uint64_t count);

/* "1 final flush given up": a count with its sentence, as long as it fits. */
void gp_loss_text(char *text, size_t size, uint64_t count, const char *sentence);

/*
 * Whether the recorder counted a loss of that kind, in the kept part: records that --keep-last
 * dropped do not count.
 */
bool gp_loss_is_counted(const struct gp_model *model, enum gp_loss_kind kind);

/* Whether calls or operations of the kept part are lost, by counters and unanswered launches. */
bool gp_loss_has_lost_operations(const struct gp_model *model);

typedef void (*gp_loss_taker)(void *context, const struct gp_loss *loss, uint64_t count);

/* Calls take for each kind of loss that is counted or not known. */
void gp_loss_each(const struct gp_model *model, gp_loss_taker take, void *context);

/*
 * The same for a part, which cannot know some: for formats whose readers want the value, not
 * whether there is any.
 */
void gp_loss_each_of_part(const struct gp_model *model, gp_loss_taker take, void *context);

/* Calls take for each kind of record that options left out. */
void gp_loss_each_left_out(const struct gp_model *model, gp_loss_taker take, void *context);

#endif
