#include "stacks/modules.h"

#include <stdio.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"
#include "stacks/loader.h"
#include "stacks/lock.h"
#include "stacks/memory.h"

#define MAPPINGS     4096u
#define IDS          16384u /* fit the 16 bits of a rule */
#define PATH_BYTES   4096u
#define OWN_MAPPINGS 8u /* emitted mappings per module */

/* The loader's counters of loaded and unloaded modules. */
struct counts {
	uint64_t added;
	uint64_t removed;
};

struct list {
	struct counts counts;
	uint32_t count;
	struct gp_module mappings[MAPPINGS];
};

static struct list known;
static uint32_t lock; /* guards `known` and `last_id` */
static uint32_t last_id;
static uint32_t epoch;
/* an address was in no module; a module loaded later may contain it */
static bool missed_address;
static uint64_t code_low, code_high; /* atomic; all code of `known` lies within */
static uint8_t flags[IDS];
static uint8_t has_flags[IDS];

/* ---- data from the loader ---- */

static int read_counts(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct counts *counts = user;

	(void)bytes;
	*counts = (struct counts){info->dlpi_adds, info->dlpi_subs};
	return 1;
}

static const ElfW(Phdr) *
	find_header(const ElfW(Phdr) * headers, uint32_t count, uint32_t type, uint32_t from)
{
	for (uint32_t i = from; i < count; i++)
		if (headers[i].p_type == type)
			return &headers[i];
	return NULL;
}

/* The build-id in a segment of notes, or NULL. */
static const uint8_t *search_notes(const uint8_t *at, uint64_t bytes, uint32_t *id_bytes)
{
	const uint8_t *end = at + bytes;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
		uint64_t name_bytes = ((uint64_t)note->n_namesz + 3) & ~(uint64_t)3;
		uint64_t text_bytes = ((uint64_t)note->n_descsz + 3) & ~(uint64_t)3;

		if ((size_t)(end - at) - sizeof(*note) < name_bytes + text_bytes)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(note + 1, "GNU", 4) == 0) {
			*id_bytes = note->n_descsz;
			return (const uint8_t *)(note + 1) + 4;
		}
		at += sizeof(*note) + name_bytes + text_bytes;
	}
	return NULL;
}

static const uint8_t *find_build_id(const struct gp_module *module, uint32_t *bytes)
{
	const ElfW(Phdr) *header = module->headers;

	for (uint32_t i = 0; i < module->header_count; i++, header++) {
		const uint8_t *id = NULL;

		if (header->p_type == PT_NOTE)
			id = search_notes((const uint8_t *)(module->bias + header->p_vaddr),
					  header->p_memsz, bytes);
		if (id != NULL)
			return id;
	}
	*bytes = 0;
	return NULL;
}

static uint64_t add_to_hash(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t identity_of(const struct gp_module *module)
{
	uint32_t bytes;
	const uint8_t *build_id = find_build_id(module, &bytes);
	uint64_t hash = add_to_hash(0xcbf29ce484222325u, &module->bias, sizeof(module->bias));

	hash = add_to_hash(hash, module->path, strlen(module->path));
	return bytes != 0 ? add_to_hash(hash, build_id, bytes) : hash;
}

static uint32_t flags_of(const char *path, uint32_t length)
{
	static const struct {
		const char *prefix;
		enum gp_module_flag flag;
	} rows[] = {
		{"libgpuprof.so", GP_MODULE_BELOW}, {"libcupti.so", GP_MODULE_BELOW},
		{"libcuda.so", GP_MODULE_BELOW},    {"libcudart", GP_MODULE_BELOW},
		{"libpython", GP_MODULE_PYTHON},    {"python", GP_MODULE_PYTHON},
	};
	uint32_t base = length;

	while (base > 0 && path[base - 1] != '/')
		base--;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t bytes = strlen(rows[i].prefix);

		if (length - base >= bytes && memcmp(path + base, rows[i].prefix, bytes) == 0)
			return rows[i].flag;
	}
	return 0;
}

