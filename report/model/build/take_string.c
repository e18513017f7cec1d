#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/shell_word.h"
#include "report/trace/api_name.h"
#include "report/base/array.h"
#include "report/base/text/secrets.h"
#include "report/model/build/build.h"

static char *copy_text(const char *text, uint32_t length)
{
	return strndup(text, length);
}

static int add_named(struct gp_named **array, uint32_t *capacity, uint32_t *count, uint32_t id,
		     char *text)
{
	if (!text || gp_array_grow(array, capacity, *count, sizeof(**array)) != 0) {
		free(text);
		return -ENOMEM;
	}
	(*array)[(*count)++] = (struct gp_named){id, text};
	return 0;
}

static int name_api(struct gp_model_builder *b, const struct gp_record_string *r, const char *text)
{
	size_t length = gp_api_name_length(text, strnlen(text, r->length_bytes));

	if (r->id > UINT16_MAX || length == 0) {
		b->model->losses.unknown_records++;
		return 0;
	}
	return gp_api_table_set(b->model->private, (uint16_t)r->id, strndup(text, length),
				r->value < GP_API_CLASSES ? (uint8_t)r->value : GP_API_OTHER);
}

static int name_thread(struct gp_model_builder *b, const struct gp_record_string *r, char *text)
{
	struct gp_model *m = b->model;

	if (!text || GP_MODEL_GROW(b, m->threads, m->thread_count, threads) != 0) {
		free(text);
		return -ENOMEM;
	}
	m->threads[m->thread_count++] = (struct gp_thread){
		.id = r->id, .is_given = (r->value & GP_NAME_GIVEN) != 0, .name = text};
	return 0;
}

int gp_model_builder_note(struct gp_model_builder *b, char *text)
{
	struct gp_model *m = b->model;

	if (!text || GP_MODEL_GROW(b, m->notes, m->note_count, notes) != 0) {
		free(text);
		return -ENOMEM;
	}
	m->notes[m->note_count++] = text;
	return 0;
}

/* In bytes, of a command's: each byte of a word may be a quote, and an empty one has two. */
static size_t room_for_words(uint32_t length)
{
	return (size_t)length * strlen("'\\''") + sizeof("''' ");
}

/* Words that each end with a NUL, as a shell takes them; returns to. */
static char *quote_words(const char *words, uint32_t length, char *to)
{
	size_t bytes = room_for_words(length), used = 0;

	for (const char *at = words; at < words + length; at += strlen(at) + 1) {
		const char *word;

		if (used > 0)
			to[used++] = ' ';
		word = gp_shell_word(at, to + used, bytes - used);
		if (word == at)
			memcpy(to + used, at, strlen(at));
		used += strlen(word == at ? at : to + used);
	}
	to[used] = '\0';
	return to;
}

/* The command line as one text that a shell reads back, without the final NULs. */
static char *copy_command(const char *text, uint32_t length)
{
	char *words, *command;

	while (length > 0 && text[length - 1] == '\0')
		length--;
	words = malloc((size_t)length + 1);
	command = malloc(room_for_words(length));
	if (words && command) {
		memcpy(words, text, length);
		words[length] = '\0';
		quote_words(words, length, command);
	} else {
		free(command);
		command = NULL;
	}
	free(words);
	return command;
}

int gp_model_set_command(struct gp_model *model, char *command)
{
	const char *option = getenv("GPUPROF_NO_COMMAND");
	bool is_left_out = option && *option && strcmp(option, "0") != 0;
	char *masked = command && !is_left_out ? gp_secrets_mask(command) : NULL;

	free(command);
	free(model->info[GP_INFO_COMMAND]);
	model->info[GP_INFO_COMMAND] = masked;
	return masked || is_left_out ? 0 : -ENOMEM;
}

static int set_info(struct gp_model_builder *b, const struct gp_record_string *r, const char *text)
{
	char **info = b->model->info;

	if (r->id == GP_INFO_NOTE)
		return gp_model_builder_note(b, copy_text(text, r->length_bytes));
	if (r->id == 0 || r->id >= GP_INFO_LIMIT)
		return 0; /* a fact that only later versions know */
	if (r->id == GP_INFO_COMMAND)
		return gp_model_set_command(b->model, copy_command(text, r->length_bytes));
	free(info[r->id]);
	info[r->id] = copy_text(text, r->length_bytes);
	return info[r->id] ? 0 : -ENOMEM;
}

static int add_text(struct gp_model_builder *b, const struct gp_record_string *r, const char *text)
{
	struct gp_model *m = b->model;
	char *bytes = malloc((size_t)r->length_bytes + 1);

	if (!bytes || GP_MODEL_GROW(b, m->texts, m->text_count, texts) != 0) {
		free(bytes);
		return -ENOMEM;
	}
	memcpy(bytes, text, r->length_bytes);
	bytes[r->length_bytes] = '\0';
	m->texts[m->text_count++] =
		(struct gp_text){r->space, r->id, r->value, r->length_bytes, bytes};
	return 0;
}

int gp_take_string(struct gp_model_builder *b, const struct gp_record_string *r, const char *text)
{
	switch (r->space) {
	case GP_STRING_KERNEL:
		return add_named(&b->names, &b->capacity.names, &b->model->name_count, r->id,
				 copy_text(text, r->length_bytes));
	case GP_STRING_API:
		return name_api(b, r, text);
	case GP_STRING_THREAD:
		return name_thread(b, r, copy_text(text, r->length_bytes));
	case GP_STRING_DEVICE:
		if (r->value & GP_NAME_GIVEN)
			return add_text(b, r, text);
		return add_named(&b->device_names, &b->capacity.device_names, &b->device_name_count,
				 r->id, copy_text(text, r->length_bytes));
	case GP_STRING_INFO:
		return set_info(b, r, text);
	case GP_STRING_RANGE:
	case GP_STRING_DOMAIN:
	case GP_STRING_CATEGORY:
	case GP_STRING_STREAM:
	case GP_STRING_CONTEXT:
	case GP_STRING_SCHEMA:
	case GP_STRING_PAYLOAD:
	case GP_STRING_MODULE:
	case GP_STRING_CODE:
	case GP_STRING_STACK_COPY:
	case GP_STRING_STALL:
	case GP_STRING_METRIC:
	case GP_STRING_METRIC_SET:
	case GP_STRING_METRIC_UNIT:
		return add_text(b, r, text);
	default:
		b->model->losses.unknown_records++;
		return 0;
	}
}
