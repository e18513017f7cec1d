/* Shared by all views: elements, number formats, colors, the state of the page. */

const state = {
	about: null,
	tables: [],
	index: null,
	ev: null,
	rows: [],
	tracks: [],
	devices: new Map(),
	memory: null,
	held: null,
	curves: [],
	samples: new Map(),
	stacks: null,
	sites: [],
	base: null,
	diff: [],
	compared: null, // the other run of a comparison: data "diff"
	search: '',
	matches: null,
	damaged: 0,
	ended: null,
	ready: false,
	served: null,
};

/* Shown instead of a missing part of the file. */
const UNREAD = 'This part of the file is unreadable: the file is cut off or damaged.';

const isWhole = () => state.ended !== false && !state.damaged;

/* Create an element; names in the trace become text, never markup. */
function el(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false) continue;
		if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
		else if (key === 'style') for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
		else if (key === 'class') node.className = value;
		else if (key in node && key !== 'list') node[key] = value;
		else node.setAttribute(key, value);
	}
	for (const child of children.flat(2))
		if (child !== null && child !== undefined && child !== false)
			node.append(child.nodeType ? child : document.createTextNode(String(child)));
	return node;
}

/* A section of a view: title, note, content. */
function section(title, beside, ...body) {
	return el('section', null, el('h2', null, title + ' ', el('small', null, beside)), ...body);
}

const $ = (id) => document.getElementById(id);

/* Spell out invisible characters, and those that change the text direction. */
const HIDDEN =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufeff\uffa0\ufff9-\ufffb]|[\udb40-\udbff][\udc00-\udfff]/g;
const spell = (c) => '⟨U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '⟩';
const plain = (text) => String(text).replace(HIDDEN, spell);

/* ---- numbers, as in the text summary: four digits, the largest unit that fits ---- */

/* Round like printf(): ties to the even digit, while toFixed() rounds them up. */
function rounded(value, places) {
	if (value < 0) return '-' + rounded(-value, places);
	const step = 10 ** places,
		down = Math.floor(value * step),
		isBetween = value * step === down + 0.5 && /^50*$/.test(value.toFixed(100).split('.')[1].slice(places));
	return isBetween && down % 2 === 0 ? (down / step).toFixed(places) : value.toFixed(places);
}
const placesOf = (value) => (value < 9.9995 ? 3 : value < 99.995 ? 2 : 1),
	digits = (value) => rounded(value, placesOf(value));
/* Use the largest unit in which the rounded value is at least 1; the smallest unit has decimals only for means. */
function scaled(value, step, units, isMean) {
	const size = Math.abs(value);
	let unit = 0,
		scale = 1;
	if (size >= (isMean ? 999.95 : step)) while (unit + 1 < units.length && size / scale >= 999.95 && size / (scale * step) >= 0.9995) (scale *= step), unit++;
	const text = unit > 0 ? digits(size / scale) : isMean || !Number.isInteger(size) ? rounded(size, 1) : String(size);
	return (value < 0 ? '-' : '') + text + units[unit];
}
const TIME_UNITS = ['ns', 'us', 'ms', 's'],
	BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const fmtNs = (ns, isMean = false) => scaled(ns, 1000, TIME_UNITS, isMean);
