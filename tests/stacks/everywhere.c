/*
 * For tests/stacks/gdb_test.py.  Preloaded into any program, it walks the stack in some calls of
 * malloc() and write(), and then calls everywhere_stop(), where a debugger compares.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stacks/stack_copy.h"
#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t bytes);

EXPORT void *malloc(size_t bytes);
EXPORT void everywhere_stop(void);

/*
 * For the debugger: the frames, innermost first, beginning with the caller of malloc() or write().
 */
EXPORT uint64_t everywhere_pcs[GP_STACK_DEPTH];
EXPORT uint32_t everywhere_count;
EXPORT uint32_t everywhere_is_whole;

static struct gp_walk walk;
static uint32_t calls;
static uint32_t next_call = 3;
static uint32_t busy;
static uint32_t is_ready;

static void ignore_module(const struct gp_module *module)
{
	(void)module;
}

__attribute__((constructor)) static void start(void)
{
	if (gp_rule_table_init(ignore_module) != 0 || gp_stack_tree_init() != 0 ||
	    gp_stack_copy_init() != 0)
		return;
	gp_walk_init(&walk); /* only the main thread is checked */
	is_ready = 1;
}

EXPORT __attribute__((noinline)) void everywhere_stop(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Checks ever fewer of the calls. */
static __attribute__((noinline)) void look(void)
{
	struct gp_place place;

	if (!is_ready || syscall(SYS_gettid) != getpid() || busy++ != 0)
		return;
	if (++calls == next_call) {
		next_call += next_call / 2 + 1;
		GP_PLACE_HERE(place);
		gp_walk(&walk, place);
		everywhere_count = walk.last->count - 2;
		for (uint32_t i = 0; i < everywhere_count; i++)
			everywhere_pcs[i] = walk.last->frames[everywhere_count - 1 - i].pc;
		everywhere_is_whole = walk.last->root == 0;
		everywhere_stop();
	}
	busy = 0;
}

EXPORT void *malloc(size_t bytes)
{
	look();
	return __libc_malloc(bytes);
}

EXPORT ssize_t write(int fd, const void *data, size_t bytes)
{
	look();
	return syscall(SYS_write, fd, data, bytes);
}
