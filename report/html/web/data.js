/* Reading the data of the file: elements of base64 that contain gzip with columns of bytes. */

async function unpack(element) {
	const text = element.textContent;
	element.remove();
	let bytes;
	if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
	else {
		const raw = atob(text);
		bytes = new Uint8Array(raw.length);
		for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	}
	const gzip = new DecompressionStream('gzip'),
		writer = gzip.writable.getWriter(),
		written = writer.write(bytes).then(() => writer.close());
	const [unpacked] = await Promise.all([new Response(gzip.readable).arrayBuffer(), written]);
	return new Uint8Array(unpacked);
}

/* Unreadable elements are counted; the rest is shown. */
async function tryUnpack(element) {
	try {
		return await unpack(element);
	} catch (error) {
		state.damaged++;
		return null;
	}
}

const dataOf = (kind) => [...document.querySelectorAll('script[data-k="' + kind + '"]')];

async function readJson(kind, fallback) {
	const element = dataOf(kind)[0],
		bytes = element && (await tryUnpack(element));
	if (!bytes) return fallback;
	try {
		return JSON.parse(new TextDecoder().decode(bytes));
	} catch (error) {
		state.damaged++;
		return fallback;
	}
}

/* One column of a block: value i is the sum of its planes. */
function joinPlanes(bytes, at, count, planes, out) {
	const b = at + count,
		c = b + count,
		d = c + count,
		e = d + count,
		f = e + count,
		g = f + count;
	if (planes === 0) out.fill(0, 0, count);
	else if (planes === 1) for (let i = 0; i < count; i++) out[i] = bytes[at + i];
	else if (planes === 2) for (let i = 0; i < count; i++) out[i] = bytes[at + i] | (bytes[b + i] << 8);
	else if (planes === 3)
		for (let i = 0; i < count; i++) out[i] = bytes[at + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16);
	else if (planes === 4)
		for (let i = 0; i < count; i++)
			out[i] = (bytes[at + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16) | (bytes[d + i] << 24)) >>> 0;
	else
		for (let i = 0; i < count; i++)
			out[i] =
				((bytes[at + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16) | (bytes[d + i] << 24)) >>> 0) +
				(bytes[e + i] | (planes > 5 ? bytes[f + i] << 8 : 0) | (planes > 6 ? bytes[g + i] << 16 : 0)) * 4294967296;
}

/* The attributes of a block; null: invalid. */
function blockOf(element, width, next, limit) {
	const first = +element.dataset.f,
		count = +element.dataset.n,
		planes = (element.dataset.p || '').split(',').map(Number);
	const right =
		Number.isInteger(first) &&
		first >= next &&
		count >= 1 &&
		count <= 65536 &&
		first + count <= limit &&
		planes.length === width &&
		planes.every((p) => Number.isInteger(p) && p >= 0 && p <= 7);
	return right ? { element, first, count, planes, bytes: count * planes.reduce((a, b) => a + b, 0) } : null;
}
function blocksOf(kind, width, limit) {
	const blocks = [];
	let next = 0;
	for (const element of dataOf(kind)) {
		const block = blockOf(element, width, next, limit);
		if (block) {
			blocks.push(block);
			next = block.first + block.count;
		} else state.damaged++;
	}
	return blocks;
}

/*
 * Read the blocks of a kind in turn.  take(columns, count, first) gets the columns of each, and must
 * copy them.  Returns the missing rows, as a sorted list of [from, until].
 */
async function readBlocks(blocks, limit, take) {
	const holes = [],
		columns = (blocks[0]?.planes || []).map(() => new Float64Array(65536));
	let next = 0,
		coming = blocks.length ? tryUnpack(blocks[0].element) : null;
	for (let k = 0; k < blocks.length; k++) {
		const { first, count, planes, bytes: size } = blocks[k],
			bytes = await coming;
		coming = k + 1 < blocks.length ? tryUnpack(blocks[k + 1].element) : null;
		sliceStart = performance.now();
		if (bytes && bytes.length === size) {
			if (first > next) holes.push([next, first]);
			next = first + count;
			for (let c = 0, at = 0; c < columns.length; at += count * planes[c++]) joinPlanes(bytes, at, count, planes[c], columns[c]);
			take(
				columns.map((column) => column.subarray(0, count)),
				count,
				first,
			);
		} else if (bytes) state.damaged++;
		await breathe();
	}
	if (next < limit) holes.push([next, limit]);
	return holes;
}