const fmtBytes = (bytes) => scaled(Math.round(bytes), 1024, BYTE_UNITS, false);
/* In percent; a value above 0 is never shown as 0. */
const inPercent = (v) => (v > 0 && v < 0.05 ? '<0.1' : v < 0 && v > -0.05 ? '>-0.1' : v >= 99.95 && v < 100 ? '>99.9' : rounded(v, 1));
/* A change in percent; a factor (x12) if it is large. */
function fmtChange(percent) {
	if (percent === null) return 'new';
	return percent >= 1000 ? '×' + fmtCount(percent / 100 + 1) : (percent >= 0.05 ? '+' : '') + inPercent(percent);
}
const counts = new Intl.NumberFormat('en-US');
const fmtCount = (n) => counts.format(Math.round(n));
const counted = (n, one, many = one + 's') => fmtCount(n) + ' ' + (n === 1 ? one : many);
function fmtPercent(part, whole) {
	if (!(whole > 0)) return '-';
	const p = (100 * part) / whole;
	return inPercent(p) + ' %';
}
/* The time of the summary: from the first to the last CUDA call.  The timeline includes the time before and after. */
function callsTime() {
	const { zero } = state.index;
	return state.about.span_ns === undefined ? [0, state.end] : [zero, zero + state.about.span_ns];
}
/* The parts of a time outside the time of the summary: [from, until, words]. */
function outsideParts(t0, t1) {
	const [from, until] = callsTime();
	return [
		[t0, Math.min(t1, from), 'before the first CUDA call'],
		[Math.max(t0, until), t1, 'after the last CUDA call'],
	].filter(([a, b]) => b > a);
}
/* A moment, relative to the first CUDA call. */
const fmtAt = (t) => {
	const ns = t - (state.index ? state.index.zero : 0);
	return (ns < 0 ? '' : '+') + fmtNs(ns);
};

/* The same, to the microsecond or better. */
const fmtMoment = (t) => {
	const ns = t - state.index.zero,
		unit = Math.abs(ns) >= 1e9 ? 3 : Math.abs(ns) >= 1e6 ? 2 : 1;
	return (ns < 0 ? '' : '+') + (ns / 1000 ** unit).toFixed(unit === 1 ? 3 : 6) + TIME_UNITS[unit];
};

/* The same for the start of a time; in words if it is before the first CUDA call. */
const fmtFrom = (t) => (t < state.index.zero ? fmtNs(state.index.zero - t) + ' before the first CUDA call' : t === state.index.zero ? 'the first CUDA call' : fmtMoment(t));

/* A number without a unit, as in CSV; small numbers have enough digits not to read as 0. */
const fmtReal = (v) => (Number.isInteger(v) ? String(v) : rounded(v, Math.abs(v) < 0.001 ? 9 : 3).replace(/\.?0+$/, ''));
const fmtAddress = (v) => '0x' + v.toString(16);
/* As in the text summary: a number, and whether its column has real numbers. */
const FORMATS = {
	ns: fmtNs,
	bytes: fmtBytes,
	percent: inPercent,
	count: (v, isReal) => (isReal || !Number.isInteger(v) ? fmtReal(v) : fmtCount(v)),
	number: fmtReal,
	address: fmtAddress,
	'': (v) => String(v),
	'GB/s': digits,
	W: digits,
	J: digits,
};
function fmtUnit(value, unit, isReal = false) {
	if (value === null || value === undefined) return '';
	if (typeof value === 'string') return plain(value);
	return (FORMATS[unit] || FORMATS.number)(value, isReal);
}

/* ---- colors: the hue stands for the kind of work, if it is known; the shade for the name ---- */

