/* Functions, files and lines of this program's own code. */
#include <stdlib.h>
#include <string.h>

#include <link.h>
#include <time.h>
#include <unistd.h>

#include "report/finish/keep_names.h"
#include "report/symbols/symbols.h"
#include "tests/unit.h"

struct scene {
	struct gp_model model;
	struct gp_frame frames[2];
	struct gp_record_module modules[1];
	struct gp_text texts[2];
	char path[4096];
	struct gp_symbols *symbols;
};

/* ---- code to look for ---- */

static volatile unsigned line;

static __attribute__((noinline)) void *here(void)
{
	return __builtin_return_address(0);
}

static __attribute__((noinline)) void *outer_function(void)
{
	void *address;

	line = __LINE__ + 1;
	address = here();
	return (char *)address + (line == 0);
}

static inline __attribute__((always_inline)) void *inner_function(void)
{
	line = __LINE__ + 1;
	void *address = here();

	return (char *)address + (line == 0);
}

static volatile unsigned line_of_inlining;

static __attribute__((noinline)) void *around_function(void)
{
	void *address;

	line_of_inlining = __LINE__ + 1;
	address = inner_function();
	return (char *)address + (line_of_inlining == 0);
}

/* ---- a model of it ---- */

static int find_own_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1; /* the program comes first */
}

static void set_path(struct scene *s, const char *path)
{
	s->texts[0] = (struct gp_text){.space = GP_STRING_MODULE,
				       .id = 1,
				       .length = (uint32_t)strlen(path),
				       .bytes = (char *)path};
}

static void build(struct scene *s, const void *address)
{
	ssize_t length = readlink("/proc/self/exe", s->path, sizeof(s->path) - 1);

	assert_true(length > 0);
	s->path[length] = '\0';
	s->modules[0] = (struct gp_record_module){.id = 1, .end_address = UINT64_MAX};
	dl_iterate_phdr(find_own_bias, &s->modules[0].bias);
	s->frames[0] = (struct gp_frame){
		.address = (uintptr_t)address, .id = 1, .parent = GP_NONE, .kind = GP_FRAME_NATIVE};
	set_path(s, s->path);
	s->model = (struct gp_model){.frames = s->frames,
				     .modules = s->modules,
				     .texts = s->texts,
				     .frame_count = 1,
				     .module_count = 1,
				     .text_count = 1};
	s->symbols = gp_symbols_new();
	assert_non_null(s->symbols);
}

static const struct gp_place *find(struct scene *s, size_t *count)
{
	return gp_symbols_find(s->symbols, &s->model, 0, count);
}

static char *explanation(struct scene *s)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	gp_symbols_explain(s->symbols, out);
	fclose(out);
	return text;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* A function of this program under the name that a compiler gives what launches a kernel. */
__attribute__((noinline)) void *stub_of_kernel(void) __asm__("_ZN4phys7collideEPNS_1PEi");
__attribute__((noinline)) void *stub_of_kernel(void)
{
	return (char *)here() + (line == 1);
}

static void test_what_launches_a_kernel_is_a_stub(void **state)
{
	static char *names[] = {"_Z6advectIfEvPT_PKS0_i", "_ZN4phys7collideEPNS_1PEi",
				"_Z7diffusePfi"};

	for (int is_launched = 0; is_launched < 2; is_launched++) {
		struct scene s;
		const struct gp_place *place;
		size_t count;

		build(&s, stub_of_kernel());
		s.model.names = names;
		s.model.name_count = is_launched ? 3 : 1;
		place = find(&s, &count);
		assert_int_equal(place[count - 1].is_stub, is_launched);
		gp_symbols_free(s.symbols);
	}
}

/*
 * The same, and the functions that these call, which have their kernels' names in their own: of
 * C++, a static one, of C.
 */
__attribute__((noinline)) void *
stub_of_cpp(void) __asm__("_Z33__device_stub__Z9transposePfPKfiiPfPKfii");
__attribute__((noinline)) void *stub_of_cpp(void)
{
	return (char *)here() + (line == 2);
}

__attribute__((noinline)) void *caller_of_cpp(void) __asm__("_Z9transposePfPKfii");
__attribute__((noinline)) void *caller_of_cpp(void)
{
	return (char *)here() + (line == 3);
}

__attribute__((noinline)) void *stub_of_static(void) __asm__("_ZL25__device_stub__Z6hiddenPiPi");
__attribute__((noinline)) void *stub_of_static(void)
{
	return (char *)here() + (line == 4);
}

__attribute__((noinline)) void *caller_of_static(void) __asm__("_ZL6hiddenPi");
__attribute__((noinline)) void *caller_of_static(void)
{
	return (char *)here() + (line == 5);
}

