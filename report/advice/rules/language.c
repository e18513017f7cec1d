#include "report/advice/rules/language.h"

#include <fnmatch.h>
#include <string.h>

#include "report/symbols/code_owner.h"
#include "report/symbols/python_code.h"

#define MOST_COMMAND 60 /* characters */

/* Files of a library, where packages are installed; a folder of the user can have its name, too. */
static const struct {
	const char *pattern;
	enum gp_language language;
} libraries[] = {
	{"*/site-packages/torch/*", GP_LANGUAGE_TORCH},
	{"*/dist-packages/torch/*", GP_LANGUAGE_TORCH},
	{"*/torch/lib/libtorch*.so", GP_LANGUAGE_TORCH},
	{"*/torch/lib/libc10*.so", GP_LANGUAGE_TORCH},
	{"*/site-packages/jax/*", GP_LANGUAGE_JAX},
	{"*/dist-packages/jax/*", GP_LANGUAGE_JAX},
	{"*/jaxlib/*.so", GP_LANGUAGE_JAX},
	{"*/xla_cuda_plugin.so", GP_LANGUAGE_JAX},
	{"*/site-packages/cupy/*", GP_LANGUAGE_CUPY},
	{"*/dist-packages/cupy/*", GP_LANGUAGE_CUPY},
	{"*/cupy/cuda/*.so", GP_LANGUAGE_CUPY},
	{"*/cupy_backends/*.so", GP_LANGUAGE_CUPY},
};

static void note_file(bool found[GP_LANGUAGES], const char *path)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (gp_code_matches(libraries[i].pattern, path))
			found[libraries[i].language] = true;
}

static void note_files(bool found[GP_LANGUAGES], const struct gp_model *model)
{
	struct gp_python_code code;

	for (uint32_t i = 0; i < model->text_count; i++) {
		const struct gp_text *text = &model->texts[i];

		if (text->space == GP_STRING_MODULE)
			note_file(found, text->bytes);
		if (text->space == GP_STRING_CODE &&
		    gp_python_code_read(text->bytes, text->length, &code)) {
			found[GP_LANGUAGE_PYTHON] = true;
			note_file(found, code.file);
		}
	}
}

static bool is_python_command(const struct gp_model *model)
{
	const char *command = model->info[GP_INFO_COMMAND], *name = command;

	for (; command && *command != '\0' && *command != ' '; command++)
		if (*command == '/')
			name = command + 1;
	return name && strncmp(name, "python", strlen("python")) == 0;
}

enum gp_language gp_language_of(const struct gp_model *model)
{
	bool found[GP_LANGUAGES] = {false};
	enum gp_language language = GP_LANGUAGE_PYTHON;
	unsigned count = 0;

	if (model->recorder && strcmp(model->recorder, "torch.profiler") == 0)
		return GP_LANGUAGE_TORCH;
	note_files(found, model);
	if (!found[GP_LANGUAGE_PYTHON] && !is_python_command(model))
		return GP_LANGUAGE_NATIVE;
	for (enum gp_language i = GP_LANGUAGE_TORCH; i < GP_LANGUAGES; i++)
		if (found[i]) {
			language = i;
			count++;
		}
	return count == 1 ? language : GP_LANGUAGE_PYTHON;
}

const char *gp_language_name(enum gp_language language)
{
	static const char *const names[] = {"native", "python", "torch", "jax", "cupy"};

	return names[language];
}

bool gp_language_is_compiled(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->name_count; i++)
		if (fnmatch("triton_*_fused_*", model->names[i], 0) == 0)
			return true;
	for (uint32_t i = 0; i < model->range_text_count; i++)
		if (fnmatch("Torch-Compiled Region*", model->range_texts[i], 0) == 0)
			return true;
	return false;
}

/* Whether it is printable, and has nothing that ends or marks a clause of a sentence. */
static bool can_be_shown(const char *command)
{
	static const char *const ends[] = {"`", "; ", ": ", "  "};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strstr(command, ends[i]))
			return false;
	for (; *command != '\0'; command++)
		if (*command < ' ' || *command > '~')
			return false;
	return true;
}

/* A command that can be typed as it is, or a word in its place. */
static const char *command_of(const struct gp_model *model)
{
	const char *command = model->info[GP_INFO_COMMAND];

	if (!command || *command == '\0' || strlen(command) > MOST_COMMAND ||
	    !can_be_shown(command))
		return "PROGRAM";
	return command;
}

void gp_language_add_sampler(const struct gp_model *model, size_t process_count,
			     struct gp_document *values)
{
	gp_document_add_words(values, "sampler", "`%s -- %s`",
			      gp_language_of(model) == GP_LANGUAGE_NATIVE ? "perf record -g"
			      : process_count > 1 ? "py-spy record --subprocesses -o host.svg"
						  : "py-spy record -o host.svg",
			      command_of(model));
}
