#include "report/symbols/symbols.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/symbols/elf_code.h"
#include "report/symbols/frame_names.h"
#include "report/symbols/names.h"
#include "report/symbols/perf_map.h"
#include "report/symbols/python_code.h"
#include "report/base/text/text.h"
#include "report/base/tree.h"

#define MOST_EXPLAINED 5
#define STUB           "__device_stub_" /* before the kernel's mangled name, which begins with _ */
#define STUB_FRAMES    6                /* innermost frames of a launch, one of which is the stub */
#define MOST_LATE_S    60 /* after a trace has ended its process may still write its map */

/* The file of a module, shared by all processes. */
struct file {
	char *path;
	uint8_t build_id[20]; /* build_id_bytes bytes, then zeros */
	uint8_t build_id_bytes;
	struct gp_elf_code *code; /* NULL: `problem` has the reason */
	const char *problem;
	uint32_t named, unnamed; /* number of frames */
};

struct frame_places {
	struct gp_place *places;
	uint32_t count; /* 0 = not looked up yet */
};

/* The results for the frames of one model. */
struct known {
	const struct gp_model *model;
	struct frame_places *frames;
	uint32_t count;               /* number of frames */
	struct gp_frame_names *names; /* from the trace; NULL = none */
	struct gp_perf_map *perf_map; /* of the process; NULL = none */
	char **kernels;               /* mangled names, sorted; NULL = no memory */
	uint32_t kernel_count, kernel_capacity;
};

struct text {
	struct text *next;
	char bytes[];
};

struct gp_symbols {
	struct gp_names *names;
	struct file **files; /* in the order of their first use */
	void *index;         /* a tsearch() tree of the same files: a trace may name very many */
	struct known *known;
	uint32_t file_count, file_capacity, known_count, known_capacity;
	struct text *texts; /* generated texts */
};

struct gp_symbols *gp_symbols_new(void)
{
	struct gp_symbols *symbols = calloc(1, sizeof(*symbols));

	symbols->names = gp_names_new();
	return symbols;
}

static void free_known(struct known *known)
{
	for (uint32_t i = 0; i < known->count; i++)
		free(known->frames[i].places);
	free(known->frames);
	gp_frame_names_free(known->names);
	gp_perf_map_free(known->perf_map);
	free(known->kernels);
}

void gp_symbols_forget(struct gp_symbols *symbols, const struct gp_model *model)
{
	for (uint32_t i = symbols->known_count; i-- > 0;)
		if (symbols->known[i].model == model) {
			free_known(&symbols->known[i]);
			symbols->known[i] = symbols->known[--symbols->known_count];
		}
}

static void free_file(void *element)
{
	struct file *file = element;

	gp_elf_code_close(file->code);
	free(file->path);
	free(file);
}

void gp_symbols_free(struct gp_symbols *symbols)
{
	if (!symbols)
		return;
	for (uint32_t i = 0; i < symbols->known_count; i++)
		free_known(&symbols->known[i]);
	tdestroy(symbols->index, free_file);
	while (symbols->texts) {
		struct text *next = symbols->texts->next;

		free(symbols->texts);
		symbols->texts = next;
	}
	gp_names_free(symbols->names);
	free(symbols->known);
	free(symbols->files);
	free(symbols);
}

/* ---- files ---- */

static int compare_files(const void *a, const void *b)
{
	const struct file *left = a, *right = b;
	int order = left->build_id_bytes - right->build_id_bytes;

	if (order == 0)
		order = memcmp(left->build_id, right->build_id, sizeof(left->build_id));
	return order != 0 ? order : strcmp(left->path, right->path);
}

static void look_into(struct file *file)
{
	if (file->path[0] == '/')
		file->code = gp_elf_code_open(file->path, file->build_id, file->build_id_bytes,
					      &file->problem);
	else
		file->problem = "it has no file";
}

static struct file *open_file(struct gp_symbols *symbols, const struct file *wanted)
{
	struct file *file = malloc(sizeof(*file));

	if (!file || gp_array_grow(&symbols->files, &symbols->file_capacity, symbols->file_count,
				   sizeof(*symbols->files)) != 0)
		goto fail;
	*file = *wanted;
	file->path = strdup(wanted->path);
	if (!file->path || !tsearch(file, &symbols->index, compare_files))
		goto fail_with_path;
	symbols->files[symbols->file_count++] = file;
	look_into(file);
	return file;
fail_with_path:
	free(file->path);
fail:
	free(file);
	return NULL;
}

