#include "report/analysis/host/host_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/loop/phase_marks.h"
#include "report/base/array.h"
#include "report/symbols/code_owner.h"
#include "report/symbols/frame_numbers.h"
#include "report/base/group_by.h"
#include "report/symbols/symbols.h"

#define TEXT_BYTES 1024
#define MODULE     "<module>"
#define WAITING    "waiting in "

/* A place, while it is put together. */
struct texts {
	char what[TEXT_BYTES], own[TEXT_BYTES], own_function[TEXT_BYTES];
	bool is_of_loader;
};

struct gp_host_places {
	struct gp_symbols *symbols;
	struct gp_groups keys;  /* both texts of a place, with a newline between */
	struct gp_groups whats; /* each text once */
	struct gp_groups owns;
	struct gp_groups functions;
	struct pair {
		uint32_t what, own, own_function, function;
		bool is_of_loader; /* by the first stack of the place */
	} * pairs;                 /* by the number of the key */
	uint32_t pair_count, pair_capacity;
	struct gp_frame_numbers known; /* of stacks that were asked for; more: the frames' marks */
};

struct gp_host_places *gp_host_places_new(void)
{
	struct gp_host_places *places = calloc(1, sizeof(*places));

	places->symbols = gp_symbols_new();
	return places;
}

void gp_host_places_free(struct gp_host_places *places)
{
	if (!places)
		return;
	gp_frame_numbers_free(&places->known);
	free(places->pairs);
	gp_groups_free(&places->keys);
	gp_groups_free(&places->whats);
	gp_groups_free(&places->owns);
	gp_groups_free(&places->functions);
	gp_symbols_free(places->symbols);
	free(places);
}

/* ---- texts ---- */

/* The part of a path after the folder of the packages or of the library; else the file's name. */
static const char *path_in_library(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *found = NULL, *library;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !found; i++) {
		found = strstr(path, folders[i]);
		found = found ? found + strlen(folders[i]) : NULL;
	}
	library = found ? NULL : strstr(path, "/lib/python");
	library = library ? strchr(library + strlen("/lib/python"), '/') : NULL;
	if (library)
		found = library + 1;
	if (found)
		return found;
	found = strrchr(path, '/');
	return found ? found + 1 : path;
}

/* "torch/_dynamo/__init__.py" becomes "torch._dynamo". */
static void put_module(char *text, size_t bytes, const char *path)
{
	static const char *const ends[] = {".py", "/__init__"};
	char *at;

	snprintf(text, bytes, "%s", path);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t length = strlen(text), end = strlen(ends[i]);

		if (length > end && strcmp(text + length - end, ends[i]) == 0)
			text[length - end] = '\0';
	}
	for (at = text; *at != '\0'; at++)
		*at = *at == '/' ? '.' : *at;
}

/* "function (file:line)" */
static void put_place(char *text, const struct gp_place *place)
{
	int used = snprintf(text, TEXT_BYTES, "%s", place->function);

	if (used < 0 || used >= TEXT_BYTES || place->file[0] == '\0')
		return;
	if (place->line > 0)
		snprintf(text + used, TEXT_BYTES - (size_t)used, " (%s:%u)",
			 path_in_library(place->file), place->line);
	else
		snprintf(text + used, TEXT_BYTES - (size_t)used, " (%s)",
			 path_in_library(place->file));
}

/* Without the line: a library's work spreads over many lines. */
static void put_function(char *text, size_t bytes, const struct gp_place *place)
{
	int used = snprintf(text, bytes, "%s", place->function);

	if (used >= 0 && (size_t)used < bytes && place->file[0] != '\0')
		snprintf(text + used, bytes - (size_t)used, " (%s)", path_in_library(place->file));
}

static void put_import(char *text, const struct gp_place *place)
{
	const char *path = path_in_library(place->file);
	char module[TEXT_BYTES / 4];

	put_module(module, sizeof(module), path);
	snprintf(text, TEXT_BYTES, "importing %s", module);
}

/* ---- a stack ---- */

static const struct gp_place *place_of(struct gp_host_places *places, const struct gp_model *model,
				       uint32_t frame)
{
	size_t count;

	return gp_symbols_find(places->symbols, model, frame, &count);
}

/* The innermost frame of the user's, or GP_NONE. */
static uint32_t find_own(struct gp_host_places *places, const struct gp_model *model,
			 uint32_t stack)
{
	for (uint32_t at = stack; at != GP_NONE; at = model->frames[at].parent)
		if (gp_code_owner_of_frame(place_of(places, model, at)) == GP_CODE_OWN)
			return at;
	return GP_NONE;
}

