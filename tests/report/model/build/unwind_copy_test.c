/*
 * Stacks with frames that the recorder's rules do not express: what the model has of them against
 * libunwind's word on the live stack. The recorder is loaded as a library, for it is none of this
 * side's.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/load/load_model.h"
#include "report/model/model.h"
#include "report/model/build/unwind_copy.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#if defined(__x86_64__)

#define FRAMES 128
#define STACKS 64
#define ROUNDS 4

typedef long back(long argument);

/*
 * Functions that keep the end of their frame in rbx: by the CFA's register, and by an expression.
 * They take `bytes` of stack, then call.
 */
#define IRREGULAR(name, cfa)                                                                       \
	__asm__(".text\n.type " name ", @function\n" name ":\n"                                    \
		".cfi_startproc\n"                                                                 \
		"pushq %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\n"                      \
		"movq %rsp, %rbx\n" cfa "\n"                                                       \
		"subq %rdx, %rsp\nandq $-16, %rsp\n"                                               \
		"movq %rdi, %rax\nmovq %rsi, %rdi\ncallq *%rax\n"                                  \
		"movq %rbx, %rsp\n.cfi_def_cfa %rsp, 16\n"                                         \
		"popq %rbx\n.cfi_def_cfa_offset 8\n.cfi_restore %rbx\nret\n"                       \
		".cfi_endproc\n.size " name ", .-" name "\n")

IRREGULAR("call_by_register", ".cfi_def_cfa_register %rbx");
/* DW_CFA_def_cfa_expression: DW_OP_breg3 8, DW_OP_plus_uconst 8 */
IRREGULAR("call_by_expression", ".cfi_escape 0x0f, 0x04, 0x73, 0x08, 0x23, 0x08");

long call_by_register(back *function, long argument, size_t bytes);
long call_by_expression(back *function, long argument, size_t bytes);

static struct {
	int (*start)(const char *trace);
	uint32_t (*capture)(void);
	int (*stop)(void);
} probe;

static struct {
	uint32_t id;
	uint32_t count;
	uint64_t pcs[FRAMES]; /* of the callers of capture_here(), innermost first */
} stacks[STACKS];
static uint32_t stack_count;

static char folder[] = "/tmp/gpuprof-test-XXXXXX";
static char base[64], path[80];

/* ---- taking stacks ---- */

/* Stacks are compared from this one's caller on. */
static __attribute__((noinline)) long capture_here(long unused)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;

	stacks[stack_count].id = probe.capture();
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (unw_step(&cursor) > 0 && stacks[stack_count].count < FRAMES) {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		stacks[stack_count].pcs[stacks[stack_count].count++] = pc;
	}
	stack_count++;
	return unused;
}

/*
 * Uses a register that a callee must keep, so that it is saved between the irregular frame and the
 * capture.
 */
static __attribute__((noinline)) long between(long depth)
{
	volatile long values[4] = {depth, 2 * depth, 3 * depth, 4};

	if (depth == 0)
		return capture_here(0) + values[3];
	return between(depth - 1) + values[0] * values[1] + values[2];
}

static __attribute__((noinline)) long one_caller(size_t bytes, long depth)
{
	return call_by_register(between, depth, bytes) + 1;
}

static __attribute__((noinline)) long other_caller(size_t bytes, long depth)
{
	return call_by_expression(between, depth, bytes) + 2;
}

static __attribute__((noinline)) long both(long depth)
{
	return call_by_register(between, depth, 64) + 3;
}

static __attribute__((noinline)) void take_all(void)
{
	for (size_t bytes = 16; bytes < 3000; bytes += 700) {
		one_caller(bytes, 3);
		other_caller(bytes, 3);
		call_by_expression(both, 2, bytes);
	}
}

static void *take_in_thread(void *unused)
{
	other_caller(100, 5);
	return unused;
}

/* ---- comparing ---- */

static void compare_stack(const struct gp_model *model, uint32_t at)
{
	uint32_t frame = GP_NONE;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].id == stacks[at].id)
			frame = i; /* those that were unwound have the number of their copy */
	assert_int_not_equal(frame, GP_NONE);
	while (frame != GP_NONE && model->frames[frame].address != stacks[at].pcs[0])
		frame = model->frames[frame].parent;
	for (uint32_t i = 0; i < stacks[at].count; i++) {
		assert_int_not_equal(frame, GP_NONE);
		assert_int_equal(model->frames[frame].kind, GP_FRAME_NATIVE);
		assert_int_equal(model->frames[frame].address, stacks[at].pcs[i]);
		assert_int_not_equal(model->frames[frame].origin, GP_NONE);
		frame = model->frames[frame].parent;
	}
	assert_int_equal(frame, GP_NONE);
}

