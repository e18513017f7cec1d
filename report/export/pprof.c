/*
 * The pprof format: profile.proto of github.com/google/pprof, compressed by gzip.  Locations are
 * call sites; functions are identified by name and file; a sample has all measures.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "gpuprof/version.h"
#include "report/base/array.h"
#include "report/base/group_by.h"
#include "report/codec/protobuf.h"
#include "report/base/spill_memory.h"
#include "report/export/stack_export.h"
#include "report/base/text/utf8.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* Write the message in pieces of this size: all stacks are many times as long as the tree. */
#define FLUSH_BYTES (1u << 20)

struct pprof {
	struct gp_stack_profile *profile;
	struct gp_protobuf message, part, inner;
	struct gp_groups strings; /* interned strings: only the keys are used */
	uint32_t *functions;      /* by site: the number of its function, from 1 */
	z_stream zip;
	FILE *out;
};

static uint64_t find_string(struct pprof *pprof, const char *text)
{
	char *repaired = gp_utf8_repair(text);
	uint32_t number = gp_groups_find(&pprof->strings, repaired);

	free(repaired);
	if (number != UINT32_MAX)
		return number;
	return 0;
}

static void put_types(struct pprof *pprof)
{
	for (int i = 0; i < GP_STACK_METRICS; i++) {
		gp_protobuf_number(&pprof->part, TYPE_TYPE,
				   find_string(pprof, gp_stack_metrics[i].word));
		gp_protobuf_number(&pprof->part, TYPE_UNIT,
				   find_string(pprof, gp_stack_metrics[i].unit));
		gp_protobuf_message(&pprof->message, PROFILE_SAMPLE_TYPE, &pprof->part);
	}
}

/* ---- functions and locations ---- */

static int compare_functions(const void *a, const void *b, const void *context)
{
	const struct gp_place *left = a, *right = b;
	int order = strcmp(left->function, right->function);

	(void)context;
	return order != 0 ? order : strcmp(left->file, right->file);
}

static void put_function(struct pprof *pprof, const struct gp_place *site, uint32_t id)
{
	uint64_t name = find_string(pprof, site->function[0] ? site->function : "(unnamed)");

	gp_protobuf_number(&pprof->part, FUNCTION_ID, id);
	gp_protobuf_number(&pprof->part, FUNCTION_NAME, name);
	gp_protobuf_number(&pprof->part, FUNCTION_SYSTEM_NAME, name);
	gp_protobuf_number(&pprof->part, FUNCTION_FILE, find_string(pprof, site->file));
	gp_protobuf_message(&pprof->message, PROFILE_FUNCTION, &pprof->part);
}

static void put_functions(struct pprof *pprof)
{
	const struct gp_call_tree *tree = &pprof->profile->tree;
	uint32_t *order = gp_array_order(tree->sites, tree->site_count, sizeof(*tree->sites),
					 compare_functions, NULL);
	uint32_t id = 0;

	for (uint32_t i = 0; i < tree->site_count; i++) {
		const struct gp_place *site = &tree->sites[order[i]];

		if (i == 0 || compare_functions(&tree->sites[order[i - 1]], site, NULL) != 0)
			put_function(pprof, site, ++id);
		pprof->functions[order[i]] = id;
	}
	gp_spill_free(order);
}

static void put_locations(struct pprof *pprof)
{
	const struct gp_call_tree *tree = &pprof->profile->tree;

	for (uint32_t i = 0; i < tree->site_count; i++) {
		gp_protobuf_number(&pprof->inner, LINE_FUNCTION, pprof->functions[i]);
		gp_protobuf_number(&pprof->inner, LINE_LINE, tree->sites[i].line);
		gp_protobuf_number(&pprof->part, LOCATION_ID, (uint64_t)i + 1);
		gp_protobuf_message(&pprof->part, LOCATION_LINE, &pprof->inner);
		gp_protobuf_message(&pprof->message, PROFILE_LOCATION, &pprof->part);
	}
}

/* ---- samples ---- */

static bool has_value(const struct gp_stack_profile *profile, uint32_t node)
{
	for (int i = 0; i < GP_STACK_METRICS; i++)
		if (gp_stack_profile_value(profile, node, (enum gp_stack_metric)i) > 0)
			return true;
	return false;
}

