/*
 * cupti_api: CUPTI's header plus declarations that older headers lack.  The functions that we
 * define of it are exported.
 */
#ifndef INJECT_CUPTI_API_H
#define INJECT_CUPTI_API_H

#include <stddef.h>

#pragma GCC visibility push(default)
#include <cupti.h>
#if CUPTI_API_VERSION < 130000 /* headers before 13.0 lack it */
typedef struct CUpti_SubscriberParams_st {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName;
	size_t oldSubscriberSize;
} CUpti_SubscriberParams;
#define CUpti_SubscriberParams_STRUCT_SIZE sizeof(CUpti_SubscriberParams)
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			      void *userdata, CUpti_SubscriberParams *params);
#endif
#pragma GCC visibility pop

#endif