static struct file *find_file(struct gp_symbols *symbols, const struct gp_record_module *module,
			      const char *path)
{
	struct file wanted = {.path = (char *)path}, **found;

	if (module->build_id_bytes <= sizeof(wanted.build_id))
		wanted.build_id_bytes = module->build_id_bytes;
	memcpy(wanted.build_id, module->build_id, wanted.build_id_bytes);
	found = tfind(&wanted, &symbols->index, compare_files);
	return found ? *found : open_file(symbols, &wanted);
}

/* ---- a frame ---- */

/* A zeroed text of `length` bytes and a NUL. */
static char *new_text(struct gp_symbols *symbols, size_t length)
{
	struct text *text = calloc(1, sizeof(*text) + length + 1);

	text->next = symbols->texts;
	symbols->texts = text;
	return text->bytes;
}

static const char *make_text(struct gp_symbols *symbols, const char *module, uint64_t address)
{
	size_t room = strlen(module) + 20;
	char *text = new_text(symbols, room);

	snprintf(text, room, "%s+0x%llx", module, (unsigned long long)address);
	return text;
}

static void set_places(struct frame_places *found, const struct gp_place *places, size_t count)
{
	found->places = malloc(count * sizeof(*places));
	memcpy(found->places, places, count * sizeof(*places));
	found->count = (uint32_t)count;
}

static void set_place(struct frame_places *found, const struct gp_frame *frame,
		      const char *function)
{
	set_places(found,
		   &(struct gp_place){
			   .function = function, .file = "", .module = "", .kind = frame->kind},
		   1);
}

static void look_up_python(const struct gp_model *model, const struct gp_frame *frame,
			   struct frame_places *found)
{
	const struct gp_text *text = frame->origin != GP_NONE ? &model->texts[frame->origin] : NULL;
	struct gp_python_code code;

