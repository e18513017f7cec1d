#!/usr/bin/env python3
"""Query the traces of all ranks of a job with SQL, in the folder that `gpuprof export -F parquet` wrote.

    gpuprof export -F parquet -o OUT JOB
    gpuprof recipe NAME OUT

A recipe is a file NAME.sql beside this one, or any file whose name ends in .sql.  It has two or three statements:

    map      reads the tables (ranks, ops, calls, ranges, collectives, iterations, idle, ...) of some hosts
    combine  reads the rows of map in the table `mapped`; rows with equal values in the columns after "by" are in one run
    reduce   reads all rows, in the table `combined`, or in `mapped` if there is no combine

DuckDB computes them: on this machine in one process, or with --engine dask in the tasks of Dask's workers.  Workers
exchange rows through files in OUT, and DuckDB uses at most --memory in each process before it continues on disk.
"""
import argparse
import csv
import ctypes
import ctypes.util
import glob
import importlib.util
import json
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
BUCKETS = 32  # of rows that are combined: each must fit into a worker's memory
TASKS_PER_WORKER = 4
WORKERS_S = 30
NEEDS_DUCKDB = ("recipe: DuckDB is not installed; type: pip install duckdb (or set LIBDUCKDB to the path of libduckdb.so)")


class RecipeError(Exception):
    """One line for the user."""


# ---- recipes ----

class Recipe:
    """A file of SQL: its first comment, and a statement for each stage."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        parts = re.split(r"^--[ \t]*(map|(?:by[ \t].*\n--[ \t]*)?combine|reduce)[ \t]*$", text, flags=re.MULTILINE | re.IGNORECASE)
        self.head = [line[len("--"):].strip() for line in parts[0].splitlines() if line.startswith("--")]
        self.about = next((line for line in self.head if line), "")
        self.empty = next((line[len("empty:"):].strip() for line in self.head if line.startswith("empty:")), "no row fits")
        names = [part.lower().split()[-1] for part in parts[1::2]]
        self.sql = dict(zip(names, (part.strip().rstrip(";") for part in parts[2::2])))
        keys = re.search(r"^--[ \t]*by[ \t]+(.*?)[ \t]*\n--[ \t]*combine", text, flags=re.MULTILINE | re.IGNORECASE)
        self.keys = keys.group(1) if keys else ""
        if "map" not in self.sql or "reduce" not in self.sql or bool(self.keys) != ("combine" in self.sql):
            raise RecipeError(f"recipe: {path} needs the lines '-- map' and '-- reduce', and either both or none of '-- by COLUMNS' and '-- combine'")


def recipe_names():
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(glob.escape(HERE), "*.sql")))


def find_recipe(name):
    path = name if name.endswith(".sql") else os.path.join(HERE, name + ".sql")
    if os.path.basename(name) != name and not name.endswith(".sql") or not os.path.isfile(path):
        raise RecipeError(f"recipe: there is no recipe and no .sql file {name!r}; the recipes are: {', '.join(recipe_names())}")
    return Recipe(path)


# ---- DuckDB ----

class Library:
    """DuckDB's shared library, for machines without its Python package."""

    NUMBERS = {2: int, 3: int, 4: int, 5: int, 6: int, 7: int, 8: int, 9: int, 16: int, 10: float, 11: float}
    BOOLEAN = 1

    RESULT_WORDS = 6  # of a duckdb_result

    def __init__(self, path):
        self.lib = lib = ctypes.CDLL(path)
        for name in ("duckdb_row_count", "duckdb_column_count"):
            getattr(lib, name).restype = ctypes.c_uint64
        lib.duckdb_column_name.restype = lib.duckdb_result_error.restype = ctypes.c_char_p
        lib.duckdb_column_name.argtypes = lib.duckdb_column_type.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        lib.duckdb_value_varchar.restype = ctypes.c_void_p
        lib.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        lib.duckdb_free.argtypes = [ctypes.c_void_p]
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        if lib.duckdb_open(None, ctypes.byref(self.database)) or lib.duckdb_connect(self.database, ctypes.byref(self.connection)):
            raise RecipeError("recipe: DuckDB cannot start")

    def cell(self, result, column, row, kind):
        address = self.lib.duckdb_value_varchar(ctypes.byref(result), column, row)
        if not address:
            return None
        text = ctypes.string_at(address).decode()
        self.lib.duckdb_free(address)
        return text == "true" if kind == self.BOOLEAN else self.NUMBERS.get(kind, str)(text)

    def query(self, sql):
        result = (ctypes.c_uint64 * self.RESULT_WORDS)()
        try:
            if self.lib.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)):
                raise RecipeError(message_of(self.lib.duckdb_result_error(ctypes.byref(result)).decode()))
            columns = range(self.lib.duckdb_column_count(ctypes.byref(result)))
            names = [self.lib.duckdb_column_name(ctypes.byref(result), i).decode() for i in columns]
            kinds = [self.lib.duckdb_column_type(ctypes.byref(result), i) for i in columns]
            rows = range(self.lib.duckdb_row_count(ctypes.byref(result)))
            return names, [[self.cell(result, i, row, kinds[i]) for i in columns] for row in rows]
        finally:
            self.lib.duckdb_destroy_result(ctypes.byref(result))

    def close(self):
        self.lib.duckdb_disconnect(ctypes.byref(self.connection))
        self.lib.duckdb_close(ctypes.byref(self.database))