/* How many numbers below i are in holes. */
function holesBefore(holes, i) {
	let lost = 0;
	for (const [from, until] of holes) lost += clamp(i - from, 0, until - from);
	return lost;
}
const isIn = (holes, i) => holes.some(([from, until]) => i >= from && i < until);

/* The first event of each row. */
function rowStarts() {
	const starts = [];
	let first = 0;
	for (const track of state.index.tracks)
		for (const n of track.rows) {
			starts.push(first);
			first += n;
		}
	return starts;
}

/* Read all readable events; index.holes has the others. */
async function readEvents() {
	const blocks = blocksOf('events', 6, state.index.events),
		most = blocks.reduce((sum, block) => sum + block.count, 0),
		starts = rowStarts();
	const ev = {
		n: 0,
		start: new Float64Array(most),
		dur: new Float64Array(most),
		label: new Uint32Array(most),
		link: new Int32Array(most),
		aux: new Float64Array(most),
		stack: new Uint32Array(most),
	};
	let row = 0;
	state.index.holes = await readBlocks(blocks, state.index.events, ([gap, dur, label, jump, aux, stack], count, first) => {
		const { start, link } = ev,
			to = ev.n;
		ev.dur.set(dur, to);
		ev.label.set(label, to);
		ev.aux.set(aux, to);
		ev.stack.set(stack, to);
		while (row < starts.length && starts[row] < first) row++;
		for (let i = 0, end = 0; i < count;) {
			if (starts[row] === first + i) end = 0;
			while (starts[row] <= first + i) row++;
			const until = Math.min(count, (starts[row] ?? Infinity) - first);
			for (; i < until; i++) end = (start[to + i] = end + gap[i]) + dur[i];
		}
		for (let i = 0, last = 0; i < count; i++) link[to + i] = last = (last + ((jump[i] >>> 1) ^ -(jump[i] & 1))) | 0;
		ev.n += count;
	});
	if (state.index.holes.length) closeHoles(ev, state.index.holes);
	return ev;
}

/* Renumber links to events that were read; a link to another one becomes 0. */
function closeHoles(ev, holes) {
	for (const name of ['start', 'dur', 'label', 'link', 'aux', 'stack']) ev[name] = ev[name].subarray(0, ev.n);
	for (let i = 0; i < ev.n; i++)
		if (ev.link[i] > 0)
			ev.link[i] = isIn(holes, ev.link[i] - 1) ? 0 : ev.link[i] - holesBefore(holes, ev.link[i] - 1);
}

/* The checksums of the exporter, for tests. */
function checksums() {
	const { ev } = state,
		sums = [];
	for (const [column, signed] of [[ev.start], [ev.dur], [ev.label], [ev.link, 1], [ev.aux], [ev.stack]]) {
		let sum = 0;
		for (let i = 0; i < ev.n; i++) {
			const v = signed ? column[i] >>> 0 : column[i],
				low = v % 4294967296,
				high = Math.floor(v / 4294967296);
			sum = (Math.imul(sum, 31) + ((low ^ high) >>> 0)) >>> 0;
		}
		sums.push(sum);
	}
	return sums;
}

/*
 * Each allocation and free: time, what (2 × the number of the holder, + 1 for a free), bytes.  Nothing
 * is known after the first unreadable block.
 */
async function readHeld() {
	const names = await readJson('series', null);
	if (!names) return null;
	const blocks = blocksOf('memory', 3, names.changes),
		most = blocks.reduce((sum, block) => sum + block.count, 0);
	const held = { ...names, n: 0, t: new Float64Array(most), what: new Uint32Array(most), bytes: new Float64Array(most) };
	await readBlocks(blocks, names.changes, ([delta, what, bytes], count, first) => {
		if (first !== held.n) return;
		for (let i = 0, t = 0; i < count; i++) held.t[first + i] = t += delta[i];
		held.what.set(what, first);
		held.bytes.set(bytes, first);
		held.n += count;
	});
	return held;
}

