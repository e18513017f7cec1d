"""For pickle_fuzz: a small memory snapshot as PyTorch writes it.  snapshot.py FILE"""
import pickle
import sys

FRAME = {"filename": "train.py", "line": 7, "name": "step"}
BLOCKS = [{"address": 4096, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": [FRAME]},
          {"address": 4608, "size": 1536, "requested_size": 0, "state": "inactive", "frames": []}]
SEGMENT = {"device": 0, "address": 4096, "total_size": 2048, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
           "is_expandable": False, "frames": [FRAME], "blocks": BLOCKS}

with open(sys.argv[1], "wb") as file:
    pickle.dump({"segments": [SEGMENT], "device_traces": [[]], "allocator_settings": {"expandable": True, "ratio": 0.5},
                 "big": 1 << 70}, file, protocol=4)
