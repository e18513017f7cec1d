/* Tables: the roofline of the kernels whose hardware counters were read. */

const ROOFLINE = { width: 900, height: 460, left: 64, right: 20, top: 14, bottom: 44 };
/* A name, from which nothing is loaded. */
const SVG = ['http:', '', 'www.w3.org', '2000', 'svg'].join('/');

/* As el(), of a drawing. */
function draw(tag, attributes, ...children) {
	const node = document.createElementNS(SVG, tag);
	for (const [key, value] of Object.entries(attributes || {}))
		if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined) node.setAttribute(key, value);
	for (const child of children.flat(2)) if (child) node.append(child);
	return node;
}

/* Peaks of a device: [{name, peak}], in byte/s and FLOP/s; equal ones have one line. */
function rooflinePeaks(device) {
	const peaks = recordsOf('roofline-peak').filter((row) => row.Device === device);
	const linesOf = (unit, scale) => {
		const lines = [];
		for (const row of peaks.filter((row) => row['Per second'] === unit)) {
			const peak = row.Peak * scale,
				same = lines.find((line) => Math.abs(line.peak - peak) < peak / 1000);
			if (same) same.name = same.name.replace(/ tensor$/, '') + ', ' + row.Unit;
			else lines.push({ name: row.Unit, peak });
		}
		return lines.sort((a, b) => b.peak - a.peak);
	};
	return { memories: linesOf('GB', 1e9), units: linesOf('TFLOP', 1e12) };
}

/* Decades around all points and the ridges of the lines. */
function rooflineScales({ memories, units }, points) {
	const { width, height, left, right, top, bottom } = ROOFLINE,
		most = Math.max(...units.map((u) => u.peak)),
		ridges = memories.flatMap((m) => units.map((u) => u.peak / m.peak)),
		decade = (v, round) => round(Math.log10(v));
	const x0 = decade(Math.min(0.1, ...points.map((p) => p.x / 1.5)), Math.floor),
		x1 = decade(Math.max(...ridges, ...points.map((p) => p.x)) * 2, Math.ceil),
		y0 = decade(Math.min(...points.map((p) => p.y / 1.5), most / 1e4), Math.floor),
		y1 = decade(most * 1.2, Math.ceil);
	return {
		x0,
		x1,
		y0,
		y1,
		x: (v) => left + ((Math.log10(v) - x0) / (x1 - x0)) * (width - left - right),
		y: (v) => height - bottom - ((Math.log10(v) - y0) / (y1 - y0)) * (height - top - bottom),
	};
}

const powerOfTen = (n) => (n >= -2 && n <= 3 ? String(10 ** n) : '10' + [...String(n)].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] ?? '⁻').join(''));
const flopRate = (v) => (v >= 1e12 ? fmtReal(+(v / 1e12).toPrecision(3)) + ' TFLOP/s' : fmtReal(+(v / 1e9).toPrecision(3)) + ' GFLOP/s');

function rooflineAxes(s) {
	const { width, height, left, right, top, bottom } = ROOFLINE,
		rates = { 6: '1 M', 7: '10 M', 8: '100 M', 9: '1 G', 10: '10 G', 11: '100 G', 12: '1 T', 13: '10 T', 14: '100 T', 15: '1 P', 16: '10 P' },
		nodes = [];
	for (let n = s.x0; n <= s.x1; n++)
		nodes.push(
			draw('line', { x1: s.x(10 ** n), x2: s.x(10 ** n), y1: top, y2: height - bottom, class: 'rule' }),
			draw('text', { x: s.x(10 ** n), y: height - bottom + 16, 'text-anchor': 'middle' }, powerOfTen(n)),
		);
	for (let n = s.y0; n <= s.y1; n++)
		nodes.push(
			draw('line', { x1: left, x2: width - right, y1: s.y(10 ** n), y2: s.y(10 ** n), class: 'rule' }),
			draw('text', { x: left - 6, y: s.y(10 ** n) + 4, 'text-anchor': 'end' }, rates[n] ?? powerOfTen(n)),
		);
	nodes.push(
		draw('text', { x: (left + width - right) / 2, y: height - 6, 'text-anchor': 'middle' }, 'FLOP per byte of DRAM (lines of L2 and L1: per byte of L2 and L1)'),
		draw('text', { x: 12, y: (top + height - bottom) / 2, 'text-anchor': 'middle', transform: 'rotate(-90 12 ' + (top + height - bottom) / 2 + ')' }, 'FLOP/s'),
	);
	return nodes;
}

/*
 * Lines, and their names, which stand where no kernel can be: left of the roof.  Each memory's line
 * rises to the highest peak; each unit's begins where the fastest memory reaches it.
 */
