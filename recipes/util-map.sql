-- Busy share of each GPU over time, in 60 slices of the job, for a heat map.
--
-- busy_percent: the share of a slice in which an operation ran, computed from the gaps between
-- operations.  Slices before the first call of a rank and after its last one have no row.
-- map
SELECT r.rank AS rank, r.host AS host, r.pid AS pid, r.start_ns AS first_ns, r.start_ns + r.duration_ns AS last_ns,
       i.device AS device, i.start_ns AS start_ns, i.duration_ns AS duration_ns
FROM ranks AS r LEFT JOIN idle AS i ON i.pid = r.pid AND i.host = r.host AND i.rank IS NOT DISTINCT FROM r.rank
-- reduce
WITH job AS (SELECT min(first_ns) AS from_ns, greatest((max(last_ns) - min(first_ns)) // 60, 1) AS slice_ns FROM mapped),
gpus AS (SELECT DISTINCT rank, host, pid, device, first_ns, last_ns FROM mapped WHERE device IS NOT NULL),
slices AS (
    SELECT gpus.*, n AS slice, greatest(from_ns + n * slice_ns, first_ns) AS a_ns,
           least(from_ns + (n + 1) * slice_ns, last_ns) AS b_ns
    FROM gpus, job, (SELECT unnest(range(60)) AS n))
SELECT s.rank AS rank, s.host AS host, s.device AS device, s.slice AS slice,
       round(1e2 - 1e2 * coalesce(sum(least(m.start_ns + m.duration_ns, b_ns) - greatest(m.start_ns, a_ns))
                                     FILTER (m.pid IS NOT NULL), 0)
             / (b_ns - a_ns), 2) AS busy_percent
FROM slices AS s
LEFT JOIN mapped AS m
  ON m.pid = s.pid AND m.host = s.host AND m.rank IS NOT DISTINCT FROM s.rank AND m.device = s.device
 AND m.start_ns < b_ns AND m.start_ns + m.duration_ns > a_ns
WHERE b_ns > a_ns
GROUP BY s.rank, s.host, s.pid, s.device, s.slice, a_ns, b_ns
ORDER BY rank, host, device, slice