/* The course of each kind of memory, and of all of a device: times of changes, the values from then on, the numbers of changes. */
async function readMemory() {
	const held = (state.held = await readHeld());
	if (!held) return [];
	const { accounts, holders, t, what, bytes, n } = held,
		own = [...new Set(accounts.filter((account) => account.own).map((account) => account.device))],
		series = [...accounts, ...own.map((device) => ({ device, kind: 'all' }))].map((one, number) => ({
			...one,
			parts: accounts.map((account, i) => i === number || (one.kind === 'all' && account.own && account.device === one.device)),
			most: 0,
			mostAt: 0,
		})),
		counts = accounts.map(() => 0),
		seriesOf = accounts.map((account, i) => series.filter((one) => one.parts[i]));
	for (let i = 0; i < n; i++) counts[holders[what[i] >> 1][0]]++;
	for (const one of series) {
		const count = counts.reduce((sum, part, i) => sum + (one.parts[i] ? part : 0), 0);
		Object.assign(one, { n: 0, t: new Float64Array(count), v: new Float64Array(count), at: new Uint32Array(count) });
	}
	for (let i = 0; i < n; i++) {
		if (i % 65536 === 0) await breathe();
		for (const one of seriesOf[holders[what[i] >> 1][0]]) {
			const k = one.n++,
				now = (k > 0 ? one.v[k - 1] : 0) + (what[i] & 1 ? -bytes[i] : bytes[i]);
			one.t[k] = t[i];
			one.v[k] = now;
			one.at[k] = i + 1;
			if (now > one.most) [one.most, one.mostAt] = [now, k];
		}
	}
	return series;
}

/*
 * Memory that PyTorch's caching allocators gave to tensors, and reserved, as courses like those of
 * memory; the holders are unknown.
 */
async function readAllocators() {
	const names = await readJson('allocators', null);
	if (!names) return [];
	state.allocatorsLeftOut = names.leftOut;
	const rows = names.allocators.map(() => []);
	await readBlocks(blocksOf('allocated', 4, names.changes), names.changes, ([jump, which, reserved, used], count) => {
		for (let i = 0, t = 0; i < count; i++) {
			t += jump[i] % 2 ? -(jump[i] + 1) / 2 : jump[i] / 2;
			rows[which[i]].push([t, used[i], reserved[i]]);
		}
	});
	return names.allocators.flatMap(({ process, device }, a) => {
		if (!rows[a].length) return [];
		const owner = names.allocators.length > 1 ? ' of ' + nameOfProcess(process) : '',
			sorted = rows[a].sort((x, y) => x[0] - y[0]),
			t = Float64Array.from(sorted, (row) => row[0]),
			at = Uint32Array.from(sorted, (row, k) => k + 1),
			course = (column, kind) => {
				const v = Float64Array.from(sorted, (row) => row[column]),
					mostAt = v.reduce((best, value, k) => (value > v[best] ? k : best), 0);
				return { device, kind: kind + owner, isAllocator: true, parts: [], n: v.length, t, v, at, mostAt, most: v[mostAt] ?? 0 };
			},
			[tensors, reserved] = [course(1, 'tensors, in PyTorch’s allocator'), course(2, 'reserved by PyTorch’s allocator')];
		return [Object.assign(tensors, { reserved }), reserved];
	});
}
/* Values of devices over time: hardware samples; queue lengths of streams and copy bandwidth, if requested (--counters). */
async function readCurves() {
	const names = await readJson('courses', null);
	if (!names) return [];
	state.curvesLeftOut = names.leftOut;
	const rows = names.curves.map(() => ({ t: [], v: [] }));
	await readBlocks(blocksOf('curves', 3, names.points), names.points, ([jump, which, value], count) => {
		for (let i = 0, t = 0; i < count; i++) {
			t += jump[i] % 2 ? -(jump[i] + 1) / 2 : jump[i] / 2;
			rows[which[i]].t.push(t);
			rows[which[i]].v.push(value[i]);
		}
	});
	return names.curves.map(({ process, device, name, unit, divisor }, c) => {
		const { t, v } = rows[c],
			most = v.reduce((a, b) => Math.max(a, b), 0);
		return {
			device,
			title: (state.about.processes.length > 1 ? nameOfProcess(process) + ' ' : '') + name,
			t: Float64Array.from(t),
			v: Float64Array.from(v),
			most: unit === '%' ? 100 * divisor : most,
			peak: unit === 'operations' ? counted(most, 'operation') : digits(most / divisor) + ' ' + unit,
		};
	});
}
/* When each thread's Python stack was sampled at work: {t: first sample, length: time until the last, count} of runs of equal samples, by process and thread. */
async function readSamples() {
	const threads = new Map(),
		blocks = blocksOf('samples', 5, Infinity);
	await readBlocks(blocks, 0, ([process, thread, jump, length, count], rows) => {
		for (let i = 0, t = 0; i < rows; i++) {
			const key = process[i] + ' ' + thread[i];
			t += jump[i] % 2 ? -(jump[i] + 1) / 2 : jump[i] / 2;
			if (!threads.has(key)) threads.set(key, { t: [], length: [], count: [] });
			const runs = threads.get(key);
			runs.t.push(t);
			runs.length.push(length[i]);
			runs.count.push(count[i]);
		}
	});
	return threads;
}
const nameOfProcess = (p) => {
	const process = state.about.processes[p],
		isShared = state.about.processes.some((other, i) => i !== p && other.rank === process.rank);
	if (process.rank === undefined) return 'pid ' + process.pid;
	return 'rank ' + process.rank + (isShared ? ', pid ' + process.pid : '');
};

