#include "inject/thread_stack.h"

#include <pthread.h>
#include <stdint.h>

#include "inject/dlsym.h"

/* Found at run time, because C libraries have different versions of them. */
typedef int get_attributes(pthread_t thread, pthread_attr_t *attributes);
typedef int get_stack(const pthread_attr_t *attributes, void **lowest, size_t *bytes);

static struct {
	get_attributes *attributes;
	get_stack *stack;
} find;

void gp_thread_stack_find(void)
{
	find.attributes = (get_attributes *)gp_dlsym_in_libc("pthread_getattr_np", 0);
	find.stack = (get_stack *)gp_dlsym_in_libc("pthread_attr_getstack", 0);
}

bool gp_thread_stack_has(size_t bytes)
{
	pthread_attr_t attributes;
	size_t all_bytes = 0, left_bytes;
	void *lowest = NULL;

	if (find.attributes == NULL || find.stack == NULL ||
	    find.attributes(pthread_self(), &attributes) != 0)
		return false;
	find.stack(&attributes, &lowest, &all_bytes);
	pthread_attr_destroy(&attributes);
	left_bytes = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)lowest;
	return left_bytes < all_bytes && left_bytes >= bytes;
}
