-- Ranks without a trace, and ranks that did not end with exit 0.
--
-- missing: 1 = there is no trace of the rank.  ended: only gpuprof-run knows it; a complete trace
-- without it is not listed.  Ranks that --ranks left out are not listed; with --ranks node,
-- it is not known which ranks should have a trace.  Without a world size in the traces,
-- ranks above the highest one with a trace are unknown.
-- empty: every rank has a trace, and ended with exit 0
-- map
SELECT rank, host, world_size, ended, is_complete, only_ranks FROM ranks WHERE rank IS NOT NULL
-- reduce
WITH job AS (
    SELECT greatest(coalesce(max(world_size), 0), max(rank) + 1)::BIGINT AS size, max(only_ranks) AS only_ranks
    FROM mapped),
lists AS (  -- 0,7,64-71
    SELECT unnest(CASE WHEN only_ranks IS NULL THEN ['0-' || (size - 1)] WHEN only_ranks = 'node' THEN []
                  ELSE string_split(only_ranks, ',') END) AS list, size FROM job),
wanted AS (
    SELECT DISTINCT unnest(range(split_part(list, '-', 1)::BIGINT,
                                 least(split_part(list, '-', -1)::BIGINT + 1, size))) AS rank FROM lists)
SELECT coalesce(wanted.rank, mapped.rank) AS rank, host,
       CASE WHEN mapped.rank IS NULL THEN 'no trace' ELSE coalesce(ended, 'unknown') END AS ended,
       (mapped.rank IS NULL)::BIGINT AS missing, is_complete
FROM wanted FULL JOIN mapped ON mapped.rank = wanted.rank
WHERE mapped.rank IS NULL OR coalesce(ended, 'exit 0') <> 'exit 0' OR is_complete = 0
ORDER BY 1