/* The module whose code runs because of a line of the user's: the outermost one; or GP_NONE. */
static uint32_t find_import(struct gp_host_places *places, const struct gp_model *model,
			    uint32_t stack, uint32_t own)
{
	uint32_t found = GP_NONE;

	for (uint32_t at = stack; at != own && at != GP_NONE; at = model->frames[at].parent)
		if (strcmp(place_of(places, model, at)->function, MODULE) == 0)
			found = at;
	return found;
}

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

static bool has_verb(const char *what)
{
	return begins(what, "importing") || begins(what, "compiling") || begins(what, WAITING);
}

/*
 * Functions of Python's library that do nothing but wait, for a lock, another thread or process, or
 * for data: the file, and the name in its class.
 */
static const struct {
	const char *file, *function;
} waits[] = {
	{"threading.py", "wait"},
	{"threading.py", "wait_for"},
	{"threading.py", "acquire"},
	{"threading.py", "join"},
	{"threading.py", "_wait_for_tstate_lock"},
	{"*/queue.py", "get"},
	{"*/queue.py", "put"},
	{"*/queue.py", "join"},
	{"*/selectors.py", "select"},
	{"*/socket.py", "accept"},
	{"*/socket.py", "readinto"},
	{"*/ssl.py", "read"},
	{"*/subprocess.py", "_try_wait"},
	{"*/subprocess.py", "_communicate"},
	{"*/concurrent/futures/thread.py", "_worker"},
	{"*/multiprocessing/connection.py", "wait"},
	{"*/multiprocessing/connection.py", "_recv"},
	{"*/multiprocessing/popen_fork.py", "poll"},
	{"*/multiprocessing/synchronize.py", "acquire"},
	{"*/multiprocessing/synchronize.py", "wait"},
	{"*/multiprocessing/queues.py", "get"},
	{"*/multiprocessing/pool.py", "wait"},
	{"*/multiprocessing/pool.py", "_handle_tasks"}, /* in a queue without code of Python's */
};

static bool is_wait(const struct gp_place *place)
{
	const char *dot = strrchr(place->function, '.');
	const char *name = dot ? dot + 1 : place->function;

	if (place->kind != GP_FRAME_PYTHON || gp_code_owner_of_place(place) == GP_CODE_OWN)
		return false;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (strcmp(waits[i].function, name) == 0 &&
		    gp_code_matches(waits[i].file, place->file))
			return true;
	return false;
}

/* The innermost function of Python's: C functions, which have no file, are part of what it does. */
static const struct gp_place *place_in_python(struct gp_host_places *places,
					      const struct gp_model *model, uint32_t stack)
{
	const struct gp_place *place = place_of(places, model, stack);

	for (uint32_t at = stack; at != GP_NONE && *place->file == '\0';
	     at = model->frames[at].parent)
		place = place_of(places, model, at);
	return place;
}

/* "waiting in Queue.get (queue.py)" */
static void put_wait(char *text, const struct gp_place *place)
{
	char function[TEXT_BYTES - sizeof(WAITING)];

	put_function(function, sizeof(function), place);
	snprintf(text, TEXT_BYTES, WAITING "%s", function);
}

static bool is_of_loader(struct gp_host_places *places, const struct gp_model *model,
			 uint32_t stack)
{
	enum gp_phase_kind phase = GP_PHASE_NONE;

	for (uint32_t at = stack; at != GP_NONE; at = model->frames[at].parent)
		phase = gp_phase_inside(gp_phase_of_place(place_of(places, model, at), true),
					phase);
	return phase == GP_PHASE_DATA;
}

static void put_compiler(char *text, enum gp_compiler compiler)
{
	snprintf(text, TEXT_BYTES, "compiling (%s)", gp_compiler_name(compiler));
}

