/*
 * capture_range: --capture-range=nvtx:NAME@DOMAIN: tells control when such a range of the program begins and ends.
 */
#ifndef INJECT_CAPTURE_RANGE_H
#define INJECT_CAPTURE_RANGE_H

/* By the constructor, after gp_control_init().  Without the option it does nothing, and ranges are not looked at. */
void gp_capture_range_init(void);

#endif