const HUES = {
	light: {
		gemm: '#0072b2',
		attention: '#c879ac',
		elementwise: '#5ab4e8',
		reduce: '#00996b',
		norm: '#e69f00',
		comm: '#b03a06',
		copy: '#6e7680',
		other: '#2e1f80',
		launch: '#8ba2bd',
		sync: '#d9a441',
		mem: '#a58bbd',
		call: '#9aa5b1',
		overhead: '#b0a79a',
		short: '#4f7f86',
		python: '#f2c583',
		library: '#bccbdc',
		waiting: '#e9ecef',
		unknown: '#eceff2',
	},
	dark: {
		gemm: '#3f93dc',
		attention: '#e79acb',
		elementwise: '#a9e0ff',
		reduce: '#0f9f78',
		norm: '#f5b52e',
		comm: '#d9532b',
		copy: '#7f8890',
		other: '#fff4b0',
		launch: '#5d7894',
		sync: '#b8862b',
		mem: '#84699f',
		call: '#66727f',
		overhead: '#6f675c',
		short: '#78b3b0',
		python: '#7a5626',
		library: '#3f5268',
		waiting: '#202831',
		unknown: '#1b222b',
	},
};
const RANGE_HUES = {
	light: ['#7d8cc4', '#6fa8a0', '#b79a6a', '#b98a8a', '#7cc07c', '#93a86b'],
	dark: ['#6c7db8', '#4f8f86', '#9c8050', '#94686c', '#6aa86a', '#788d50'],
};
const STATE_NAMES = [
	'',
	'computing',
	'communicating',
	'computing and communicating',
	'copying',
	'computing and copying',
	'communicating and copying',
	'all three',
];
const STATE_COLORS = {
	light: ['', '#0072b2', '#b03a06', '#7b5a8c', '#5ab4e8', '#00996b', '#c879ac', '#2e1f80'],
	dark: ['', '#3f93dc', '#d9532b', '#a58bbd', '#a9e0ff', '#0f9f78', '#e79acb', '#fff4b0'],
};
/* In the order of about.causes; drawn striped, to distinguish idle time from work. */
const IDLE_COLORS = {
	light: ['#e2c583', '#b4d2ff', '#e87797', '#8af0d8', '#857de8', '#e5f08a', '#ab8519', '#7b28f0', '#6c3241', '#808144'],
	dark: ['#5f5430', '#6765ce', '#c15594', '#00c88b', '#a6b1ff', '#d4b850', '#97074c', '#bdf328', '#9135f3', '#802784'],
};
const KIND_GROUPS = {
	GEMM: 'gemm',
	convolution: 'gemm',
	FFT: 'gemm',
	solver: 'gemm',
	sparse: 'gemm',
	attention: 'attention',
	elementwise: 'elementwise',
	optimizer: 'elementwise',
	indexing: 'elementwise',
	random: 'elementwise',
	quantization: 'elementwise',
	resampling: 'elementwise',
	pooling: 'reduce',
	reduction: 'reduce',
	'sort, scan': 'reduce',
	loss: 'norm',
	normalization: 'norm',
	softmax: 'norm',
	communication: 'comm',
	copy: 'copy',
	memcpy: 'copy',
	memset: 'copy',
};
const CALL_RULES = [
	[/Synchronize|StreamWait|EventQuery/, 'sync'],
	[/Launch/, 'launch'],
	[/Malloc|Free|MemAlloc|MemFree|HostAlloc|MemCreate|MemMap/i, 'mem'],
	[/Memcpy|Memset/, 'copy'],
];

