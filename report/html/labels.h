/*
 * labels: the names of the events of a page, each once.
 *
 * A label is a kind and a text; a kernel's text is its mangled name.
 */
#ifndef REPORT_HTML_LABELS_H
#define REPORT_HTML_LABELS_H

#include <stdint.h>

#include "report/base/group_by.h"
#include "report/codec/json_write.h"
#include "report/model/model.h"
#include "report/symbols/names.h"
#include "report/symbols/symbols.h"

/* The kinds, as the page knows them. */
#define GP_LABEL_KERNEL   'k'
#define GP_LABEL_COPY     'c'
#define GP_LABEL_SET      's'
#define GP_LABEL_GRAPH    'g'
#define GP_LABEL_CALL     'a'
#define GP_LABEL_RANGE    'r'
#define GP_LABEL_OVERHEAD 'o'
#define GP_LABEL_CODE     'j' /* compiling and loading of code */
#define GP_LABEL_UNIFIED  'u'
/*
 * of looks at a thread of Python's: what it did, in words; a function of the user's, of a library;
 * that it is not known
 */
#define GP_LABEL_PLACE   'h'
#define GP_LABEL_OWN     'p'
#define GP_LABEL_LIBRARY 'q'
#define GP_LABEL_UNKNOWN 'x'
/* several that are short, side by side: on a stream, elsewhere */
#define GP_LABEL_SHORT_OPS 'm'
#define GP_LABEL_SHORT     'n'

struct gp_html_labels {
	struct gp_groups texts; /* keys: the kind and the text */
	/* of the present model: GP_NONE = not looked up */
	const struct gp_model *model;
	uint32_t *of_names, *of_texts;
	uint32_t *of_frames; /* NULL until one is asked for */
	struct gp_symbols *symbols;
	uint32_t of_calls[UINT16_MAX + 1];
	int error; /* 0 or -ENOMEM */
};

/* Zeroed = empty.  What is looked up next is of that model.  Returns 0 or -ENOMEM. */
int gp_html_labels_use(struct gp_html_labels *labels, const struct gp_model *model);
void gp_html_labels_free(struct gp_html_labels *labels);

/* The number of a label; 0 where there is no memory, and error says so. */
uint32_t gp_html_label(struct gp_html_labels *labels, char kind, const char *text);
uint32_t gp_html_label_op(struct gp_html_labels *labels, const struct gp_op *op);
uint32_t gp_html_label_call(struct gp_html_labels *labels, const struct gp_call *call);
uint32_t gp_html_label_range(struct gp_html_labels *labels, const struct gp_range *range);

/* Of a frame of Python's, an index in frames: without its line. */
uint32_t gp_html_label_frame(struct gp_html_labels *labels, uint32_t frame);

/*
 * {"kinds": "kka...", "texts": [...], "full": [...]}: full is the name of a kernel as its compiler
 * has it, or 0 where that is the text.
 */
void gp_html_labels_put(const struct gp_html_labels *labels, struct gp_names *names,
			struct gp_json *json);

#endif
