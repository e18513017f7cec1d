/*
 * client_callbacks: shares one CUPTI subscriber between gpuprof and a CUPTI client inside the
 * program, such as torch.profiler.
 *
 * CUPTI allows one subscriber per process.  It is ours, and CUPTI calls gp_callback(), which also
 * calls the client.  A callback is enabled in CUPTI while either side wants it, and each side
 * receives only its own callbacks.  Without a client, this costs a callback nothing.
 *
 * Only gp_client_callback() may run concurrently; inject/recording.h describes how the others are
 * serialized.
 */
#ifndef INJECT_CLIENT_CALLBACKS_H
#define INJECT_CLIENT_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/*
 * The sides that may want a callback.  GP_SIDE_NEXT: only to notice the begin of the next call
 * after an action of the client.
 */
enum gp_callback_side { GP_SIDE_OURS, GP_SIDE_CLIENT, GP_SIDE_NEXT, GP_SIDES };

/*
 * Any thread: a client has come.  Sets gp_process_state.cupti to 2, which callbacks notice without
 * an extra load.
 */
void gp_client_begin(void);

/* Whether the client has neither a subscription nor an enabled kind of records. */
bool gp_client_is_over(void);

/* The client has gone: callbacks run as before it came, and all of them count as ours. */
void gp_client_end(void);

/* Once, after cuptiSubscribe; the caller keeps both objects. */
void gp_client_callbacks_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber);

/* Like cuptiEnableCallback and cuptiEnableDomain, for one side. */
CUptiResult gp_client_callbacks_enable(enum gp_callback_side side, bool on,
				       CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult gp_client_callbacks_enable_domain(enum gp_callback_side side, bool on,
					      CUpti_CallbackDomain domain);

bool gp_client_callbacks_is_enabled(enum gp_callback_side side, CUpti_CallbackDomain domain,
				    CUpti_CallbackId cbid);

/*
 * The client's subscription.  False: it already has one.  gp_client_calls_await() must follow
 * gp_client_unsubscribe().
 */
bool gp_client_subscribe(CUpti_CallbackFunc callback, void *user);
void gp_client_unsubscribe(bool disable); /* disable: also disable its callbacks in CUPTI */
bool gp_client_has_subscriber(void);

/*
 * Inside a callback: call the client if it wants this one.  Each side has its own correlationData.
 */
void gp_client_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data);

#endif
