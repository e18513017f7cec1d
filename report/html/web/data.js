/* Reading what the file carries: elements of base64, gzip inside, columns of bytes in that. */

async function unpack(element) {
	const text = element.textContent.trim();
	element.remove();
	let bytes;
	if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
	else {
		const raw = atob(text);
		bytes = new Uint8Array(raw.length);
		for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	}
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Elements that cannot be read are counted, and the rest is shown. */
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
	if (planes === 0) {
		out.fill(0, 0, count);
		return;
	}
	if (planes === 1) {
		for (let i = 0; i < count; i++) out[i] = bytes[at + i];
		return;
	}
	const b = at + count,
		c = b + count,
		d = c + count,
		e = d + count,
		f = e + count;
	if (planes === 2) for (let i = 0; i < count; i++) out[i] = bytes[at + i] | (bytes[b + i] << 8);
	else if (planes === 3)
		for (let i = 0; i < count; i++) out[i] = bytes[at + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16);
	else if (planes === 4)
		for (let i = 0; i < count; i++)
			out[i] = (bytes[at + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16) | (bytes[d + i] << 24)) >>> 0;
	else
		for (let i = 0; i < count; i++)
			out[i] =
				((bytes[at + i] | (bytes[b + i] << 8) | (bytes[c + i] << 16) | (bytes[d + i] << 24)) >>> 0) +
				(bytes[e + i] | (planes > 5 ? bytes[f + i] << 8 : 0)) * 4294967296;
}

/* All blocks of a kind; take(columns, count, first) gets each block's columns, which it must copy. */
async function readColumns(kind, width, take) {
	const elements = dataOf(kind),
		scratch = [];
	let first = 0;
	for (let c = 0; c < width; c++) scratch.push(new Float64Array(65536));
	for (const element of elements) {
		const count = +element.dataset.n,
			planes = element.dataset.p.split(',').map(Number),
			bytes = await tryUnpack(element);
		sliceStart = performance.now();
		const right = bytes && bytes.length === count * planes.reduce((a, b) => a + b, 0);
		if (bytes && !right) state.damaged++;
		for (let c = 0, at = 0; c < width; c++) {
			joinPlanes(right ? bytes : [], at, count, right ? planes[c] : 0, scratch[c]);
			at += count * planes[c];
		}
		take(scratch, count, first, !right);
		first += count;
		await breathe();
	}
	return first;
}

const countRows = (kind) => dataOf(kind).reduce((sum, element) => sum + +element.dataset.n, 0);

async function readEvents() {
	const n = countRows('events'),
		WRAP = 2 ** 48;
	const ev = {
		n,
		start: new Float64Array(n),
		dur: new Float64Array(n),
		label: new Uint32Array(n),
		link: new Int32Array(n),
		aux: new Float64Array(n),
		stack: new Uint32Array(n),
	};
	let last = 0,
		link = 0;
	await readColumns('events', 6, ([start, dur, label, linkDelta, aux, stack], count, first, lost) => {
		for (let i = 0; i < count; i++) {
			last += start[i];
			if (last >= WRAP) last -= WRAP;
			ev.start[first + i] = last;
		}
		for (let i = 0; i < count; i++) {
			const z = linkDelta[i];
			link += z % 2 ? -(z + 1) / 2 : z / 2;
			ev.link[first + i] = link;
		}
		ev.dur.set(lost ? new Float64Array(count) : dur.subarray(0, count), first);
		ev.label.set(label.subarray(0, count), first);
		ev.aux.set(aux.subarray(0, count), first);
		ev.stack.set(stack.subarray(0, count), first);
	});
	return ev;
}

/* The same sums that the exporter wrote: only tests ask. */
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

async function readMemory() {
	const n = countRows('memory'),
		series = state.index.series.map((s) => ({ ...s, t: [], v: [] }));
	let t = 0;
	if (n === 0) return [];
	await readColumns('memory', 3, ([delta, number, bytes], count) => {
		for (let i = 0; i < count; i++) {
			t += delta[i];
			const one = series[number[i]];
			if (one) {
				one.t.push(t);
				one.v.push(bytes[i]);
			}
		}
	});
	return series.map((s) => ({ ...s, t: Float64Array.from(s.t), v: Float64Array.from(s.v) }));
}

async function readStacks(measures, kind = 'stacks') {
	const n = countRows(kind);
	const stacks = {
		n,
		parent: new Int32Array(n),
		site: new Uint32Array(n),
		values: measures.map(() => new Float64Array(n)),
	};
	await readColumns(kind, 2 + measures.length, (columns, count, first) => {
		for (let i = 0; i < count; i++) stacks.parent[first + i] = columns[0][i] - 1;
		stacks.site.set(columns[1].subarray(0, count), first);
		stacks.values.forEach((values, m) => values.set(columns[2 + m].subarray(0, count), first));
	});
	return stacks;
}
