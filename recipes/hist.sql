-- Histogram of kernel durations, for the 20 kernels with the most time.
--
-- A row counts the durations from from_ns to less than twice from_ns.
-- map
SELECT name, (1::BIGINT << floor(log2(greatest(duration_ns, 1)))::INTEGER) AS from_ns, count(*) AS operations,
       sum(duration_ns)::BIGINT AS total_ns
FROM ops WHERE kind = 'kernel' AND duration_ns IS NOT NULL GROUP BY ALL
-- reduce
SELECT name, from_ns, sum(operations)::BIGINT AS operations, sum(total_ns)::BIGINT AS total_ns
FROM mapped
WHERE name IN (SELECT name FROM mapped GROUP BY name ORDER BY sum(total_ns) DESC, name LIMIT 20)
GROUP BY name, from_ns
ORDER BY sum(sum(total_ns)) OVER (PARTITION BY name) DESC, name, from_ns
