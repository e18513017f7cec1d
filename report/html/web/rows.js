/* Rows of events that do not overlap: what lies where, found by bisection. */

const CHUNK = 32;

/* cum[i]: time of all events before i; longest[c]: the longest one of a chunk. */
async function makeRow(ev, first, n) {
	const cum = new Float64Array(n + 1),
		longest = new Uint32Array(Math.ceil(n / CHUNK));
	for (let from = 0, sum = 0, best = 0; from < n; from += 65536) {
		for (let i = from; i < Math.min(n, from + 65536); i++) {
			sum += ev.dur[first + i];
			cum[i + 1] = sum;
			if (i % CHUNK === 0 || ev.dur[first + i] > ev.dur[first + best]) best = i;
			longest[(i / CHUNK) | 0] = best;
		}
		await breathe();
	}
	return { first, n, cum, longest, hits: null };
}

/* The longest of the events from i to before j. */
function longestOf(row, dur, i, j) {
	let best = i;
	const f = row.first;
	while (i < j) {
		if (i % CHUNK === 0 && i + CHUNK <= j) {
			const candidate = row.longest[(i / CHUNK) | 0];
			if (dur[f + candidate] > dur[f + best]) best = candidate;
			i += CHUNK;
		} else {
			if (dur[f + i] > dur[f + best]) best = i;
			i++;
		}
	}
	return best;
}

/* The first event from i on that starts at t or later, looked for near i first. */
function gallop(start, first, n, i, t) {
	let step = 1,
		low = i;
	while (low + step < n && start[first + low + step] < t) {
		low += step;
		step *= 2;
	}
	let high = Math.min(low + step, n);
	if (low < n && start[first + low] >= t) return low;
	while (low + 1 < high) {
		const middle = (low + high) >>> 1;
		if (start[first + middle] < t) low = middle;
		else high = middle;
	}
	return high;
}
function lowerBound(start, first, n, t) {
	let low = 0,
		high = n;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (start[first + middle] < t) low = middle + 1;
		else high = middle;
	}
	return low;
}

/* The event of a row at t, or -1. */
function eventAt(row, t, slack) {
	const { ev } = state;
	const i = lowerBound(ev.start, row.first, row.n, t + slack) - 1;
	if (i < 0) return -1;
	return ev.start[row.first + i] + ev.dur[row.first + i] + slack >= t ? row.first + i : -1;
}

/*
 * All beginnings and ends of rows in their order, as 2 × the time, and 1 more for an end.  Rows are in order, so what is about the same time lies
 * about together when it is put into buckets.
 */
async function momentsOf(rows) {
	const { start, dur } = state.ev,
		n = rows.reduce((sum, row) => sum + row.n, 0),
		buckets = clamp(n >> 8, 1, 1 << 16),
		scale = buckets / (state.end + 1),
		fill = new Uint32Array(buckets + 1),
		moments = new Float64Array(2 * n);
	const slices = async (visit) => {
		for (const { first, n: count } of rows)
			for (let from = first; from < first + count; from += 65536) {
				visit(from, Math.min(first + count, from + 65536));
				await breathe();
			}
	};
	await slices((from, until) => {
		for (let i = from; i < until; i++) {
			fill[(start[i] * scale) | 0]++;
			fill[((start[i] + dur[i]) * scale) | 0]++;
		}
	});
	for (let b = 0, sum = 0; b <= buckets; b++) [fill[b], sum] = [sum, sum + fill[b]];
	await slices((from, until) => {
		for (let i = from; i < until; i++) {
			const end = start[i] + dur[i];
			moments[fill[(start[i] * scale) | 0]++] = 2 * start[i];
			moments[fill[(end * scale) | 0]++] = 2 * end + 1;
		}
	});
	for (let b = 0, from = 0; b <= buckets; from = fill[b++]) {
		if (fill[b] - from > 1) moments.subarray(from, fill[b]).sort();
		if (b % 64 === 0) await breathe();
	}
	return moments;
}

/* When a device had something to do: the union of its rows; and for how long how many operations ran at once. */
async function makeUnion(rows) {
	const moments = await momentsOf(rows),
		start = new Float64Array(moments.length / 2),
		end = new Float64Array(moments.length / 2),
		levels = [];
	let count = 0,
		level = 0,
		last = 0;
	for (let i = 0; i < moments.length; i++) {
		const half = moments[i] / 2,
			t = Math.floor(half);
		if (level > 0) levels[level] = (levels[level] || 0) + t - last;
		last = t;
		if (t === half) {
			if (level++ === 0) start[count] = t;
		} else if (--level === 0) end[count++] = t;
		if (i % 65536 === 0) await breathe();
	}
	const cum = new Float64Array(count + 1);
	for (let i = 0; i < count; i++) cum[i + 1] = cum[i] + end[i] - start[i];
	return { start: start.slice(0, count), end: end.slice(0, count), cum, levels };
}

