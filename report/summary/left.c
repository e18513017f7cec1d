/* Memory that was never freed, in a few lines: `gpuprof summary --memory` has the details. */
#include "report/summary/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/text/format.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/model/recorded.h"
#include "report/base/text/text.h"

#define SHOWN         3
#define PLACE_COLUMNS 40 /* of the one place that one screen names */
#define KEEPERS       16

static const struct gp_table_column columns[] = {
	{"Bytes", GP_UNIT_BYTES},
	{"Blocks", GP_UNIT_COUNT},
	{"Call site", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"left", NULL, columns, COUNT(columns)};

struct keeper {
	const char *name;
	uint64_t bytes;
};

struct left {
	const struct gp_memory_site *most[SHOWN]; /* the largest sites, sorted; NULL = none */
	const struct gp_memory_site *many;        /* the site with most blocks; NULL = none */
	uint64_t bytes, blocks, sites;
	uint64_t
		kept_bytes; /* by libraries, listed below; report/symbols/call_site.c knows fewer */
	struct keeper keepers[KEEPERS];
	size_t keeper_count;
};

static void note_largest(struct left *left, const struct gp_memory_site *row)
{
	for (size_t i = 0; i < SHOWN; i++)
		if (!left->most[i] || row->left_bytes > left->most[i]->left_bytes) {
			for (size_t k = SHOWN - 1; k > i; k--)
				left->most[k] = left->most[k - 1];
			left->most[i] = row;
			return;
		}
}

static void note_kept(struct left *left, const char *owner, uint64_t bytes)
{
	size_t i = 0;

	if (bytes == 0)
		return;
	left->kept_bytes += bytes;
	while (i < left->keeper_count && strcmp(left->keepers[i].name, owner) != 0)
		i++;
	if (i == KEEPERS)
		return;
	if (i == left->keeper_count)
		left->keepers[left->keeper_count++] = (struct keeper){owner, 0};
	left->keepers[i].bytes += bytes;
}

/* Largest first. */
static int compare_keepers(const void *a, const void *b)
{
	const struct keeper *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
				    : strcmp(x->name, y->name);
}

static struct left sum_up(const struct gp_memory_sites *found)
{
	struct left left = {0};

	for (uint32_t i = 0; i < found->row_count; i++) {
		const struct gp_memory_site *row = &found->rows[i];
		const char *owner = gp_call_sites_at(found->sites, row->site).owner;

		if (!gp_memory_site_is_leak(found, row)) {
			if (row->kind != GP_MEMORY_IPC)
				note_kept(&left, owner, row->left_bytes);
			continue;
		}
		left.bytes += row->left_bytes;
		left.blocks += row->left_blocks;
		left.sites++;
		note_largest(&left, row);
		if (!left.many || row->left_blocks > left.many->left_blocks)
			left.many = row;
	}
	qsort(left.keepers, left.keeper_count, sizeof(*left.keepers), compare_keepers);
	return left;
}

static int print_sites(const struct gp_summary *summary, const struct gp_memory_sites *found,
		       const struct left *left)
{
	struct gp_table table;
	int result;

	gp_table_open(&table, &head);
	for (size_t i = 0; i < SHOWN && left->most[i]; i++) {
		struct gp_call_site site = gp_call_sites_at(found->sites, left->most[i]->site);

		gp_table_put_whole(&table, left->most[i]->left_bytes);
		gp_table_put_whole(&table, left->most[i]->left_blocks);
		gp_table_put_words(&table, "%s%s%s", site.place,
				   *site.callers ? GP_SITE_SEPARATOR : "", site.callers);
	}
	result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	gp_table_close(&table);
	if (left->sites > SHOWN)
		fprintf(summary->out, "  ... %s more\n", gp_format_count(left->sites - SHOWN).text);
	return result;
}

static bool is_placed(const struct gp_memory_sites *found, const struct gp_memory_site *row)
{
	return !strstr(gp_call_sites_at(found->sites, row->site).place, GP_SITE_WITHOUT_STACK);
}

/*
 * The callers that tell a place from others, shortened to PLACE_COLUMNS.  Keeps the outermost one,
 * which tells them apart; those before it are wrappers.  Free it.
 */
static char *fit_callers(const char *callers)
{
	static const char left_out[] = "..." GP_SITE_SEPARATOR;
	const char *outermost = callers, *next;
	char *fitted, *text = NULL;

	while ((next = strstr(outermost, GP_SITE_SEPARATOR)) != NULL)
		outermost = next + strlen(GP_SITE_SEPARATOR);
	if (gp_text_columns(callers) <= PLACE_COLUMNS || outermost == callers)
		return gp_text_fit(callers, PLACE_COLUMNS);
	fitted = gp_text_fit(outermost, PLACE_COLUMNS - strlen(left_out));
	asprintf(&text, "%s%s", left_out, fitted);
	free(fitted);
	return text;
}

static void print_place(FILE *out, const struct gp_memory_sites *found,
			const struct gp_memory_site *row)
{
	struct gp_call_site site = gp_call_sites_at(found->sites, row->site);
	size_t caller_bytes = gp_call_sites_tell_apart(found->sites, row->site);
	char *caller = strndup(site.callers, caller_bytes), *escaped, *fitted;

	fputs(" at ", out);
	gp_text_print_fit(out, site.place, PLACE_COLUMNS);
	escaped = gp_text_escape(caller);
	fitted = fit_callers(escaped);
	fprintf(out, "%s%s", caller_bytes > 0 ? GP_SITE_SEPARATOR : "", fitted);
	free(fitted);
	free(escaped);
	free(caller);
}

/* The sum of sites that are shown as one place: only their farther callers differ, if any. */
struct place {
	const struct gp_memory_site *row; /* one of them */
	uint64_t bytes, blocks;
};

static struct place place_of(const struct gp_memory_sites *found, const struct gp_memory_site *row)
{
	struct gp_call_site site = gp_call_sites_at(found->sites, row->site);
	size_t caller_bytes = gp_call_sites_tell_apart(found->sites, row->site);
	struct place place = {.row = row};

	for (uint32_t i = 0; i < found->row_count; i++) {
		const struct gp_memory_site *other = &found->rows[i];
		struct gp_call_site of_other = gp_call_sites_at(found->sites, other->site);

		if (!gp_memory_site_is_leak(found, other) ||
		    strcmp(of_other.place, site.place) != 0 ||
		    gp_call_site_same_callers(of_other.callers, site.callers) < caller_bytes)
			continue;
		place.bytes += other->left_bytes;
		place.blocks += other->left_blocks;
	}
	return place;
}

/* The place with most bytes, among those of the largest sites. */
static struct place largest_place(const struct gp_memory_sites *found, const struct left *left)
{
	struct place largest = place_of(found, left->most[0]);

	for (size_t i = 1; i < SHOWN && left->most[i]; i++) {
		struct place place = place_of(found, left->most[i]);

		if (place.bytes > largest.bytes)
			largest = place;
	}
	return largest;
}

/*
 * The place that allocated the most bytes, if known: ", 1.500MiB of it at main".  And the one with
 * the most blocks, as many small blocks are the likelier leak: ", 400 of the blocks at step"
 */
static void print_most(FILE *out, const struct gp_memory_sites *found, const struct left *left)
{
	struct place largest = largest_place(found, left), many = place_of(found, left->many);

	if (is_placed(found, largest.row)) {
		if (largest.bytes < left->bytes)
			fprintf(out, ", %s of it", gp_format_bytes(largest.bytes).text);
		print_place(out, found, largest.row);
	}
	if (many.blocks > largest.blocks && is_placed(found, many.row)) {
		fprintf(out, ", %s of the blocks", gp_format_count(many.blocks).text);
		print_place(out, found, many.row);
	}
}

/* The input of the sentence. */
struct sentence {
	const struct gp_summary *summary;
	const struct gp_memory_sites *found;
	const struct left *left;
	const char *doubt; /* gp_memory_sites_doubt() */
	bool has_places;
};

static void print_kept(FILE *out, const struct left *left)
{
	if (left->kept_bytes > 0)
		fprintf(out, ", not counting %s kept by", gp_format_bytes(left->kept_bytes).text);
	for (size_t i = 0; i < left->keeper_count; i++)
		fprintf(out, "%s %s",
			i == 0                        ? ""
			: i + 1 == left->keeper_count ? " and"
						      : ",",
			left->keepers[i].name);
}

/* Memory that may be a library's is called neither leaked nor kept. */
static bool knows_owners(const struct sentence *s)
{
	return s->doubt ||
	       gp_memory_sites_knows_owners(s->summary->models, s->summary->model_count);
}

/* A trace that has no end has all frees up to there, but not those that may have followed. */
static bool only_lacks_end(const struct sentence *s)
{
	return s->doubt && *s->doubt == '\0';
}

static const char *title_of(const struct sentence *s)
{
	if (only_lacks_end(s))
		return "Not freed when the trace ends";
	return s->doubt ? "Not freed while recording was on" : "Never freed";
}

/* "Never freed: " and how much, as far as known. */
static void print_sentence(FILE *out, const void *context)
{
	const struct sentence *s = context;
	const struct left *left = s->left;
	bool is_one = left->blocks == 1;

	fprintf(out, "%s%s: ", title_of(s),
		gp_recorded_any_last_part(s->summary->models, s->summary->model_count)
			? ", in the kept part"
			: "");
	if (!knows_owners(s)) {
		fprintf(out,
			"not known; %s in %s block%s %s left, perhaps in the cache of an allocator",
			gp_format_bytes(left->bytes).text, gp_format_count(left->blocks).text,
			is_one ? "" : "s", is_one ? "was" : "were");
		return;
	}
	if (left->blocks > 0)
		fprintf(out, "%s in %s block%s", gp_format_bytes(left->bytes).text,
			gp_format_count(left->blocks).text, is_one ? "" : "s");
	else
		fputs("nothing", out);
	if (left->blocks > 0 && s->has_places)
		print_most(out, s->found, left);
	print_kept(out, left);
}

static void describe(const struct sentence *s, struct gp_document *document)
{
	gp_document_add_section(document, "left");
	if (s->left->blocks + s->left->kept_bytes == 0)
		return;
	gp_document_add_row(document);
	gp_document_add_text(document, "id",
			     !knows_owners(s) ? "not-known"
			     : s->doubt       ? "not-freed"
					      : "never-freed");
	gp_document_add_number(document, "bytes", GP_UNIT_BYTES, s->left->bytes);
	gp_document_add_number(document, "blocks", GP_UNIT_COUNT, s->left->blocks);
	gp_document_add_number(document, "call_sites", GP_UNIT_COUNT, s->left->sites);
	gp_document_add_number(document, "kept_bytes", GP_UNIT_BYTES, s->left->kept_bytes);
	gp_document_add_printed(document, "text", print_sentence, s);
	if (!s->doubt)
		return;
	gp_document_add_row(document);
	gp_document_add_text(document, "id", "doubt");
	if (only_lacks_end(s))
		gp_document_add_text(
			document, "text",
			"whether the program would have freed it later is not known, as the trace has no end");
	else
		gp_document_add_words(document, "text", "including memory that was freed %s",
				      s->doubt);
}

/* With the largest sites, and the command that prints the others. */
static int print_whole(const struct sentence *s, const struct gp_section *section)
{
	FILE *out = s->summary->out;
	int result = 0;

	fprintf(out, "\n%s\n", gp_fields_text(&section->rows[0], "text"));
	if (!knows_owners(s)) {
		fputs("  call stacks would tell, but the calls have none\n", out);
		return 0;
	}
	if (s->left->blocks > 0)
		result = print_sites(s->summary, s->found, s->left);
	if (section->count > 1)
		fprintf(out, "  %s\n", gp_fields_text(&section->rows[1], "text"));
	fputs("  all call sites, the peak, repeated allocations: gpuprof summary --memory FILE\n",
	      out);
	return result;
}

static int print(const struct sentence *s, const struct gp_document *document)
{
	const struct gp_section *section = gp_document_section(document, "left");

	if (!section || section->count == 0)
		return 0;
	if (!s->summary->options->brief)
		return print_whole(s, section);
	gp_document_print_text(section, SIZE_MAX, s->summary->out);
	return 0;
}

/* Into the document; to the summary's stream if that is NULL. */
static int make(const struct gp_summary *summary, struct gp_document *document)
{
	struct gp_document own = {0};
	struct gp_device_list devices = {0};
	struct gp_memory_sites found;
	int result;

	if (gp_recorded_any_sampled(summary->models, summary->model_count)) {
		if (document) /* without a row: unknown */
			gp_document_add_section(document, "left");
		return 0;
	}
	result = gp_memory_sites_of(summary->models, summary->model_count, &devices, GP_MEMORY_LEFT,
				    &found);
	if (result == 0) {
		const struct left left = sum_up(&found);
		const struct sentence sentence = {
			.summary = summary,
			.found = &found,
			.left = &left,
			.doubt = gp_memory_sites_doubt(summary->models, summary->model_count),
			.has_places = document || summary->options->brief,
		};

		describe(&sentence, document ? document : &own);
		result = document ? document->error : print(&sentence, &own);
	}
	gp_document_free(&own);
	gp_memory_sites_free(&found);
	gp_device_list_free(&devices);
	return result;
}

int gp_summary_add_left(const struct gp_summary *summary, struct gp_document *document)
{
	return make(summary, document);
}

int gp_summary_print_left(const struct gp_summary *summary)
{
	return make(summary, NULL);
}
