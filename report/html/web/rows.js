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

async function mergeSorted(a, b) {
	const out = new Float64Array(a.length + b.length);
	for (let i = 0, j = 0, k = 0; k < out.length;) {
		for (const until = Math.min(out.length, k + 65536); k < until; k++)
			out[k] = j >= b.length || (i < a.length && a[i] <= b[j]) ? a[i++] : b[j++];
		await breathe();
	}
	return out;
}
async function mergeAll(lists) {
	while (lists.length > 1) {
		const next = [];
		for (let i = 0; i < lists.length; i += 2)
			next.push(i + 1 < lists.length ? await mergeSorted(lists[i], lists[i + 1]) : lists[i]);
		lists = next;
	}
	return lists[0] || new Float64Array(0);
}
async function endsOf(row) {
	const { ev } = state,
		ends = new Float64Array(row.n);
	for (let i = 0; i < row.n; i++) {
		ends[i] = ev.start[row.first + i] + ev.dur[row.first + i];
		if (i % 65536 === 0) await breathe();
	}
	return ends;
}

/* When a device had something to do: the union of its rows; and for how long how many operations ran at once. */
async function makeUnion(rows) {
	const ends = [];
	for (const row of rows) ends.push(await endsOf(row));
	const opened = await mergeAll(rows.map((row) => state.ev.start.subarray(row.first, row.first + row.n))),
		closed = await mergeAll(ends),
		n = opened.length,
		start = new Float64Array(n),
		end = new Float64Array(n),
		cum = new Float64Array(n + 1),
		levels = [];
	let count = 0,
		level = 0,
		last = 0;
	for (let i = 0, j = 0; j < n;) {
		const opens = i < n && opened[i] <= closed[j],
			t = opens ? opened[i++] : closed[j++];
		if (level > 0) levels[level] = (levels[level] || 0) + t - last;
		last = t;
		/* what begins where the last one ended goes on with it */
		if (opens && level++ === 0 && (count === 0 || end[count - 1] !== t)) start[count++] = t;
		if (!opens && --level === 0) end[count - 1] = t;
		if ((i + j) % 65536 === 0) await breathe();
	}
	for (let i = 0; i < count; i++) {
		cum[i + 1] = cum[i] + end[i] - start[i];
		if (i % 65536 === 0) await breathe();
	}
	return { start: start.subarray(0, count), end: end.subarray(0, count), cum: cum.subarray(0, count + 1), levels };
}

/* How long the union is between two moments. */
function busyUntil(union, t) {
	const i = lowerBound(union.start, 0, union.start.length, t);
	return i === 0 ? 0 : union.cum[i - 1] + Math.min(t, union.end[i - 1]) - union.start[i - 1];
}
const busyBetween = (union, a, b) => busyUntil(union, b) - busyUntil(union, a);

/* Tracks get their rows, and the page its order of groups. */
async function makeTracks() {
	const { ev, index } = state;
	let first = 0;
	state.end = 1;
	for (const track of index.tracks) {
		track.lanes = [];
		for (const n of track.rows) {
			if (first + n > ev.n) break;
			const row = await makeRow(ev, first, n);
			row.track = track;
			track.lanes.push(row);
			state.rows.push(row);
			if (n) state.end = Math.max(state.end, ev.start[first + n - 1] + ev.dur[first + n - 1]);
			first += n;
			await breathe();
		}
		track.events = track.lanes.reduce((sum, row) => sum + row.n, 0);
	}
	for (const device of new Set(index.tracks.filter((t) => t.kind === 'stream').map((t) => t.id))) {
		const tracks = index.tracks.filter((t) => t.kind === 'stream' && t.id === device);
		state.devices.set(device, { tracks, union: await makeUnion(tracks.flatMap((t) => t.lanes)) });
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
