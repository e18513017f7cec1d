#include "report/load/traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpuprof/shell_word.h"
#include "report/base/array.h"
#include "report/base/message.h"
#include "report/load/command.h"
#include "report/load/load_model.h"
#include "report/load/trace_files.h"
#include "report/base/text/format.h"
#include "report/import/import.h"
#include "report/base/memory_limit.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/base/spill_memory.h"

#define MODEL_TIMES                                                                                \
	13 /* a summary takes so many times the size of its traces (docs/design/performance.md) */

/* Which file a path leads to; of one that leads to none, missing is a number that no other has. */
struct file {
	dev_t device;
	ino_t number;
	size_t missing;
	bool is_repeated; /* one before it is the same */
};

static int compare_files(const void *a, const void *b, const void *context)
{
	const struct file *left = a, *right = b;

	(void)context;
	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return (left->missing > right->missing) - (left->missing < right->missing);
}

/* To be freed, as many as there are paths; NULL: no memory. */
static struct file *find_files(char *const *paths, size_t count)
{
	struct file *files = calloc(count + 1, sizeof(*files));
	struct stat status;

	for (size_t i = 0; files && i < count; i++)
		files[i] = stat(paths[i], &status) == 0
				   ? (struct file){.device = status.st_dev, .number = status.st_ino}
				   : (struct file){.missing = i + 1};
	return files;
}

static void mark_repeated(struct file *files, size_t count, const uint32_t *order)
{
	for (size_t i = 1; i < count; i++)
		files[order[i]].is_repeated =
			compare_files(&files[order[i - 1]], &files[order[i]], NULL) == 0;
}

int gp_traces_name_once(char **paths, size_t *count)
{
	struct file *files = find_files(paths, *count);
	uint32_t *order =
		files ? gp_array_order(files, (uint32_t)*count, sizeof(*files), compare_files, NULL)
		      : NULL;
	size_t kept = 0;

	if (order)
		mark_repeated(files, *count, order);
	for (size_t i = 0; order && i < *count; i++)
		if (files[i].is_repeated)
			gp_command_fail(0, "%s is named twice; it is counted once", paths[i]);
		else
			paths[kept++] = paths[i];
	*count = order ? kept : *count;
	free(files);
	gp_spill_free(order);
	return order ? 0 : -ENOMEM;
}

void gp_traces_warn(const struct gp_model *model)
{
	const struct gp_losses *losses = &model->losses;
	const char *why = losses->live      ? "its process still runs"
			  : !losses->closed ? gp_recorded_why_no_end(model)
			  : losses->cut     ? "the file was cut"
					    : NULL;
	char word[GP_SHELL_WORD_BYTES];

	if (why)
		gp_command_fail(0, "%s is not complete: %s; `gpuprof summary %s` says more",
				model->path, why, gp_shell_word(model->path, word, sizeof(word)));
	if (losses->damaged_bytes > 0)
		gp_command_fail(
			0,
			"%s is damaged: %s bytes were skipped, and the records in them are missing; `gpuprof summary %s` says more",
			model->path, gp_format_count(losses->damaged_bytes).text,
			gp_shell_word(model->path, word, sizeof(word)));
	if (gp_recorded_is_sampled(model))
		gp_command_fail(
			0,
			"%s is sampled (--sample): counts and sums are those of its windows; `gpuprof summary %s` estimates totals",
			model->path, gp_shell_word(model->path, word, sizeof(word)));
}

/* Of an export's times, which may be rounded. */
#define SAME_NS 1000u

static uint64_t first_call_unix_ns(const struct gp_model *model)
{
	return model->base_unix_ns + model->first_call_ns;
}

static bool differ(const struct gp_model *a, const struct gp_model *b, enum gp_info info)
{
	return a->info[info] && b->info[info] && strcmp(a->info[info], b->info[info]) != 0;
}

/*
 * Whether one of the two is an export, and both are of the same process, with its first call at the
 * same time.
 */
