/*
 * checks: the checks of `gpuprof doctor`, one function each. A check judges what
 * gp_examination_run() found. A finding begins as GP_CHECK_NOT_MADE; a check without a result
 * leaves it so.
 *
 * To add a check: write its function in the matching file, declare it here, and add a row in
 * report/cli/cmd_doctor.c.
 */
#ifndef REPORT_DOCTOR_CHECKS_H
#define REPORT_DOCTOR_CHECKS_H

#include <stdbool.h>

#include "report/doctor/finding.h"
#include "report/doctor/examination.h"

/* checks_gpu.c */
void gp_check_driver(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_gpu(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_simulator(const struct gp_examination *examination,
			struct gp_doctor_finding *finding);
bool gp_check_offers_simulator(const struct gp_examination *examination);

/* checks_recording.c */
void gp_check_library(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_tools(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_options(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_cupti(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_recording(const struct gp_examination *examination,
			struct gp_doctor_finding *finding);

/* checks_system.c */
void gp_check_folder(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_rings(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_session(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_limits(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_fix_permission(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_counters(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_ptrace(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_seccomp(const struct gp_examination *examination, struct gp_doctor_finding *finding);

/* checks_hardware.c */
void gp_check_timeline(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_stalls(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_roofline(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_energy(const struct gp_examination *examination, struct gp_doctor_finding *finding);

/* checks_program.c */
void gp_check_program(const struct gp_examination *examination, struct gp_doctor_finding *finding);
void gp_check_libraries(const struct gp_examination *examination,
			struct gp_doctor_finding *finding);
void gp_check_its_cupti(const struct gp_examination *examination,
			struct gp_doctor_finding *finding);
void gp_check_python(const struct gp_examination *examination, struct gp_doctor_finding *finding);

#endif
