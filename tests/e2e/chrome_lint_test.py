#!/usr/bin/env python3
"""Tests chrome_lint.py: a good trace passes, and each kind of damage is found by the rule that is meant for it."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import chrome_lint

GOOD = """{"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 1, "numSms": 1, "warpSize": 32}],
"distributedInfo": {"rank": 0, "world_size": 1},
"displayTimeUnit": "ns",
"baseTimeNanoseconds": 1782967788000000000,
"traceEvents": [
{"ph":"M","name":"process_name","pid":42,"tid":0,"args":{"name":"a"}},
{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"GPU 0"}},
{"ph":"M","name":"thread_name","pid":42,"tid":42,"args":{"name":"thread 42"}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":42,"tid":42,"ts":10.000,"dur":5.000,"args":{"cbid":211,"correlation":1}},
{"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":42,"tid":42,"ts":10.000},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20.001,"dur":5.000,"args":{"device":0,"context":1,"stream":7,"correlation":1}},
{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":1,"pid":0,"tid":7,"ts":20.001},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":25.001,"dur":1.000,"args":{"device":0,"context":1,"stream":7,"correlation":2}},
{"ph":"X","cat":"user_annotation","name":"step","pid":42,"tid":42,"ts":9.000,"dur":7.000,"args":{"domain":""}},
{"ph":"i","cat":"user_annotation","name":"mark","pid":42,"tid":42,"ts":9.500,"s":"t","args":{"domain":""}},
{"ph":"b","cat":"user_annotation","name":"load","pid":42,"tid":42,"ts":9.000,"id":5,"args":{"domain":""}},
{"ph":"e","cat":"user_annotation","name":"load","pid":42,"tid":42,"ts":90.000,"id":5,"args":{}},
{"ph":"M","name":"thread_name","pid":0,"tid":8,"args":{"name":"stream 7 (sync)"}},
{"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":8,"ts":9.000,"dur":7.000,"args":{"correlation":4,"cuda_sync_kind":"Event Sync","device":0,"context":1,"stream":-1,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3}},
{"ph":"M","name":"thread_name","pid":42,"tid":43,"args":{"name":"host functions"}},
{"ph":"X","cat":"host_function","name":"host function","pid":42,"tid":43,"ts":30.000,"dur":5.000,"args":{"device":0,"context":1,"stream":7,"correlation":5,"thread":44}},
{"ph":"X","cat":"host_function","name":"host function","pid":42,"tid":43,"ts":35.000,"dur":1.000,"args":{"device":0,"context":1,"stream":9,"correlation":6,"thread":44}},
{"ph":"M","name":"thread_name","pid":42,"tid":46,"args":{"name":"Python (sampled), thread 42"}},
{"ph":"B","cat":"python_sample","name":"main (a.py)","pid":42,"tid":46,"ts":30.000,"args":{"samples":2,"line":1,"thread":42}},
{"ph":"B","cat":"python_sample","name":"load (a.py)","pid":42,"tid":46,"ts":30.000,"args":{"samples":1,"line":5,"thread":42}},
{"ph":"E","cat":"python_sample","name":"load (a.py)","pid":42,"tid":46,"ts":50.000},
{"ph":"E","cat":"python_sample","name":"main (a.py)","pid":42,"tid":46,"ts":50.000},
{"ph":"C","name":"memory","pid":0,"ts":11.000,"args":{"device":1}},
{"ph":"C","name":"memory","pid":0,"ts":12.000,"args":{"device":2}}
],
"traceName": "a.json"}
"""

# rule, what to replace by what
DAMAGE = [
    ("readable", '"k"', '"\\ud83d\\ude80"'),
    ("readable", '"k"', '"\udcff"'),
    ("readable", '"device":2}', '"device":NaN}'),
    ("readable", '"device":2}', '"device":2,"device":3}'),
    ("readable", '"traceName": "a.json"}', '"traceName": "a.json",}'),
    ("container", '"displayTimeUnit": "ns",', ""),
    ("container", '"rank": 0', '"rank":0'),
    ("container", "1782967788000000000", "1782967788000000001"),
    ("lines", '"args":{"name":"a"}},\n', '"args":{"name":"a"}},'),
    ("events", '"ph":"C"', '"ph":"Q"'),
    ("events", '"name":"k"', '"name":""'),
    ("times", '"ts":10.000,"dur"', '"ts":10.0,"dur"'),
    ("times", '"ts":11.000', '"ts":-11.000'),
    ("times", '"ts":25.001', '"ts":9790857026000000.001'),
    ("times", '"ts":25.001', '"ts":4398418459628.739'),
    ("times", '"dur":1.000', '"dur":"1.000"'),
    ("ids", '"pid":0,"tid":7,"ts":25.001', '"pid":-1,"tid":7,"ts":25.001'),
    ("ids", '"pid":42,"tid":42,"ts":10.000,"dur"', '"pid":42,"tid":0,"ts":10.000,"dur"'),
    ("numbers", '"correlation":2', '"correlation":9223372036854775808'),
    ("nesting", '"ts":25.001', '"ts":25.000'),
    ("nesting", '"ts":25.001', '"ts":21.001'),
    ("names", '"thread_name","pid":0,"tid":7', '"thread_name","pid":0,"tid":8'),
    ("names", '"process_name","pid":42', '"process_name","pid":43'),
    ("arrows", '"id":1,"pid":42', '"id":2,"pid":42'),
    ("arrows", '"bp":"e",', ""),
    ("arrows", '"id":1,"pid":0,"tid":7,"ts":20.001', '"id":1,"pid":0,"tid":7,"ts":25.001'),
    ("arrows", '"id":1,"pid":0,"tid":7,"ts":20.001', '"id":1,"pid":0,"tid":7,"ts":9.001'),
    ("arrows", '"id":1,"pid":42,"tid":42,"ts":10.000', '"id":1,"pid":42,"tid":42,"ts":16.000'),
    ("schema", '"cbid":211', '"stream":7,"cbid":211'),
    ("schema", "cudaLaunchKernel", "cudaLaunchKernel_v7000"),
    ("schema", '"context":1,"stream":7,"correlation":2', '"context":1,"stream":7'),
    ("lanes", '"stream":7,"correlation":2', '"stream":8,"correlation":2'),
    ("events", '"s":"t"', '"s":"x"'),
    ("nesting", '"ts":9.000,"dur":7.000', '"ts":9.000,"dur":5.000'),
    ("schema", '"args":{"domain":""}', '"args":{"domain":"","stream":7}'),
    ("schema", '"cuda_sync_kind":"Event Sync"', '"cuda_sync_kind":"Stream Sync"'),
    ("schema", '"wait_on_stream":7,', ""),
    ("schema", ',"thread":44', ""),
    ("nesting", '"ts":35.000', '"ts":34.000'),
    ("names", '"pid":42,"tid":43,"args"', '"pid":42,"tid":45,"args"'),
    ("asynchronous", '"ts":90.000,"id":5', '"ts":90.000,"id":6'),
    ("asynchronous", '"ts":90.000', '"ts":8.000'),
    ("asynchronous", '"ph":"e","cat":"user_annotation","name":"load"', '"ph":"e","cat":"user_annotation","name":"save"'),
    ("events", '"ph":"B","cat":"python_sample"', '"ph":"B","cat":"kernel"'),
    ("nesting", '"ph":"E","cat":"python_sample","name":"load (a.py)"', '"ph":"E","cat":"python_sample","name":"main (a.py)"'),
    ("nesting", '{"ph":"E","cat":"python_sample","name":"main (a.py)","pid":42,"tid":46,"ts":50.000},\n', ""),
    ("schema", '"samples":1,', ""),
    ("counters", '"device":2', '"device":"2"'),
    ("counters", '"device":2', '"pinned":2'),
]


def failed_rules(text):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        return [rule for rule, cases in chrome_lint.lint(file.name).items() if cases]


class ChromeLintTest(unittest.TestCase):
    def test_a_good_trace_passes(self):
        self.assertEqual(failed_rules(GOOD), [])

    def test_each_damage_is_found_by_its_rule(self):
        for rule, good, bad in DAMAGE:
            with self.subTest(rule=rule, bad=bad):
                self.assertIn(good, GOOD)
                self.assertIn(rule, failed_rules(GOOD.replace(good, bad, 1)))

    def test_what_is_no_trace_fails(self):
        for text in ("", "[]", "{}", '{"traceEvents": 1}'):
            self.assertNotEqual(failed_rules(text), [])


if __name__ == "__main__":
    unittest.main()
