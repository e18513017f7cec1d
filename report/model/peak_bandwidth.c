#include "report/model/peak_bandwidth.h"

#include <stddef.h>

#define MOST_NS UINT64_C(1000000000000000000)

/*
 * PCI Express by generation (PCI Express Base Specification 6.0, 1.2 and 4.2): transfers a second
 * of each lane, a bit each, and how many of these are data: 8b/10b, then 128b/130b, then flits of
 * 256 bytes with 242 for packets.
 */
static const struct {
	double transfers_per_s, data, coded;
} pcie[] = {
	{0},
	{2.5e9, 8, 10},
	{5e9, 8, 10},
	{8e9, 128, 130},
	{16e9, 128, 130},
	{32e9, 128, 130},
	{64e9, 242, 256},
};

static double pcie_peak(const struct gp_record_link *link)
{
	size_t generation = link->generation;

	if (generation == 0 || generation >= sizeof(pcie) / sizeof(pcie[0]))
		return 0;
	return pcie[generation].transfers_per_s * pcie[generation].data / pcie[generation].coded *
	       link->lanes / 8;
}

double gp_link_peak(const struct gp_record_link *link)
{
	if (!link)
		return 0;
	return link->link_kind == GP_LINK_PCIE ? pcie_peak(link)
					       : 1e6 * link->lane_mbytes_per_s * link->lanes;
}

/* Each byte is read and written. */
static double memory_peak(const struct gp_record_device *device)
{
	return device ? (double)device->memory_bandwidth_kbytes_per_s * 1000 / 2 : 0;
}

/* Between two devices, both links are on the way; if one is not known, the peak is not. */
static double peer_peak(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_op_detail *detail = gp_model_detail(model, op);
	double from = gp_link_peak(gp_model_link(model, detail->source_device_id, GP_LINK_NVLINK));
	double to =
		gp_link_peak(gp_model_link(model, detail->destination_device_id, GP_LINK_NVLINK));

	return from < to ? from : to;
}

double gp_copy_peak(const struct gp_model *model, const struct gp_op *op)
{
	if (op->kind != GP_OP_COPY)
		return 0;
	switch (op->copy_kind) {
	case GP_COPY_HTOD:
	case GP_COPY_DTOH:
	case GP_COPY_HTOA:
	case GP_COPY_ATOH:
		return gp_link_peak(gp_model_link(model, op->device_id, GP_LINK_PCIE));
	case GP_COPY_ATOA:
	case GP_COPY_ATOD:
	case GP_COPY_DTOA:
	case GP_COPY_DTOD:
		return memory_peak(gp_model_device(model, op->device_id));
	case GP_COPY_PTOP:
		return peer_peak(model, op);
	default:
		return 0;
	}
}

void gp_copy_peak_add(const struct gp_model *model, const struct gp_op *op, uint64_t *peak_ns,
		      uint64_t *without_peak)
{
	double peak = gp_copy_peak(model, op);
	double ns = peak > 0 ? (double)op->bytes / peak * 1e9 : 0;

	*peak_ns += ns < MOST_NS ? (uint64_t)ns : MOST_NS; /* a file may say anything */
	*without_peak += peak <= 0;
}

bool gp_copy_peak_is_known(uint64_t without_peak, uint64_t peak_ns, uint64_t total_ns)
{
	return without_peak == 0 && peak_ns <= total_ns;
}
