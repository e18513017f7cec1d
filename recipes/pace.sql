-- Length of the iterations of the main loop, by rank.
--
-- Shows a rank that is slower than the others, or has more slow iterations.  Warm-up is left out.
-- steady, slow: numbers of iterations; median_ns (of an even number the longer one of the middle two, as
-- in the summary), p90_ns (90th percentile), longest_ns: of both kinds.
-- empty: no main loop was found in any trace
-- map
SELECT rank, host, pid, count(*) FILTER (part = 'steady') AS steady, count(*) FILTER (part = 'slow') AS slow,
       list_sort(list(duration_ns))[count(*) // 2 + 1] AS median_ns, quantile_cont(duration_ns, 0.9)::BIGINT AS p90_ns,
       max(duration_ns) AS longest_ns
FROM iterations WHERE part IN ('steady', 'slow') GROUP BY rank, host, pid
-- reduce
SELECT * FROM mapped ORDER BY median_ns DESC, rank, pid