__attribute__((noinline)) void *stub_of_c(void) __asm__("_Z32__device_stub__Z12plain_kernelPiPi");
__attribute__((noinline)) void *stub_of_c(void)
{
	return (char *)here() + (line == 6);
}

__attribute__((noinline)) void *caller_of_c(void) __asm__("plain_kernel");
__attribute__((noinline)) void *caller_of_c(void)
{
	return (char *)here() + (line == 7);
}

/* Says to be of a kernel whose name is longer than anything. */
__attribute__((noinline)) void *
hostile_stub(void) __asm__("_Z36__device_stub__Z18446744073709551615");
__attribute__((noinline)) void *hostile_stub(void)
{
	return (char *)here() + (line == 8);
}

static bool is_stub_of(void *caller, void *stub, uint8_t class, uint32_t first_op)
{
	struct gp_call call = {.api = 211, .stack = 1, .first_op = first_op};
	struct gp_op op = {.kind = GP_OP_KERNEL};
	struct gp_api_table apis = {0};
	const struct gp_place *place;
	struct scene s;
	size_t count;
	bool found;

	build(&s, caller);
	s.frames[1] = s.frames[0];
	s.frames[1].address = (uintptr_t)stub;
	s.frames[1].parent = 0;
	s.model.frame_count = 2;
	s.model.private = &apis;
	s.model.calls = &call;
	s.model.call_count = 1;
	s.model.ops = &op;
	s.model.op_count = 1;
	assert_int_equal(gp_api_table_set(&apis, 211, strdup("cudaLaunchKernel"), class), 0);
	place = find(&s, &count);
	found = place[count - 1].is_stub;
	gp_api_table_clear(&apis);
	gp_symbols_free(s.symbols);
	return found;
}

static bool is_stub(void *caller, void *stub, uint8_t class)
{
	return is_stub_of(caller, stub, class, GP_NONE);
}

/* A static kernel is called otherwise in its records. */
static void test_a_stub_whose_kernel_ran_is_known(void **state)
{
	assert_true(is_stub_of(caller_of_static(), stub_of_static(), GP_API_LAUNCH, 0));
}

/*
 * Of a launch that failed, in a process that died before a record of its kernel came, there is no
 * name but the stub's.
 */
static void test_a_stub_is_known_by_what_it_calls(void **state)
{
	assert_true(is_stub(caller_of_cpp(), stub_of_cpp(), GP_API_LAUNCH));
	assert_true(is_stub(caller_of_static(), stub_of_static(), GP_API_LAUNCH));
	assert_true(is_stub(caller_of_c(), stub_of_c(), GP_API_LAUNCH));
	assert_false(is_stub(caller_of_cpp(), stub_of_c(), GP_API_LAUNCH));
	assert_false(is_stub(caller_of_cpp(), stub_of_cpp(), GP_API_OTHER));
	assert_false(is_stub(caller_of_cpp(), hostile_stub(), GP_API_LAUNCH));
}

static void test_a_function_has_file_and_line(void **state)
{
	struct scene s;
	const struct gp_place *place;
	size_t count;
	char *text;

	build(&s, outer_function());
	place = find(&s, &count);
	assert_int_equal(count, 1);
	assert_string_equal(place->function, "outer_function");
	assert_true(ends_with(place->file, "tests/report/symbols/symbols_test.c"));
	assert_int_equal(place->line, line);
	assert_string_equal(place->module, s.path);
	assert_ptr_equal(find(&s, &count), place); /* looked up once */
	text = explanation(&s);
	assert_string_equal(text, "");
	free(text);
	gp_symbols_free(s.symbols);
}

static void test_inlined_functions_come_first(void **state)
{
	struct scene s;
	const struct gp_place *places;
	size_t count;

	build(&s, around_function());
	places = find(&s, &count);
	assert_int_equal(count, 2);
	assert_string_equal(places[0].function, "inner_function");
	assert_int_equal(places[0].line, line);
	assert_string_equal(places[1].function, "around_function");
	assert_int_equal(places[1].line, line_of_inlining);
	gp_symbols_free(s.symbols);
}

static void test_another_build_is_not_asked(void **state)
{
	struct scene s;
	const struct gp_place *place;
	size_t count;
	char *text;

	build(&s, outer_function());
	s.modules[0].build_id_bytes = 20;
	memset(s.modules[0].build_id, 0xee, 20);
	place = find(&s, &count);
	assert_int_equal(count, 1);
	assert_non_null(strstr(place->function, "symbols_test+0x"));
	assert_int_equal(place->naming, GP_FILE_UNREAD);
	text = explanation(&s);
	assert_non_null(strstr(text, "symbols_test (the file has changed"));
	free(text);
	gp_symbols_free(s.symbols);
}

