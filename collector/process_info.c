#include "collector/process_info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/job_place.h"
#include "gpuprof/version.h"
#include "collector/clock.h"
#include "collector/collector.h"
#include "collector/process_identity.h"
#include "collector/sys.h"
#include "collector/text.h"

/* Levels of workers that started workers. */
#define MOST_PARENTS 4

/*
 * The meaning of an interpreter's one-letter options before the script; flags without an argument
 * are not listed.
 */
struct interpreter {
	const char *name; /* a prefix: a version may follow */
	const char *module;
	const char *code;
	const char *argument; /* options with an argument, which may follow without a space */
};

static const struct interpreter interpreters[] = {
	{"python", "m", "c", "WX"}, {"pypy", "m", "c", "WX"}, {"perl", "", "eE", "MmI"},
	{"ruby", "", "e", "Ir"},    {"node", "", "ep", "r"},  {"julia", "", "eE", "LptJ"},
	{"bash", "", "c", "oO"},    {"dash", "", "c", "o"},   {"zsh", "", "c", "o"},
	{"ksh", "", "c", "o"},      {"sh", "", "c", "o"},     {"lua", "", "e", "l"},
};

/* The words of a command line, NUL-separated. */
struct words {
	const char *at;
	const char *end;
};

static const char *next_word(struct words *words)
{
	const char *word = words->at;

	if (word >= words->end)
		return NULL;
	words->at += strlen(word) + 1;
	return word;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* python3.11 is python; pythonic is not. */
static const struct interpreter *find_interpreter(const char *file)
{
	const char *name = base_name(file);

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t length = strlen(interpreters[i].name);

		if (strncmp(name, interpreters[i].name, length) == 0 &&
		    strspn(name + length, "0123456789.") == strlen(name + length))
			return &interpreters[i];
	}
	return NULL;
}

enum found { FOUND_NOTHING, FOUND_MODULE, FOUND_CODE };

/* One argument of the form -abc; the argument of a letter is its rest or the next word. */
static enum found read_flags(const struct interpreter *interpreter, const char *flags,
			     struct words *words, const char **module)
{
	for (; *flags != '\0'; flags++) {
		bool takes_module = strchr(interpreter->module, *flags) != NULL;

		if (strchr(interpreter->code, *flags) != NULL)
			return FOUND_CODE;
		if (!takes_module && strchr(interpreter->argument, *flags) == NULL)
			continue;
		*module = flags[1] != '\0' ? flags + 1 : next_word(words);
		return takes_module && *module != NULL ? FOUND_MODULE : FOUND_NOTHING;
	}
	return FOUND_NOTHING;
}

/* The script or module that an interpreter runs; NULL = none, use the interpreter's name. */
static const char *find_script(const struct interpreter *interpreter, struct words words,
			       bool *is_module)
{
	const char *word;

	*is_module = false;
	next_word(&words);
	while ((word = next_word(&words)) != NULL) {
		const char *module = NULL;
		enum found found;

		if (strcmp(word, "--") == 0)
			return next_word(&words);
		if (word[0] != '-')
			return word;
		if (word[1] == '\0') /* the script comes from standard input */
			return NULL;
		if (word[1] == '-')
			continue;
		found = read_flags(interpreter, word + 1, &words, &module);
		*is_module = found == FOUND_MODULE;
		if (found != FOUND_NOTHING)
			return module;
	}
	return NULL;
}

static void add_base_name(struct gp_text *out, const char *path, const char *suffix)
{
	size_t length = strlen(path), less = strlen(suffix), start;

	while (length > 1 && path[length - 1] == '/')
		length--;
	for (start = length; start > 0 && path[start - 1] != '/'; start--)
		;
	if (length - start > less && memcmp(path + length - less, suffix, less) == 0)
		length -= less;
	gp_text_add_bytes(out, path + start, length - start);
}

int gp_process_info_program_of(const char *file, const char *command, size_t command_bytes,
			       char *out, size_t out_bytes)
{
	struct gp_text text = gp_text_in(out, out_bytes);
	const struct interpreter *interpreter = find_interpreter(file);
	struct words words = {command, command + command_bytes};
	bool is_module = false;
	const char *script = NULL;

	if (interpreter != NULL)
		script = find_script(interpreter, words, &is_module);
	if (script != NULL && is_module)
		gp_text_add(&text, script);
	else if (script != NULL)
		add_base_name(&text, script, ".py");
	if (text.length == 0)
		add_base_name(&text, file, " (deleted)");
	return (int)text.length;
}

/* Path of a file about a process; pid 0 = this process. */
static void add_process_file(struct gp_text *path, uint64_t pid, const char *name)
{
	gp_text_add(path, "/proc/");
	if (pid != 0)
		gp_text_add_decimal(path, pid);
	else
		gp_text_add(path, "self");
	gp_text_add(path, name);
}

static size_t read_process(uint64_t pid, const char *name, char *content, size_t size)
{
	char memory[64];
	struct gp_text path = gp_text_in(memory, sizeof(memory));
	ssize_t bytes;

	add_process_file(&path, pid, name);
	bytes = gp_sys_read_file(path.start, content, size - 1);
	if (bytes < 0)
		bytes = 0;
	content[bytes] = '\0';
	return (size_t)bytes;
}