static bool are_of_one_run(const struct gp_model *a, const struct gp_model *b)
{
	uint64_t a_ns = first_call_unix_ns(a), b_ns = first_call_unix_ns(b);

	return (a->recorder || b->recorder) && a->pid == b->pid && !differ(a, b, GP_INFO_HOST) &&
	       !differ(a, b, GP_INFO_RANK) && (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) <= SAME_NS;
}

bool gp_traces_have_run(struct gp_model *const *models, size_t count, const struct gp_model *model)
{
	for (size_t i = 0; model->recorder && i < count; i++)
		if (are_of_one_run(models[i], model)) {
			gp_command_fail(0,
					"%s belongs to the same run as %s; the run is counted once",
					model->path, models[i]->path);
			return true;
		}
	return false;
}

int gp_traces_load_processes(const char *path, const struct gp_load_options *options,
			     int (*take)(void *context, struct gp_model *model), void *context,
			     char *message, size_t message_bytes)
{
	uint32_t count = gp_import_process_count(path);
	struct gp_load_options one = *options;
	int result = 0;

	for (one.process = 0; one.process < count && result == 0; one.process++) {
		struct gp_model *model;

		result = gp_model_load_with(path, &one, &model, message, message_bytes);
		if (result == 0)
			result = take(context, model);
	}
	return result;
}

struct loading {
	struct gp_traces *traces;
	uint32_t capacity;
	bool warn;
};

/* What becomes of each model. */
struct taking {
	int (*take)(void *context, struct gp_model *model);
	void *context;
	bool *any_failed;
	int result; /* of take() */
};

static int take_model(void *context, struct gp_model *model)
{
	struct loading *loading = context;
	struct gp_traces *traces = loading->traces;

	if (gp_array_grow(&traces->models, &loading->capacity, (uint32_t)traces->count,
			  sizeof(struct gp_model *)) != 0) {
		gp_model_free(model);
		return -ENOMEM;
	}
	if (loading->warn)
		gp_traces_warn(model);
	if (gp_traces_have_run(traces->models, traces->count, model))
		gp_model_free(model);
	else
		traces->models[traces->count++] = model;
	return 0;
}

/* The files of all paths; a line on stderr for each that has none. Returns whether all have some. */
static bool list_files(struct gp_trace_files *files, char *const *paths, size_t count)
{
	char message[GP_MESSAGE_BYTES];
	bool is_whole = true;

	for (size_t i = 0; i < count; i++)
		if (gp_trace_files_add(files, paths[i], message, sizeof(message)) != 0) {
			gp_command_fail(0, "%s", message);
			is_whole = false;
		}
	return is_whole;
}

static bool may_be_none(const struct gp_trace_files *files, const char *path)
{
	uint32_t i = 0;

	while (i < files->count && files->files[i].path != path)
		i++;
	return i < files->count && files->files[i].may_be_none;
}

static int take_one(void *context, struct gp_model *model)
{
	struct taking *taking = context;

	taking->result = taking->take(taking->context, model);
	return taking->result;
}

static int load_files(struct taking *taking, const struct gp_trace_files *files, char **paths,
		      size_t count, bool in_one_pass)
{
	/* the model of an export has all: then the others' are to have that, too */
	const struct gp_load_options options = {
		.save_to = -1,
		.in_one_pass = in_one_pass && count > 0 && !gp_import_is_known(paths[count - 1])};
	char message[GP_MESSAGE_BYTES];
	int result = gp_traces_name_once(paths, &count);

	for (size_t i = 0; i < count && result == 0; i++) {
		int error;

		message[0] = '\0';
		error = gp_traces_load_processes(paths[i], &options, take_one, taking, message,
						 sizeof(message));
		result = taking->result;
		if (error == 0 || result != 0)
			continue;
		if (error == -ENODATA && may_be_none(files, paths[i])) {
			gp_command_fail(0, "%s; skipped", message);
			continue;
		}
		*taking->any_failed = true;
		gp_command_fail(0, "%s", message[0] ? message : "no memory");
	}
	return result;
}

