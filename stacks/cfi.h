/*
 * cfi: decodes a module's .eh_frame for one address: the location of its caller's frame and of the
 * caller's registers.
 *
 * Register numbers are the machine's in DWARF: of x86-64 or aarch64.  Reads the mapped sections of a module that is in use (the
 * caller executes in it), needs no memory, takes no lock.  Any thread.
 */
#ifndef STACKS_CFI_H
#define STACKS_CFI_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)
#define GP_REGISTER_FP 29u
#define GP_REGISTER_RA 30u /* the return address */
#define GP_REGISTER_SP 31u
#define GP_REGISTERS   32u
#else
#define GP_REGISTER_FP 6u
#define GP_REGISTER_SP 7u
#define GP_REGISTER_RA 16u /* the return address */
#define GP_REGISTERS   17u
#endif

enum gp_cfi_how {
	GP_CFI_SAME = 0,      /* the register still holds the caller's value; the default */
	GP_CFI_AT_OFFSET,     /* in memory at CFA + offset */
	GP_CFI_AT_EXPRESSION, /* in memory at the value of the expression */
	GP_CFI_UNDEFINED,     /* unknown; for the return address: there is no caller */
	GP_CFI_OTHER,
};

struct gp_cfi_column {
	uint8_t how; /* enum gp_cfi_how */
	uint8_t expression_bytes;
	int32_t offset;
	const uint8_t *expression; /* DWARF operations */
};

struct gp_cfi_row {
	struct gp_cfi_column columns[GP_REGISTERS];
	struct gp_cfi_column
		cfa; /* AT_OFFSET: register cfa_register + offset; AT_EXPRESSION: its value */
	uint32_t cfa_register;
	bool is_signal;      /* the frame below a signal handler */
	uint64_t code_start; /* start of the described function */
};

/*
 * The row for the instruction at `pc`.  header: the module's .eh_frame_hdr.  False: no description
 * covers pc, or its form is not used by current compilers.
 */
bool gp_cfi_find(const uint8_t *header, uint64_t pc, struct gp_cfi_row *row);

#endif
