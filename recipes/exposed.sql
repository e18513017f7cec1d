-- Time in which a GPU only communicates, by rank.
--
-- communicating_ns: time in which a kernel of communication runs; exposed_ns: the part of it in which
-- no other operation runs (the metric exposed_communication_time of `gpuprof check`);
-- hidden_percent: the share of the other part; busy_ns: time in which any operation runs.
-- map
WITH edges AS (
    SELECT rank, host, pid, device, start_ns AS at_ns, (purpose = 'communication')::INTEGER AS c,
           (purpose <> 'communication')::INTEGER AS o FROM ops WHERE duration_ns > 0
    UNION ALL
    SELECT rank, host, pid, device, start_ns + duration_ns, -(purpose = 'communication')::INTEGER,
           -(purpose <> 'communication')::INTEGER FROM ops WHERE duration_ns > 0),
moments AS (
    SELECT rank, host, pid, device, at_ns, sum(c) AS c, sum(o) AS o FROM edges GROUP BY ALL),
states AS (
    SELECT rank, host, pid, device, lead(at_ns) OVER w - at_ns AS ns, sum(c) OVER w AS c, sum(o) OVER w AS o
    FROM moments WINDOW w AS (PARTITION BY rank, host, pid, device ORDER BY at_ns))
SELECT rank, host, pid, device, coalesce(sum(ns) FILTER (c > 0), 0)::BIGINT AS communicating_ns,
       coalesce(sum(ns) FILTER (c > 0 AND o = 0), 0)::BIGINT AS exposed_ns,
       coalesce(sum(ns) FILTER (c > 0 OR o > 0), 0)::BIGINT AS busy_ns
FROM states GROUP BY rank, host, pid, device
-- reduce
SELECT rank, host, pid, device, communicating_ns, exposed_ns, busy_ns,
       round(1e2 - 1e2 * exposed_ns / nullif(communicating_ns, 0), 2) AS hidden_percent
FROM mapped ORDER BY exposed_ns DESC, rank, pid, device