/* Holds the loader's lock: accesses only memory. */
static int gather(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct list *list = user;
	struct gp_module module = {.bias = info->dlpi_addr,
				   .path = info->dlpi_name != NULL ? info->dlpi_name : "",
				   .headers = info->dlpi_phdr,
				   .header_count = info->dlpi_phnum};
	const ElfW(Phdr) *unwind =
		find_header(module.headers, module.header_count, PT_GNU_EH_FRAME, 0);

	(void)bytes;
	list->counts = (struct counts){info->dlpi_adds, info->dlpi_subs};
	if (unwind != NULL)
		module.unwind = (const uint8_t *)(module.bias + unwind->p_vaddr);
	module.identity = identity_of(&module);
	module.may_be_interpreter =
		module.path[0] == '\0' || /* the program itself */
		flags_of(module.path, (uint32_t)strlen(module.path)) == GP_MODULE_PYTHON;
	for (uint32_t i = 0; i < module.header_count && list->count < MAPPINGS; i++) {
		const ElfW(Phdr) *header = &module.headers[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		module.start = module.bias + header->p_vaddr;
		module.end = module.start + header->p_memsz;
		list->mappings[list->count++] = module;
	}
	return 0;
}

/* ---- the list ---- */

static bool is_same(const struct gp_module *a, const struct gp_module *b)
{
	return a->identity == b->identity && a->bias == b->bias;
}

/* A module that stayed loaded keeps its id; the mappings of one module are adjacent. */
static uint32_t id_for(const struct list *list, uint32_t at)
{
	const struct gp_module *module = &list->mappings[at];

	if (at > 0 && is_same(module, &list->mappings[at - 1]))
		return list->mappings[at - 1].id;
	for (uint32_t i = 0; i < known.count; i++)
		if (is_same(module, &known.mappings[i]))
			return known.mappings[i].id;
	return last_id + 1 < IDS ? ++last_id : 0;
}

/* An answer from before `known` was taken may be wrong by now. */
static bool is_stale(struct counts counts)
{
	return known.count != 0 && (counts.removed != known.counts.removed ||
				    (missed_address && counts.added != known.counts.added));
}

static void note_bounds(const struct list *list)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		low = list->mappings[i].start < low ? list->mappings[i].start : low;
		high = list->mappings[i].end > high ? list->mappings[i].end : high;
	}
	gp_store64(&code_low, low);
	gp_store64(&code_high, high);
}

static void adopt(struct list *list)
{
	bool is_older = list->counts.added < known.counts.added ||
			list->counts.removed < known.counts.removed;

	if (is_older)
		return;
	for (uint32_t i = 0; i < list->count; i++)
		list->mappings[i].id = id_for(list, i);
	if (is_stale(list->counts)) {
		gp_store32_release(&epoch, gp_load32(&epoch) + 1);
		missed_address = false;
	}
	note_bounds(list);
	known.counts = list->counts;
	known.count = list->count;
	memcpy(known.mappings, list->mappings, list->count * sizeof(list->mappings[0]));
}

static void refresh(void)
{
	struct list *list = gp_memory_map(sizeof(*list));

	if (list == NULL)
		return;
	if (gp_loader_iterate(gather, list)) {
		gp_lock(&lock);
		adopt(list);
		gp_unlock(&lock);
	}
	gp_memory_unmap(list, sizeof(*list));
}

/* If the loader cannot be called now, the known list counts as current. */
static bool is_current(void)
{
	struct counts counts;
	bool current;

	if (!gp_loader_iterate_quick(read_counts, &counts))
		return true;
	gp_lock(&lock);
	current = counts.added == known.counts.added && counts.removed == known.counts.removed;
	gp_unlock(&lock);
	return current;
}

/* ---- emitting modules ---- */

/* The data of a module besides its mappings. */
struct facts {
	const ElfW(Phdr) * headers;
	uint32_t path_bytes;
	uint32_t build_id_bytes;
	uint8_t build_id[20];
	bool is_there;
	char path[PATH_BYTES];
};