static size_t read_command(char *command, size_t size)
{
	return read_process(0, "/cmdline", command, size);
}

/* 0 = unknown. */
static uint64_t parent_of(uint64_t pid)
{
	char status[256];
	uint64_t parent = 0;
	const char *end;

	read_process(pid, "/stat", status, sizeof(status));
	end = strrchr(status, ')'); /* end of the name; then " S 1234 " */
	if (end == NULL || strlen(end) <= 4)
		return 0;
	for (end += 4; *end >= '0' && *end <= '9'; end++)
		parent = 10 * parent + (uint64_t)(*end - '0');
	return parent;
}

/*
 * A worker of Python's multiprocessing with `spawn` or `forkserver`, which runs the script of its
 * parent.
 */
static bool is_worker(const char *command, size_t bytes)
{
	static const char *const starts[] = {"from multiprocessing.spawn import",
					     "from multiprocessing.forkserver import"};
	struct words words = {command, command + bytes};
	const char *word;

	while ((word = next_word(&words)) != NULL)
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
			if (strncmp(word, starts[i], strlen(starts[i])) == 0)
				return true;
	return false;
}

static bool read_file_of(uint64_t pid, char *file, size_t file_bytes)
{
	char memory[64];
	struct gp_text path = gp_text_in(memory, sizeof(memory));

	add_process_file(&path, pid, "/exe");
	return gp_sys_read_link(path.start, file, file_bytes) > 0;
}

int gp_process_info_program(char *out, size_t out_bytes)
{
	char file[GP_PATH_BYTES], command[GP_PATH_BYTES];
	size_t command_bytes = read_command(command, sizeof(command));
	uint64_t pid = 0, parent;

	for (int i = 0; i < MOST_PARENTS && is_worker(command, command_bytes); i++) {
		parent = parent_of(pid);
		if (parent == 0 || !read_file_of(parent, file, sizeof(file)) ||
		    find_interpreter(file) == NULL)
			break;
		pid = parent;
		command_bytes = read_process(pid, "/cmdline", command, sizeof(command));
	}
	if (!read_file_of(pid, file, sizeof(file))) {
		struct gp_text name = gp_text_in(file, sizeof(file));

		gp_text_add(&name, program_invocation_short_name);
	}
	return gp_process_info_program_of(file, command, command_bytes, out, out_bytes);
}

static void emit(struct gp_drain *drain, enum gp_info info, const char *text)
{
	if (text != NULL && text[0] != '\0')
		gp_drain_emit_string(drain, GP_STRING_INFO, info, text, strlen(text));
}

static void emit_number(struct gp_drain *drain, enum gp_info info, uint64_t number)
{
	char memory[24];
	struct gp_text text = gp_text_in(memory, sizeof(memory));

	gp_text_add_decimal(&text, number);
	emit(drain, info, memory);
}

static void emit_command(struct gp_drain *drain)
{
	static char command[GP_STRING_MAX_BYTES + 1];
	size_t bytes = read_command(command, sizeof(command));

	gp_drain_emit_string(drain, GP_STRING_INFO, GP_INFO_COMMAND, command, bytes);
}

static void emit_job_place(struct gp_drain *drain)
{
	struct gp_job_place place = gp_job_place();

	emit(drain, GP_INFO_RANK, place.rank);
	emit(drain, GP_INFO_WORLD_SIZE, place.world_size);
	emit(drain, GP_INFO_LOCAL_RANK, place.local_rank);
	emit(drain, GP_INFO_JOB, place.job);
}

static void emit_place(struct gp_drain *drain)
{
	char text[GP_PATH_BYTES];

	gp_process_info_program(text, sizeof(text));
	emit(drain, GP_INFO_PROGRAM, text);
	if (gp_sys_host(text, sizeof(text)) == 0)
		emit(drain, GP_INFO_HOST, text);
	if (gp_sys_directory(text, sizeof(text)) > 0)
		emit(drain, GP_INFO_DIRECTORY, text);
	gp_process_identity_boot_id(text, sizeof(text));
	emit(drain, GP_INFO_BOOT_ID, text);
}

void gp_process_info_emit(struct gp_drain *drain, bool with_command, const char *ring_file,
			  bool fell_back, const char *session)
{
	emit_place(drain);
	if (with_command)
		emit_command(drain);
	emit_job_place(drain);
	emit_number(drain, GP_INFO_PID, gp_sys_process_id());
	emit_number(drain, GP_INFO_PARENT_PID, gp_sys_parent_id());
	emit_number(drain, GP_INFO_START_TIME, gp_process_identity_start_time());
	emit(drain, GP_INFO_VERSION, GP_VERSION);
	emit(drain, GP_INFO_CLOCK, gp_clock_name());
	emit_number(drain, GP_INFO_TICKS_PER_SECOND, gp_clock_ticks_per_second());
	emit(drain, GP_INFO_RING_FILE, ring_file);
	emit(drain, GP_INFO_SESSION, session);
	if (ring_file[0] == '\0' && fell_back)
		emit(drain, GP_INFO_NOTE,
		     "no ring file could be created in /dev/shm or beside the trace: a killed process loses the last 50 ms of its records");
}
