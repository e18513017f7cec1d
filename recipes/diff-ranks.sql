-- Kernels that took longer on one rank than on the median rank.
--
-- The cause is a slower GPU, other shapes, or more work (more_operations).  The 100 largest
-- differences of sums, without kernels of communication, because these include waiting.
-- empty: no kernel took longer on one rank than on the median rank
-- map
SELECT rank, host, pid, name, count(*) AS operations, sum(duration_ns)::BIGINT AS total_ns
FROM ops WHERE kind = 'kernel' AND purpose <> 'communication' AND duration_ns IS NOT NULL
GROUP BY rank, host, pid, name
-- reduce
WITH medians AS (
    SELECT name, median(total_ns)::BIGINT AS median_ns, median(operations)::BIGINT AS median_operations,
           count(*) AS ranks
    FROM mapped GROUP BY name)
SELECT rank, host, pid, name, total_ns, median_ns, total_ns - median_ns AS more_ns, operations,
       operations - median_operations AS more_operations
FROM mapped JOIN medians USING (name)
WHERE ranks > 1 AND total_ns > median_ns
ORDER BY more_ns DESC, rank, pid, name LIMIT 100
