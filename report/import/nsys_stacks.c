/*
 * nsys_stacks: call stacks of API calls. CUDA_CALLCHAINS has a row for each function of a chain,
 * whose stackDepth counts from the innermost one; calls name their chain. Functions and modules are
 * strings there. Addresses only tell frames apart.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/symbols/frame_names.h"
#include "report/import/nsys_reading.h"
#include "report/base/spill_memory.h"

/* A function of a chain. */
struct gp_nsys_link {
	int64_t chain;
	uint32_t depth;
	uint32_t place; /* index in places, plus 1 */
};

/* Identifies a place; compared as bytes. */
struct key {
	int64_t symbol, module, address;
	int64_t is_unresolved;
};

/* The frame of a row, without chain and callers. */
struct gp_nsys_place {
	char *function, *file; /* for native frames; NULL = none */
	uint64_t address;
	uint32_t line;
	uint32_t origin; /* module or code */
	uint16_t kind;   /* enum gp_frame_kind */
};

/* ---- strings ---- */

/* Rows that stand for missing frames, not for a function. */
static enum gp_frame_kind kind_of_text(const char *symbol)
{
	static const struct {
		const char *begin;
		enum gp_frame_kind kind;
	} marks[] = {
		{"[Max depth]", GP_FRAME_CUT},
		{"[Broken backtraces]", GP_FRAME_STUCK},
		{"(deeper frames were not kept)", GP_FRAME_CUT}, /* in gpuprof exports */
		{"(callers unknown", GP_FRAME_STUCK},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strncmp(symbol, marks[i].begin, strlen(marks[i].begin)) == 0)
			return marks[i].kind;
	return GP_FRAME_NATIVE;
}

/* "function (file.cu:12)" in gpuprof exports; Python functions may have no line. */
struct label {
	size_t function_bytes;
	const char *file; /* NULL = none */
	size_t file_bytes;
	uint32_t line;
};

static struct label split_label(const char *text)
{
	size_t length = strlen(text);
	struct label label = {.function_bytes = length};
	const char *open, *colon;

	if (length < 4 || text[length - 1] != ')')
		return label;
	open = memrchr(text, '(', length);
	if (!open || open < text + 2 || open[-1] != ' ' || open + 2 == text + length)
		return label;
	colon = strrchr(open, ':');
	label.function_bytes = (size_t)(open - 1 - text);
	label.file = open + 1;
	label.file_bytes = (size_t)((colon ? colon : text + length - 1) - label.file);
	label.line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	return label;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), bytes = strlen(end);

	return length >= bytes && strcmp(text + length - bytes, end) == 0;
}

/* ---- places ---- */

static uint32_t find_module(struct gp_nsys_reading *r, const char *path)
{
	union gp_any_record record = {0};
	bool is_new;
	uint32_t id = gp_interner_number(&r->stacks.modules, path, strlen(path), &is_new);

	if (!is_new)
		return id;
	record.module = (struct gp_record_module){.id = id, .end_address = UINT64_MAX};
	if (gp_import_record(r->im, GP_RECORD_MODULE, &record) != 0 ||
	    gp_import_string(r->im, GP_STRING_MODULE, id, 0, path, strlen(path)) != 0)
		return 0;
	return id;
}

/*
 * An address has one name: if another function has it already, returns one that code cannot have.
 */
static uint64_t free_address(struct gp_nsys_reading *r, uint32_t module, int64_t address)
{
	const int64_t key[2] = {module, address};
	bool is_new = false;

	if (address > 0)
		gp_interner_number(&r->stacks.addresses, key, sizeof(key), &is_new);
	return is_new ? (uint64_t)address : UINT64_MAX - r->stacks.place_count;
}

static int describe_native(struct gp_nsys_reading *r, const struct key *key, const char *symbol,
			   const char *module, struct gp_nsys_place *place)
{
	const char *slash = strrchr(module, '/');
	struct label label;
	int made;

	if (*symbol == '\0')
		symbol = "(unnamed function)";
	label = r->is_own ? split_label(symbol) : (struct label){.function_bytes = strlen(symbol)};

	if (*module != '\0') {
		place->origin = find_module(r, module);
		if (place->origin == 0)
			return -ENOMEM;
	}
	place->address = free_address(r, place->origin, key->address);
	if (label.file)
		place->file = strndup(label.file, label.file_bytes);
	place->line = label.line;
	if (key->is_unresolved && strncmp(symbol, "0x", 2) == 0)
		made = asprintf(&place->function, "%s at %s", slash ? slash + 1 : module, symbol);
	else
		made = asprintf(&place->function, "%.*s", (int)label.function_bytes, symbol);
	if (made < 0)
		place->function = NULL;
	return place->function && (place->file || !label.file) ? 0 : -ENOMEM;
}