/* How long the union is between two moments. */
function busyUntil(union, t) {
	const i = lowerBound(union.start, 0, union.start.length, t);
	return i === 0 ? 0 : union.cum[i - 1] + Math.min(t, union.end[i - 1]) - union.start[i - 1];
}
const busyBetween = (union, a, b) => busyUntil(union, b) - busyUntil(union, a);

/*
 * put(column, share of its time that the device was busy), for each column from t0 on that has any.  Where the timeline has but the longest
 * events, the exporter's parts of the time are of all, and they are what is shown as long as columns are no narrower.
 */
function busyColumns(union, t0, step, columns, put) {
	if (union.activity && step * 2 >= state.end / union.activity.length) {
		activityColumns(union.activity, t0, step, columns, put);
		return;
	}
	const { start, end, cum } = union,
		n = start.length;
	let i = lowerBound(start, 0, n, t0),
		before = busyUntil(union, t0);
	for (let x = 0; x < columns; x++) {
		const t = t0 + (x + 1) * step;
		if (i < n && start[i] < t) i = gallop(start, 0, n, i, t);
		const after = i === 0 ? 0 : cum[i - 1] + Math.min(t, end[i - 1]) - start[i - 1];
		if (after > before) put(x, Math.min(1, (after - before) / step));
		before = after;
	}
}

function activityColumns(activity, t0, step, columns, put) {
	const perPart = activity.length / state.end;
	for (let x = 0; x < columns; x++) {
		const from = (t0 + x * step) * perPart,
			until = from + step * perPart;
		let sum = 0;
		for (let part = Math.max(0, Math.floor(from)); part < Math.min(activity.length, until); part++)
			sum += activity[part] * (Math.min(until, part + 1) - Math.max(from, part));
		if (sum > 0) put(x, Math.min(1, sum / (1000 * (until - from))));
	}
}

/* Tracks get their rows, and the page its order of groups. */
async function makeTracks() {
	const { ev, index } = state;
	let number = 0,
		first = 0;
	for (const track of index.tracks) {
		track.lanes = [];
		for (const all of track.rows) {
			const n = all - (holesBefore(index.holes, number + all) - holesBefore(index.holes, number));
			number += all;
			if (n === 0) continue;
			const row = await makeRow(ev, first, n);
			row.track = track;
			track.lanes.push(row);
			state.rows.push(row);
			first += n;
			await breathe();
		}
		track.events = track.lanes.reduce((sum, row) => sum + row.n, 0);
	}
	/* of a device there may be nothing among the longest */
	const numbers = [...index.tracks.filter((t) => t.kind === 'stream').map((t) => t.id), ...(index.activity || []).map(([n]) => n)];
	for (const device of new Set(numbers)) {
		const tracks = index.tracks.filter((t) => t.kind === 'stream' && t.id === device);
		const union = await makeUnion(tracks.flatMap((t) => t.lanes));
		union.activity = index.activity?.find(([number]) => number === device)?.[1];
		state.devices.set(device, { tracks, union });
	}
}

/* Statistics of one label over all events, as exact as the tables. */
function statsOfLabels(wanted, from, to) {
	const { ev } = state,
		found = [];
	for (let i = 0; i < ev.n; i++)
		if (wanted.has(ev.label[i]) && (from === undefined || (ev.start[i] < to && ev.start[i] + ev.dur[i] > from)))
			found.push(i);
	return found;
}
function spread(durations) {
	const sorted = Float64Array.from(durations).sort(),
		n = sorted.length,
		at = (p) => sorted[Math.min(n - 1, Math.floor(p * n))];
	let total = 0;
	for (const d of sorted) total += d;
	return {
		sorted,
		n,
		total,
		mean: total / n,
		min: sorted[0],
		max: sorted[n - 1],
		median: n % 2 ? sorted[n >> 1] : (sorted[(n >> 1) - 1] + sorted[n >> 1]) / 2,
		p90: at(0.9),
		p99: at(0.99),
		at,
	};
}