class Package:
    """DuckDB's Python package."""

    def __init__(self):
        self.module = importlib.import_module("duckdb")
        self.connection = self.module.connect(":memory:")

    def query(self, sql):
        try:
            cursor = self.connection.execute(sql)
        except self.module.Error as error:
            raise RecipeError(message_of(str(error))) from None
        names = [column[0] for column in cursor.description or []]
        return names, [list(row) for row in cursor.fetchall()] if names else []

    def close(self):
        self.connection.close()


def message_of(text):
    """DuckDB's message without the quoted SQL, in one line."""
    lines = (line.strip() for line in text.split("LINE ", maxsplit=1)[0].splitlines())
    return "recipe: " + " ".join(line for line in lines if line)


def connect(library, memory, scratch, threads=None):
    """A database in memory, which spills into the folder scratch."""
    if not library and importlib.util.find_spec("duckdb"):
        database = Package()
    else:
        library = library or ctypes.util.find_library("duckdb")
        if not library:
            raise RecipeError(NEEDS_DUCKDB)
        database = Library(library)
    database.query(f"SET memory_limit = {quote(memory)}")
    database.query(f"SET temp_directory = {quote(scratch)}")
    if threads:
        database.query(f"SET threads = {threads}")
    return database


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def files_in_sql(paths):
    return "read_parquet([" + ", ".join(quote(path) for path in paths) + "])"


# ---- stages ----

# Of `mapped`, the collectives whose n-th operations are the same on all GPUs, as in collective_ranks.h of the reports:
# complete traces have the same number of operations, and no trace has more.
MATCHED = """
WITH gpus AS (
    SELECT kernel, communicator, channel, host, pid, device, count(*) AS n, max(may_lack_last) AS lacks
    FROM mapped GROUP BY ALL),
fitting AS (
    SELECT kernel, communicator, channel FROM gpus GROUP BY ALL
    HAVING count(DISTINCT n) FILTER (lacks = 0) <= 1 AND coalesce(max(n) FILTER (lacks = 0), max(n)) = max(n))
SELECT mapped.* FROM mapped JOIN fitting USING (kernel, communicator, channel)"""


def tables_of(folder):
    """{table: {name of the host's file: path}}"""
    tables = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*", "*.parquet"))):
        tables.setdefault(os.path.basename(os.path.dirname(path)), {})[os.path.basename(path)] = path
    if "ranks" not in tables:
        raise RecipeError(f"recipe: {folder} has no tables; type: gpuprof export -F parquet -o OUT JOB, then name OUT here")
    return tables


def define_matched(database, sql):
    """The view `matched`, if the statement reads it."""
    if re.search(r"\bmatched\b", sql):
        database.query(f"CREATE VIEW matched AS {MATCHED}")


def define_tables(database, tables, hosts):
    for table, files in tables.items():
        database.query(f"CREATE VIEW {table} AS SELECT * FROM {files_in_sql([files[host] for host in hosts if host in files])}")


def map_task(recipe, tables, hosts, settings):
    """Runs map on some hosts.  Returns a folder of files, by bucket if rows are combined."""
    database = connect(*settings, threads=1)
    define_tables(database, tables, hosts)
    folder = os.path.join(settings[2], "map-" + uuid.uuid4().hex)
    if recipe.keys:
        database.query(f"COPY (SELECT *, hash({recipe.keys}) % {BUCKETS} AS bucket FROM ({recipe.sql['map']})) "
                       f"TO {quote(folder)} (FORMAT parquet, PARTITION_BY (bucket))")
    else:
        os.mkdir(folder)
        database.query(f"COPY ({recipe.sql['map']}) TO {quote(os.path.join(folder, 'all.parquet'))} (FORMAT parquet)")
    database.close()
    return folder


def combine_task(recipe, bucket, folders, settings):
    """Combines the rows of a bucket.  Returns its files, none if it has no rows."""
    files = [path for folder in folders
             for path in glob.glob(os.path.join(glob.escape(folder), f"bucket={bucket}", "*.parquet"))]
    if not files:
        return []
    database = connect(*settings, threads=1)
    database.query(f"CREATE VIEW mapped AS SELECT * FROM {files_in_sql(sorted(files))}")
    define_matched(database, recipe.sql["combine"])
    path = os.path.join(settings[2], f"combined-{uuid.uuid4().hex}.parquet")
    database.query(f"COPY ({recipe.sql['combine']}) TO {quote(path)} (FORMAT parquet)")
    database.close()
    return [path]


def run_in_one_process(recipe, tables, settings):
    database = connect(*settings)
    define_tables(database, tables, list(tables["ranks"]))
    database.query(f"CREATE TEMP TABLE mapped AS {recipe.sql['map']}")
    if recipe.keys:
        define_matched(database, recipe.sql["combine"])
        database.query(f"CREATE TEMP TABLE combined AS {recipe.sql['combine']}")
    return database.query(recipe.sql["reduce"])


