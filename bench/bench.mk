# Benchmarks that need no GPU; docs/design/performance.md explains them. Part of the root Makefile.

# Takes a few minutes. Counts are exact. Times depend on this machine and its load.
.PHONY: bench
bench: all sim $(addprefix $(O)/bench/,hooks trace emit stacks ranges steps)
	$(Q)printf '\n== instructions of each hook (bench/hooks)\n'; bench/hooks --print --build $(O) | cut -c 1-110
	$(Q)printf '\n== a record (bench/emit)\n'; $(O)/bench/emit
	$(Q)printf '\n== a call stack (bench/stacks)\n'; $(O)/bench/stacks
	$(Q)printf '\n== a range, ns (bench/ranges)\n'; $(MAKE) --no-print-directory bench-ranges
	$(Q)printf '\n== a program without a GPU (bench/start)\n'; bench/start --build $(O)
	$(Q)printf '\n== the trace file (bench/bytes)\n'; bench/bytes --build $(abspath $(O))
	$(Q)printf '\n== reading and writing (bench/report)\n'; bench/report --build $(abspath $(O))
	$(Q)printf '\n== the page in a browser (bench/html)\n'; bench/html --build $(abspath $(O)) --rounds 3

# The cost of a record, without a GPU; and the behavior if records come faster than they can be
# written.
.PHONY: bench-overload
bench-emit bench-overload: bench-%: $(O)/bench/%
	$(Q)$<
$(O)/bench/emit $(O)/bench/overload: $(O)/bench/%: bench/%.c $(COLLECTOR)
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(COLLECTOR) -lpthread

# The number of instructions of each hook, and of reading its records: exact, and therefore a test.
.PHONY: hooks
hooks: $(O)/bench/hooks $(O)/bench/trace $(O)/gpuprof
	$(Q)bench/hooks --build $(O)
check-built unit-programs: $(O)/bench/hooks $(O)/bench/trace $(O)/bench/ranks
CHECKS += bench/hooks
$(O)/bench/hooks: bench/hooks.c $(COLLECTOR) $(STACKS) $(INJECT_PARTS)
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,-z,now -o $@ $< $(filter %.o,$^) -ldl -lpthread

$(O)/bench/trace $(O)/bench/ranks: $(O)/bench/%: bench/%.c $(O)/tests/report/trace_builder.o $(O)/libreport.a
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(filter %.a,$^) $(REPORT_LIBS) -lcmocka

# The programs for the traces of bench/report, bench/bytes and bench/scale.
$(O)/bench/steps $(O)/bench/vary: $(O)/bench/%: bench/%.c tests/lib/cuda_start.h | $(O)/sim/libcuda.so
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -L$(O)/sim -lcuda -ldl -lpthread

# The growth of costs by ten and by a hundred times, and its chart; takes about ten minutes.
.PHONY: bench-scale
bench-scale: all sim $(O)/bench/vary
	$(Q)bench/scale --build $(abspath $(O)) --plot docs/design/scale.svg

# The cost of a call stack, compared with other methods.
.PHONY: bench-stacks
bench-stacks: $(O)/bench/stacks
	$(Q)$<
$(O)/bench/stacks: bench/stacks.c $(COLLECTOR) $(STACKS)
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(COLLECTOR) $(STACKS) -lunwind -ldl -lpthread

# The same for Python programs.
.PHONY: bench-python
bench-python: $(O)/tests/stacks/libprobe.so
	$(Q)bench/python_stacks --build $(O)

# The cost of sampling a Python thread that makes no CUDA calls.
.PHONY: bench-host-samples
bench-host-samples: $(O)/tests/stacks/libprobe.so $(O)/tests/stacks/dump
	$(Q)bench/host_samples --build $(O)

# The cost of a range: without a tool, with gpuprof that does not record ranges, and recorded.
RECORDED = GPUPROF_OUTPUT=$(O)/bench/ranges GPUPROF_CHROME=none GPUPROF_SUMMARY=none LD_PRELOAD=$(abspath $(O))/libgpuprof.so
.PHONY: bench-ranges
bench-ranges: $(O)/bench/ranges $(O)/libgpuprof.so
	$(Q)rm -f $(O)/bench/ranges*.gpuprof
	$(Q)echo 'without a tool'; $<
	$(Q)echo '--trace gpu'; $(RECORDED) GPUPROF_TRACE=gpu $<
	$(Q)echo 'recorded'; $(RECORDED) $<
$(O)/bench/ranges: bench/ranges.c
	@mkdir -p $(@D)
	$(call say,BENCH)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -ldl
