/* Rows of events that do not overlap; events are found by bisection. */

/* Events in a chunk, and chunks in one of the next level: drawing a whole row reads little of it. */
const CHUNK_BITS = 3,
	CHUNK = 1 << CHUNK_BITS;

/* For each chunk of events: starts: the start of its first event; sums: the busy time before it.  levels: duration and label of the longest event of each part. */
async function makeRow(ev, first, n) {
	const [start, dur, label, busy] = [ev.start, ev.dur, ev.label, ev.busy].map((column) => column.subarray(first, first + n)),
		starts = new Float64Array(Math.ceil(n / CHUNK)),
		sums = new Float64Array(starts.length),
		levels = [{ longest: dur, label }];
	for (let from = 0, sum = 0; from < n; from += 65536) {
		for (let i = from; i < Math.min(n, from + 65536); i++) {
			if (i % CHUNK === 0) {
				starts[i >>> CHUNK_BITS] = start[i];
				sums[i >>> CHUNK_BITS] = sum;
			}
			sum += busy[i];
		}
		await breathe();
	}
	while (levels.at(-1).longest.length > CHUNK) {
		levels.push(nextLevel(levels.at(-1)));
		await breathe();
	}
	return { first, n, start, dur, busy, label, starts, sums, levels, hits: null };
}
function nextLevel(below) {
	const n = Math.ceil(below.longest.length / CHUNK),
		level = { longest: new Float64Array(n), label: new Uint32Array(n) };
	for (let c = 0; c < n; c++) {
		let best = c * CHUNK;
		for (let i = best + 1; i < Math.min(below.longest.length, (c + 1) * CHUNK); i++)
			if (below.longest[i] > below.longest[best]) best = i;
		level.longest[c] = below.longest[best];
		level.label[c] = below.label[best];
	}
	return level;
}

/* The label of the longest event in [i, j): the events outside whole chunks, then the same for the chunks. */
function longestOf({ levels }, i, j) {
	let found = levels[0],
		best = i,
		most = -1;
	for (let k = 0; i < j; k++) {
		const { longest } = levels[k],
			before = most,
			few = j - i <= 2 * CHUNK,
			from = few ? j : (i + CHUNK - 1) & -CHUNK,
			until = few ? j : j & -CHUNK;
		for (; i < from; i++)
			if (longest[i] > most) {
				most = longest[i];
				best = i;
			}
		for (i = until; i < j; i++)
			if (longest[i] > most) {
				most = longest[i];
				best = i;
			}
		if (most > before) found = levels[k];
		i = from >>> CHUNK_BITS;
		j = until >>> CHUNK_BITS;
	}
	return found.label[best];
}

/* Whether an event is at least that long; the event is not read if its chunk has none. */
function isAsLong({ levels, dur }, i, duration) {
	return !(levels.length > 1 && levels[1].longest[i >>> CHUNK_BITS] < duration) && dur[i] >= duration;
}

/* The busy time of all events of a row before i. */
function timeBefore({ sums, busy, n }, i) {
	const chunk = Math.min(i, n - 1) >>> CHUNK_BITS;
	let sum = sums[chunk];
	for (let k = chunk << CHUNK_BITS; k < i; k++) sum += busy[k];
	return sum;
}

/* The first chunk from c on that begins at t or later; likely: the expected distance, as for the previous pixel. */
function chunkFrom({ starts }, c, t, likely) {
	let next = Math.min(c + likely, starts.length);
	while (next > c && starts[next - 1] >= t) next--;
	for (let steps = 0; next < starts.length && starts[next] < t; next++) if (++steps > 4) return gallop(starts, 0, starts.length, next, t);
	return next;
}

/* The first event after i that starts at t or later, before that chunk; or the first one of the chunk, if it starts less than slack after t. */
function nextFrom({ start, starts, n }, i, chunk, t, slack) {
	if (chunk << CHUNK_BITS > i && starts[chunk] < t + slack) return chunk << CHUNK_BITS;
	let j = Math.max(i + 1, (chunk - 1) << CHUNK_BITS);
	while (j < n && start[j] < t) j++;
	return j;
}

/* The first event from i on that starts at t or later, searched near i first. */
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
 * All starts and ends of events in rows, sorted: 2 × the time, + 1 for an end.  They are sorted in
 * buckets of time, which are contiguous as rows are sorted.
 */
