#include "report/html/labels.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/idle/activity.h"
#include "report/symbols/call_tree.h"
#include "report/symbols/code_owner.h"

static uint32_t *make_unknown(uint32_t count)
{
	uint32_t *numbers = malloc(((size_t)count + 1) * sizeof(*numbers));

	memset(numbers, 0xff, ((size_t)count + 1) * sizeof(*numbers));
	return numbers;
}

static void free_numbers(struct gp_html_labels *labels)
{
	if (labels->symbols && labels->model)
		gp_symbols_forget(labels->symbols, labels->model);
	free(labels->of_names);
	free(labels->of_texts);
	free(labels->of_frames);
	labels->of_frames = NULL;
}

int gp_html_labels_use(struct gp_html_labels *labels, const struct gp_model *model)
{
	free_numbers(labels);
	labels->model = model;
	labels->of_names = make_unknown(model->name_count);
	labels->of_texts = make_unknown(model->range_text_count);
	memset(labels->of_calls, 0xff, sizeof(labels->of_calls));
	return 0;
}

void gp_html_labels_free(struct gp_html_labels *labels)
{
	free_numbers(labels);
	gp_symbols_free(labels->symbols);
	gp_groups_free(&labels->texts);
}

uint32_t gp_html_label(struct gp_html_labels *labels, char kind, const char *text)
{
	size_t length = strlen(text);
	char *key = malloc(length + 2);
	uint32_t number = UINT32_MAX;

	key[0] = kind;
	memcpy(key + 1, text, length + 1);
	number = gp_groups_find(&labels->texts, key);
	free(key);
	if (number < UINT32_MAX)
		return number;
	return 0;
}

static uint32_t label_kernel(struct gp_html_labels *labels, const struct gp_op *op)
{
	uint32_t name = op->name < labels->model->name_count ? op->name : labels->model->name_count;

	if (labels->of_names[name] == GP_NONE)
		labels->of_names[name] = gp_html_label(labels, GP_LABEL_KERNEL,
						       gp_model_kernel_name(labels->model, op));
	return labels->of_names[name];
}

uint32_t gp_html_label_op(struct gp_html_labels *labels, const struct gp_op *op)
{
	static const char kinds[] = {[GP_OP_KERNEL] = GP_LABEL_KERNEL,
				     [GP_OP_COPY] = GP_LABEL_COPY,
				     [GP_OP_SET] = GP_LABEL_SET,
				     [GP_OP_GRAPH] = GP_LABEL_GRAPH};
	char text[GP_ACTIVITY_LABEL_BYTES];

	if (op->kind == GP_OP_KERNEL)
		return label_kernel(labels, op);
	gp_activity_label(text, op);
	return gp_html_label(labels, kinds[op->kind], text);
}

uint32_t gp_html_label_call(struct gp_html_labels *labels, const struct gp_call *call)
{
	uint32_t *number = &labels->of_calls[call->api];

	if (*number == GP_NONE)
		*number = gp_html_label(labels, GP_LABEL_CALL,
					gp_model_api(labels->model, call->api).name);
	return *number;
}

uint32_t gp_html_label_range(struct gp_html_labels *labels, const struct gp_range *range)
{
	uint32_t text = range->text < labels->model->range_text_count
				? range->text
				: labels->model->range_text_count;

	if (labels->of_texts[text] == GP_NONE)
		labels->of_texts[text] = gp_html_label(labels, GP_LABEL_RANGE,
						       gp_model_range_text(labels->model, range));
	return labels->of_texts[text];
}

static uint32_t make_frame_label(struct gp_html_labels *labels, uint32_t frame)
{
	char text[GP_SITE_LABEL_BYTES];
	size_t count;
	struct gp_place place = *gp_symbols_find(labels->symbols, labels->model, frame, &count);

	place.line = 0;
	return gp_html_label(labels,
			     gp_code_owner_of_frame(&place) == GP_CODE_OWN ? GP_LABEL_OWN
									   : GP_LABEL_LIBRARY,
			     gp_site_label(&place, text));
}

uint32_t gp_html_label_frame(struct gp_html_labels *labels, uint32_t frame)
{
	if (!labels->symbols)
		labels->symbols = gp_symbols_new();
	if (!labels->of_frames)
		labels->of_frames = make_unknown(labels->model->frame_count);
	if (labels->of_frames[frame] == GP_NONE)
		labels->of_frames[frame] = make_frame_label(labels, frame);
	return labels->of_frames[frame];
}

static void put_string(struct gp_json *json, const char *separator, const char *text)
{
	gp_json_text(json, separator);
	gp_json_string(json, text, strlen(text));
}

static const char *name_of(const char *key, struct gp_names *names)
{
	return key[0] == GP_LABEL_KERNEL ? gp_names_short(names, key + 1) : key + 1;
}

static void put_full(struct gp_json *json, const char *separator, const char *key,
		     struct gp_names *names)
{
	const char *full =
		key[0] == GP_LABEL_KERNEL ? gp_names_full(names, key + 1) : name_of(key, names);

	if (strcmp(full, name_of(key, names)) != 0) {
		put_string(json, separator, full);
		return;
	}
	gp_json_text(json, separator);
	gp_json_text(json, "0");
}

void gp_html_labels_put(const struct gp_html_labels *labels, struct gp_names *names,
			struct gp_json *json)
{
	const struct gp_group *rows = labels->texts.rows;

	gp_json_text(json, "{\"kinds\": \"");
	for (uint32_t i = 0; i < labels->texts.count; i++)
		gp_json_bytes(json, rows[i].key, 1);
	gp_json_text(json, "\",\n\"texts\": [");
	for (uint32_t i = 0; i < labels->texts.count; i++)
		put_string(json, i > 0 ? "," : "", name_of(rows[i].key, names));
	gp_json_text(json, "],\n\"full\": [");
	for (uint32_t i = 0; i < labels->texts.count; i++)
		put_full(json, i > 0 ? "," : "", rows[i].key, names);
	gp_json_text(json, "]}");
}