	if (!text || !gp_python_code_read(text->bytes, text->length, &code)) {
		set_place(found, frame, "(unknown Python function)");
		return;
	}
	set_places(found,
		   &(struct gp_place){
			   .function = code.name,
			   .file = code.file,
			   .module = "",
			   .line = gp_python_code_line(&code, frame->address),
			   .kind = GP_FRAME_PYTHON,
		   },
		   1);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Whether a function is the compiler's stub that launches a kernel with <<<>>>. It has the kernel's
 * own name and calls the runtime. Without such a kernel, an unmangled name is a function of the
 * user.
 */
static bool is_stub(const struct known *known, const char *function)
{
	static const char *const made_up[] = {STUB "_", "__wrapper__device_stub_"};

	if (!function)
		return false;
	for (size_t i = 0; i < sizeof(made_up) / sizeof(made_up[0]); i++)
		if (strstr(function, made_up[i]))
			return true;
	return known->kernels &&
	       bsearch(&function, known->kernels, known->kernel_count, sizeof(char *),
		       compare_names) &&
	       (strncmp(function, "_Z", 2) == 0 ||
		gp_model_calls_api(known->model, "cudaLaunchKernel"));
}

static size_t name_places(struct gp_symbols *symbols, const struct known *known,
			  const struct gp_elf_place *found, size_t count, const char *module,
			  struct gp_place *places)
{
	for (size_t i = 0; i < count; i++)
		places[i] = (struct gp_place){
			.function = found[i].function
					    ? gp_names_short(symbols->names, found[i].function)
					    : "(unnamed function)",
			.symbol = found[i].function,
			.file = found[i].file ? found[i].file : "",
			.module = module,
			.line = found[i].line,
			.kind = GP_FRAME_NATIVE,
			.is_stub = is_stub(known, found[i].function),
		};
	return count;
}

/* A native frame: its module, if any, and its functions with the compiler's names. */
struct native {
	const char *module; /* path */
	uint32_t module_id; /* 0 = none */
	struct file *file;  /* the opened file, or NULL */
	uint64_t address;   /* of the call: in the file's symbol table, or in memory */
	const struct gp_elf_place *places;
	struct gp_elf_place made_up; /* for JIT-compiled code: the element of `places` */
	size_t count;                /* 0 = unknown function */
};

/*
 * A frame has the return address of its call, which may be on the next line or in the next
 * function. The call is in the byte before.
 */
static void find_in_module(struct gp_symbols *symbols, const struct known *known,
			   const struct gp_frame *frame, struct native *native)
{
	const struct gp_record_module *module = &known->model->modules[frame->origin];

	native->module = gp_model_module_path(known->model, module);
	native->module_id = module->id;
	native->address = frame->address - module->bias - 1;
	native->count =
		gp_frame_names_find(known->names, module->id, frame->address, &native->places);
	if (native->count > 0)
		return;
	native->file = find_file(symbols, module, native->module);
	if (native->file && !native->file->code && known->names)
		native->file = NULL; /* the file had no name for it during the recording, either */
	if (native->file && native->file->code)
		native->count =
			gp_elf_code_find(native->file->code, native->address, &native->places);
	if (native->count > 0 && !native->places[native->count - 1].function)
		native->count = 0;
}

/* JIT-compiled code, whose compiler may have written a perf map. */
static void find_in_no_file(const struct known *known, const struct gp_frame *frame,
			    struct native *native)
{
	native->address = frame->address - 1;
	native->count = gp_frame_names_find(known->names, 0, frame->address, &native->places);
	if (native->count > 0 || !known->perf_map)
		return;
	native->made_up.function = gp_perf_map_find(known->perf_map, native->address);
	native->places = &native->made_up;
	native->count = native->made_up.function != NULL;
}

static void find_native(struct gp_symbols *symbols, const struct known *known,
			const struct gp_frame *frame, struct native *native)
{
	*native = (struct native){.module = ""};
	if (frame->origin != GP_NONE)
		find_in_module(symbols, known, frame, native);
	else
		find_in_no_file(known, frame, native);
}

/* Names in a trace were read where the files were. */
static enum gp_naming naming_of(const struct known *known, const struct native *native)
{
	if (native->module[0] != '/')
		return GP_NAMED;
	if (native->file)
		return native->file->code ? GP_WITHOUT_SYMBOLS : GP_FILE_UNREAD;
	return known->names ? GP_WITHOUT_SYMBOLS : GP_NAMED;
}

static void look_up_in_module(struct gp_symbols *symbols, const struct known *known,
			      const struct native *native, struct frame_places *found)
{
	struct gp_place places[GP_ELF_PLACES];

	if (native->count > 0) {
		if (native->file)
			native->file->named++;
		set_places(found, places,
			   name_places(symbols, known, native->places, native->count,
				       native->module, places));
		return;
	}
	if (native->file)
		native->file->unnamed++;
	places[0] = (struct gp_place){
		.function = make_text(
			symbols, native->module[0] ? basename(native->module) : "(unknown module)",
			native->address),
		.file = "",
		.module = native->module,
		.kind = GP_FRAME_NATIVE,
		.naming = naming_of(known, native),
	};
	set_places(found, places, 1);
}

static void look_up_native(struct gp_symbols *symbols, const struct known *known,
			   const struct gp_frame *frame, struct frame_places *found)
{
	struct native native;

	find_native(symbols, known, frame, &native);
	if (frame->origin != GP_NONE)
		look_up_in_module(symbols, known, &native, found);
	else
		set_place(found, frame,
			  native.count > 0 ? native.places[0].function : "(code in no file)");
}

static void look_up(struct gp_symbols *symbols, const struct known *known,
		    const struct gp_frame *frame, struct frame_places *found)
{
	const struct gp_model *model = known->model;

	switch (frame->kind) {
	case GP_FRAME_PYTHON:
		look_up_python(model, frame, found);
		break;
	case GP_FRAME_CUT:
		set_place(found, frame, "(deeper frames were not kept)");
		break;
	case GP_FRAME_COPY:
		set_place(found, frame, "(callers unknown: their files are not here)");
		break;
	case GP_FRAME_STUCK:
		set_place(found, frame, "(callers unknown: code without unwind information)");
		break;
	case GP_FRAME_NATIVE:
		look_up_native(symbols, known, frame, found);
		break;
	default:
		set_place(found, frame, "(unknown frame)");
	}
}

/* ---- stubs that launch kernels with <<<>>> ---- */

static bool add_kernel(struct known *known, char *name)
{
	gp_array_grow(&known->kernels, &known->kernel_capacity, known->kernel_count,
		      sizeof(*known->kernels));
	known->kernels[known->kernel_count++] = name;
	return true;
}

/*
 * The function that calls a stub has the name of the kernel within the stub's name: "_Z1kPii" in
 * "_Z21__device_stub__Z1kPiiPii", where the stub's own length precedes it. A static kernel is
 * "_ZL1kPii", one with C linkage "k".
 */
static void add_callers(struct gp_symbols *symbols, struct known *known, const char *kernel,
			size_t length)
{
	char *name = new_text(symbols, length), *local = new_text(symbols, length + 1), *plain;
	size_t bytes, digits;

	if (!name || !local || strncmp(kernel, "_Z", 2) != 0)
		return;
	memcpy(name, kernel, length);
	add_kernel(known, name);
	snprintf(local, length + 2, "_ZL%s", name + 2);
	add_kernel(known, local);
	bytes = strtoul(name + 2, NULL, 10);
	digits = strspn(name + 2, "0123456789");
	if (bytes == 0 || bytes > length - 2 - digits) /* the length has that many digits */
		return;
	plain = new_text(symbols, bytes);
	if (plain)
		add_kernel(known, memcpy(plain, name + 2 + digits, bytes));
}

/* Whether the function is a stub; adds its callers then. */
static bool take_stub(struct gp_symbols *symbols, struct known *known, const char *function)
{
	const char *stub = function ? strstr(function, STUB) : NULL, *digits = stub;
	size_t length;

	while (digits && digits > function && isdigit((unsigned char)digits[-1]))
		digits--;
	length = digits ? strtoul(digits, NULL, 10) : 0;
	if (length <= strlen(STUB) || length > strlen(stub))
		return false;
	add_callers(symbols, known, stub + strlen(STUB), length - strlen(STUB));
	return true;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Whether the address is new. The pointer must stay valid. */
static bool is_new(void **addresses, const uint64_t *address)
{
	const uint64_t *const *node = tsearch(address, addresses, compare_addresses);

	return node && *node == address;
}

/*
 * Searches the innermost frames of a launch for a stub. Each address is looked up once, however
 * many stacks have it.
 */
static void find_stub(struct gp_symbols *symbols, struct known *known, uint32_t frame,
		      void **addresses)
{
	const struct gp_frame *frames = known->model->frames;

	for (int i = 0;
	     i < STUB_FRAMES && frame != GP_NONE && frames[frame].kind == GP_FRAME_NATIVE;
	     i++, frame = frames[frame].parent) {
		struct native native;

		if (!is_new(addresses, &frames[frame].address))
			continue;
		find_native(symbols, known, &frames[frame], &native);
		for (size_t place = 0; place < native.count; place++)
			if (take_stub(symbols, known, native.places[place].function))
				return;
	}
}

/*
 * Stubs may be the only source of kernel names: for a failed launch, or one without a record. And
 * the record of a static kernel does not have the name of the function that launches it.
 */
static void find_stubs(struct gp_symbols *symbols, struct known *known)
{
	const struct gp_model *model = known->model;
	bool *seen = calloc((size_t)model->frame_count + 1, sizeof(*seen));
	void *addresses = NULL;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (call->stack == GP_NONE || seen[call->stack] ||
		    gp_model_api_class(model, call->api) != GP_API_LAUNCH)
			continue;
		seen[call->stack] = true;
		find_stub(symbols, known, call->stack, &addresses);
	}
	gp_tree_free(addresses);
	free(seen);
}

static void find_kernels(struct gp_symbols *symbols, struct known *known)
{
	for (uint32_t i = 0; i < known->model->name_count; i++)
		if (!add_kernel(known, known->model->names[i]))
			return;
	find_stubs(symbols, known);
	if (known->kernel_count > 0)
		qsort(known->kernels, known->kernel_count, sizeof(*known->kernels), compare_names);
}

/* The start of the process by the clock of files; the time of the first record if it is unknown. */
static int64_t start_of(const struct gp_model *model)
{
	const char *text = model->info[GP_INFO_START_TIME];
	uint64_t start_ns = text ? strtoull(text, NULL, 10) * 10000000u : model->base_monotonic_ns;
	uint64_t before_ns =
		model->base_monotonic_ns > start_ns ? model->base_monotonic_ns - start_ns : 0;

	return (int64_t)(model->base_unix_ns / 1000000000u) - (int64_t)(before_ns / 1000000000u) -
	       1;
}

/* Opens the map that this process has written on this machine. */
static struct gp_perf_map *open_perf_map(const struct gp_model *model)
{
	char path[64], host[256] = "";
	uint64_t end_ns = model->base_unix_ns + model->end_ns;