/* The innermost function is first. */
static void put_sample(struct pprof *pprof, uint32_t node)
{
	const struct gp_call_tree *tree = &pprof->profile->tree;

	for (uint32_t at = node; at != GP_NONE; at = tree->nodes[at].parent)
		gp_protobuf_packed(&pprof->inner, (uint64_t)tree->nodes[at].site + 1);
	gp_protobuf_message(&pprof->part, SAMPLE_LOCATIONS, &pprof->inner);
	for (int i = 0; i < GP_STACK_METRICS; i++)
		gp_protobuf_packed(&pprof->inner, gp_stack_profile_value(pprof->profile, node,
									 (enum gp_stack_metric)i));
	gp_protobuf_message(&pprof->part, SAMPLE_VALUES, &pprof->inner);
	gp_protobuf_message(&pprof->message, PROFILE_SAMPLE, &pprof->part);
}

/* ---- the file ---- */

#define PIECE_BYTES 16384u
#define GZIP_WINDOW (15 + 16) /* asks zlib for a gzip header */

/* Compress and write the current piece of the message. */
static void flush(struct pprof *pprof, int how)
{
	uint8_t piece[PIECE_BYTES];
	struct gp_protobuf *message = &pprof->message;

	pprof->zip.next_in = message->bytes;
	pprof->zip.avail_in = (uInt)message->used;
	do {
		pprof->zip.next_out = piece;
		pprof->zip.avail_out = sizeof(piece);
		deflate(&pprof->zip, how);
		fwrite(piece, 1, sizeof(piece) - pprof->zip.avail_out, pprof->out);
	} while (pprof->zip.avail_out == 0 && !ferror(pprof->out));
	message->used = 0;
}

static void put_samples(struct pprof *pprof)
{
	const struct gp_stack_profile *profile = pprof->profile;

	for (uint32_t node = 0; node < profile->tree.node_count && !ferror(pprof->out); node++) {
		if (has_value(profile, node))
			put_sample(pprof, node);
		if (pprof->message.used > FLUSH_BYTES)
			flush(pprof, Z_NO_FLUSH);
	}
}

static void put_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->strings.count; i++)
		gp_protobuf_bytes(&pprof->message, PROFILE_STRING, pprof->strings.rows[i].key,
				  strlen(pprof->strings.rows[i].key));
}

static void put_profile(struct pprof *pprof, enum gp_stack_metric measure)
{
	const struct gp_stack_profile *profile = pprof->profile;

	find_string(pprof, ""); /* string 0 must be empty */
	put_types(pprof);
	put_functions(pprof);
	put_locations(pprof);
	put_samples(pprof);
	gp_protobuf_number(&pprof->message, PROFILE_TIME_NS, profile->start_unix_ns);
	gp_protobuf_number(&pprof->message, PROFILE_DURATION_NS,
			   profile->end_unix_ns - profile->start_unix_ns);
	gp_protobuf_number(&pprof->message, PROFILE_COMMENT,
			   find_string(pprof, "gpuprof " GP_VERSION));
	gp_protobuf_number(&pprof->message, PROFILE_DEFAULT_TYPE,
			   find_string(pprof, gp_stack_metrics[measure].word));
	put_strings(pprof);
	flush(pprof, Z_FINISH);
}

static int write_profile(const struct gp_export_source *source, struct gp_stack_profile *profile,
			 enum gp_stack_metric chosen, FILE *out)
{
	struct pprof pprof = {.profile = profile, .out = out};

	(void)source;
	pprof.functions = calloc((size_t)profile->tree.site_count + 1, sizeof(*pprof.functions));
	if (deflateInit2(&pprof.zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) == Z_OK) {
		put_profile(&pprof, gp_stack_metric_chosen(chosen));
		deflateEnd(&pprof.zip);
	}
	free(pprof.functions);
	gp_groups_free(&pprof.strings);
	gp_protobuf_free(&pprof.message);
	gp_protobuf_free(&pprof.part);
	gp_protobuf_free(&pprof.inner);
	return (fflush(out) != 0 || ferror(out)) ? -EIO : 0;
}

static int write_pprof(const struct gp_export_source *source,
		       const struct gp_export_options *options, FILE *out)
{
	return gp_stack_export(source, options, true, write_profile, out);
}

const struct gp_exporter gp_exporter_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.help = "call stacks with all values, that of --value first",
	.readers = "go tool pprof, Pyroscope, Polar Signals",
	.heeds = GP_EXPORT_VALUE | GP_EXPORT_PART | GP_EXPORT_MEMORY,
	.is_compressed = true,
	.write = write_pprof,
};