/* Makes the text for gp_import_code(). */
static int describe_python(struct gp_nsys_reading *r, const char *symbol, const char *module,
			   struct gp_nsys_place *place)
{
	struct label label = split_label(symbol);
	char *text;
	int length = asprintf(&text, "%s(%" PRIu32 "): %.*s", module, label.line,
			      (int)label.function_bytes, symbol);

	if (length < 0)
		return -ENOMEM;
	place->kind = GP_FRAME_PYTHON;
	place->origin = gp_import_code(r->im, text, (size_t)length, GP_IMPORT_LINE_OF_CODE);
	free(text);
	return place->origin != 0 ? 0 : -ENOMEM;
}

static bool is_shown_before(const void *stub, const void *id)
{
	return ((const struct gp_nsys_stub *)stub)->shown < *(const int64_t *)id;
}

/*
 * The mangled name of a launch stub. With it the model recognizes the function that a launch with
 * <<<>>> calls.
 */
static const char *symbol_of(const struct gp_nsys_reading *r, int64_t id)
{
	uint32_t low = gp_array_lower_bound(r->stacks.stubs, r->stacks.stub_count,
					    sizeof(*r->stacks.stubs), is_shown_before, &id);

	if (low < r->stacks.stub_count && r->stacks.stubs[low].shown == id)
		id = r->stacks.stubs[low].mangled;
	return gp_nsys_string(r, id);
}

static int describe(struct gp_nsys_reading *r, const struct key *key, struct gp_nsys_place *place)
{
	const char *symbol = symbol_of(r, key->symbol);
	const char *module = gp_nsys_string(r, key->module);

	place->kind = (uint16_t)(*module == '\0' ? kind_of_text(symbol) : GP_FRAME_NATIVE);
	if (place->kind != GP_FRAME_NATIVE)
		return 0;
	if (ends_with(module, ".py") || (r->is_own && key->address == 0))
		return describe_python(r, symbol, module, place);
	return describe_native(r, key, symbol, module, place);
}

/* The number of the place, from 1; 0 if there is no memory. */
static uint32_t find_place(struct gp_nsys_reading *r, const struct key *key)
{
	struct gp_nsys_stacks *s = &r->stacks;
	bool is_new;
	uint32_t number = gp_interner_number(&s->keys, key, sizeof(*key), &is_new);

	if (!is_new)
		return number;
	if (gp_array_grow(&s->places, &s->place_capacity, s->place_count, sizeof(*s->places)) != 0)
		return 0;
	s->places[s->place_count] = (struct gp_nsys_place){0};
	s->place_count++;
	return describe(r, key, &s->places[s->place_count - 1]) == 0 ? number : 0;
}

/* ---- rows ---- */

static int take_stub(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	struct gp_nsys_stacks *s = &r->stacks;
	/* gpuprof exports have short function names */
	enum gp_nsys_column column = r->is_own ? GP_NSYS_shortName : GP_NSYS_demangledName;
	int64_t id = gp_row_whole(row, column);
	bool is_new;

	if (!gp_row_has(row, column) || !gp_row_has(row, GP_NSYS_mangledName))
		return 0;
	if (gp_interner_number(&s->kernels, &id, sizeof(id), &is_new) == 0)
		return -ENOMEM;
	if (!is_new)
		return 0;
	if (gp_array_grow(&s->stubs, &s->stub_capacity, s->stub_count, sizeof(*s->stubs)) != 0)
		return -ENOMEM;
	s->stubs[s->stub_count++] =
		(struct gp_nsys_stub){id, gp_row_whole(row, GP_NSYS_mangledName)};
	return 0;
}

GP_COMPARE_BY(compare_stubs, struct gp_nsys_stub, shown)

static int take_link(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	struct gp_nsys_stacks *s = &r->stacks;
	const struct key key = {
		.symbol = gp_row_whole(row, GP_NSYS_symbol),
		.module = gp_row_whole(row, GP_NSYS_module),
		.address = gp_row_whole(row, GP_NSYS_originalIP),
		.is_unresolved = gp_row_whole(row, GP_NSYS_unresolved) != 0,
	};
	uint32_t place = find_place(r, &key);

	if (place == 0 || gp_array_grow_spill(&s->links, &s->link_capacity, s->link_count,
					      sizeof(*s->links)) != 0)
		return -ENOMEM;
	s->links[s->link_count++] = (struct gp_nsys_link){
		gp_row_whole(row, GP_NSYS_id), gp_row_number(row, GP_NSYS_stackDepth, 0), place};
	return 0;
}

