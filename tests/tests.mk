# Helpers that several tests share; the tests themselves are found by the root Makefile.

# Every test of the read side can write trace files.
$(filter-out $(O)/tests/report/run/%,$(REPORT_TESTS)): $(O)/tests/report/trace_builder.o

# ---- fuzzing: not part of `make check`, for it ends when time is up; findings become tests ----
FUZZ_SECONDS ?= 30
FUZZ_FLAGS   := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

$(O)/tests/fuzz/%_fuzz: tests/fuzz/%_fuzz.c $(wildcard report/*.c report/*.h include/gpuprof/*)
	@mkdir -p $(@D)
	$(call say,FUZZ)
	$(Q)clang $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(FUZZ_FLAGS) -o $@ $< $(FUZZED) $(REPORT_LIBS)

FUZZED := $(patsubst %,report/%.c,array api_name api_table decode demangle join load memory model names recover resolve save short_name take \
	timeline trace_read)

.PHONY: fuzz
fuzz: $(O)/tests/fuzz/trace_fuzz
	$(Q)mkdir -p $(O)/tests/fuzz/corpus
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=20000 -print_final_stats=1 \
		-artifact_prefix=$(O)/tests/fuzz/ $(O)/tests/fuzz/corpus