async function momentsOf(rows) {
	const { start } = state.ev,
		dur = onGpu(state.ev, state.index.labels),
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

/* The busy time of a device: the union of its rows; levels: the times with each number of parallel operations, in the time of the summary. */
async function makeUnion(rows) {
	const moments = await momentsOf(rows),
		[first, until] = callsTime(),
		start = new Float64Array(moments.length / 2),
		end = new Float64Array(moments.length / 2),
		levels = [];
	let count = 0,
		level = 0,
		last = 0;
	for (let i = 0; i < moments.length; i++) {
		const half = moments[i] / 2,
			t = Math.floor(half);
		if (level > 0) levels[level] = (levels[level] || 0) + clamp(t, first, until) - clamp(last, first, until);
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

/* The busy time before t; between two times. */
function busyUntil(union, t) {
	const i = lowerBound(union.start, 0, union.start.length, t);
	return i === 0 ? 0 : union.cum[i - 1] + Math.min(t, union.end[i - 1]) - union.start[i - 1];
}
const busyBetween = (union, a, b) => busyUntil(union, b) - busyUntil(union, a);

/* The shortest time with that share of the busy time: [begin, end]. */
function densest({ start, end, cum }, share) {
	const wanted = cum.at(-1) * share;
	let best = [0, Infinity];
	for (let i = 0, j = 0; j < start.length; j++) {
		while (cum[j + 1] - cum[i + 1] >= wanted) i++;
		if (cum[j + 1] - cum[i] >= wanted && end[j] - start[i] < best[1] - best[0]) best = [start[i], end[j]];
	}
	return best;
}

/*
 * Call put(column, busy share) for each column from t0 on that has busy time.  If the timeline has
 * only the longest events, the activity from the exporter includes all; it is used unless columns
 * are narrower than its parts.
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

/* Make the rows of all tracks, and the devices. */
async function makeTracks() {
	const { ev, index } = state;
	ev.busy = busyTimes(ev, index);
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
		if (track.kind === 'thread') track.calls = callsIn(track);
		await breathe();
	}
	/* a device may have no event among the longest */
	const numbers = [...index.tracks.filter((t) => t.kind === 'stream').map((t) => t.id), ...(index.activity || []).map(([n]) => n)];
	for (const device of new Set(numbers)) {
		const tracks = index.tracks.filter((t) => t.kind === 'stream' && t.id === device);
		const union = await makeUnion(tracks.flatMap((t) => t.lanes));
		union.activity = index.activity?.find(([number]) => number === device)?.[1];
		state.devices.set(device, { tracks, union });
	}
}

/* The busy time of each event: its duration, or less for merged events. */
function busyTimes(ev, { grouped, crowded, labels }) {
	if (!grouped && !crowded) return ev.dur;
	const busy = Float64Array.from(ev.dur);
	for (let i = 0; i < ev.n; i++) if (isTogether(labels.kinds[ev.label[i]])) busy[i] = Math.min(ev.aux[i], ev.dur[i]);
	return busy;
}
/* The same, 0 for copies from host to host: they do not use a GPU. */
function onGpu(ev, { texts }) {
	const aside = new Set(texts.keys().filter((label) => texts[label].startsWith('[memcpy HtoH ')));
	return aside.size ? ev.busy.map((busy, i) => (aside.has(ev.label[i]) ? 0 : busy)) : ev.busy;
}
const isTogether = (kind) => kind === 'm' || kind === 'n';
/* Kinds of Python samples: a description; a function of the user, of a library. */
const isLook = (kind) => 'hpq'.includes(kind);
const isWait = (kind, text) => kind === 'h' && text.startsWith('waiting in ');

/* Rows of events, or those of ranges on the GPU, which contain each range again, from its first to its last operation. */
const rowsOnceMore = (wanted) => state.rows.filter(({ track }) => (track.kind === 'gpu-ranges') === wanted);

/* All events with these labels, each once. */
function eventsOf(labels, onceMore = false) {
	const { label } = state.ev,
		found = [];
	for (const { first, n } of rowsOnceMore(onceMore)) for (let i = first; i < first + n; i++) if (labels.has(label[i])) found.push(i);
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
