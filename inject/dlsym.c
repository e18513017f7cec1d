#include "inject/dlsym.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/atomic.h"

/* Both are 0 until known. */
static uint64_t
	behind; /* gp_dlsym_function: the C library's, or that of another preloaded library */
static uint64_t answer; /* gp_dlsym_answer */

#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call gp_dlsym_choose\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	jmp *%rax\n"
	"	.cfi_endproc\n"
	".size dlsym, . - dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	.cfi_rel_offset x29, 0\n"
	"	.cfi_rel_offset x30, 8\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl gp_dlsym_choose\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	br x16\n"
	"	.cfi_endproc\n"
	".size dlsym, . - dlsym\n");
#endif

static void *find_nothing(void *handle, const char *name)
{
	(void)handle, (void)name;
	return NULL;
}

/*
 * By the oldest version, which every C library has: a failed lookup would allocate its error text,
 * possibly inside the allocator that calls dlsym().
 */
static gp_dlsym_function *find_in_libc(void)
{
#if defined(__x86_64__)
	static const char *const versions[] = {"GLIBC_2.2.5"};
#else
	static const char *const versions[] = {"GLIBC_2.17", "GLIBC_2.34"};
#endif
	void *found = NULL;

	for (size_t i = 0; found == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	return (gp_dlsym_function *)(uintptr_t)found;
}

/* The function of another preloaded library has no version. */
static gp_dlsym_function *find_next(void)
{
	gp_dlsym_function *libc = find_in_libc();
	void *found = libc != NULL ? libc(RTLD_NEXT, "dlsym") : NULL;

	return found != NULL ? (gp_dlsym_function *)(uintptr_t)found : libc;
}

/* Concurrent threads find the same function. */
static gp_dlsym_function *find_behind_us(void)
{
	gp_dlsym_function *found = (gp_dlsym_function *)(uintptr_t)gp_load64(&behind);

	if (found != NULL)
		return found;
	found = find_next();
	if (found == NULL)
		return find_nothing;
	gp_store64(&behind, (uintptr_t)found);
	return found;
}

void *gp_dlsym(void *handle, const char *name)
{
	return find_behind_us()(handle, name);
}

uintptr_t gp_dlsym_in_libc(const char *name, uintptr_t otherwise)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = libc != NULL ? gp_dlsym(libc, name) : NULL;

	if (libc != NULL)
		dlclose(libc);
	return found != NULL ? (uintptr_t)found : otherwise;
}

void gp_dlsym_answer_with(gp_dlsym_answer *function)
{
	(void)find_behind_us();
	gp_store64_release(&answer, (uintptr_t)function);
}

/*
 * Jumped to, and returns to the caller of dlsym(), which must not see an error in dlerror() without
 * cause.
 */
static void *resolve_cupti(void *handle, const char *name)
{
	const void *caller = __builtin_return_address(0);
	gp_dlsym_answer *function = (gp_dlsym_answer *)(uintptr_t)gp_load64_acquire(&answer);
	void *found = gp_dlsym(handle, name);

	if (found == NULL)
		return NULL;
	found = function(handle, name, found, caller);
	(void)dlerror();
	return found;
}

/* Calls no function of the C library, which may not be ready. */
static bool is_cuptis(const char *name)
{
	return name != NULL && name[0] == 'c' && name[1] == 'u' && name[2] == 'p' &&
	       name[3] == 't' && name[4] == 'i';
}

gp_dlsym_function *gp_dlsym_choose(void *handle, const char *name)
{
	if (handle != RTLD_DEFAULT && handle != RTLD_NEXT && is_cuptis(name) &&
	    gp_load64(&answer) != 0)
		return resolve_cupti;
	return find_behind_us();
}
