/* What the ranks of a job communicate. */
#include "report/summary/communication.h"

#include "report/base/text/format.h"

#define AXES_NAMED      5
#define BANDWIDTHS      3   /* shown: those of the most time */
#define LEAST_BANDWIDTH 0.1 /* GB/s; tiny operations have no bandwidth, and 0.1 no difference */

void gp_summary_print_axes(FILE *out, const struct gp_axes *axes)
{
	if (axes->count < 2)
		return;
	for (uint32_t i = 0; i < axes->count && i < AXES_NAMED; i++) {
		const struct gp_axis *axis = &axes->all[i];

		fprintf(out, "%s%s%s%s x %u ranks %s", i == 0 ? "  communication: " : ", ",
			axis->name, *axis->name ? " " : "", gp_format_count(axis->groups).text,
			axis->ranks, gp_format_ns(axis->total_ns).text);
		if (axis->waited_ns > 0)
			fprintf(out, " (%s %% of it waits)",
				gp_format_percent((double)axis->waited_ns, (double)axis->total_ns)
					.text);
	}
	fputs(axes->count > AXES_NAMED ? ", ... (--by axis)\n" : "\n", out);
}

static bool are_alike(const struct gp_bus_row *a, const struct gp_bus_row *b)
{
	return a->kind == b->kind && a->size_bytes == b->size_bytes && a->ranks == b->ranks;
}

static bool is_first_alike(const struct gp_bus_bandwidths *bandwidths, uint32_t row)
{
	uint32_t i = 0;

	while (!are_alike(&bandwidths->rows[i], &bandwidths->rows[row]))
		i++;
	return i == row;
}

/* Those of all communicators of that number of ranks. */
static void print_bandwidth(FILE *out, const struct gp_bus_bandwidths *bandwidths,
			    const struct gp_bus_row *row)
{
	double least = row->bus.real, most = row->bus.real;
	uint32_t communicators = 0;

	for (uint32_t i = 0; i < bandwidths->count; i++) {
		const struct gp_bus_row *other = &bandwidths->rows[i];

		if (!are_alike(other, row))
			continue;
		communicators++;
		least = other->bus.real < least ? other->bus.real : least;
		most = other->bus.real > most ? other->bus.real : most;
	}
	fprintf(out, "%s of %s by %u ranks ", gp_collective_kind_name(row->kind),
		gp_format_bytes(row->size_bytes).text, row->ranks);
	if (most - least >= LEAST_BANDWIDTH)
		fprintf(out, "%.1f to ", least);
	fprintf(out, "%.1f GB/s", most);
	if (communicators > 1)
		fprintf(out, " in %s communicators", gp_format_count(communicators).text);
	if (communicators == 1 && row->of_peak.kind != GP_VALUE_NONE)
		fprintf(out, " (%.0f %% of the link's peak)", row->of_peak.real);
}

void gp_summary_print_bandwidths(FILE *out, const struct gp_bus_bandwidths *bandwidths)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < bandwidths->count && shown <= BANDWIDTHS; i++) {
		if (bandwidths->rows[i].bus.real < LEAST_BANDWIDTH ||
		    !is_first_alike(bandwidths, i) || shown++ == BANDWIDTHS)
			continue;
		fputs(shown == 1 ? "  bus bandwidth: " : ", ", out);
		print_bandwidth(out, bandwidths, &bandwidths->rows[i]);
	}
	if (shown > 0)
		fputs(shown > BANDWIDTHS ? ", ... (--by bus-bandwidth)\n" : "\n", out);
}

static void add_bandwidth(const struct gp_bus_row *row, struct gp_document *document)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "id", "bandwidth");
	gp_document_add_text(document, "collective", gp_collective_kind_name(row->kind));
	gp_document_add(document, "communicator", GP_UNIT_ADDRESS,
			gp_value_whole(row->communicator));
	gp_document_add_number(document, "size_bytes", GP_UNIT_BYTES, row->size_bytes);
	gp_document_add_number(document, "ranks", GP_UNIT_COUNT, row->ranks);
	gp_document_add_number(document, "operations", GP_UNIT_COUNT, row->count);
	gp_document_add_number(document, "median_ns", GP_UNIT_NS, row->median_ns);
	gp_document_add(document, "algorithm_gb_per_s", GP_UNIT_GB_PER_S, row->algorithm);
	gp_document_add(document, "bus_gb_per_s", GP_UNIT_GB_PER_S, row->bus);
	if (row->peak.kind != GP_VALUE_NONE)
		gp_document_add(document, "link_peak_gb_per_s", GP_UNIT_GB_PER_S, row->peak);
}

void gp_summary_add_bandwidths(struct gp_document *document,
			       const struct gp_bus_bandwidths *bandwidths)
{
	for (uint32_t i = 0; i < bandwidths->count && i < BANDWIDTHS; i++)
		add_bandwidth(&bandwidths->rows[i], document);
}
