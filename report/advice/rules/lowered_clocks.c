#include "report/advice/rules/rules.h"

#include "report/advice/rules/advisor.h"
#include "report/analysis/device/energy.h"

struct own {
	uint64_t reason_ns[GP_CLOCK_REASONS];
	uint64_t covered_ns; /* all samples */
	uint64_t lowered_ns;
	double clock_mhz_ns; /* the clock, times the time with lowered clocks */
	double full_mhz;
};

/* The clock that the GPU has without a limit: as the driver tells, else the highest sample. */
static double full_clock_mhz(const struct gp_model *model, uint16_t device_id)
{
	const struct gp_record_device *device = gp_model_device(model, device_id);
	double highest_mhz = device ? device->core_clock_khz / 1e3 : 0;

	for (uint32_t i = 0; i < model->energy_count; i++)
		if (model->energies[i].device_id == device_id &&
		    model->energies[i].clock_mhz > highest_mhz)
			highest_mhz = model->energies[i].clock_mhz;
	return highest_mhz;
}

static size_t main_reason(const struct own *own)
{
	size_t most = 0;

	for (size_t i = 1; i < GP_CLOCK_REASONS; i++)
		if (i != GP_CLOCK_REASON_SLOWDOWN && own->reason_ns[i] > own->reason_ns[most])
			most = i;
	return own->reason_ns[most] > 0 ? most : GP_CLOCK_REASON_SLOWDOWN;
}

/* Only while the GPU works, and only work that depends on the clock, becomes shorter. */
static void take_lowered(struct gp_advisor *advisor, struct gp_case *found,
			 const struct gp_energy *sample, uint64_t ns)
{
	uint64_t busy_ns = gp_advisor_busy_ns(advisor, sample->device_id, sample->time_ns,
					      sample->time_ns + ns);
	struct own *own = found->own;

	own->lowered_ns += ns;
	own->clock_mhz_ns += (double)ns * sample->clock_mhz;
	for (size_t i = 0; i < GP_CLOCK_REASONS; i++)
		own->reason_ns[i] += (sample->reasons & gp_clock_reasons[i].bit) != 0 ? ns : 0;
	gp_advisor_add(advisor, found, sample->time_ns, ns,
		       (uint64_t)((double)busy_ns * (1 - sample->clock_mhz / own->full_mhz)), NULL);
	gp_advisor_show_time(advisor, found, sample->time_ns, ns);
	/* the GPU may be as fast as it can be */
	found->is_doubtful = main_reason(own) == GP_CLOCK_REASON_POWER_CAP;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	double full_mhz = 0;

	for (uint32_t i = 0; i + 1 < model->energy_count; i++) {
		const struct gp_energy *sample = &model->energies[i];
		size_t device = advisor->devices[sample->device_id];
		struct gp_case *found;
		struct own *own;

		if (i == 0 || sample[-1].device_id != sample->device_id)
			full_mhz = full_clock_mhz(model, sample->device_id);
		if (sample[1].device_id != sample->device_id || device == SIZE_MAX || full_mhz == 0)
			continue;
		found = gp_advisor_case(advisor, GP_NO_SITE, device, 0);
		own = found->own;
		own->full_mhz = full_mhz;
		own->covered_ns += sample[1].time_ns - sample->time_ns;
		if (gp_clock_is_lowered(sample->reasons) && sample->clock_mhz > 0)
			take_lowered(advisor, found, sample, sample[1].time_ns - sample->time_ns);
	}
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;
	const struct gp_clock_reason_row *reason = &gp_clock_reasons[main_reason(own)];

	gp_document_add_number(values, "gpu", GP_UNIT_NUMBER,
			       advisor->scope.devices.entries[found->detail].number);
	gp_document_add(values, "lowered_percent", GP_UNIT_PERCENT,
			gp_value_percent((double)own->lowered_ns, (double)own->covered_ns));
	gp_document_add_words(values, "clock_mhz", "%.0f",
			      own->clock_mhz_ns / (double)own->lowered_ns);
	gp_document_add_words(values, "full_mhz", "%.0f", own->full_mhz);
	gp_document_add_text(values, "reason", reason->id);
	gp_document_add_text(values, "reason_text", reason->words);
}

const struct gp_rule gp_rule_lowered_clocks = {
	.id = "lowered-clocks",
	.title = "the GPU lowers its clocks",
	.found =
		"GPU {gpu} lowered its clocks for {lowered_percent} % of the sampled time, to {clock_mhz} MHz on average instead of {full_mhz}: {reason_text}",
	.change =
		"[{?reason=power-cap}need less energy for the same result (smaller data types, less memory traffic), or raise the power limit if it is below that of the GPU (nvidia-smi -q -d POWER)"
		"|{?reason=thermal}check cooling and air flow: nvidia-smi -q -d TEMPERATURE"
		"|{?reason=hardware-thermal}check cooling and air flow: nvidia-smi -q -d TEMPERATURE"
		"|check the power supply of the machine: it limits the power of the GPU]",
	.meaning =
		"A GPU lowers its clocks when it reaches its power limit or gets too hot, or when the machine asks for less power. All kernels that do not wait for memory then become slower. The rule needs a recording with --energy. The saving is an upper bound: it assumes that all work of the GPU slows down in proportion to the clock.",
	.remedy =
		"Power cap: use smaller data types, move less memory, or have an administrator raise the limit (`nvidia-smi -q -d POWER` shows it). Temperature: check fans, air flow and neighboring GPUs. Power brake: check the power supply of the machine. Compare runs only at equal clocks.",
	.ignore =
		"The work is limited by power on purpose, or by memory: a power cap is usual for large matrix products.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 100000000,
		      .count = 5,
		      .reason = "Clocks drop briefly in most runs"},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
