#include "report/finish/keep_energy.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/finish/chunk_add.h"

/* ---- the model ---- */

/* Returns false if there is no memory. */
static bool keep_sample(struct gp_model *m, uint32_t *capacity, const struct gp_record_energy *r,
			uint16_t device_id)
{
	if (gp_array_grow_spill(&m->energies, capacity, m->energy_count, sizeof(*m->energies)) != 0)
		return false;
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
		if (!keep_sample(m, capacity, &e->record, device->device_id) ||
		    e->record.monotonic_ns > last_ns)
			return;
	}
}

static uint64_t end_of(const struct gp_model *m)
{
	uint64_t last_ns = m->last_ns > m->end_ns ? m->last_ns : m->end_ns;

	return last_ns == 0 ? UINT64_MAX : m->base_monotonic_ns + last_ns;
}

/* ---- the trace (format: gpuprof/trace.h) ---- */

/* A value of rule STRIDE. */
struct stride {
	uint64_t last, change;
};

static int64_t past_stride(struct stride *stride, uint64_t value)
{
	uint64_t predicted = stride->last + stride->change;

	stride->change = value - stride->last;
	stride->last = value;
	return (int64_t)(value - predicted);
}

struct packing {
	struct stride monotonic_ns, energy_mj;
	struct gp_energy last;
	uint8_t *at;
};

static void put(struct packing *p, const struct gp_energy *e, uint64_t monotonic_ns)
{
	const int64_t changes[] = {
		past_stride(&p->monotonic_ns, monotonic_ns),
		past_stride(&p->energy_mj, e->energy_mj),
		(int64_t)e->power_mw - p->last.power_mw,
		(int64_t)e->clock_mhz - p->last.clock_mhz,
		(int64_t)e->reasons - p->last.reasons,
		(int64_t)e->device_id - p->last.device_id,
		(int64_t)e->is_from_power - p->last.is_from_power,
	};

	p->at = gp_chunk_put_changes(p->at, GP_RECORD_ENERGY, changes, COUNT(changes));
	p->last = *e;
}

static void append(int trace, struct gp_model *m)
{
	struct gp_new_chunk *chunk = calloc(1, sizeof(*chunk));
	uint32_t done = 0;

	while (chunk && done < m->energy_count) {
		struct packing p = {.at = chunk->payload};
		uint32_t first = done;

		while (done < m->energy_count && p.at - chunk->payload <= GP_CHUNK_ROOM) {
			put(&p, &m->energies[done],
			    m->energies[done].time_ns + m->base_monotonic_ns);
			done++;
		}
		chunk->header = (struct gp_chunk_header){
			.payload_bytes = (uint32_t)(p.at - chunk->payload),
			.records = done - first,
			.form = GP_CHUNK_PACKED,
		};
		gp_chunk_add(trace, m, chunk);
	}
	free(chunk);
}

void gp_keep_energy(struct gp_model *m, const struct gp_energy_entries *entries, int save_to)
{
	uint32_t capacity = 0;

	if (m->energy_count > 0 || m->base_monotonic_ns == 0 || m->losses.live)
		return;
	for (uint32_t i = 0; i < m->device_count; i++)
		keep_device(m, &capacity, &m->devices[i], end_of(m), entries);
	gp_model_time_energies(m);
	if (save_to >= 0)
		append(save_to, m);
}
