-- How far the clocks of hosts are apart, from the ends of collectives.
--
-- The kernels of a collective end on all ranks at about the same time.  gpuprof export aligns the
-- clocks of hosts before it writes times, so the distances here are the error of the alignment.
-- ahead_ns: the median distance from the clock of the reference, the host of the lowest rank of a
-- communicator; drift_ns_per_s: its change over time; error_ns: its standard error.
-- empty: the traces are of one host, or have no collective operations in common
-- map
SELECT rank, host, coalesce(communicator, 0) AS communicator, channel, sequence, kernel,
       start_ns + duration_ns AS end_ns
FROM collectives WHERE waits_for_all = 1 AND may_lack_last = 0
-- by kernel, communicator, channel
-- combine
WITH reference AS (
    SELECT kernel, communicator, channel, arg_min(host, rank) AS host FROM mapped GROUP BY kernel, communicator, channel),
ends AS (
    SELECT kernel, communicator, channel, sequence, host, median(end_ns)::BIGINT AS end_ns FROM mapped GROUP BY ALL)
SELECT ends.host AS host, first.host AS reference, first.end_ns AS at_ns, ends.end_ns - first.end_ns AS ahead_ns
FROM ends JOIN ends AS first USING (kernel, communicator, channel, sequence)
JOIN reference USING (kernel, communicator, channel)
WHERE first.host = reference.host AND ends.host <> first.host
-- reduce
SELECT host, reference, count(*) AS operations, median(ahead_ns)::BIGINT AS ahead_ns,
       round(regr_slope(ahead_ns, (at_ns - from_ns) / 1e9), 1) AS drift_ns_per_s,
       round(1.2533e0 * stddev_samp(ahead_ns) / sqrt(count(*)))::BIGINT AS error_ns
FROM combined, (SELECT min(at_ns) AS from_ns FROM combined)
GROUP BY host, reference ORDER BY abs(median(ahead_ns)) DESC, host, reference
