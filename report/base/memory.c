#include "report/base/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/base/spill_memory.h"

static _Thread_local bool is_attempt, has_failed;

/* ---- the end ---- */

static void (*last_acts[GP_MEMORY_MOST_LAST_ACTS])(void);
static size_t last_act_count;
static int exit_status = 1; /* GP_EXIT_FAILED of the commands */

void gp_memory_add_last_act(void (*act)(void))
{
	if (last_act_count < GP_MEMORY_MOST_LAST_ACTS)
		last_acts[last_act_count++] = act;
}

void gp_memory_remove_last_act(void (*act)(void))
{
	for (size_t i = last_act_count; i-- > 0;)
		if (last_acts[i] == act) {
			last_acts[i] = last_acts[--last_act_count];
			return;
		}
}

void gp_memory_forget_last_acts(void)
{
	last_act_count = 0;
}

void gp_memory_set_exit_status(int status)
{
	exit_status = status;
}

static void print_end(void)
{
	char trouble[GP_SPILL_TROUBLE_BYTES], line[GP_SPILL_TROUBLE_BYTES + 256];
	int length;

	gp_spill_trouble(trouble);
	length = snprintf(
		line, sizeof(line),
		"gpuprof: out of memory%s%s%s, or run a command that needs little memory: gpuprof summary --one-pass FILE\n",
		trouble[0] ? ", and temporary files have no space for the rest (" : "", trouble,
		trouble[0] ? "): set TMPDIR to a folder with more space"
			   : ": use a machine with more memory");
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		_exit(exit_status);
}

_Noreturn static void end_program(void)
{
	static atomic_flag is_ending = ATOMIC_FLAG_INIT;
	static _Thread_local bool is_ours;

	if (is_ours) /* a last act has allocated */
		_exit(exit_status);
	while (atomic_flag_test_and_set(&is_ending)) /* by another thread, which ends this one */
		pause();
	is_ours = true;
	while (last_act_count > 0)
		last_acts[--last_act_count]();
	print_end();
	_exit(exit_status);
}

/* ---- attempts ---- */

void gp_memory_begin_attempt(void)
{
	is_attempt = true;
	has_failed = false;
}

bool gp_memory_end_attempt(void)
{
	is_attempt = false;
	return !has_failed;
}

void *gp_memory_check(void *block)
{
	if (block)
		return block;
	if (!is_attempt)
		end_program();
	has_failed = true;
	return NULL;
}

/* ---- the allocator ---- */

#ifdef GP_SANITIZED

void *gp_memory_try_resize(void *block, size_t bytes)
{
	return realloc(block, bytes);
}

void *gp_memory_try_zeroed(size_t count, size_t element_bytes)
{
	return calloc(count, element_bytes);
}

#else

/* The C library's own allocator, below the names that a program may replace. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t element_bytes);
void *__libc_realloc(void *block, size_t bytes);

void *gp_memory_try_resize(void *block, size_t bytes)
{
	return __libc_realloc(block, bytes);
}

void *gp_memory_try_zeroed(size_t count, size_t element_bytes)
{
	return __libc_calloc(count, element_bytes);
}

void *malloc(size_t bytes)
{
	return gp_memory_check(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t element_bytes)
{
	return gp_memory_check(__libc_calloc(count, element_bytes));
}

void *realloc(void *block, size_t bytes)
{
	void *resized = __libc_realloc(block, bytes);

	return bytes > 0 ? gp_memory_check(resized) : resized; /* 0: it was freed */
}

#endif