static void test_files_that_cannot_be_read(void **state)
{
	static const char *const paths[][2] = {
		{"/nonexistent/libx.so", "libx.so+0x1233"},
		{"/dev/zero", "zero+0x1233"},
		{"/etc/passwd", "passwd+0x1233"},
		{"relative.so", "relative.so+0x1233"},
		{"", "(unknown module)+0x1233"},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct scene s;
		size_t count;
		char *text;

		build(&s, (void *)0x1234);
		s.modules[0].bias = 0;
		set_path(&s, paths[i][0]);
		assert_string_equal(find(&s, &count)->function, paths[i][1]);
		assert_int_equal(find(&s, &count)->naming,
				 paths[i][0][0] == '/' ? GP_FILE_UNREAD : GP_NAMED);
		text = explanation(&s);
		assert_non_null(strstr(text, "functions have no names in"));
		free(text);
		gp_symbols_free(s.symbols);
	}
}

/* What a module without a build id has in its place says nothing. */
static void test_a_file_of_many_modules_is_one(void **state)
{
	struct scene s;
	struct gp_record_module modules[2];
	size_t count;
	char *text;

	build(&s, (void *)0x1234);
	set_path(&s, "/nonexistent/\033[2Jlibx.so");
	modules[0] = modules[1] = s.modules[0];
	modules[1].build_id[3] = 7;
	s.model.modules = modules;
	for (uint32_t i = 0; i < 2; i++) {
		s.frames[i] = (struct gp_frame){
			.address = 0x1234, .id = i + 1, .origin = i, .kind = GP_FRAME_NATIVE};
		s.model.frame_count = s.model.module_count = i + 1;
	}
	for (uint32_t i = 0; i < 2; i++)
		gp_symbols_find(s.symbols, &s.model, i, &count);
	text = explanation(&s);
	assert_string_equal(
		text,
		"gpuprof: functions have no names in /nonexistent/\\x1b[2Jlibx.so (the file is gone)\n");
	free(text);
	gp_symbols_free(s.symbols);
}

/* The one that most frames are in comes first, and so many are named. */
static void test_many_files_that_cannot_be_read(void **state)
{
	enum { FILES = 7 };
	struct gp_record_module modules[FILES];
	struct gp_frame frames[2 * FILES];
	struct gp_text texts[FILES];
	char paths[FILES][32];
	struct scene s;
	size_t count;
	char *text;

	build(&s, NULL);
	for (uint32_t i = 0; i < FILES; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/nonexistent/lib%u.so", i);
		texts[i] = (struct gp_text){.space = GP_STRING_MODULE,
					    .id = i + 1,
					    .length = (uint32_t)strlen(paths[i]),
					    .bytes = paths[i]};
		modules[i] = (struct gp_record_module){.id = i + 1, .end_address = UINT64_MAX};
		for (uint32_t f = 0; f < 2; f++)
			frames[2 * i + f] = (struct gp_frame){.address = 0x1234 + f,
							      .id = 2 * i + f + 1,
							      .origin = i,
							      .kind = GP_FRAME_NATIVE};
	}
	s.model = (struct gp_model){.frames = frames,
				    .modules = modules,
				    .texts = texts,
				    .frame_count = 2 * FILES,
				    .module_count = FILES,
				    .text_count = FILES};
	for (uint32_t i = 0; i < FILES; i++)
		gp_symbols_find(s.symbols, &s.model, 2 * i, &count);
	gp_symbols_find(s.symbols, &s.model, 2 * 5 + 1, &count);
	text = explanation(&s);
	assert_non_null(strstr(
		text, "functions have no names in /nonexistent/lib5.so (the file is gone), "));
	assert_non_null(strstr(text, " and 2 more\n"));
	free(text);
	gp_symbols_free(s.symbols);
}

static void test_python_frames(void **state)
{
	static const char code[] = "\5\0\0\0\3\0\0\0/home/train.py\0Net.step\0\xd0\x02";
	struct scene s;
	const struct gp_place *place;
	size_t count;

	build(&s, NULL);
	s.texts[1] = (struct gp_text){.space = GP_STRING_CODE,
				      .id = 9,
				      .length = sizeof(code) - 1,
				      .bytes = (char *)code};
	s.frames[0].kind = GP_FRAME_PYTHON;
	s.frames[0].origin = 1;
	place = find(&s, &count);
	assert_int_equal(count, 1);
	assert_string_equal(place->function, "Net.step");
	assert_string_equal(place->file, "/home/train.py");
	assert_int_equal(place->line, 5);
	assert_int_equal(place->kind, GP_FRAME_PYTHON);
	gp_symbols_free(s.symbols);
}