static void put_texts(struct gp_host_places *places, const struct gp_frame_numbers_of *known,
		      uint32_t stack, struct texts *texts)
{
	const struct gp_model *model = known->model;
	const struct gp_frame_mark *marks = known->more;
	enum gp_compiler compiler = (enum gp_compiler)marks[stack].compiler;
	uint32_t own = find_own(places, model, stack);
	uint32_t import = find_import(places, model, stack, own);

	texts->is_of_loader = is_of_loader(places, model, stack);
	texts->what[0] = texts->own[0] = texts->own_function[0] = '\0';
	if (compiler != GP_COMPILER_NONE && compiler != GP_COMPILER_IMPORT)
		put_compiler(texts->what, compiler);
	else if (compiler == GP_COMPILER_IMPORT && import != GP_NONE)
		put_import(texts->what, place_of(places, model, import));
	else if (compiler == GP_COMPILER_IMPORT && own != GP_NONE)
		snprintf(texts->what, sizeof(texts->what),
			 "importing (finding or loading modules)");
	else if (is_wait(place_in_python(places, model, stack)))
		put_wait(texts->what, place_in_python(places, model, stack));
	else if (stack != own)
		put_function(texts->what, sizeof(texts->what), place_of(places, model, stack));
	if (own == GP_NONE)
		return;
	put_place(texts->own, place_of(places, model, own));
	put_function(texts->own_function, sizeof(texts->own_function),
		     place_of(places, model, own));
}

/* ---- numbers ---- */

static void append_pair(struct gp_host_places *places, const struct texts *texts)
{
	bool is_own = *texts->own != '\0' && !has_verb(texts->what);
	struct pair pair = {
		gp_groups_find(&places->whats, texts->what),
		gp_groups_find(&places->owns, texts->own),
		gp_groups_find(&places->functions, texts->own_function),
		gp_groups_find(&places->functions, is_own ? texts->own_function : texts->what),
		texts->is_of_loader};

	gp_array_grow(&places->pairs, &places->pair_capacity, places->pair_count,
		      sizeof(*places->pairs));
	places->pairs[places->pair_count++] = pair;
}

static uint32_t number_of(struct gp_host_places *places, const struct texts *texts)
{
	char key[2 * TEXT_BYTES];
	uint32_t number;

	snprintf(key, sizeof(key), "%s\n%s", texts->what, texts->own);
	number = gp_groups_find(&places->keys, key);
	while (places->pair_count <= number)
		append_pair(places, texts);
	return number;
}

static struct gp_frame_numbers_of *known_of(struct gp_host_places *places,
					    const struct gp_model *model)
{
	struct gp_frame_numbers_of *known = gp_frame_numbers_of(&places->known, model);
	struct gp_frame_mark *marks;

	if (!known || known->more)
		return known;
	gp_frame_marks_of(model, &marks);
	known->more = marks;
	return known;
}

uint32_t gp_host_places_find(struct gp_host_places *places, const struct gp_model *model,
			     uint32_t stack)
{
	struct gp_frame_numbers_of *known = known_of(places, model);
	struct texts texts;

	if (!known)
		return UINT32_MAX;
	if (known->numbers[stack] == GP_NONE) {
		put_texts(places, known, stack, &texts);
		known->numbers[stack] = number_of(places, &texts);
	}
	return known->numbers[stack];
}

uint32_t gp_host_places_functions(const struct gp_host_places *places)
{
	return places->functions.count;
}

bool gp_host_place_has_verb(const struct gp_host_place *place)
{
	return has_verb(place->what);
}

bool gp_host_place_waits(const struct gp_host_place *place)
{
	return begins(place->what, WAITING);
}

bool gp_host_place_waits_for_thread(const struct gp_host_place *place)
{
	static const char *const files[] = {" (threading.py)", " (queue.py)"};
	size_t length = strlen(place->what);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t end = strlen(files[i]);

		if (gp_host_place_waits(place) && length > end &&
		    strcmp(place->what + length - end, files[i]) == 0)
			return true;
	}
	return false;
}

enum gp_compiler gp_host_place_compiler(const struct gp_host_place *place)
{
	if (begins(place->what, "importing"))
		return GP_COMPILER_IMPORT;
	for (enum gp_compiler i = GP_COMPILER_NONE + 1; i < GP_COMPILERS; i++) {
		char what[TEXT_BYTES];

		put_compiler(what, i);
		if (strcmp(place->what, what) == 0)
			return i;
	}
	return GP_COMPILER_NONE;
}

struct gp_host_place gp_host_places_at(const struct gp_host_places *places, uint32_t number)
{
	const struct pair *pair = &places->pairs[number];

	return (struct gp_host_place){
		.what = places->whats.rows[pair->what].key,
		.own = places->owns.rows[pair->own].key,
		.own_number = pair->own,
		.own_function = places->functions.rows[pair->own_function].key,
		.own_function_number = pair->own_function,
		.function = places->functions.rows[pair->function].key,
		.function_number = pair->function,
		.is_of_loader = pair->is_of_loader,
	};
}
