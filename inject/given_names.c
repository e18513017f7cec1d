#include "inject/given_names.h"

#include <stddef.h>

#include "collector/atomic.h"
#include "collector/collector.h"

/* Two threads that name one thing at a time may both find no entry; the later entry is said last. */
static struct entry {
	uint32_t is_there; /* atomic, set last */
	uint32_t space;
	uint32_t id;
	uint32_t value;
	struct gp_known_text *domain;
	uint64_t text; /* atomic; address of a struct gp_known_text */
} entries[GP_GIVEN_NAMES];

static uint32_t entry_count; /* may go beyond the limit */
static struct gp_texts texts = {.wanted_bytes = 1u << 20};

static uint32_t count_entries(void)
{
	uint32_t count = gp_load32_acquire(&entry_count);

	return count < GP_GIVEN_NAMES ? count : GP_GIVEN_NAMES;
}

static struct entry *find(const struct gp_given_name *name)
{
	uint32_t count = count_entries();

	for (uint32_t i = 0; i < count; i++) {
		struct entry *entry = &entries[i];

		if (gp_load32_acquire(&entry->is_there) && entry->id == name->id &&
		    entry->space == name->space && entry->domain == name->domain)
			return entry;
	}
	return NULL;
}

static void add(const struct gp_given_name *name, struct gp_known_text *text)
{
	uint32_t index =
		count_entries() < GP_GIVEN_NAMES ? gp_add32(&entry_count, 1) : GP_GIVEN_NAMES;

	if (index >= GP_GIVEN_NAMES)
		return;
	entries[index].space = name->space;
	entries[index].id = name->id;
	entries[index].value = name->value;
	entries[index].domain = name->domain;
	gp_store64_release(&entries[index].text, (uintptr_t)text);
	gp_swap32(&entries[index].is_there, 1);
}

static void say(enum gp_string_space space, uint32_t id, uint32_t value,
		struct gp_known_text *domain, const char *bytes, uint32_t length_bytes)
{
	gp_emit_string(space, id, domain != NULL ? gp_texts_say(domain) : value, bytes,
		       length_bytes);
}

void gp_given_names_add(const struct gp_given_name *name)
{
	struct gp_text_key key = {name->space, 0, name->bytes, name->length_bytes};
	struct gp_known_text *text = gp_texts_keep(&texts, &key);
	struct entry *entry = find(name);

	if (text != NULL && entry != NULL)
		gp_swap64(&entry->text, (uintptr_t)text);
	else if (text != NULL)
		add(name, text);
	/* after it was added: a recording that begins right now says it, or we do */
	if (gp_collector_is_live())
		say(name->space, name->id, name->value, name->domain, name->bytes,
		    name->length_bytes);
}

void gp_given_names_say(void)
{
	uint32_t count = count_entries();

	for (uint32_t i = 0; i < count; i++) {
		struct entry *entry = &entries[i];
		struct gp_known_text *text;

		if (!gp_load32_acquire(&entry->is_there))
			continue;
		text = (struct gp_known_text *)(uintptr_t)gp_load64_acquire(&entry->text);
		say((enum gp_string_space)entry->space, entry->id, entry->value, entry->domain,
		    text->bytes, text->length_bytes);
	}
}