	if (gethostname(host, sizeof(host) - 1) != 0 || !model->info[GP_INFO_HOST] ||
	    strcmp(host, model->info[GP_INFO_HOST]) != 0)
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", model->pid);
	return gp_perf_map_open(path, start_of(model),
				(int64_t)(end_ns / 1000000000u) + MOST_LATE_S);
}

static struct known *find_known(struct gp_symbols *symbols, const struct gp_model *model)
{
	struct frame_places *frames;

	for (uint32_t i = symbols->known_count; i-- > 0;)
		if (symbols->known[i].model == model)
			return &symbols->known[i];
	frames = calloc((size_t)model->frame_count + 1, sizeof(*frames));
	gp_array_grow(&symbols->known, &symbols->known_capacity, symbols->known_count,
		      sizeof(*symbols->known));
	symbols->known[symbols->known_count] = (struct known){
		.model = model,
		.frames = frames,
		.count = model->frame_count,
		.names = model->frame_names.bytes ? gp_frame_names_unpack(&model->frame_names)
						  : NULL,
		.perf_map = open_perf_map(model),
	};
	find_kernels(symbols, &symbols->known[symbols->known_count]);
	return &symbols->known[symbols->known_count++];
}

const struct gp_place *gp_symbols_find(struct gp_symbols *symbols, const struct gp_model *model,
				       uint32_t frame, size_t *count)
{
	struct known *known = find_known(symbols, model);
	struct frame_places *found = &known->frames[frame];

	if (found->count == 0)
		look_up(symbols, known, &model->frames[frame], found);
	*count = found->count;
	return found->places;
}

static int compare_code(const void *a, const void *b, void *context)
{
	const struct gp_model *model = context;
	const struct gp_frame *left = &model->frames[*(const uint32_t *)a];
	const struct gp_frame *right = &model->frames[*(const uint32_t *)b];

	if (left->origin != right->origin)
		return left->origin < right->origin ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

/* Lists the native frames, one for each address. Returns their number. */
static uint32_t list_code(const struct gp_model *model, uint32_t *frames)
{
	uint32_t count = 0, kept = 0;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].kind == GP_FRAME_NATIVE)
			frames[count++] = i;
	qsort_r(frames, count, sizeof(*frames), compare_code, (void *)model);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || compare_code(&frames[kept - 1], &frames[i], (void *)model) != 0)
			frames[kept++] = frames[i];
	return kept;
}

