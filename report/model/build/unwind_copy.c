#include "report/model/build/unwind_copy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "report/codec/elf_file.h"

#define REGISTERS   17u /* of x86-64, by their DWARF numbers */
#define STACK_PLACE 7
#define PC_PLACE    16
#define HEAD_BYTES  (8 + REGISTERS * 8 + 8)
#define ANY_THREAD  1

struct copy {
	uint64_t registers[REGISTERS];
	uint64_t address;
	const char *stack;
	uint64_t bytes;
};

struct gp_unwinder {
	Dwfl *dwfl;
	/* that is being unwound, with the registers of the frame that was reached */
	struct copy copy;
	/* of one step */
	bool is_at_caller;
	bool has_caller;
	/* the caller was interrupted by a signal: it is at its pc, not in a call before it */
	bool is_exact;
};

/* ---- the modules ---- */

static bool is_this_build(int fd, const struct gp_record_module *module)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *bits;
	ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;
	size_t wanted =
		module->build_id_bytes <= sizeof(module->build_id) ? module->build_id_bytes : 0;
	bool same = elf && (wanted == 0 || (bytes >= (ssize_t)wanted &&
					    memcmp(bits, module->build_id, wanted) == 0));

	elf_end(elf);
	return same;
}

/* The file of a module, or a negative number. */
static int open_module(const char *path, const struct gp_record_module *module)
{
	int fd = gp_elf_file_open(path);

	if (fd < 0 || is_this_build(fd, module))
		return fd;
	close(fd);
	return -1;
}

static bool overlap(const struct gp_record_module *a, const struct gp_record_module *b)
{
	return a->start_address < b->end_address && b->start_address < a->end_address;
}

/* One that was loaded later lies there now. */
static bool is_replaced(const struct gp_model *model, uint32_t at)
{
	for (uint32_t i = at + 1; i < model->module_count && i < GP_UNWINDER_MODULES; i++)
		if (model->modules[i].id != model->modules[at].id &&
		    overlap(&model->modules[i], &model->modules[at]))
			return true;
	return false;
}

static bool add_module(struct gp_unwinder *unwinder, const struct gp_model *model, uint32_t at)
{
	const struct gp_record_module *module = &model->modules[at];
	const char *path = gp_model_module_path(model, module);
	int fd;

	if (at > 0 && model->modules[at - 1].id == module->id) /* a mapping has named the file */
		return false;
	if (is_replaced(model, at))
		return false;
	fd = open_module(path, module);
	if (fd < 0)
		return false;
	if (dwfl_report_elf(unwinder->dwfl, path, path, fd, module->bias, true))
		return true;
	close(fd);
	return false;
}

/* ---- callbacks of elfutils ---- */

static pid_t next_thread(Dwfl *dwfl, void *unwinder, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = unwinder;
	return ANY_THREAD;
}

