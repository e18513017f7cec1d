"""gpuprof summary --by: the tables of the sample programs add up to what their Chrome traces hold."""
import collections
import csv
import glob
import io
import json
import os
import re
import statistics
import unittest

import support
from support import ROOT, Case
from facts import Facts, is_free

PROGRAMS = [os.path.splitext(os.path.basename(path))[0]
            for path in sorted(glob.glob(os.path.join(ROOT, "tests", "programs", "*.cu")))]
SPREAD = ("Avg", "Med", "Min", "Max", "StdDev")


def ns(microseconds):
    return round(microseconds * 1000)


class Tables(Case):

    def record(self, program, *arguments):
        path = os.path.join(support.BUILD, "programs", program)
        result = self.run_program([path, *arguments], GPUPROF_OUTPUT=program)
        self.assertIn(program + ".gpuprof", self.files(), result.stderr)
        return self.path(program + ".gpuprof")

    def summary(self, *arguments):
        result = self.run_gpuprof("summary", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def tables(self, words, *traces):
        """name: list of rows, each a dictionary"""
        found = json.loads(self.summary("--by", words, "--format", "json", *traces).stdout)
        found = found if isinstance(found, list) else [found]
        for table in found:
            for row in table["rows"]:
                self.assertEqual(list(row), [column["name"] for column in table["columns"]])
        return {table["report"]: table["rows"] for table in found}

    def sum(self, rows, column):
        return sum(row[column] for row in rows)


class Sums(Tables):

    def check_operations(self, tables, facts):
        operations = {"Kernels": facts.kernels, "Copies": facts.copies, "Memsets": facts.sets}
        for name in ("stream", "context", "device", "process"):
            rows = tables[name]
            self.assertEqual(self.sum(rows, "Count"), sum(map(len, operations.values())), name)
            self.assertEqual(self.sum(rows, "Total"), sum(ns(op["dur"]) for ops in operations.values() for op in ops))
            for column, ops in operations.items():
                self.assertEqual(self.sum(rows, column), len(ops), name)
        self.assertEqual(self.sum(tables["thread"], "GPU ops"), sum(map(len, operations.values())))

    def check_kernels(self, tables, facts):
        for name in ("kernel", "grid"):
            self.assertEqual(self.sum(tables[name], "Count"), len(facts.kernels))
            self.assertEqual(self.sum(tables[name], "Total"), sum(ns(kernel["dur"]) for kernel in facts.kernels))
        grids = {tuple(row[column] for column in ("GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ"))
                 for row in tables["grid"]}
        self.assertEqual(grids, {(*kernel["args"]["grid"], *kernel["args"]["block"]) for kernel in facts.kernels})
        launched = sum(row["Count"] for row in tables["kernel"]) - self.sum(tables["graph"], "Kernels")
        self.assertEqual(self.sum(tables["exec"], "Count"), launched)

    def check_copies(self, tables, facts):
        moved = facts.copies + facts.sets
        for name in ("copy-time", "copy-size"):
            self.assertEqual(self.sum(tables[name], "Count"), len(moved))
        self.assertEqual(self.sum(tables["copy-time"], "Total"), sum(ns(op["dur"]) for op in moved))
        self.assertEqual(self.sum(tables["copy-size"], "Total"), sum(op["args"]["bytes"] for op in moved))

    def check_calls(self, tables, facts):
        failed = sum(1 for call in facts.calls if call["args"].get("status"))
        self.assertEqual(self.sum(tables["api"], "Count"), len(facts.calls))
        self.assertEqual(self.sum(tables["api"], "Failed"), failed)
        self.assertEqual(self.sum(tables["failure"], "Count"), failed)
        self.assertEqual({row["Name"]: row["Count"] for row in tables["api"]},
                         collections.Counter(call["name"] for call in facts.calls))
        alone = [row for row in tables["api-gpu"] if row["Category"] == "API call"]
        self.assertEqual({row["Name"]: (row["Count"], row["Total"]) for row in alone},
                         {row["Name"]: (row["Count"], row["Total"]) for row in tables["api"]})
        self.assertEqual(len(tables["api-gpu"]), len(tables["api"]) + len(tables["gpu"]))
        for name in ("thread", "process"):
            self.assertEqual(self.sum(tables[name], "Calls"), len(facts.calls))
            self.assertEqual(self.sum(tables[name], "Failed"), failed)

    def check_memory(self, tables, facts):
        for operation, freed in (("allocate", False), ("free", True)):
            rows = [row for row in tables["memory"] if row["Operation"] == operation and "(" not in row["API"]]
            took_effect = [call["args"]["bytes"] for call in facts.calls
                           if "bytes" in call["args"] and "memory" in call["args"] and is_free(call["name"]) == freed]
            self.assertEqual((self.sum(rows, "Count"), self.sum(rows, "Total")), (len(took_effect), sum(took_effect)))

    def check_stacks(self, tables, facts):
        rows = [row for row in tables["stack-api"] if not row["Stack"].startswith(" ")]
        if rows:
            self.assertEqual(self.sum(rows, "Count"), len(facts.calls))

    def check_shares(self, tables):
        for name, rows in tables.items():
            rows = [row for row in rows if not row.get("Stack", "").startswith(" ")]  # of trees, the outermost
            if rows and "Time %" in rows[0] and self.sum(rows, "Total") > 0:
                self.assertAlmostEqual(self.sum(rows, "Time %"), 100, delta=0.001 * len(rows), msg=name)

    def test_of_every_program(self):
        for program in PROGRAMS:
            with self.subTest(program):
                tables = self.tables("all", self.record(program))
                facts = Facts(self.path(program + ".json"))
                self.check_operations(tables, facts)
                self.check_kernels(tables, facts)
                self.check_copies(tables, facts)
                self.check_calls(tables, facts)
                self.check_memory(tables, facts)
                self.check_stacks(tables, facts)
                self.check_shares(tables)

    def test_of_two_processes_are_those_of_both(self):
        traces = [self.record("launch"), self.record("copies")]
        alone = [self.tables("api,process", trace) for trace in traces]
        both = self.tables("api,process", *traces)
        for name in ("api", "process"):
            self.assertEqual(self.sum(both[name], "Total"), sum(self.sum(one[name], "Total") for one in alone))
        self.assertEqual(len(both["process"]), 2)

    def test_spreads_are_exact(self):
        tables = self.tables("api", self.record("demo"))
        durations = collections.defaultdict(list)
        for call in Facts(self.path("demo.json")).calls:
            durations[call["name"]].append(ns(call["dur"]))
        for row in tables["api"]:
            values = durations[row["Name"]]
            expected = (statistics.mean(values), statistics.median(values), min(values), max(values),
                        statistics.pstdev(values))
            for column, value in zip(SPREAD, expected):
                self.assertAlmostEqual(row[column], value, delta=0.001, msg=f"{row['Name']} {column}")

    def test_a_graph_has_its_launches_and_nodes(self):
        trace = self.record("graph")
        graphs = self.tables("graph", trace)["graph"]
        facts = Facts(self.path("graph.json"))
        self.assertEqual(self.sum(graphs, "Launches"), facts.count("graph.launches"))
        for row in graphs:
            self.assertEqual(row["Count"], row["Kernels"] + row["Copies"] + row["Memsets"])
            self.assertEqual(row["Count"] % row["Launches"], 0)


RANGES = """
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

int main(void)
{
	nvtxRangeId_t whole;
	void *memory;

	cudaMalloc(&memory, 4096);
	whole = nvtxRangeStartA("whole");
	for (int i = 0; i < 5; i++) {
		nvtxRangePushA("step");
		nvtxRangePushA("clear|it");
		cudaMemsetAsync(memory, 0, 4096, 0);
		cudaMemsetAsync(memory, 0, 4096, 0);
		nvtxRangePop();
		cudaMemsetAsync(memory, 0, 4096, 0);
		nvtxRangePop();
	}
	cudaDeviceSynchronize();
	nvtxRangeEnd(whole);
	nvtxMarkA("here");
	nvtxMarkA("here");
	nvtxRangePushA("left open");
	return 0;
}
"""


class Ranges(Tables):

    def record_ranges(self):
        toolkit = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
        program = self.compile("ranges", RANGES, f"-I{toolkit}/include", f"-L{support.BUILD}/sim",
                               "-l:libcudart.so.13", "-Wl,--allow-shlib-undefined", "-ldl")
        self.run_program([program], GPUPROF_OUTPUT="ranges")
        return self.path("ranges.gpuprof")

    def by_range(self, table, trace):
        return {row["Range"]: row for row in self.tables(table, trace)[table]}

    def test_on_their_thread(self):
        rows = self.by_range("nvtx", self.record_ranges())
        self.assertEqual({name: (row["Count"], row["Open"], row["Style"]) for name, row in rows.items()},
                         {"whole": (1, 0, "start/end"), "step": (5, 0, "push/pop"), "clear|it": (5, 0, "push/pop"),
                          "here": (2, 0, "mark"), "left open": (1, 1, "push/pop")})
        self.assertEqual(rows["step"]["Self"], rows["step"]["Total"] - rows["clear|it"]["Total"])
        self.assertEqual(rows["clear|it"]["Self"], rows["clear|it"]["Total"])
        self.assertGreater(rows["whole"]["Total"], rows["step"]["Total"])
        self.assertEqual((rows["here"]["Total"], rows["here"]["Min"]), (0, None))
        self.assertGreater(rows["left open"]["Total"], 0)

    def test_on_the_gpu(self):
        trace = self.record_ranges()
        rows = self.by_range("nvtx-gpu", trace)
        self.assertEqual({name: (row["Count"], row["GPU ops"]) for name, row in rows.items()},
                         {"whole": (1, 15), "step": (5, 15), "clear|it": (5, 10)})
        operations = self.tables("process", trace)["process"][0]
        self.assertEqual(rows["whole"]["GPU time"], operations["Total"])
        self.assertEqual(rows["step"]["GPU time"], operations["Total"])
        self.assertEqual(self.tables("nvtx-kernel", trace), {"nvtx-kernel": []})

    def test_one_by_one(self):
        trace = self.record_ranges()
        rows = json.loads(self.run_gpuprof("trace", "nvtx", "--format", "json", trace).stdout)["rows"]
        numbered = {row["Range"]: row for row in rows}
        for row in rows:
            parent = numbered.get(row["Parent"])
            self.assertEqual(row["Stack"], None if row["Style"] != "push/pop" else
                             f"{parent['Stack'] if parent else ''}:{row['Range']}")
            if row["Style"] == "mark":
                self.assertEqual((row["End"], row["DurChild"]), (None, None))
                continue
            self.assertEqual(row["End"], row["Start"] + row["Duration"])
            self.assertEqual(row["DurChild"], None if row["Style"] == "start/end" else row["Duration"] - row["Self"])
        inner = [row for row in rows if row["Name"] == "clear|it"]
        self.assertEqual(len(inner), 5)
        self.assertEqual({numbered[row["Parent"]]["Name"] for row in inner}, {"step"})

    def test_kernels_by_the_thread_of_their_range(self):
        trace = self.record("ranges")
        self.assertEqual([(row["PID"], row["TID"], row["Count"], row["Ranges"])
                          for row in self.tables("nvtx-kernel", trace)["nvtx-kernel"]],
                         [(row["PID"], row["TID"], 300, 3) for row in self.tables("thread", trace)["thread"]])
        self.record("ranges")
        twice = self.tables("nvtx-kernel", trace, self.path("ranges.2.gpuprof"))["nvtx-kernel"]
        self.assertEqual((len({row["PID"] for row in twice}), {row["Ranges"] for row in twice}), (2, {3}))

    def test_a_trace_without_any_says_how_to_get_some(self):
        result = self.summary("--by", "nvtx", self.record("demo", "3"))
        self.assert_one_line(result.stderr, "no NVTX range in this trace", "record with --trace=default")


class Formats(Tables):

    def test_hold_the_same_values(self):
        trace = self.record("demo", "3")
        rows = self.tables("kernel", trace)["kernel"]
        text = self.summary("--by", "kernel", "--format", "csv", trace).stdout
        titles, *lines = list(csv.reader(io.StringIO(text)))
        self.assertEqual([title.replace(" (ns)", "") for title in titles], list(rows[0]))
        self.assertEqual([[str(value) for value in row.values()] for row in rows], lines)

    def test_of_programs_have_the_table_alone(self):
        trace = self.record("zoo")
        self.assertIn("\nAPI calls that failed\n", self.summary("--by", "api", trace).stdout)
        self.assertNotIn("cudaErrorMemoryAllocation", self.summary("--by", "api", "--format", "csv", trace).stdout)

    def test_failed_allocations_have_what_they_asked_for(self):
        trace = self.record("zoo")
        [row] = [row for row in self.tables("failure", trace)["failure"] if row["Error"] == "cudaErrorMemoryAllocation"]
        self.assertEqual((row["Name"], row["Asked min"], row["Asked max"], row["Processes"]), ("cudaMalloc", 1 << 60, 1 << 60, 1))
        self.assertIn("2), of 1048576.0TiB", self.summary(trace).stdout)

    def test_of_people_name_the_table(self):
        trace = self.record("demo", "3")
        self.assertTrue(self.summary("--by", "kernel", trace).stdout.startswith("Kernels\n  Time %"))
        self.assertTrue(self.summary("--by", "kernel", "--format", "markdown", trace).stdout
                        .startswith("### Kernels\n\n| Time % |"))

    def test_full_names_have_parameters(self):
        trace = self.record("demo", "3")
        short, full = (self.tables("kernel", *options, trace)["kernel"] for options in ((), ("--full-names",)))
        self.assertIn("smooth", [row["Name"] for row in short])
        self.assertIn("smooth(float*, float const*, int)", [row["Name"] for row in full])


class Choices(Tables):

    def test_names_of_other_profilers(self):
        """A command of another profiler prints the same as gpuprof's."""
        trace = self.record("demo", "3")
        for name, words in (("memory", ("summary", "--memory")), ("hta", ("summary", "--by", "time,idle,kind,kernel")),
                            ("holistic", ("summary", "--by", "time,idle,kind,kernel")), ("compile", ("summary", "--by", "module,tuning")),
                            ("flame", ("export", "--format", "folded", "-o", "-")), ("timeline", ("html", "-o", "-"))):
            more = words[-2:] if "-o" in words else ()
            told, wanted = self.run_gpuprof(name, *more, trace), self.run_gpuprof(*words, trace)
            self.assertEqual((told.returncode, told.stdout), (0, wanted.stdout), name)
            self.assertIn(name, self.run_gpuprof("help").stdout)
        self.assertEqual(self.run_gpuprof("profile", "-q", "-o", "other", "sh", "-c", "exit 3").returncode, 3)

    def test_top_and_sort(self):
        trace = self.record("demo", "3")
        everything = self.tables("api", trace)["api"]
        self.assertEqual([row["Total"] for row in everything],
                         sorted((row["Total"] for row in everything), reverse=True))
        first = self.tables("api", "--top", "2", "--sort", "name", trace)["api"]
        self.assertEqual([row["Name"] for row in first], sorted(row["Name"] for row in everything)[:2])
        text = self.summary("--by", "api", "--top", "2", trace).stdout
        self.assertIn(f"... {len(everything) - 2} more", text)

    def test_the_output_is_a_file(self):
        trace = self.record("demo", "3")
        for options in (("--by", "kernel"), ()):
            printed = self.summary(*options, trace).stdout
            self.assertEqual(self.summary("-o", self.path("out"), *options, trace).stdout, "")
            with open(self.path("out"), encoding="utf-8") as file:
                self.assertEqual(file.read(), printed)

    def test_streams_and_contexts_say_who_made_them(self):
        trace = self.record("cover")
        context, = self.tables("context", trace)["context"]
        self.assertEqual((context["Made by"], context["Made"]), ("cudaStreamCreate", 0))
        self.assertGreater(context["API time"], 0)
        streams = {(row["Kind"], row["Priority"], row["Made by"]) for row in self.tables("stream", trace)["stream"]}
        self.assertEqual(streams, {("null", "0", "cudaStreamCreate"), ("blocking", "0", "cudaStreamCreate"),
                                   ("blocking", "0", "cudaStreamCreateWithPriority"),
                                   ("non-blocking", "0", "cudaStreamCreateWithFlags"),
                                   ("non-blocking", "-5", "cudaStreamCreateWithPriority")})

    def test_unified_memory_by_address_is_all_of_it(self):
        program = os.path.join(support.BUILD, "programs", "zoo")
        self.run_program([program], GPUPROF_OUTPUT="zoo", GPUPROF_TRACE="default,unified")
        trace = self.path("zoo.gpuprof")
        kinds = {row["Kind"]: row for row in self.tables("unified", trace)["unified"]}
        addresses = self.tables("unified-address", trace)["unified-address"]
        self.assertEqual({title: sum(row[title] for row in addresses)
                          for title in ("HtoD", "DtoH", "CPU faults", "GPU faults", "Total")},
                         {"HtoD": kinds["migration HtoD"]["Bytes"], "DtoH": kinds["migration DtoH"]["Bytes"],
                          "CPU faults": kinds["page fault of the CPU"]["Faults"],
                          "GPU faults": kinds["page fault of a GPU"]["Faults"],
                          "Total": sum(row["Total"] for kind, row in kinds.items() if kind.startswith("migration"))})
        self.assertEqual(sum(row["Count"] for row in self.tables("unified-fault", trace)["unified-fault"]),
                         kinds["page fault of the CPU"]["Count"])

    def test_words_are_listed(self):
        listed = self.summary("--by", "help").stdout
        for word in ("kernel", "grid", "api", "copy", "stream", "thread", "process", "device", "context", "exec",
                     "sync", "memory", "unified", "graph", "overhead", "module", "host"):
            self.assertIn(f"\n  {word} ", "\n" + listed)
        near = self.run_gpuprof("summary", "--by", "kernels", "x.gpuprof")
        self.assertEqual(near.returncode, 2)
        self.assert_one_line(near.stderr, "there is no table by kernels; did you mean kernel?")
        wrong = self.run_gpuprof("summary", "--by", "nothing", "x.gpuprof")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("there is no table by nothing", wrong.stderr)
        self.assertTrue(wrong.stderr.endswith(listed))
        for words, meant in (("trace gpus x", "gpu"), ("export -F chrom x", "chrome"), ("explain tiny-copy", "tiny-copies"),
                             ("summary --to 3 x", "--top"), ("summary -F jsn --by api x", "json"), ("advice -F jsn x", "json"),
                             ("export --value gpu-tim -F folded x", "gpu-time"), ("summary --by copi x", "copy")):
            self.assert_one_line(self.run_gpuprof(*words.split()).stderr, f"did you mean {meant}?")
        gap = self.run_gpuprof("summary", "--by", "kernel,,copy", "x.gpuprof")
        self.assertEqual(gap.returncode, 2)
        self.assertIn("a word is missing between the commas of --by kernel,,copy", gap.stderr)

    def test_what_is_wrong_is_said_in_one_line(self):
        trace = self.record("demo", "3")
        for arguments, part in (
                (("--by", "kernel", "--sort", "size", trace), "has no column size; it has Time %, Total"),
                (("--by", "kernel", "--format", "xml", trace), "text, csv, json or markdown"),
                (("--sort", "count", trace), "summary --by kernel --sort count"),
                (("--by", "kernel", "--top", "x", trace), "--top needs a number"),
                (("--top", "18446744073709551615", trace), "--top needs a number up to 1000000000, not 18446744073709551615"),
                (("--memory", "--top", "99999999999999999999", trace), "--top needs a number up to 1000000000"),
                (("--by", "kernel", "-o", trace, trace), "is one of the traces"),
                (("--by", "kernel"), "name trace files")):
            result = self.run_gpuprof("summary", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assert_one_line(result.stderr, part)

    def test_a_table_without_rows_is_said(self):
        trace = self.record("demo", "3")
        result = self.summary("--by", "unified", trace)
        self.assertEqual(result.stdout, "")
        self.assert_one_line(result.stderr, "no unified memory events were recorded", "--trace=unified")
        self.assertEqual(self.tables("unified", trace), {"unified": []})

    def test_what_several_tables_lack_is_said_once(self):
        said = self.summary("--by", "all", self.record("demo", "3")).stderr.splitlines()
        self.assertTrue(any("unified memory" in line for line in said), said)
        self.assertEqual(len(said), len(set(said)), said)

    def test_a_file_named_twice_counts_once(self):
        trace = self.record("demo", "3")
        result = self.summary("--by", "kernel", "--format", "csv", trace, os.path.join(".", "demo.gpuprof"))
        self.assert_one_line(result.stderr, "is named twice")
        self.assertEqual(result.stdout, self.summary("--by", "kernel", "--format", "csv", trace).stdout)

    def test_a_trace_and_its_own_export_count_once(self):
        trace = self.record("demo", "3")
        export = self.path("demo.json")
        self.run_gpuprof("export", "-o", export, trace)
        alone = self.summary("--by", "kernel,process", "--format", "csv", trace).stdout
        for paths in ((trace, export), (export, trace)):
            result = self.summary("--by", "kernel,process", "--format", "csv", *paths)
            self.assert_one_line(result.stderr, "demo.json belongs to the same run as", "demo.gpuprof; the run is counted once")
            self.assertEqual(result.stdout, alone)

    def test_a_file_that_is_none_does_not_hide_the_others(self):
        trace = self.record("demo", "3")
        result = self.run_gpuprof("summary", "--by", "kernel", self.path("missing.gpuprof"), trace)
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, "missing.gpuprof")
        self.assertIn("smooth", result.stdout)

    def test_text_is_folded_and_nothing_of_it_is_cut(self):
        trace = self.record("demo", "3")
        for table in ("exec", "stream"):
            lines = self.summary("--by", table, trace).stdout.splitlines()
            rows = self.tables(table, trace)[table]
            self.assertEqual(len(lines), 1 + 2 * (1 + len(rows)))
            self.assertLessEqual(max(map(len, lines)), 160)
            for row, first, second in zip(rows, lines[3::2], lines[4::2]):
                self.assertEqual(second[:6].strip(), "")
                self.assertEqual(len(first.split()) + len(second.split()), len(row), (first, second))

    def test_a_damaged_file_is_said(self):
        trace = self.record("demo", "3")
        with open(trace, "r+b") as file:
            file.truncate(os.path.getsize(trace) - 40)
        result = self.summary("--by", "kernel", trace)
        self.assertIn("smooth", result.stdout)
        self.assert_one_line(result.stderr, "demo.gpuprof is not complete", "gpuprof summary")


class Page(Tables):
    """The page finds columns by their titles, which are the keys of the tables' JSON: each that it asks for must be one."""
    TABLES = re.compile(r"\b(?:recordsOf|tableOf|miniTable)\('([\w-]+)'")
    TITLES = re.compile(r"(?<!\.\.)(?<!Math)(?<!Intl)\.(PID|[A-Z][A-Za-z]*[a-z][A-Za-z]*)\b|\w\['([A-Z][^']*)'\]")
    LOOKUPS = re.compile(r"(?:\[0\]|title|\.name) === '([A-Z][^']*)'|\b(?:column|value)\('([A-Z][^']*)'")
    ADDED = {"Meaning", "Process"}  # by the page, to a table of figures; by a job's tables, in place of PID

    def columns(self):
        """The titles of each table of --by, which has them also without a row."""
        words = re.findall(r"^  ([a-z][\w-]*) ", self.summary("--by", "help").stdout, re.MULTILINE)
        trace = os.path.join(ROOT, "tests", "data", "kineto", "kineto_cnn_cuda_only.json.gz")
        found = json.loads(self.summary("--by", ",".join(words), "--format", "json", trace).stdout)
        return {table["report"]: {column["name"] for column in table["columns"]} for table in found}

    def blocks(self):
        """The top-level statements of the page's source by the name that they define."""
        for path in glob.glob(os.path.join(ROOT, "report", "html", "web", "*.js")):
            with open(path, encoding="utf-8") as file:
                source = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
            for number, block in enumerate(re.split(r"\n(?=\S)", source)):
                name = re.match(r"(?:async )?(?:const|function|class) (\w+)", block)
                yield name.group(1) if name else f"{path} {number}", block

    def test_titles_of_records(self):
        columns, blocks = self.columns(), dict(self.blocks())
        tables = {name: set(self.TABLES.findall(block)) for name, block in blocks.items()}
        asked = 0
        for name, block in blocks.items():
            titles = {a or b for a, b in self.TITLES.findall(block)}
            asked += len(titles)
            words = tables[name].union(*(tables[word] for word in set(re.findall(r"\w+", block)) & set(tables)))
            self.assertEqual(words - set(columns), set(), name)
            known = self.ADDED.union(*(columns[word] for word in (words if tables[name] else columns)))
            self.assertEqual(titles - known, set(), name)
        self.assertGreater(asked, 60)

    def test_titles_that_are_looked_up(self):
        known = set(self.ADDED).union(*self.columns().values())
        for path in glob.glob(os.path.join(ROOT, "report", "diff", "*.c")):
            with open(path, encoding="utf-8") as file:
                known.update(re.findall(r"\"([^\"]+)\",\s*(?:GP_UNIT_\w+|unit)\b", file.read()))
        asked = {a or b for _, block in self.blocks() for a, b in self.LOOKUPS.findall(block)}
        self.assertLessEqual({"Change", "Differs", "Start", "Total"}, asked)
        for title in asked:
            self.assertTrue(title in known or title.endswith(" ") and {title + side for side in "AB"} <= known, title)
        names = re.findall(r"'([^']+)'", dict(self.blocks())["NAME_COLUMNS"])
        self.assertGreater(len(names), 5)
        self.assertEqual(set(names) - known, set())


if __name__ == "__main__":
    support.main()
