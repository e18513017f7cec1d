/* Rows of events that do not overlap: what lies where, found by bisection. */

const CHUNK = 32;

/* cum[i]: time of all events before i; longest[c]: the longest one of a chunk. */
function makeRow(ev, first, n) {
	const cum = new Float64Array(n + 1), longest = new Uint32Array(Math.ceil(n / CHUNK));
	for (let i = 0, sum = 0, best = 0; i < n; i++) {
		sum += ev.dur[first + i];
		cum[i + 1] = sum;
		if (i % CHUNK === 0 || ev.dur[first + i] > ev.dur[first + best]) best = i;
		longest[i / CHUNK | 0] = best;
	}
	return { first, n, cum, longest, hits: null };
}

/* The longest of the events from i to before j. */
function longestOf(row, dur, i, j) {
	let best = i;
	const f = row.first;
	while (i < j) {
		if (i % CHUNK === 0 && i + CHUNK <= j) {
			const candidate = row.longest[i / CHUNK | 0];
			if (dur[f + candidate] > dur[f + best]) best = candidate;
			i += CHUNK;
		} else { if (dur[f + i] > dur[f + best]) best = i; i++; }
	}
	return best;
}

/* The first event from i on that starts at t or later, looked for near i first. */
function gallop(start, first, n, i, t) {
	let step = 1, low = i;
	while (low + step < n && start[first + low + step] < t) { low += step; step *= 2; }
	let high = Math.min(low + step, n);
	if (low < n && start[first + low] >= t) return low;
	while (low + 1 < high) { const middle = (low + high) >>> 1; if (start[first + middle] < t) low = middle; else high = middle; }
	return high;
}
function lowerBound(start, first, n, t) {
	let low = 0, high = n;
	while (low < high) { const middle = (low + high) >>> 1; if (start[first + middle] < t) low = middle + 1; else high = middle; }
	return low;
}

/* The event of a row at t, or -1. */
function eventAt(row, t, slack) {
	const { ev } = state;
	const i = lowerBound(ev.start, row.first, row.n, t + slack) - 1;
	if (i < 0) return -1;
	return ev.start[row.first + i] + ev.dur[row.first + i] + slack >= t ? row.first + i : -1;
}

function mergeSorted(a, b) {
	const out = new Float64Array(a.length + b.length);
	let i = 0, j = 0, k = 0;
	while (i < a.length && j < b.length) out[k++] = a[i] <= b[j] ? a[i++] : b[j++];
	while (i < a.length) out[k++] = a[i++];
	while (j < b.length) out[k++] = b[j++];
	return out;
}
async function mergeAll(lists) {
	while (lists.length > 1) {
		const next = [];
		for (let i = 0; i < lists.length; i += 2) {
			next.push(i + 1 < lists.length ? mergeSorted(lists[i], lists[i + 1]) : lists[i]);
			await breathe();
		}
		lists = next;
	}
	return lists[0] || new Float64Array(0);
}

/* When a device had something to do: the union of its rows; and for how long how many operations ran at once. */
async function makeUnion(rows) {
	const { ev } = state;
	const starts = await mergeAll(rows.map((row) => ev.start.slice(row.first, row.first + row.n)));
	const ends = await mergeAll(rows.map((row) => ev.start.slice(row.first, row.first + row.n).map((s, i) => s + ev.dur[row.first + i])));
	const from = [], to = [], levels = [];
	let level = 0, last = 0;
	for (let i = 0, j = 0; j < ends.length;) {
		const opens = i < starts.length && starts[i] <= ends[j], t = opens ? starts[i] : ends[j];
		if (level > 0) levels[level] = (levels[level] || 0) + t - last;
		last = t;
		if (opens) {
			if (level === 0 && to.length && to[to.length - 1] === t) to.pop();
			else if (level === 0) from.push(t);
			level++; i++;
		} else { level--; j++; if (level === 0) to.push(t); }
		if (j % 65536 === 0) await breathe();
	}
	const start = Float64Array.from(from), end = Float64Array.from(to), cum = new Float64Array(start.length + 1);
	for (let i = 0; i < start.length; i++) cum[i + 1] = cum[i] + end[i] - start[i];
	return { start, end, cum, levels };
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
			const row = makeRow(ev, first, n);
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
	const { ev } = state, found = [];
	for (let i = 0; i < ev.n; i++)
		if (wanted.has(ev.label[i]) && (from === undefined || (ev.start[i] < to && ev.start[i] + ev.dur[i] > from))) found.push(i);
	return found;
}
function spread(durations) {
	const sorted = Float64Array.from(durations).sort(), n = sorted.length, at = (p) => sorted[Math.min(n - 1, Math.floor(p * n))];
	let total = 0;
	for (const d of sorted) total += d;
	return { sorted, n, total, mean: total / n, min: sorted[0], max: sorted[n - 1], median: n % 2 ? sorted[n >> 1] : (sorted[(n >> 1) - 1] + sorted[n >> 1]) / 2,
		p90: at(0.9), p99: at(0.99), at };
}