/* Holds the loader's lock, so that the module cannot be unloaded meanwhile. */
static int read_facts(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct facts *facts = user;
	const struct gp_module module = {.bias = info->dlpi_addr,
					 .headers = info->dlpi_phdr,
					 .header_count = info->dlpi_phnum};

	(void)bytes;
	if (info->dlpi_phdr != facts->headers)
		return 0;
	const uint8_t *build_id = find_build_id(&module, &facts->build_id_bytes);

	if (facts->build_id_bytes > sizeof(facts->build_id))
		facts->build_id_bytes = sizeof(facts->build_id);
	if (build_id != NULL)
		memcpy(facts->build_id, build_id, facts->build_id_bytes);
	if (info->dlpi_name != NULL) {
		facts->path_bytes = (uint32_t)strnlen(info->dlpi_name, PATH_BYTES);
		memcpy(facts->path, info->dlpi_name, facts->path_bytes);
	}
	facts->is_there = true;
	return 1;
}

/* Prefix a relative name with the current folder. */
static void put_directory(struct facts *facts)
{
	char *name = facts->path + PATH_BYTES - facts->path_bytes;
	ssize_t length;

	memmove(name, facts->path, facts->path_bytes);
	length = gp_sys_directory(facts->path, PATH_BYTES - facts->path_bytes - 1);
	length = length > 0 ? (ssize_t)strnlen(facts->path, (size_t)length) : 0;
	facts->path[length++] = '/';
	memmove(facts->path + length, name, facts->path_bytes);
	facts->path_bytes += (uint32_t)length;
}

/* Make the path of the program and relative names absolute. */
static void complete_path(struct facts *facts)
{
	ssize_t length;

	if (facts->path_bytes == 0) {
		length = gp_sys_read_link("/proc/self/exe", facts->path, PATH_BYTES);
		facts->path_bytes = length > 0 ? (uint32_t)length : 0;
	} else if (facts->path[0] != '/' && facts->path_bytes < PATH_BYTES - 1 &&
		   memchr(facts->path, '/', facts->path_bytes) != NULL) {
		put_directory(facts);
	}
}

static uint32_t are_in_bundle; /* atomic */

bool gp_modules_are_in_bundle(void)
{
	return gp_load32(&are_in_bundle) != 0;
}