function rooflineLines(s, { memories, units }) {
	const most = Math.max(...units.map((u) => u.peak)),
		least = 10 ** s.y0,
		lines = [],
		names = [];
	for (const { name, peak } of memories) {
		const from = Math.max(10 ** s.x0, least / peak),
			to = most / peak,
			at = from * (to / from) ** 0.04,
			slope = (Math.atan2(s.y(to * peak) - s.y(from * peak), s.x(to) - s.x(from)) * 180) / Math.PI;
		lines.push(draw('line', { x1: s.x(from), y1: s.y(from * peak), x2: s.x(to), y2: s.y(to * peak), class: 'memory' }));
		names.push(
			draw('text', { x: s.x(at), y: s.y(at * peak) - 5, transform: 'rotate(' + slope + ' ' + s.x(at) + ' ' + s.y(at * peak) + ')', class: 'name' }, name + ' ' + fmtReal(+(peak / 1e12).toPrecision(3)) + ' TB/s'),
		);
	}
	for (const { name, peak } of units) {
		const from = Math.max(10 ** s.x0, peak / memories[0].peak);
		lines.push(draw('line', { x1: s.x(from), y1: s.y(peak), x2: s.x(10 ** s.x1), y2: s.y(peak), class: 'unit' }));
		names.push(draw('text', { x: s.x(from) + 5, y: s.y(peak) - 4, class: 'name' }, name + ' ' + flopRate(peak)));
	}
	return { lines, names };
}

/* The area of a point is its share of the GPU time. */
function rooflineRadius({ row }, points) {
	const most = Math.max(...points.map((p) => p.row.Total), 1);
	return 3 + 15 * Math.sqrt(row.Total / most);
}

/* Names of the kernels with most time, where they are beside no other name. */
function rooflineNames(s, points) {
	const nodes = [],
		taken = [];
	for (const point of points.slice(0, 12)) {
		const text = point.row.Name.length > 30 ? point.row.Name.slice(0, 29) + '…' : point.row.Name,
			width = 6.5 * text.length,
			gap = rooflineRadius(point, points) + 3,
			isLeft = s.x(point.x) + gap + width > ROOFLINE.width - ROOFLINE.right,
			from = isLeft ? s.x(point.x) - gap - width : s.x(point.x) + gap,
			y = s.y(point.y) + 4;
		if (taken.some((t) => Math.abs(t.y - y) < 13 && from < t.to && t.from < from + width)) continue;
		taken.push({ from, to: from + width, y });
		nodes.push(draw('text', { x: isLeft ? from + width : from, y, 'text-anchor': isLeft ? 'end' : 'start', class: 'name kernel' }, text));
	}
	return nodes;
}

function rooflinePoints(s, points) {
	return points
		.sort((a, b) => b.row.Total - a.row.Total)
		.map(({ x, y, row }) =>
			draw('circle', {
				cx: s.x(x),
				cy: s.y(y),
				r: rooflineRadius({ row }, points),
				class: row.Bound || 'unknown',
				onpointermove: (e) =>
					showTip(e.clientX, e.clientY, row.Name, [
						'grid ' + row.Grid + ', block ' + row.Block,
						inPercent(row['Time %']) + ' % of the GPU time of kernels, ' + fmtCount(row.Count) + ' launches',
						flopRate(y) + ', ' + fmtReal(+x.toPrecision(3)) + ' FLOP per byte of DRAM',
						(row.Bound ? row.Bound + '-bound: ' : '') + row.Unit + ' at ' + inPercent(row['Of peak']) + ' % of its peak',
					]),
				onpointerleave: hideTip,
			}),
		);
}

const MORE_FLOPS = 'gpuprof-run --counters=flops counts those of FP32, FP64 and FP16 in another run: give both traces to gpuprof html.';

function rooflineChart() {
	const all = recordsOf('roofline-kernel'),
		device = all[0]?.Device,
		rows = all.filter((row) => row.Device === device),
		points = rows.filter((row) => row.FLOPs > 0 && row.DRAM > 0 && row.Time > 0).map((row) => ({ x: row.FLOPs / row.DRAM, y: row.FLOPs / (row.Time / 1e9), row })),
		peaks = rooflinePeaks(device);
	if (!points.length) return el('p', { class: 'dim constants' }, 'No chart: the FLOPs of the kernels are not known. ' + MORE_FLOPS);
	if (!peaks.memories.length || !peaks.units.length) return el('p', { class: 'dim constants' }, 'No chart: --roofline was not given, which reads the peaks of the GPU.');
	const s = rooflineScales(peaks, points),
		{ lines, names } = rooflineLines(s, peaks),
		others = rows.length - points.length;
	return el(
		'figure',
		{ class: 'roofline' },
		draw(
			'svg',
			{ viewBox: '0 0 ' + ROOFLINE.width + ' ' + ROOFLINE.height, role: 'img', 'aria-label': 'roofline of ' + points.length + ' kernels' },
			rooflineAxes(s),
			lines,
			rooflinePoints(s, points),
			names,
			rooflineNames(s, points),
		),
		el(
			'figcaption',
			{ class: 'dim' },
			'GPU ' + device + ': a point for each kernel and launch shape; its area is its GPU time, its color its limit: ',
			...['memory', 'compute', 'latency'].map((bound) => el('span', { class: 'bound ' + bound }, bound)),
			others ? '. Not shown: ' + fmtCount(others) + ' without FLOPs. ' + MORE_FLOPS : '.',
		),
	);
}
