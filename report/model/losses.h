/*
 * losses: all that a trace can lack: its name, what it means to a reader, how much it is, and the
 * words for it.  Every output takes them from here (include/gpuprof/counter.def, loss.def).
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
	GP_LOSS_INCOMPLETE, /* the end, matches or whole fields: the summary has its own lines for it */
	GP_LOSS_PART,       /* what a part of a trace cannot know, lost or not */
};

/* Behind the counters, which have their own numbers (enum gp_counter). */
enum gp_lost {
	GP_LOST_BEFORE = GP_COUNTERS - 1,
#define GP_LOSS(NAME, KIND, count, sentence) GP_LOST_##NAME,
#include "report/model/loss.def"
#undef GP_LOSS
	GP_LOSSES
};

struct gp_loss {
	const char *name; /* "LOST_CUPTI" */
	const char *unit;
	enum gp_loss_kind kind;
	const char *sentence; /* what follows the count, in the plural */
};

/* By the number of a counter or of enum gp_lost. */
extern const struct gp_loss gp_loss_table[GP_LOSSES];
uint64_t gp_loss_count(const struct gp_model *model, unsigned number);

/* "1 final flush given up": a count with its sentence, as long as it fits. */
void gp_loss_text(char *text, size_t size, uint64_t count, const char *sentence);

/*
 * Whether something of that kind was counted by the recorder; of what is kept: what --keep-last has
 * not kept is outside of that.
 */
bool gp_loss_is_counted(const struct gp_model *model, enum gp_loss_kind kind);

/* Whether calls or operations of what is kept are lost, as counters and unanswered launches tell. */
bool gp_loss_has_lost_operations(const struct gp_model *model);

typedef void (*gp_loss_taker)(void *context, const struct gp_loss *loss, uint64_t count);

/* Call take for each thing of which something is lost or not known. */
void gp_loss_each(const struct gp_model *model, gp_loss_taker take, void *context);

/*
 * The same of what a part of a trace cannot know: for formats whose readers look at what it is, not
 * at whether there is any.
 */
void gp_loss_each_of_part(const struct gp_model *model, gp_loss_taker take, void *context);

#endif