static void note_bundle(const struct facts *facts)
{
	static const char *const folders[] = {"/_MEI", "/.mount_", "/onefile_"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (memmem(facts->path, facts->path_bytes, folders[i], strlen(folders[i])) != NULL)
			gp_store32(&are_in_bundle, 1);
}

static void emit_mapping(const struct gp_module *mapping, const struct facts *facts)
{
	struct gp_record_module record = {
		.kind = GP_RECORD_MODULE,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.id = mapping->id,
		.start_address = mapping->start,
		.end_address = mapping->end,
		.bias = mapping->bias,
		.ticks = gp_clock_ticks(),
		.build_id_bytes = (uint8_t)facts->build_id_bytes,
	};

	memcpy(record.build_id, facts->build_id, sizeof(record.build_id));
	gp_emit((const struct gp_record *)&record);
}

static uint32_t copy_mappings(uint32_t id, struct gp_module own[OWN_MAPPINGS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < known.count && count < OWN_MAPPINGS; i++)
		if (known.mappings[i].id == id)
			own[count++] = known.mappings[i];
	return count;
}

static void introduce(const struct gp_module *module)
{
	struct gp_module own[OWN_MAPPINGS];
	struct facts *facts = gp_memory_map(sizeof(*facts));

	if (facts == NULL)
		return;
	facts->headers = module->headers;
	if (gp_loader_iterate(read_facts, facts) && facts->is_there) {
		complete_path(facts);
		note_bundle(facts);
		__atomic_store_n(&flags[module->id],
				 (uint8_t)flags_of(facts->path, facts->path_bytes),
				 __ATOMIC_RELAXED);
		gp_emit_string(GP_STRING_MODULE, module->id, 0, facts->path, facts->path_bytes);
		gp_lock(&lock);
		uint32_t count = copy_mappings(module->id, own);

		gp_unlock(&lock);
		for (uint32_t i = 0; i < count; i++)
			emit_mapping(&own[i], facts);
	}
	gp_memory_unmap(facts, sizeof(*facts));
}

/* ---- finding modules ---- */

static bool find_symbol(uint64_t pc, struct gp_module *module)
{
	for (uint32_t i = 0; i < known.count; i++) {
		if (pc < known.mappings[i].start || pc >= known.mappings[i].end)
			continue;
		*module = known.mappings[i];
		return true;
	}
	return false;
}

bool gp_modules_find(uint64_t pc, struct gp_module *module, bool *is_first)
{
	*is_first = false;
	if (!is_current())
		refresh();
	gp_lock(&lock);
	bool found = find_symbol(pc, module);

	missed_address |= !found;
	if (found && module->id != 0 && !has_flags[module->id]) {
		has_flags[module->id] = 1;
		*is_first = true;
	}
	gp_unlock(&lock);
	if (*is_first)
		introduce(module);
	return found;
}

bool gp_modules_find_interpreter(struct gp_module *module)
{
	bool found = false;

	gp_lock(&lock);
	for (uint32_t i = 0; i < known.count && !found; i++) {
		*module = known.mappings[i];
		found = module->may_be_interpreter && module->id != 0 && !has_flags[module->id];
	}
	if (found)
		has_flags[module->id] = 1;
	gp_unlock(&lock);
	if (found)
		introduce(module);
	return found;
}

bool gp_modules_is_code(uint64_t address)
{
	struct gp_module module;

	if (address < gp_load64(&code_low) || address >= gp_load64(&code_high))
		return false;
	gp_lock(&lock);
	bool found = find_symbol(address, &module);

	gp_unlock(&lock);
	return found;
}

bool gp_modules_is_loaded(uint32_t id)
{
	bool found = false;

	gp_lock(&lock);
	for (uint32_t i = 0; i < known.count && !found; i++)
		found = known.mappings[i].id == id;
	gp_unlock(&lock);
	return found;
}

void gp_modules_poll(void)
{
	struct counts counts;

	if (!gp_loader_iterate_quick(read_counts, &counts))
		return;
	gp_lock(&lock);
	bool stale = is_stale(counts);

	gp_unlock(&lock);
	if (stale)
		refresh();
}

void gp_modules_forget_emitted(void)
{
	gp_lock(&lock);
	memset(has_flags, 0, sizeof(has_flags));
	gp_unlock(&lock);
}

uint32_t gp_modules_epoch(void)
{
	return gp_load32_acquire(&epoch);
}

uint32_t gp_modules_flags(uint32_t id)
{
	return id < IDS ? __atomic_load_n(&flags[id], __ATOMIC_RELAXED) : 0;
}

/* ---- symbols ---- */

/*
 * The loader has relocated most of these addresses; in read-only sections they are still relative.
 */
static uint64_t dynamic_address(const struct gp_module *module, ElfW(Sxword) tag)
{
	const ElfW(Phdr) *header =
		find_header(module->headers, module->header_count, PT_DYNAMIC, 0);
	const ElfW(Dyn) *entry = NULL;

	if (header != NULL)
		entry = (const ElfW(Dyn) *)(module->bias + header->p_vaddr);
	for (; entry != NULL && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_ptr < module->bias ? entry->d_un.d_ptr + module->bias
								: entry->d_un.d_ptr;
	return 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

uint64_t gp_modules_symbol(const struct gp_module *module, const char *name, uint64_t *bytes)
{
	const uint32_t *table = (const uint32_t *)dynamic_address(module, DT_GNU_HASH);
	const ElfW(Sym) *symbols = (const ElfW(Sym) *)dynamic_address(module, DT_SYMTAB);
	const char *names = (const char *)dynamic_address(module, DT_STRTAB);
	uint32_t hash = gnu_hash(name);

	if (table == NULL || symbols == NULL || names == NULL || table[0] == 0)
		return 0;
	uint32_t bucket_count = table[0], first = table[1], filter_words = table[2];
	const uint32_t *buckets = (const uint32_t *)((const uint64_t *)(table + 4) + filter_words);
	const uint32_t *chain = buckets + bucket_count;
	uint32_t at = buckets[hash % bucket_count];

	for (; at >= first && at != 0; at++) {
		const ElfW(Sym) *symbol = &symbols[at];

		if ((chain[at - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(names + symbol->st_name, name) == 0) {
			*bytes = symbol->st_size;
			return module->bias + symbol->st_value;
		}
		if (chain[at - first] & 1)
			break;
	}
	return 0;
}
