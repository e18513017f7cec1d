"""For pickle_fuzz: a small memory snapshot as PyTorch writes it.  snapshot.py FILE"""
import pickle
import sys

FRAME = {"filename": "train.py", "line": 7, "name": "step"}
BLOCKS = [{"address": 4096, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": [FRAME]},
          {"address": 4608, "size": 1536, "requested_size": 0, "state": "inactive", "frames": []}]
SEGMENT = {"device": 0, "address": 4096, "total_size": 2048, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
           "is_expandable": False, "frames": [FRAME], "blocks": BLOCKS}

HISTORY = [{"action": "alloc", "addr": 4096, "size": 500, "stream": 0, "frames": [FRAME]},
           {"action": "segment_alloc", "addr": 8192, "size": 2048, "stream": 0, "frames": []},
           {"action": "free_completed", "addr": 8192, "size": 100, "stream": 0, "frames": []}]

with open(sys.argv[1], "wb") as file:
    pickle.dump({"segments": [SEGMENT], "device_traces": [HISTORY], "allocator_settings": {"expandable": True, "ratio": 0.5},
                 "big": 1 << 70}, file, protocol=4)
