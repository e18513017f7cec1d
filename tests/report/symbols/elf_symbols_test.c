/* Functions of this program's own symbol table. */
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include "report/symbols/elf_symbols.h"
#include "tests/unit.h"

/* Code with symbols in each other, beside each other, without a size, and none at the end. */
__asm__(".pushsection .text.scene,\"ax\",@progbits\n"
	".type scene_outer,@function\n"
	"scene_outer: .skip 4\n"
	".type scene_inner,@function\n"
	"scene_inner: .skip 4\n"
	".size scene_inner, 4\n"
	".skip 8\n"
	".size scene_outer, 16\n"
	".type scene_local_name,@function\n"
	".globl scene_global_name\n"
	".type scene_global_name,@function\n"
	"scene_local_name:\n"
	"scene_global_name: .skip 8\n"
	".size scene_local_name, 8\n"
	".size scene_global_name, 8\n"
	"scene_gap: .skip 8\n"
	".type scene_sizeless,@function\n"
	"scene_sizeless: .skip 8\n"
	".type scene_end,@function\n"
	"scene_end: .skip 1\n"
	".size scene_end, 1\n"
	".popsection\n");

struct scene {
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t base; /* of the code, as the library counts */
	struct gp_elf_symbols symbols;
};

static int take_address(Dwfl_Module *module, uint64_t *found)
{
	int count = dwfl_module_getsymtab(module);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name =
			dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (name && strcmp(name, "scene_global_name") == 0) {
			*found = address;
			return 0;
		}
	}
	return -1;
}

static int begin(void **state)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo,
						 .section_address = dwfl_offline_section_address};
	static struct scene scene;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	scene = (struct scene){.dwfl = dwfl_begin(&callbacks)};
	scene.module = scene.dwfl ? dwfl_report_offline(scene.dwfl, "own", "own", fd) : NULL;
	if (!scene.module || take_address(scene.module, &scene.base) != 0)
		return -1;
	scene.base -= 16;
	*state = &scene;
	return 0;
}

static int end(void **state)
{
	struct scene *s = *state;

	gp_elf_symbols_free(&s->symbols);
	dwfl_end(s->dwfl);
	return 0;
}

static void test_the_innermost_symbol_that_has_the_address(void **state)
{
	static const struct {
		uint64_t offset;
		const char *name;
	} cases[] = {
		{0, "scene_outer"},        {3, "scene_outer"},        {4, "scene_inner"},
		{7, "scene_inner"},        {8, "scene_outer"},        {15, "scene_outer"},
		{16, "scene_global_name"}, {23, "scene_global_name"}, {24, "scene_gap"},
		{32, "scene_sizeless"},    {39, "scene_sizeless"},    {40, "scene_end"},
	};
	struct scene *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			gp_elf_symbols_find(&s->symbols, s->module, s->base + cases[i].offset),
			cases[i].name);
}

static void test_where_nothing_is(void **state)
{
	struct scene *s = *state;
	const char *name = gp_elf_symbols_find(&s->symbols, s->module, s->base + 41);

	assert_true(!name || strcmp(name, "scene_end") != 0);
	assert_null(gp_elf_symbols_find(&s->symbols, s->module, 0));
	gp_elf_symbols_find(&s->symbols, s->module, UINT64_MAX);
}

/* All of them, in whatever order the file has them. */
static void test_each_symbol_is_found(void **state)
{
	struct scene *s = *state;
	int count = dwfl_module_getsymtab(s->module), found = 0;

	gp_elf_symbols_find(&s->symbols, s->module, s->base);
	for (uint32_t i = 1; i < s->symbols.count; i++)
		assert_true(s->symbols.symbols[i - 1].address <= s->symbols.symbols[i].address);
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name =
			dwfl_module_getsym_info(s->module, i, &symbol, &address, NULL, NULL, NULL);

		if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    GELF_ST_BIND(symbol.st_info) != STB_GLOBAL || symbol.st_size == 0 ||
		    strncmp(name, "test_only_", strlen("test_only_")) != 0)
			continue;
		assert_string_equal(gp_elf_symbols_find(&s->symbols, s->module, address), name);
		found++;
	}
	assert_int_equal(found, 3);
}

void test_only_first(void);
void test_only_second(void);
void test_only_third(void);

void test_only_third(void)
{
	assert_true(true);
}

void test_only_first(void)
{
	test_only_third();
}

void test_only_second(void)
{
	test_only_first();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_innermost_symbol_that_has_the_address),
		cmocka_unit_test(test_where_nothing_is),
		cmocka_unit_test(test_each_symbol_is_found),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