int gp_symbols_collect(struct gp_symbols *symbols, const struct gp_model *model,
		       struct gp_frame_names *names)
{
	uint32_t *frames = malloc(((size_t)model->frame_count + 1) * sizeof(*frames));
	struct known *known = find_known(symbols, model);
	uint32_t count = frames ? list_code(model, frames) : 0;
	int result = 0;

	for (uint32_t i = 0; i < count && result == 0; i++) {
		const struct gp_frame *frame = &model->frames[frames[i]];
		struct native native;

		find_native(symbols, known, frame, &native);
		if (native.count > 0)
			result = gp_frame_names_add(names, native.module_id, frame->address,
						    native.places, native.count);
	}
	free(frames);
	return result;
}

/* ---- unnamed functions ---- */

static int compare_unnamed(const void *a, const void *b)
{
	const struct file *left = *(const struct file *const *)a;
	const struct file *right = *(const struct file *const *)b;

	return (left->unnamed < right->unnamed) - (left->unnamed > right->unnamed);
}

static const char *problem_of(const struct file *file)
{
	return file->problem ? file->problem : "it has no symbols";
}

/* The path comes from a trace, and may hold any bytes. */
static void print_unnamed(const struct file *file, FILE *out)
{
	char *path = gp_text_escape(file->path);

	fprintf(out, " %s (%s)", path, problem_of(file));
	free(path);
}

void gp_symbols_explain(const struct gp_symbols *symbols, FILE *out)
{
	const struct file **unnamed = calloc(symbols->file_count + 1, sizeof(const struct file *));
	uint32_t count = 0;

	for (uint32_t i = 0; i < symbols->file_count; i++)
		if (symbols->files[i]->unnamed > 0)
			unnamed[count++] = symbols->files[i];
	if (count > 0) {
		qsort(unnamed, count, sizeof(*unnamed), compare_unnamed);
		fputs("gpuprof: functions have no names in", out);
		for (uint32_t i = 0; i < count && i < MOST_EXPLAINED; i++) {
			fputs(i > 0 ? "," : "", out);
			print_unnamed(unnamed[i], out);
		}
		if (count > MOST_EXPLAINED)
			fprintf(out, " and %u more", count - MOST_EXPLAINED);
		fputs("\n", out);
	}
	free(unnamed);
}

const char *gp_place_file(const struct gp_place *place)
{
	const char *name = basename(place->file);

	if (strcmp(name, "__init__.py") != 0 && strcmp(name, "__main__.py") != 0)
		return name;
	if (name > place->file + 1)
		for (name--; name > place->file && name[-1] != '/';)
			name--;
	return name;
}
void gp_place_put(const struct gp_place *place, bool with_line, char *text, size_t bytes)
{
	const char *file = gp_place_file(place);
	bool is_native = place->kind != GP_FRAME_PYTHON;

	if (*file == '\0' || (with_line && is_native && place->line == 0))
		snprintf(text, bytes, "%s", place->function);
	else if (with_line && place->line > 0)
		snprintf(text, bytes, "%s (%s:%u)", place->function, file, place->line);
	else
		snprintf(text, bytes, "%s (%s)", place->function, file);
}
