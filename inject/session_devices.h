/*
 * session_devices: tells gpuprof-run which GPUs this process uses, so that it samples their energy
 * (--energy): a link in its folder for each (GP_SESSION_DEVICE in gpuprof/option.h).
 */
#ifndef INJECT_SESSION_DEVICES_H
#define INJECT_SESSION_DEVICES_H

#include <stdint.h>

#include "inject/cupti_library.h"

/* A context on this device was created.  Any thread. */
void gp_session_devices_add(uint16_t device_id);

/* By the fetching thread: makes the links of new devices, if the option is on. */
void gp_session_devices_report(const struct gp_driver *driver);

#endif
