-- GPU time of all ranks by purpose: GEMM, attention, communication, copy, ...
--
-- The sums of durations, as in `gpuprof summary --by kind`, but copy includes memsets.
-- per_rank_ns: the mean over the ranks that have such operations.
-- map
SELECT purpose, sum(duration_ns)::BIGINT AS total_ns, count(*) AS operations, count(DISTINCT (rank, pid)) AS ranks
FROM ops GROUP BY ALL
-- reduce
SELECT purpose, sum(total_ns)::BIGINT AS total_ns, sum(operations)::BIGINT AS operations, sum(ranks)::BIGINT AS ranks,
       round(sum(total_ns) / sum(ranks))::BIGINT AS per_rank_ns,
       round(1e2 * sum(total_ns) / sum(sum(total_ns)) OVER (), 2) AS percent
FROM mapped GROUP BY purpose ORDER BY total_ns DESC, purpose
