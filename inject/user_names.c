#include "inject/user_names.h"

#include <stddef.h>

#include "collector/atomic.h"
#include "collector/collector.h"

/*
 * Two threads that name the same object concurrently may both add an entry; the later entry is
 * emitted last, and so counts.
 */
static struct entry {
	uint32_t is_there; /* atomic, set last */
	uint32_t space;
	uint32_t id;
	uint32_t value;
	struct gp_known_text *domain;
	uint64_t text; /* atomic; address of a struct gp_known_text */
} entries[GP_USER_NAMES_MAX];

static uint32_t entry_count; /* may exceed the limit */
static struct gp_text_table texts = {.wanted_bytes = 1u << 20};

static uint32_t count_entries(void)
{
	uint32_t count = gp_load32_acquire(&entry_count);

	return count < GP_USER_NAMES_MAX ? count : GP_USER_NAMES_MAX;
}

static struct entry *find(const struct gp_user_name *name)
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

static void add(const struct gp_user_name *name, struct gp_known_text *text)
{
	uint32_t index =
		count_entries() < GP_USER_NAMES_MAX ? gp_add32(&entry_count, 1) : GP_USER_NAMES_MAX;

	if (index >= GP_USER_NAMES_MAX)
		return;
	entries[index].space = name->space;
	entries[index].id = name->id;
	entries[index].value = name->value;
	entries[index].domain = name->domain;
	gp_store64_release(&entries[index].text, (uintptr_t)text);
	gp_swap32(&entries[index].is_there, 1);
}

static void emit(enum gp_string_space space, uint32_t id, uint32_t value,
		 struct gp_known_text *domain, const char *bytes, uint32_t length_bytes)
{
	gp_emit_string(space, id, domain != NULL ? gp_text_table_define(domain) : value, bytes,
		       length_bytes);
}

void gp_user_names_add(const struct gp_user_name *name)
{
	struct gp_text_key key = {name->space, 0, name->bytes, name->length_bytes};
	struct gp_known_text *text = gp_text_table_add(&texts, &key);
	struct entry *entry = find(name);

	if (text != NULL && entry != NULL)
		gp_swap64(&entry->text, (uintptr_t)text);
	else if (text != NULL)
		add(name, text);
	/* after adding it: either a recording that begins now emits it, or this call does */
	if (gp_collector_is_live())
		emit(name->space, name->id, name->value, name->domain, name->bytes,
		     name->length_bytes);
}

void gp_user_names_emit(void)
{
	uint32_t count = count_entries();

	for (uint32_t i = 0; i < count; i++) {
		struct entry *entry = &entries[i];
		struct gp_known_text *text;

		if (!gp_load32_acquire(&entry->is_there))
			continue;
		text = (struct gp_known_text *)(uintptr_t)gp_load64_acquire(&entry->text);
		emit((enum gp_string_space)entry->space, entry->id, entry->value, entry->domain,
		     text->bytes, text->length_bytes);
	}
}