static void has_all_callers(void **state)
{
	struct gp_model *model;
	char message[256];
	pthread_t thread;
	uint32_t before = 0, last = 0;

	assert_int_equal(probe.start(base), 0);
	for (int i = 0; i < ROUNDS; i++) {
		__asm__ volatile("" : "+r"(i)); /* the first time is no other than the last */
		before = last;
		last = stack_count;
		take_all();
	}
	assert_int_equal(pthread_create(&thread, NULL, take_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(probe.stop(), 0);
	/*
	 * From the same places: no new copies, once what lies unused between the frames is the
	 * same, too.
	 */
	for (uint32_t i = 0; i < last - before; i++)
		assert_int_equal(stacks[before + i].id, stacks[last + i].id);
	assert_int_equal(gp_model_load(path, &model, message, sizeof(message)), 0);
	for (uint32_t i = 0; i < stack_count; i++)
		compare_stack(model, i);
	gp_model_free(model);
}

/* ---- copies that say anything ---- */

static const struct gp_record_module *own_module(const struct gp_model *model, const char **name)
{
	for (uint32_t i = 0; i < model->module_count; i++) {
		const struct gp_record_module *module = &model->modules[i];
		uint64_t address = (uint64_t)(uintptr_t)take_all;

		*name = gp_model_module_path(model, module);
		if (address >= module->start_address && address < module->end_address)
			return module;
	}
	return NULL;
}

/* A frame, its copy of `bytes` and the modules, as the recorder would write them. */
static struct gp_model *load_copy(const struct gp_record_module *module, const char *name,
				  const char *copy, uint32_t bytes)
{
	const struct gp_record_frame frame = {
		.kind = GP_RECORD_FRAME, .frame_kind = GP_FRAME_COPY, .id = 1, .address = 1};
	struct gp_record_module told = *module;
	struct gp_model *model;
	struct gp_builder b;

	gp_builder_init(&b);
	gp_builder_start(&b);
	told.kind = GP_RECORD_MODULE;
	gp_builder_add(&b, &told);
	gp_builder_string(&b, GP_STRING_MODULE, module->id, 0, name);
	gp_builder_bytes(&b, GP_STRING_STACK_COPY, 1, 0, copy, bytes);
	gp_builder_add(&b, &frame);
	model = gp_builder_load(&b);
	gp_builder_free(&b);
	return model;
}

static void bears_any_copy(void **state)
{
	struct {
		uint32_t count, zero;
		uint64_t registers[17], address, words[512];
	} copy = {.count = 17};
	struct gp_model *real, *model;
	char message[256];
	const char *name = "";

	assert_int_equal(gp_model_load(path, &real, message, sizeof(message)), 0);
	const struct gp_record_module *module = own_module(real, &name);

	assert_non_null(module);
	/* a stack that calls itself for ever, and one that leads to itself */
	for (int step = 0; step < 2; step++) {
		copy.address = 0x1000;
		copy.registers[3] = 0x1000;
		copy.registers[7] = 0x1000;
		copy.registers[16] = stacks[0].pcs[4] - 1;
		for (uint64_t i = 0; i < 512; i++)
			copy.words[i] = i % 2 ? stacks[0].pcs[4] : 0x1000 + (step ? 8 * i + 16 : 0);
		for (uint32_t bytes = 0; bytes <= sizeof(copy); bytes += 97) {
			model = load_copy(module, name, (const char *)&copy, bytes);
			assert_true(model->frame_count >= 1);
			assert_true(model->frame_count <= GP_UNWOUND_DEPTH + 1);
			gp_model_free(model);
		}
	}
	gp_model_free(real);
}

static void stays_a_copy_without_files(void **state)
{
	const struct gp_record_module module = {
		.id = 1, .start_address = 0x1000, .end_address = 0x2000};
	static const char *const paths[] = {"/nowhere/lib.so", "lib.so", "/dev/null",
					    "/etc/passwd"};
	char copy[400] = {17};
	struct gp_model *model;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		model = load_copy(&module, paths[i], copy, sizeof(copy));
		assert_int_equal(model->frame_count, 1);
		assert_int_equal(model->frames[0].kind, GP_FRAME_COPY);
		gp_model_free(model);
	}
}

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	assert_non_null(found);
	return found;
}

static int load_probe(void)
{
	char name[512];

	snprintf(name, sizeof(name), "%s/tests/stacks/libprobe.so", getenv("O"));
	void *library = dlopen(name, RTLD_NOW);

	if (library == NULL || temporary_folder(folder) == NULL)
		return -1;
	snprintf(base, sizeof(base), "%s/t", folder);
	snprintf(path, sizeof(path), "%s.gpuprof", base);
	*(void **)&probe.start = symbol(library, "probe_start");
	*(void **)&probe.capture = symbol(library, "probe_capture");
	*(void **)&probe.stop = symbol(library, "probe_stop");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_all_callers),
		cmocka_unit_test(bears_any_copy),
		cmocka_unit_test(stays_a_copy_without_files),
	};

	if (getenv("O") == NULL) {
		printf("skipped: O is not set, so the recorder is not found\n");
		return 77;
	}
	if (load_probe() != 0)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	unlink(path);
	rmdir(folder);
	return failed;
}

#else

int main(void)
{
	printf("skipped: call stacks are for x86-64\n");
	return 77;
}

#endif
