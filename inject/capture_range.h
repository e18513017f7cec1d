/*
 * capture_range: --capture-range=nvtx:NAME@DOMAIN: reports the begin and end of matching ranges to
 * control.
 */
#ifndef INJECT_CAPTURE_RANGE_H
#define INJECT_CAPTURE_RANGE_H

/*
 * By the constructor, after gp_control_init().  Without the option it does nothing, and ranges are
 * not watched.
 */
void gp_capture_range_init(void);

#endif
