-- Ranks that the others wait for in collectives: how often, and how long.
--
-- As in `gpuprof summary --by rank`.  last: how often the rank was the last; held_up_ns: how long the
-- others waited for it (the sum over the operations of the average over the others); waited_ns: how
-- long the rank waited itself.  The first operation of each kernel and communicator is left out,
-- because it waits until all ranks have started.
-- empty: no two ranks made the same number of operations of a collective (AllReduce, AllGather, ReduceScatter, AllToAll)
-- map
SELECT rank, host, pid, device, coalesce(communicator, 0) AS communicator, channel, sequence, kernel, duration_ns,
       since_previous_ns, may_lack_last
FROM collectives WHERE waits_for_all = 1
-- by kernel, communicator, channel
-- combine
WITH parts AS (
    SELECT *, min(duration_ns) OVER w AS shortest_ns, count(*) OVER w AS gpus
    FROM matched WINDOW w AS (PARTITION BY kernel, communicator, channel, sequence)),
waits AS (
    SELECT *, duration_ns - shortest_ns AS waited_ns, sum(duration_ns - shortest_ns) OVER w // (gpus - 1) AS others_waited_ns,
           CASE WHEN count(since_previous_ns) OVER w = gpus
                THEN greatest(0, since_previous_ns - (sum(since_previous_ns) OVER w - since_previous_ns) // (gpus - 1)) END AS own_ns,
           count(*) FILTER (duration_ns = shortest_ns) OVER w AS as_short
    FROM parts WHERE gpus > 1 AND sequence > 0 WINDOW w AS (PARTITION BY kernel, communicator, channel, sequence))
SELECT rank, host, pid, count(*) AS operations, count(*) FILTER (as_short = 1 AND waited_ns = 0) AS last,
       coalesce(sum(least(others_waited_ns, own_ns)) FILTER (as_short = 1 AND waited_ns = 0), 0)::BIGINT AS held_up_ns,
       sum(waited_ns)::BIGINT AS waited_ns
FROM waits GROUP BY ALL
-- reduce
SELECT rank, host, pid, sum(operations)::BIGINT AS operations, sum(last)::BIGINT AS last,
       sum(held_up_ns)::BIGINT AS held_up_ns, sum(waited_ns)::BIGINT AS waited_ns
FROM combined GROUP BY ALL ORDER BY held_up_ns DESC, rank, pid
