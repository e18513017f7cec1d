/*
 * share_callbacks: one subscriber for two, us and a client of CUPTI inside the program (torch.profiler, for one).
 *
 * CUPTI has one subscriber in a process.  It is ours, and calls gp_callback().  What the client would get, it gets from
 * there: a callback is on in CUPTI while one side wants it, and each is called for what it wants.  Where there is no
 * client, all this costs a callback nothing.
 *
 * Nothing here is called by two threads at once, but gp_client_callback(): inject/recording.h says how.
 */
#ifndef INJECT_SHARE_CALLBACKS_H
#define INJECT_SHARE_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* Who wants a callback.  GP_SIDE_NEXT: it is only to be seen that a call begins, after the client has done something. */
enum gp_callback_side { GP_SIDE_OURS, GP_SIDE_CLIENT, GP_SIDE_NEXT, GP_SIDES };

/* Any thread: there is a client.  From now on gp_process_state.cupti is 2, which callbacks notice without a look of their own. */
void gp_client_begin(void);

/* Whether it has neither a subscription nor a kind of records any more. */
bool gp_client_is_over(void);

/* There is none any more: callbacks run as before it came, and each that comes is taken for ours. */
void gp_client_end(void);

/* Once, after cuptiSubscribe; both stay the caller's. */
void gp_client_callbacks_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber);

/* As cuptiEnableCallback and cuptiEnableDomain, for one side. */
CUptiResult gp_client_callbacks_enable(enum gp_callback_side side, bool on,
				       CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult gp_client_callbacks_enable_domain(enum gp_callback_side side, bool on,
					      CUpti_CallbackDomain domain);

bool gp_client_callbacks_is_enabled(enum gp_callback_side side, CUpti_CallbackDomain domain,
				    CUpti_CallbackId cbid);

/* The client's subscription.  False: it has one already.  After it has given it up, gp_client_calls_await(). */
bool gp_client_subscribe(CUpti_CallbackFunc callback, void *user);
void gp_client_unsubscribe(bool disable); /* its callbacks in CUPTI, too */
bool gp_client_has_subscriber(void);

/*
 * Inside a callback: call the client if it wants this one.  Each side has a
 * correlationData of its own.
 */
void gp_client_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data);

#endif
