/* checks_hardware: which options that read hardware counters or energy work here. */
#include <string.h>

#include "report/doctor/checks.h"

/* True: the trial ended, and the finding is left to the caller. */
static bool has_ended(const struct gp_examination *examination, const struct gp_trial *trial,
		      const char *option, struct gp_doctor_finding *finding)
{
	if (!trial->is_made || (gp_trial_ended_well(trial) && !trial->has_trace))
		return false;
	if (gp_trial_ended_well(trial))
		return true;
	if (trial->timed_out)
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "a small program with %s did not end within %u s (step: %s)",
				      option, examination->limit_s, trial->step);
	else
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "a small program does not work with %s (step: %s)", option,
				      trial->step);
	return false;
}

/* part: words of the line that says why it does not work. */
static void check(const struct gp_examination *examination, enum gp_hardware_trial which,
		  const char *option, const char *part, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->hardware[which];
	char line[1024];

	if (gp_examination_forbids_counters(examination) ||
	    !has_ended(examination, trial, option, finding))
		return;
	gp_trial_find_line(trial, part, line, sizeof(line));
	if (line[0] == '\0')
		gp_doctor_finding_set(finding, GP_CHECK_OK, "%s works", option);
	else
		gp_doctor_finding_set(finding, GP_CHECK_WARNING, "%s", line);
	if (strstr(line, "dcgmi"))
		gp_doctor_finding_fix(
			finding,
			"nvidia-smi   # shows the processes that use the GPU; if DCGM does: dcgmi profile --pause");
}

void gp_check_timeline(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	check(examination, GP_HARDWARE_TIMELINE, "--hw-timeline", "hardware samples", finding);
}

void gp_check_stalls(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	check(examination, GP_HARDWARE_STALLS, "--stalls", "samples of warps", finding);
}

/* --roofline reads counters of kernels as --counters does. */
void gp_check_roofline(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->hardware[GP_HARDWARE_COUNTERS];
	bool has_none = trial->kernels.code == 0 && trial->counted == 0;

	if (trial->kernels.code > 0)
		gp_doctor_finding_set(
			finding, GP_CHECK_WARNING,
			"--counters and --roofline were not tried, because a small kernel does not run (%s, %d)",
			trial->kernels.name, trial->kernels.code);
	else
		check(examination, GP_HARDWARE_COUNTERS, "--counters (and so --roofline)",
		      "hardware counters of GPU", finding);
	if (finding->verdict == GP_CHECK_OK && has_none)
		gp_doctor_finding_set(finding, GP_CHECK_WARNING,
				      "--counters reads no values of a small kernel");
}

/* ---- energy ---- */

static void fix_energy(const struct gp_examination *examination, const char *line,
		       struct gp_doctor_finding *finding)
{
	if (examination->is_container && strstr(line, "NVIDIA_DRIVER_CAPABILITIES"))
		gp_doctor_finding_fix(
			finding,
			"docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ...   # start the container like this");
	else
		gp_doctor_finding_fix(finding, "nvidia-smi --query-gpu=power.draw --format=csv");
}

void gp_check_energy(const struct gp_examination *examination, struct gp_doctor_finding *finding)
{
	const struct gp_trial *trial = &examination->hardware[GP_HARDWARE_TIMELINE];
	char line[1024];

	if (!has_ended(examination, trial, "--energy (with --hw-timeline)", finding))
		return;
	gp_trial_find_line(trial, "--energy", line, sizeof(line));
	if (line[0]) {
		gp_doctor_finding_set(finding, GP_CHECK_WARNING, "%s", line);
		fix_energy(examination, line, finding);
	} else if (trial->energies > 0) {
		gp_doctor_finding_set(finding, GP_CHECK_OK, "--energy works");
	}
}
