/* What the ranks of a job communicate. */
#include "report/summary/communication.h"

#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"

struct piece {
	char text[192];
};

#define AXES_NAMED         3
#define LEAST_GAIN_PERCENT 1   /* of the time */
#define BANDWIDTHS         3   /* shown: those of the most time */
#define LEAST_BANDWIDTH    0.1 /* GB/s; tiny operations have no bandwidth, and 0.1 no difference */

/* "TP: 64 groups of 8 ranks 8.059s, 39.0 % of it waits" */
static struct piece axis_of(const struct gp_axis *axis)
{
	struct piece piece;
	int used = snprintf(piece.text, sizeof(piece.text), "%s%s%s group%s of %u ranks %s",
			    axis->name, *axis->name ? ": " : "", gp_format_count(axis->groups).text,
			    axis->groups > 1 ? "s" : "", axis->ranks,
			    gp_format_ns(axis->total_ns).text);

	if (axis->waited_ns > 0)
		snprintf(piece.text + used, sizeof(piece.text) - (size_t)used,
			 ", %s %% of it waits",
			 gp_format_percent((double)axis->waited_ns, (double)axis->total_ns).text);
	return piece;
}

void gp_summary_print_axes(FILE *out, size_t columns, const struct gp_axes *axes)
{
	struct gp_paragraph paragraph = {.out = out, .columns = columns, .lead = "communication: "};

	for (uint32_t i = 0; axes->count > 1 && i < axes->count && i < AXES_NAMED; i++)
		gp_paragraph_add(&paragraph, axis_of(&axes->all[i]).text);
	if (axes->count > AXES_NAMED)
		gp_paragraph_add(&paragraph, "... (--by axis)");
	gp_paragraph_end(&paragraph);
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
static struct piece bandwidth_of(const struct gp_bus_bandwidths *bandwidths,
				 const struct gp_bus_row *row)
{
	double least = row->bus.real, most = row->bus.real;
	uint32_t communicators = 0;
	char from[32] = "", more[64] = "";
	struct piece piece;

	for (uint32_t i = 0; i < bandwidths->count; i++) {
		const struct gp_bus_row *other = &bandwidths->rows[i];

		if (!are_alike(other, row))
			continue;
		communicators++;
		least = other->bus.real < least ? other->bus.real : least;
		most = other->bus.real > most ? other->bus.real : most;
	}
	if (most - least >= LEAST_BANDWIDTH)
		snprintf(from, sizeof(from), "%.1f to ", least);
	if (communicators > 1)
		snprintf(more, sizeof(more), " in %s communicators",
			 gp_format_count(communicators).text);
	else if (row->of_peak.kind != GP_VALUE_NONE)
		snprintf(more, sizeof(more), " (%.0f %% of the link's peak)", row->of_peak.real);
	snprintf(piece.text, sizeof(piece.text), "%s of %s by %u ranks %s%.1f GB/s%s",
		 gp_collective_kind_name(row->kind), gp_format_bytes(row->size_bytes).text,
		 row->ranks, from, most, more);
	return piece;
}

void gp_summary_print_bandwidths(FILE *out, size_t columns,
				 const struct gp_bus_bandwidths *bandwidths)
{
	struct gp_paragraph paragraph = {.out = out, .columns = columns, .lead = "bus bandwidth: "};
	uint32_t shown = 0;

	for (uint32_t i = 0; i < bandwidths->count && shown <= BANDWIDTHS; i++) {
		const struct gp_bus_row *row = &bandwidths->rows[i];

		if (row->bus.real < LEAST_BANDWIDTH || !is_first_alike(bandwidths, i))
			continue;
		gp_paragraph_add(&paragraph, shown++ < BANDWIDTHS
						     ? bandwidth_of(bandwidths, row).text
						     : "... (--by bus-bandwidth)");
	}
	gp_paragraph_end(&paragraph);
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

/* ---- without late ranks ---- */

struct gain {
	uint64_t ns, error_ns, of_ns; /* ns 0: none, or less than its error */
};

static struct gain gain_of(const struct gp_what_if *what_if)
{
	uint64_t of_ns = what_if->recorded_ns, replayed_ns = what_if->replayed_ns;
	struct gain gain = {.error_ns =
				    replayed_ns > of_ns ? replayed_ns - of_ns : of_ns - replayed_ns,
			    .of_ns = of_ns};

	if (of_ns > 0 && replayed_ns - what_if->median_ns > gain.error_ns)
		gain.ns = replayed_ns - what_if->median_ns;
	return gain;
}

void gp_summary_print_gain(FILE *out, double step_ns, const struct gp_what_if *what_if)
{
	struct gain gain = gain_of(what_if);
	double share = gain.of_ns > 0 ? (double)gain.ns / (double)gain.of_ns : 0;

	if (share * 100 < LEAST_GAIN_PERCENT)
		return;
	fputs("  if no rank came later to an operation than the median of its group: ", out);
	if (step_ns > 0)
		fprintf(out, "%s less a step, ", gp_format_ns((uint64_t)(step_ns * share)).text);
	fprintf(out, "%.1f %% (+-%.1f %%)\n", share * 100,
		(double)gain.error_ns / (double)gain.of_ns * 100);
}

void gp_summary_add_gain(struct gp_document *document, const struct gp_what_if *what_if)
{
	struct gain gain = gain_of(what_if);

	if (gain.ns == 0)
		return;
	gp_document_add_number(document, "gain_ns", GP_UNIT_NS, gain.ns);
	gp_document_add_number(document, "gain_error_ns", GP_UNIT_NS, gain.error_ns);
	gp_document_add_number(document, "gain_of_ns", GP_UNIT_NS, gain.of_ns);
}