/* Exports follow the traces of gpuprof, of which those of the same run are kept. */
static void list_paths(char **paths, const struct gp_trace_files *files)
{
	size_t count = 0;

	for (int is_export = 0; is_export < 2; is_export++)
		for (uint32_t i = 0; i < files->count; i++)
			if (gp_import_is_known(files->files[i].path) == is_export)
				paths[count++] = files->files[i].path;
}

static int each(struct taking *taking, char *const *paths, size_t count, bool in_one_pass)
{
	struct gp_trace_files files = {0};
	char **list;
	int result;

	*taking->any_failed = !list_files(&files, paths, count);
	list = calloc((size_t)files.count + 1, sizeof(*list));
	if (list)
		list_paths(list, &files);
	result = list ? load_files(taking, &files, list, files.count, in_one_pass) : -ENOMEM;
	free(list);
	gp_trace_files_free(&files);
	return result;
}

int gp_traces_each(char *const *paths, size_t count,
		   int (*take)(void *context, struct gp_model *model), void *context,
		   bool *any_failed)
{
	struct taking taking = {.take = take, .context = context, .any_failed = any_failed};

	return each(&taking, paths, count, false);
}

static int load_all(struct gp_traces *traces, char *const *paths, size_t count, bool warn,
		    bool in_one_pass)
{
	struct loading loading = {.traces = traces, .warn = warn};
	struct taking taking = {
		.take = take_model, .context = &loading, .any_failed = &traces->any_failed};
	int result;

	*traces = (struct gp_traces){.models = NULL};
	result = each(&taking, paths, count, in_one_pass);
	return result == 0 ? gp_process_order(traces->models, traces->count) : result;
}

int gp_traces_load(struct gp_traces *traces, char *const *paths, size_t count, bool warn)
{
	return load_all(traces, paths, count, warn, false);
}

int gp_traces_load_in_one_pass(struct gp_traces *traces, char *const *paths, size_t count)
{
	return load_all(traces, paths, count, false, true);
}

struct sizes {
	uint64_t bytes, largest_bytes;
	uint32_t files;
};

static struct sizes sizes_of(char *const *paths, size_t count)
{
	struct gp_trace_files files = {0};
	struct sizes sizes = {0};
	char message[GP_MESSAGE_BYTES];
	struct stat status;

	for (size_t i = 0; i < count; i++)
		gp_trace_files_add(&files, paths[i], message, sizeof(message));
	sizes.files = files.count;
	for (uint32_t i = 0; i < files.count; i++) {
		if (stat(files.files[i].path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		sizes.bytes += (uint64_t)status.st_size;
		if ((uint64_t)status.st_size > sizes.largest_bytes)
			sizes.largest_bytes = (uint64_t)status.st_size;
	}
	gp_trace_files_free(&files);
	return sizes;
}

static bool is_large(uint64_t bytes)
{
	return bytes >= GP_TRACES_LARGE_BYTES || bytes > gp_memory_left("") / MODEL_TIMES;
}

bool gp_traces_are_large(char *const *paths, size_t count)
{
	return is_large(sizes_of(paths, count).bytes);
}

bool gp_traces_are_many(char *const *paths, size_t count, uint32_t together)
{
	struct sizes sizes = sizes_of(paths, count);

	return (sizes.files >= GP_TRACES_MANY || is_large(sizes.bytes)) &&
	       !is_large(together * sizes.largest_bytes);
}

void gp_traces_free(struct gp_traces *traces)
{
	for (size_t i = 0; i < traces->count; i++)
		gp_model_free(traces->models[i]);
	free(traces->models);
	*traces = (struct gp_traces){0};
}

int gp_traces_use(char *const *paths, size_t count,
		  int (*use)(const struct gp_traces *traces, void *context), void *context)
{
	struct gp_traces traces;
	int status = 0;

	if (gp_traces_load(&traces, paths, count, true) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (traces.count > 0)
		status = use(&traces, context);
	status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
	gp_traces_free(&traces);
	return status;
}