function groupOf(kind, text) {
	if (kind === 'c' || kind === 's') return 'copy';
	if (kind === 'k') return KIND_GROUPS[state.about.kinds[state.about.kindOf[text]]] || 'other';
	if (kind === 'g') return 'other';
	if (kind === 'a') {
		for (const [rule, group] of CALL_RULES) if (rule.test(text)) return group;
		return 'call';
	}
	if (isTogether(kind)) return 'short';
	if (isWait(kind, text)) return 'waiting';
	if (isLook(kind)) return kind === 'q' || /^(import|compil)ing\b/.test(text) ? 'library' : 'python';
	if (kind === 'x') return 'unknown';
	return kind === 'f' ? 'phase' : kind === 'r' ? 'range' : 'overhead';
}
/* The names of hues in legends; ranges have several hues.  Phases have a name each. */
const GROUP_NAMES = {
	gemm: 'GEMM, convolution',
	attention: 'attention',
	elementwise: 'elementwise',
	reduce: 'reduction, pooling',
	norm: 'normalization, loss',
	comm: 'communication',
	other: 'other kernels',
	copy: 'copies, memsets',
	range: 'ranges',
	launch: 'launches',
	sync: 'waits',
	mem: 'memory calls',
	call: 'other calls',
	overhead: 'overhead',
	short: 'several, merged',
	python: 'Python: your code',
	library: 'Python: libraries, imports',
	waiting: 'Python: waiting',
	unknown: 'no Python sample',
};
function hashOf(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}
const isDark = () => document.documentElement.dataset.theme === 'dark';
const cssValues = new Map();
/* A color of the style sheet; cached for each theme. */
function css(name) {
	const key = document.documentElement.dataset.theme + name;
	if (!cssValues.has(key)) cssValues.set(key, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
	return cssValues.get(key);
}
const rgbOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const mix = (a, b, share) => a.map((v, i) => Math.round(v + (b[i] - v) * share));
const hexOf = (rgb) => '#' + rgb.map((v) => v.toString(16).padStart(2, '0')).join('');
const luminance = (rgb) => {
	const [r, g, b] = rgb.map((v) => {
		v /= 255;
		return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const KERNEL_GROUPS = ['gemm', 'attention', 'elementwise', 'reduce', 'norm', 'comm'],
	TURN_SHADES = [0, 0.3, -0.3],
	otherHues = new WeakMap();
/*
 * The hue and shade of each kernel of no known kind: by turns the hues that no kernel of the
 * recording has by its kind, in the order of the first launches, and another shade in each turn.
 */
function huesOfOthers(about) {
	if (!otherHues.has(about)) {
		const kernels = Object.entries(about.kindOf).map(([name, kind]) => [name, KIND_GROUPS[about.kinds[kind]] || 'other']),
			used = new Set(kernels.map(([, group]) => group)),
			free = ['other', ...KERNEL_GROUPS.filter((group) => !used.has(group))],
			others = kernels.filter(([, group]) => group === 'other');
		otherHues.set(about, new Map(others.map(([name], i) => [name, [free[i % free.length], TURN_SHADES[Math.floor(i / free.length) % TURN_SHADES.length]]])));
	}
	return otherHues.get(about);
}

function colorOf(kind, text) {
	const theme = isDark() ? 'dark' : 'light',
		group = groupOf(kind, text),
		hash = hashOf(text),
		[hue, turn] = (kind === 'k' && huesOfOthers(state.about).get(text)) || [group];
	if (group === 'phase') return phaseHue(text);
	if (group === 'range') return rgbOf(RANGE_HUES[theme][hash % 6]);
	const shade = turn ?? (group === 'waiting' ? 0 : (((hash >>> 8) % 5) - 2) * 0.08);
	return mix(rgbOf(HUES[theme][hue]), shade < 0 ? [0, 0, 0] : [255, 255, 255], Math.abs(shade));
}
const swatch = (rgb, more) =>
	el('i', { class: 'swatch' + (more ? ' ' + more : ''), style: { 'background-color': hexOf(rgb) } });
/* Without the parentheses that libraries append. */
const shortDevice = (name) => name.replace(/ \(.*/, '');
const hueOf = (group) => rgbOf(HUES[isDark() ? 'dark' : 'light'][group]);

/* ---- small helpers ---- */

const pause = () =>
	new Promise((resolve) => {
		const channel = new MessageChannel();
		channel.port1.onmessage = resolve;
		channel.port2.postMessage(0);
	});
let sliceStart = 0;
/* In long work: yield to the browser after 10 ms. */
async function breathe() {
	if (performance.now() - sliceStart < 10) return;
	await pause();
	sliceStart = performance.now();
}
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);

function fitCanvas(canvas, width, height) {
	const ratio = state.printRatio || Math.min(window.devicePixelRatio || 1, 2);
	const w = Math.max(1, Math.round(width * ratio)),
		h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + 'px';
		canvas.style.height = height + 'px';
	}
	const ctx = canvas.getContext('2d');
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	return { ctx, ratio };
}

function showTip(x, y, title, lines) {
	const tip = $('tip');
	tip.replaceChildren(el('b', null, plain(title)), lines.filter(Boolean).map(plain).join('\n'));
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + 'px';
	tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18) + 'px';
}
const hideTip = () => {
	$('tip').hidden = true;
};

/* Shorten a function name: at::native::f<at::X> without at::native; but at::_ops::mm::call keeps mm. */
const NAMESPACE = /^[\w$~]+::(?=[\w$~])(?!(apply|call|forward|impl|operator|redispatch|run|_M_invoke)\b)/;
/*
 * Cut a text to a width: first its namespaces, then the part before `from`, where it differs from
 * similar texts.  width: of the whole text.  Widths of characters are cached for each font.
 */
const charWidths = new Map();
function fitText(ctx, text, width, room, from = 0) {
	if (!charWidths.has(ctx.font)) charWidths.set(ctx.font, new Map());
	const known = charWidths.get(ctx.font),
		widthOf = (c) => known.get(c) ?? known.set(c, ctx.measureText(c).width).get(c);
	for (let space; width > room && (space = NAMESPACE.exec(text)?.[0]); text = text.slice(space.length)) {
		for (const c of space) width -= widthOf(c);
		from -= space.length;
	}
	if (width <= room) return text;
	const head = room > 12 * widthOf('n') ? 5 : 0;
	if (from > head + 1) text = text.slice(0, head) + '…' + text.slice(from);
	let left = room - widthOf('…'),
		fit = 0;
	while (fit < text.length && (left -= widthOf(text[fit])) >= 0) fit++;
	return fit === text.length ? text : fit > 0 ? text.slice(0, fit) + '…' : '';
}

/* ---- cut names ---- */

const SHORT_NAME = 32, /* characters: those are not cut if others are */
	MARK = 16;
function commonLength(a, b) {
	let n = 0;
	while (n < a.length && a[n] === b[n]) n++;
	return n;
}
/* Where long texts of a column with a common beginning differ from the most similar one, from a word start: [from, until]. */
function marksOf(texts) {
	const long = [...new Set(texts)].filter((text) => text.length > SHORT_NAME).sort(),
		marks = new Map();
	long.forEach((text, i) => {
		const at = Math.max(...[long[i - 1], long[i + 1]].map((other) => (other ? commonLength(text, other) : 0))),
			from = at - /[A-Za-z0-9]{0,5}$/.exec(text.slice(0, at))[0].length;
		if (from >= MARK) marks.set(text, [Math.min(from, text.length - 4), from + MARK]);
	});
	return marks;
}
/* For each text the position where it differs; 0: nowhere that matters. */
function differencesOf(texts) {
	const marks = marksOf(texts);
	return texts.map((text) => marks.get(text)?.[0] ?? 0);
}
/* A text that fits its space: the part after the mark is cut first, then the part before it.  Without a mark it is one piece, also when copied. */
function cutText(text, mark) {
	if (!mark) return el('span', null, text);
	const [from, until] = mark;
	return [el('span', null, text.slice(0, from)), el('span', { class: 'mark' }, text.slice(from, until)), until < text.length ? el('span', { class: 'rest' }, text.slice(until)) : null];
}
/* Copying a cut text copies all of it, on one line. */
document.addEventListener('copy', (e) => {
	const selection = getSelection(),
		cut = selection.anchorNode?.parentElement?.closest('.cut');
	if (!cut?.contains(selection.focusNode)) return;
	e.clipboardData.setData('text/plain', selection.toString().replaceAll('\n', ''));
	e.preventDefault();
});
function nameCell(before, text, full = text, mark = null) {
	return el('td', { title: plain(full) }, el('span', { class: 'cut' }, before, cutText(plain(text), mark)));
}

/* Steps of an axis: 1, 2 or 5 times a power of ten. */
function niceStep(rough) {
	const power = 10 ** Math.floor(Math.log10(rough)),
		part = rough / power;
	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}
function niceBytes(rough) {
	let step = 1;
	while (step < rough) step *= 2;
	return step;
}
