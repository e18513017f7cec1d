-- Ranks without a trace, and ranks that did not end with exit 0.
--
-- missing: 1 = there is no trace of the rank.  Ranks that --ranks left out are listed, too.
-- Without a world size in the traces, ranks above the highest one with a trace are unknown.
-- map
SELECT rank, host, world_size, ended, is_complete FROM ranks WHERE rank IS NOT NULL
-- reduce
SELECT wanted.rank AS rank, host, coalesce(ended, 'no trace') AS ended, (host IS NULL)::BIGINT AS missing,
       is_complete
FROM (SELECT unnest(range((SELECT greatest(coalesce(max(world_size), 0), max(rank) + 1) FROM mapped)::BIGINT)) AS rank) AS wanted
LEFT JOIN mapped ON mapped.rank = wanted.rank
WHERE ended IS NULL OR ended <> 'exit 0' OR is_complete = 0
ORDER BY rank