/* The number of the process with the steps that are shown; pids of several hosts may be equal. */
const processOfSteps = (steps) =>
	state.about.processes.findIndex(({ pid, rank }) => pid === steps?.pid && (steps.rank === undefined || String(rank) === String(steps.rank)));

/* Whether the row of a table is of that process: in a job, tables have ranks or names in place of pids. */
function isOfProcess(row, p) {
	const { pid, rank } = state.about.processes[p] || {};
	if (row.PID !== undefined) return row.PID === pid;
	return row.Rank !== undefined ? String(row.Rank) === String(rank) : row.Process === nameOfProcess(p);
}

/* The bytes and blocks of each holder after so many changes; valid until the next call, which continues from there. */
function heldAfter(changes) {
	const { holders, what, bytes } = state.held,
		now = (state.held.now ??= { changes: 0, bytes: new Float64Array(holders.length), blocks: new Int32Array(holders.length) }),
		apply = (i, sign) => {
			now.bytes[what[i] >> 1] += sign * bytes[i];
			now.blocks[what[i] >> 1] += sign;
		};
	for (; now.changes < changes; now.changes++) apply(now.changes, what[now.changes] & 1 ? -1 : 1);
	for (; now.changes > changes; now.changes--) apply(now.changes - 1, what[now.changes - 1] & 1 ? 1 : -1);
	return now;
}
/* The bytes of each holder at the peak of a series. */
const heldAtPeak = (series) => (series.atPeak ??= heldAfter(series.at[series.mostAt] ?? 0).bytes.slice());

/* Unreadable nodes have no value and no caller. */
async function readStacks(measures, kind = 'stacks') {
	const blocks = blocksOf(kind, 2 + measures.length, Infinity),
		n = blocks.length ? blocks.at(-1).first + blocks.at(-1).count : 0;
	const stacks = {
		n,
		parent: new Int32Array(n).fill(-1),
		site: new Uint32Array(n),
		values: measures.map(() => new Float64Array(n)),
	};
	await readBlocks(blocks, n, ([parent, site, ...values], count, first) => {
		for (let i = 0; i < count; i++) stacks.parent[first + i] = parent[i] - 1;
		stacks.site.set(site, first);
		stacks.values.forEach((all, m) => all.set(values[m], first));
	});
	return stacks;
}
