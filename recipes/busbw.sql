-- Bus bandwidth of collectives, by communicator and size.
--
-- As `gpuprof summary --by bus-bandwidth` and nccl-tests state it.  It is computed from the shortest
-- kernel of each operation, because the rank of that kernel waited for no other rank.
-- bytes: those of one rank, as the program passed them to NCCL.
-- SendRecv and operations without NCCL's NVTX ranges (NCCL 2.26 and later) are left out.
-- empty: no collective has a known size: these come from the NVTX ranges of NCCL 2.26 and later (--trace nvtx)
-- map
SELECT rank, host, pid, device, communicator, channel, sequence, name, kernel, duration_ns, bytes, ranks, may_lack_last
FROM collectives WHERE communicator IS NOT NULL AND bytes > 0 AND name <> 'SendRecv'
-- by kernel, communicator, channel
-- combine
WITH operations AS (
    SELECT kernel, communicator, name, max(bytes) AS bytes, max(ranks) AS ranks, min(duration_ns) AS shortest_ns,
           count(*) AS gpus
    FROM matched GROUP BY kernel, communicator, channel, sequence, name)
SELECT * FROM operations WHERE gpus > 1 AND ranks >= gpus AND shortest_ns > 0
-- reduce
WITH sizes AS (
    SELECT *, bytes * CASE WHEN name IN ('AllGather', 'ReduceScatter', 'AllToAll') THEN ranks ELSE 1 END AS all_bytes,
           CASE WHEN name = 'AllReduce' THEN 2e0 * (ranks - 1) / ranks
                WHEN name IN ('AllGather', 'ReduceScatter', 'AllToAll') THEN (ranks - 1e0) / ranks ELSE 1 END AS factor
    FROM combined)
SELECT name, communicator, ranks, bytes, count(*) AS operations, median(shortest_ns)::BIGINT AS median_ns,
       min(shortest_ns) AS shortest_ns, round(any_value(all_bytes) / median(shortest_ns), 3) AS algorithm_gb_per_s,
       round(any_value(all_bytes * factor) / median(shortest_ns), 3) AS bus_gb_per_s, kernel
FROM sizes GROUP BY name, communicator, ranks, bytes, kernel
ORDER BY name, bytes DESC, communicator, kernel