static void test_what_is_no_function(void **state)
{
	static const uint16_t kinds[] = {GP_FRAME_NATIVE, GP_FRAME_PYTHON, GP_FRAME_COPY,
					 GP_FRAME_CUT,    GP_FRAME_STUCK,  99};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct scene s;
		size_t count;

		build(&s, NULL);
		s.frames[0].kind = kinds[i];
		s.frames[0].origin = GP_NONE;
		assert_int_equal(find(&s, &count)->function[0], '(');
		assert_int_equal(count, 1);
		gp_symbols_free(s.symbols);
	}
}

/* What a compiler at run time left of its code's names, as this process would have. */
static void write_own_perf_map(char path[64])
{
	FILE *file;

	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	file = fopen(path, "wx");
	assert_non_null(file);
	fputs("70000000 100 jitted_function\n", file);
	assert_int_equal(fclose(file), 0);
}

static void test_code_in_no_file_has_the_name_of_the_perf_map(void **state)
{
	static const char *const hosts[] = {NULL, "another-machine"};
	char path[64], host[256] = "";

	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	write_own_perf_map(path);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct scene s;
		size_t count;
		const char *expected = hosts[i] ? "(" : "jitted_function";

		build(&s, (void *)0x70000011);
		s.frames[0].origin = GP_NONE;
		s.model.pid = (uint32_t)getpid();
		s.model.info[GP_INFO_HOST] = (char *)(hosts[i] ? hosts[i] : host);
		s.model.base_unix_ns = (uint64_t)time(NULL) * 1000000000u;
		s.model.base_monotonic_ns = 5000000000u;
		s.model.info[GP_INFO_START_TIME] = (char *)"100"; /* ticks: a second after boot */
		assert_int_equal(strncmp(find(&s, &count)->function, expected, strlen(expected)),
				 0);
		assert_int_equal(count, 1);
		gp_symbols_free(s.symbols);
	}
	unlink(path);
}

/* Of frames in any order, each address once. */
static void test_kept_names_are_those_of_all_frames(void **state)
{
	const void *addresses[] = {outer_function(), around_function(), outer_function()};
	FILE *trace = tmpfile();
	struct gp_frame frames[3];
	struct scene s;
	size_t count;

	assert_non_null(trace);
	assert_int_equal(ftruncate(fileno(trace), 8), 0);
	build(&s, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		frames[i] = s.frames[0];
		frames[i].id = i + 1;
		frames[i].address = (uintptr_t)addresses[i];
	}
	s.model.frames = frames;
	s.model.frame_count = 3;
	s.model.file_bytes = 8;
	assert_int_equal(gp_keep_names(fileno(trace), &s.model), 0);
	set_path(&s, "/nonexistent/libx.so");
	assert_string_equal(gp_symbols_find(s.symbols, &s.model, 2, &count)->function,
			    "outer_function");
	assert_string_equal(gp_symbols_find(s.symbols, &s.model, 1, &count)->function,
			    "inner_function");
	gp_symbols_free(s.symbols);
	free(s.model.frame_names.bytes);
	fclose(trace);
}

static void test_kept_names_need_no_file(void **state)
{
	FILE *trace = tmpfile();
	struct scene s;
	size_t count;

	assert_non_null(trace);
	assert_int_equal(ftruncate(fileno(trace), 8), 0);
	build(&s, around_function());
	s.model.file_bytes = 8;
	assert_int_equal(gp_keep_names(fileno(trace), &s.model), 0);
	set_path(&s, "/nonexistent/libx.so");
	assert_string_equal(find(&s, &count)->function, "inner_function");
	assert_int_equal(count, 2);
	gp_symbols_free(s.symbols);
	free(s.model.frame_names.bytes);
	fclose(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_function_has_file_and_line),
		cmocka_unit_test(test_what_launches_a_kernel_is_a_stub),
		cmocka_unit_test(test_a_stub_is_known_by_what_it_calls),
		cmocka_unit_test(test_a_stub_whose_kernel_ran_is_known),
		cmocka_unit_test(test_inlined_functions_come_first),
		cmocka_unit_test(test_another_build_is_not_asked),
		cmocka_unit_test(test_files_that_cannot_be_read),
		cmocka_unit_test(test_a_file_of_many_modules_is_one),
		cmocka_unit_test(test_many_files_that_cannot_be_read),
		cmocka_unit_test(test_python_frames),
		cmocka_unit_test(test_what_is_no_function),
		cmocka_unit_test(test_code_in_no_file_has_the_name_of_the_perf_map),
		cmocka_unit_test(test_kept_names_need_no_file),
		cmocka_unit_test(test_kept_names_are_those_of_all_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
