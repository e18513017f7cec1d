/*
 * labels: the names of the events of a page, each once.  A label is a kind and a text; the text of a
 * kernel is its mangled name.
 */
#ifndef REPORT_HTML_LABELS_H
#define REPORT_HTML_LABELS_H

#include <stdint.h>

#include "report/base/group_by.h"
#include "report/codec/json_write.h"
#include "report/model/model.h"
#include "report/symbols/names.h"
#include "report/symbols/symbols.h"

/* The kinds, as in the page. */
#define GP_LABEL_KERNEL   'k'
#define GP_LABEL_COPY     'c'
#define GP_LABEL_SET      's'
#define GP_LABEL_GRAPH    'g'
#define GP_LABEL_CALL     'a'
#define GP_LABEL_RANGE    'r'
#define GP_LABEL_OVERHEAD 'o'
#define GP_LABEL_CODE     'j' /* compiling and loading of code; kinds without a label */
#define GP_LABEL_UNIFIED  'u'
#define GP_LABEL_PHASE    'f' /* of the steps of the main loop */
/* Python samples: a description of the work; a function of the user, of a library; unknown */
#define GP_LABEL_PLACE   'h'
#define GP_LABEL_OWN     'p'
#define GP_LABEL_LIBRARY 'q'
#define GP_LABEL_UNKNOWN 'x'
/* merged short events: on a stream, elsewhere */
#define GP_LABEL_SHORT_OPS 'm'
#define GP_LABEL_SHORT     'n'

struct gp_html_labels {
	struct gp_groups texts; /* the keys are kind and text */
	/* caches for the model: GP_NONE = not looked up */
	const struct gp_model *model;
	uint32_t *of_names, *of_texts;
	uint32_t *of_frames; /* NULL until the first use */
	struct gp_symbols *symbols;
	uint32_t of_calls[UINT16_MAX + 1];
};

/* Use that model for the next look-ups.  Zeroed = empty.  Returns 0 or -ENOMEM. */
int gp_html_labels_use(struct gp_html_labels *labels, const struct gp_model *model);
void gp_html_labels_free(struct gp_html_labels *labels);

/* The number of a label; without memory 0, and error is set. */
uint32_t gp_html_label(struct gp_html_labels *labels, char kind, const char *text);
uint32_t gp_html_label_op(struct gp_html_labels *labels, const struct gp_op *op);
uint32_t gp_html_label_call(struct gp_html_labels *labels, const struct gp_call *call);
uint32_t gp_html_label_range(struct gp_html_labels *labels, const struct gp_range *range);

/* The label of a Python frame (an index in frames), without its line. */
uint32_t gp_html_label_frame(struct gp_html_labels *labels, uint32_t frame);

/*
 * {"kinds": "kka...", "texts": [...], "full": [...]}: full is the whole demangled name of a kernel,
 * or 0 if it is equal to the text.
 */
void gp_html_labels_put(const struct gp_html_labels *labels, struct gp_names *names,
			struct gp_json *json);

#endif
