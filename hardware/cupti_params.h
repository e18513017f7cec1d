/*
 * cupti_params: the head that CUPTI's parameter structs share.
 *
 * We declare these structs ourselves: the headers of older toolkits lack them, and one of the newer
 * headers is C++.  Each begins with its size and a reserved pointer.  The size counts the members up
 * to the last one that we know, without padding.
 */
#ifndef HARDWARE_CUPTI_PARAMS_H
#define HARDWARE_CUPTI_PARAMS_H

#include <stddef.h>

struct gp_cupti_head {
	size_t bytes;
	void *reserved;
};

/* The head of a parameter struct, given its last member. */
#define GP_CUPTI_HEAD(type, last)                                                                  \
	{                                                                                          \
		offsetof(type, last) + sizeof(((type *)0)->last), NULL                             \
	}

/* Of the functions that all counter profilers share. */
struct gp_cupti_initialize {
	struct gp_cupti_head head;
};

struct gp_cupti_chip_name {
	struct gp_cupti_head head;
	size_t device;
	const char *name; /* out */
};

#endif