/* The outermost function of a chain comes first. */
GP_COMPARE_BY_AND_DOWN(compare_links, struct gp_nsys_link, chain, depth)

/* ---- frames ---- */

static int add_frame(struct gp_nsys_reading *r, const struct gp_nsys_link *link, uint32_t *frame)
{
	const struct gp_nsys_place *place = &r->stacks.places[link->place - 1];
	const struct gp_record_frame caller = {.frame_kind = place->kind,
					       .parent_id = *frame,
					       .origin_id = place->origin,
					       .address = place->address};

	*frame = gp_import_frame(r->im, &caller);
	return *frame != 0 ? 0 : -ENOMEM;
}

/* Makes the frames of each chain; drops inner frames beyond the deepest stack. */
static int make_frames(struct gp_nsys_reading *r)
{
	struct gp_nsys_stacks *s = &r->stacks;
	int result = 0;

	for (uint32_t i = 0; i < s->link_count && result == 0;) {
		uint32_t first = i, frame = 0;

		for (; i < s->link_count && s->links[i].chain == s->links[first].chain; i++)
			if (result == 0 && i - first < GP_FRAME_DEPTH)
				result = add_frame(r, &s->links[i], &frame);
		if (result == 0)
			result = gp_array_grow_spill(&s->chains, &s->chain_capacity, s->chain_count,
						     sizeof(*s->chains));
		if (result == 0)
			s->chains[s->chain_count++] =
				(struct gp_nsys_chain){s->links[first].chain, frame};
	}
	return result;
}

/* Stores the functions as names of the trace itself. */
static int keep_names(struct gp_nsys_reading *r)
{
	struct gp_frame_names *names = gp_frame_names_new();
	int result = names ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < r->stacks.place_count && result == 0; i++) {
		const struct gp_nsys_place *place = &r->stacks.places[i];
		const struct gp_elf_place named = {place->function, place->file, place->line};

		if (place->function)
			result =
				gp_frame_names_add(names, place->origin, place->address, &named, 1);
	}
	if (result == 0 && gp_frame_names_count(names) > 0)
		result = gp_frame_names_pack(names, &r->im->builder->model->frame_names);
	gp_frame_names_free(names);
	return result;
}

/* Ends the table at its first row. */
static int is_there(void *context, const struct gp_row *row)
{
	(void)context;
	(void)row;
	return 1;
}

int gp_nsys_take_stacks(struct gp_nsys_reading *r)
{
	struct gp_nsys_stacks *s = &r->stacks;
	int result = gp_database_each(r->database, "CUDA_CALLCHAINS", is_there, NULL);

	if (result <= 0)
		return result;
	result = gp_database_each(r->database, "CUPTI_ACTIVITY_KIND_KERNEL", take_stub, r);
	if (result == 0)
		result = gp_array_sort(s->stubs, s->stub_count, sizeof(*s->stubs), compare_stubs,
				       NULL);
	if (result == 0)
		result = gp_database_each(r->database, "CUDA_CALLCHAINS", take_link, r);
	if (result == 0)
		result = gp_array_sort(s->links, s->link_count, sizeof(*s->links), compare_links,
				       NULL);
	if (result == 0)
		result = make_frames(r);
	return result == 0 ? keep_names(r) : result;
}

static bool is_chain_before(const void *chain, const void *id)
{
	return ((const struct gp_nsys_chain *)chain)->id < *(const int64_t *)id;
}

uint32_t gp_nsys_stack(const struct gp_nsys_reading *r, const struct gp_row *row)
{
	int64_t chain = gp_row_whole(row, GP_NSYS_callchainId);
	uint32_t low;

	if (!gp_row_has(row, GP_NSYS_callchainId))
		return 0;
	low = gp_array_lower_bound(r->stacks.chains, r->stacks.chain_count,
				   sizeof(*r->stacks.chains), is_chain_before, &chain);
	return low < r->stacks.chain_count && r->stacks.chains[low].id == chain
		       ? r->stacks.chains[low].frame
		       : 0;
}

void gp_nsys_free_stacks(struct gp_nsys_stacks *s)
{
	struct gp_interner *texts[] = {&s->keys, &s->modules, &s->addresses, &s->kernels};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		gp_interner_free(texts[i]);
	for (uint32_t i = 0; i < s->place_count; i++) {
		free(s->places[i].function);
		free(s->places[i].file);
	}
	free(s->places);
	free(s->stubs);
	gp_spill_free(s->links);
	gp_spill_free(s->chains);
}
