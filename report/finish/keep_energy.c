#include "report/finish/keep_energy.h"

#include <string.h>

#include "report/base/array.h"
#include "report/finish/chunk_add.h"

/* Returns false if there is no memory. */
static bool keep_sample(struct gp_model *m, uint32_t *capacity, const struct gp_record_energy *r,
			uint16_t device_id)
{
	gp_array_grow_spill(&m->energies, capacity, m->energy_count, sizeof(*m->energies));
	m->energies[m->energy_count] = gp_energy_of(r);
	m->energies[m->energy_count++].device_id = device_id;
	return true;
}

/* last_ns: of the process, by CLOCK_MONOTONIC; one later sample is kept. */
static void keep_device(struct gp_model *m, uint32_t *capacity,
			const struct gp_record_device *device, uint64_t last_ns,
			const struct gp_energy_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		const struct gp_energy_entry *e = &entries->list[i];

		if (memcmp(e->uuid, device->uuid, sizeof(device->uuid)) != 0 ||
		    e->record.monotonic_ns < m->base_monotonic_ns)
			continue;
		keep_sample(m, capacity, &e->record, device->device_id);
		if (e->record.monotonic_ns > last_ns)
			return;
	}
}

static uint64_t end_of(const struct gp_model *m)
{
	uint64_t last_ns = m->last_ns > m->end_ns ? m->last_ns : m->end_ns;

	return last_ns == 0 ? UINT64_MAX : m->base_monotonic_ns + last_ns;
}

/* Before the times of the samples are those of the model. */
static void append(int trace, struct gp_model *m)
{
	struct gp_chunk_writer writer;

	gp_chunk_begin(&writer, trace, m);
	for (uint32_t i = 0; i < m->energy_count; i++) {
		const struct gp_energy *e = &m->energies[i];
		const struct gp_record_energy record = {
			.kind = GP_RECORD_ENERGY,
			.slots = sizeof(record) / GP_SLOT_BYTES,
			.device_id = e->device_id,
			.power_mw = e->power_mw,
			.monotonic_ns = e->time_ns,
			.energy_mj = e->energy_mj,
			.reasons = e->reasons,
			.clock_mhz = e->clock_mhz,
			.flags = e->is_from_power ? GP_ENERGY_FROM_POWER : 0,
		};

		gp_chunk_put(&writer, (const struct gp_record *)&record);
	}
	gp_chunk_end(&writer);
}

void gp_keep_energy(struct gp_model *m, const struct gp_energy_entries *entries, int save_to)
{
	uint32_t capacity = 0;

	if (m->energy_count > 0 || m->base_monotonic_ns == 0 || m->losses.live)
		return;
	for (uint32_t i = 0; i < m->device_count; i++)
		keep_device(m, &capacity, &m->devices[i], end_of(m), entries);
	if (save_to >= 0)
		append(save_to, m);
	gp_model_time_energies(m);
}