static bool read_stack(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *context)
{
	const struct copy *copy = &((struct gp_unwinder *)context)->copy;
	uint64_t at = address - copy->address;

	(void)dwfl;
	if (at >= copy->bytes || copy->bytes - at < sizeof(*word))
		return false;
	memcpy(word, copy->stack + at, sizeof(*word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	const struct copy *copy = &((struct gp_unwinder *)context)->copy;

	dwfl_thread_state_register_pc(thread, copy->registers[PC_PLACE]);
	return dwfl_thread_state_registers(thread, 0, REGISTERS, copy->registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_stack,
	.set_initial_registers = set_registers,
};

/* ---- frames ---- */

enum rules { NONE, LEAD_ON, END };

/* The rule of the unwind information for the frame at pc; without it, elfutils would guess. */
static enum rules rules_at(Dwarf_CFI *cfi, uint64_t pc)
{
	Dwarf_Frame *frame;
	Dwarf_Op memory[3], *operations;
	size_t count;
	enum rules rules = NONE;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
		return NONE;
	if (dwarf_frame_register(frame, PC_PLACE, memory, &operations, &count) == 0)
		rules = count == 0 && operations == memory ? END : LEAD_ON;
	free(frame);
	return rules;
}

static enum rules find_rules(struct gp_unwinder *unwinder, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	enum rules rules = rules_at(cfi, pc - bias);

	if (rules != NONE || !module)
		return rules;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return rules_at(cfi, pc - bias);
}

/*
 * The second frame is the caller of the first. Its registers replace those of the copy, so that a
 * walk takes one step only. A register that elfutils does not know there was kept: the ABI says so
 * of rbx, elfutils does not.
 */
static int take_caller(Dwfl_Frame *state, void *context)
{
	struct gp_unwinder *unwinder = context;
	Dwarf_Word *registers = unwinder->copy.registers, value;
	Dwarf_Addr pc;

	if (!unwinder->is_at_caller) {
		unwinder->is_at_caller = true;
		return DWARF_CB_OK;
	}
	if (!dwfl_frame_pc(state, &pc, &unwinder->is_exact))
		return DWARF_CB_ABORT;
	for (unsigned i = 0; i < PC_PLACE; i++)
		if (dwfl_frame_reg(state, i, &value) == 0)
			registers[i] = value;
	registers[PC_PLACE] = unwinder->is_exact ? pc : pc - 1;
	unwinder->has_caller = true;
	return DWARF_CB_ABORT;
}

/* From a frame to its caller the stack shrinks, but for the one below a signal handler. */
static bool step(struct gp_unwinder *unwinder)
{
	uint64_t sp = unwinder->copy.registers[STACK_PLACE];

	unwinder->is_at_caller = false;
	unwinder->has_caller = false;
	dwfl_getthread_frames(unwinder->dwfl, ANY_THREAD, take_caller, unwinder);
	return unwinder->has_caller &&
	       (unwinder->copy.registers[STACK_PLACE] > sp || unwinder->is_exact);
}

static bool read_copy(const char *text, size_t bytes, struct copy *copy)
{
	uint32_t count;

	if (bytes <= HEAD_BYTES)
		return false;
	memcpy(&count, text, sizeof(count));
	memcpy(copy->registers, text + 8, sizeof(copy->registers));
	memcpy(&copy->address, text + 8 + sizeof(copy->registers), sizeof(copy->address));
	copy->stack = text + HEAD_BYTES;
	copy->bytes = bytes - HEAD_BYTES;
	return count == REGISTERS && copy->registers[STACK_PLACE] != 0;
}

void gp_unwind_copy(struct gp_unwinder *unwinder, const char *text, size_t bytes,
		    struct gp_unwound *unwound)
{
	unwound->count = 0;
	unwound->is_whole = false;
	if (!read_copy(text, bytes, &unwinder->copy))
		return;
	while (unwound->count < GP_UNWOUND_DEPTH) {
		enum rules rules = find_rules(unwinder, unwinder->copy.registers[PC_PLACE]);

		unwound->is_whole = rules == END;
		if (rules != LEAD_ON || !step(unwinder))
			return;
		unwound->pcs[unwound->count++] = unwinder->copy.registers[PC_PLACE] + 1;
	}
}

/* ---- from a model ---- */

static struct gp_unwinder *open_unwinder(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = gp_elf_file_find_debuginfo,
	};
	struct gp_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	unsetenv("DEBUGINFOD_URLS"); /* reports do not use the network */
	if (unwinder)
		unwinder->dwfl = dwfl_begin(&callbacks);
	return unwinder;
}

struct gp_unwinder *gp_unwinder_new(const struct gp_model *model)
{
	struct gp_unwinder *unwinder = open_unwinder();
	bool has_any = false;

	for (uint32_t i = 0;
	     unwinder && unwinder->dwfl && i < model->module_count && i < GP_UNWINDER_MODULES; i++)
		has_any |= add_module(unwinder, model, i);
	if (has_any && dwfl_report_end(unwinder->dwfl, NULL, NULL) == 0 &&
	    dwfl_attach_state(unwinder->dwfl, NULL, ANY_THREAD, &thread_callbacks, unwinder))
		return unwinder;
	gp_unwinder_free(unwinder);
	return NULL;
}

void gp_unwinder_free(struct gp_unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->dwfl)
		dwfl_end(unwinder->dwfl);
	free(unwinder);
}