def run_in_dask(recipe, tables, settings, scheduler):
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise RecipeError("recipe: Dask is not installed; type: pip install distributed (Debian: python3-distributed)") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error of a task is ours to report
    if scheduler and not os.path.isfile(scheduler):
        raise RecipeError(f"recipe: there is no scheduler file {scheduler}; type: dask scheduler --scheduler-file {scheduler}")
    if scheduler:
        client = distributed.Client(scheduler_file=scheduler)
    else:
        client = distributed.Client(n_workers=min(os.cpu_count() or 1, 4), threads_per_worker=1, dashboard_address=None)
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKERS_S)
        except Exception as error:  # its class differs between versions
            raise RecipeError(f"recipe: the scheduler has no workers after {WORKERS_S} s; type: dask worker --scheduler-file FILE") from error
        hosts = list(tables["ranks"])
        workers = max(len(client.scheduler_info()["workers"]), 1)
        step = max(-(-len(hosts) // (workers * TASKS_PER_WORKER)), 1)
        folders = client.gather([client.submit(map_task, recipe, tables, hosts[i:i + step], settings, pure=False)
                                 for i in range(0, len(hosts), step)])
        if recipe.keys:
            files = sum(client.gather([client.submit(combine_task, recipe, bucket, folders, settings, pure=False)
                                       for bucket in range(BUCKETS)]), [])
        else:
            files = [os.path.join(folder, "all.parquet") for folder in folders]
    database = connect(*settings)
    if files:
        database.query(f"CREATE VIEW {'combined' if recipe.keys else 'mapped'} AS SELECT * FROM {files_in_sql(files)}")
    else:  # no bucket has rows: the columns alone
        define_tables(database, tables, hosts)
        database.query(f"CREATE VIEW mapped AS {recipe.sql['map']}")
        define_matched(database, recipe.sql["combine"])
        database.query(f"CREATE VIEW combined AS {recipe.sql['combine']}")
    return database.query(recipe.sql["reduce"])


# ---- output ----

def text_of(value):
    return "-" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def without_pids(names, rows):
    """For people: ranks tell the processes apart, unless two have one rank, or none has."""
    if "pid" not in names or "rank" not in names:
        return names, rows
    at, rank = names.index("pid"), names.index("rank")
    pids = {}
    for row in rows:
        pids.setdefault(row[rank], set()).add(row[at])
    if None in pids or any(len(known) > 1 for known in pids.values()):
        return names, rows
    return [*names[:at], *names[at + 1:]], [[*row[:at], *row[at + 1:]] for row in rows]


def write(names, rows, form, out):
    if form == "json":
        json.dump([dict(zip(names, row)) for row in rows], out, indent=1)
        out.write("\n")
    elif form == "csv":
        csv.writer(out, lineterminator="\n").writerows([names, *rows])
    else:
        names, rows = without_pids(names, rows)
        cells = [names, *([text_of(value) for value in row] for row in rows)]
        widths = [min(max(len(row[i]) for row in cells), 80) for i in range(len(names))]
        is_number = [all(isinstance(row[i], (int, float, type(None))) for row in rows) for i in range(len(names))]
        for row in cells:
            aligned = [cell[:80].rjust(width) if right else cell[:80].ljust(width) for cell, width, right in zip(row, widths, is_number)]
            out.write("  ".join(aligned).rstrip() + "\n")


def parse(arguments):
    """The command line of `gpuprof recipe`, which describes it."""
    parser = argparse.ArgumentParser(prog="gpuprof recipe", usage="gpuprof recipe [options] NAME OUT", add_help=False)
    parser.add_argument("name", nargs="?")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--engine", choices=("duckdb", "dask"), default="duckdb")
    parser.add_argument("--scheduler")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--format", choices=("text", "csv", "json"), default="text")
    return parser.parse_args(arguments)


def run(a):
    is_spread = a.engine == "dask" or a.scheduler
    recipe, tables = find_recipe(a.name), tables_of(os.path.abspath(a.folder))
    scratch = tempfile.mkdtemp(prefix=".recipe-", dir=os.path.abspath(a.folder) if is_spread else None)
    settings = (os.environ.get("LIBDUCKDB"), a.memory, scratch)
    try:
        names, rows = run_in_dask(recipe, tables, settings, a.scheduler) if is_spread else run_in_one_process(recipe, tables, settings)
        if not rows:
            print(f"gpuprof: recipe: no rows: {recipe.empty}", file=sys.stderr)
        return names, rows
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main(arguments=None):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # files of its own are removed
    a = parse(arguments)
    if a.list:
        for name in recipe_names():
            print(f"{name:<16} {find_recipe(name).about}")
        return 0
    try:
        if a.folder is None:
            print("\n".join(line for line in find_recipe(a.name).head if not line.startswith("empty:")).strip())
            return 0
        write(*run(a), a.format, sys.stdout)
    except RecipeError as error:
        print(f"gpuprof: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"gpuprof: recipe: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
