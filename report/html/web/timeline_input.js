/* Timeline: mouse, keys, and the drawer with the selection. */

/* The call of an event: the event itself, or the one that launched it; -1: none. */
function callOf(i) {
	const { ev } = state,
		link = ev.link[i] - 1;
	if (link >= 0) return link;
	return state.index.labels.kinds[ev.label[i]] === 'a' ? i : -1;
}
/* The operations of a call; computed for all calls on first use. */
function opsOf(call) {
	const { ev } = state;
	if (!state.firstOp) {
		state.firstOp = new Int32Array(ev.n).fill(-1);
		state.nextOp = new Int32Array(ev.n).fill(-1);
		for (let i = ev.n - 1; i >= 0; i--)
			if (ev.link[i] > 0) {
				state.nextOp[i] = state.firstOp[ev.link[i] - 1];
				state.firstOp[ev.link[i] - 1] = i;
			}
	}
	const ops = [];
	for (let op = state.firstOp[call]; op >= 0 && ops.length < 10000; op = state.nextOp[op]) ops.push(op);
	return ops;
}
const rowOf = (i) => state.rows.find((row) => i >= row.first && i < row.first + row.n);

function attachTimeline(tl) {
	const canvas = tl.canvas;
	let drag = null;
	const at = (e) => {
		const box = canvas.getBoundingClientRect();
		return [e.clientX - box.left, e.clientY - box.top];
	};
	const itemAt = (y) => tl.items.find((item) => y - TOP + tl.y >= item.y && y - TOP + tl.y < item.y + item.h);
	function hit(x, y) {
		const item = y > TOP && x > GUTTER && itemAt(y);
		if (!item || item.kind !== 'track') return -1;
		const lane = Math.floor((y - TOP + tl.y - item.y) / item.lane),
			row = item.lanes[Math.min(lane, item.lanes.length - 1)],
			t = tl.toT(x);
		const exact = eventAt(row, t, 0);
		return exact >= 0 ? exact : eventAt(row, t, (2.5 * (tl.t1 - tl.t0)) / tl.width);
	}
	tl.hit = hit;
	/* The step at the pointer. */
	function stepAt(x, y) {
		const item = y > TOP && x > GUTTER && itemAt(y),
			t = tl.toT(x) - state.index.zero;
		return item && item.kind === 'steps' ? item.rows.find((row) => row.Start <= t && t < row.Start + row.Wall) : undefined;
	}

	canvas.addEventListener(
		'wheel',
		(e) => {
			e.preventDefault();
			const [x, y] = at(e),
				unit = e.deltaMode === 1 ? 20 : 1;
			if (e.ctrlKey || e.metaKey || e.altKey || y < TOP)
				tl.zoom(Math.exp(clamp(e.deltaY * unit, -200, 200) * 0.004), tl.toT(Math.max(x, GUTTER)));
			else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
				tl.pan(((e.deltaX || e.deltaY) * unit) / tl.width);
			else tl.scroll(e.deltaY * unit);
		},
		{ passive: false },
	);
	canvas.addEventListener('pointerdown', (e) => {
		const [x, y] = at(e);
		canvas.setPointerCapture(e.pointerId);
		hideTip();
		const kind = y < STRIP ? 'strip' : y < TOP || e.shiftKey ? 'span' : x < GUTTER ? 'gutter' : 'pan';
		drag = { kind, x, y, t0: tl.t0, t1: tl.t1, top: tl.y, moved: false };
		if (kind === 'strip') moveStrip(x);
	});
	function moveStrip(x) {
		const t = ((x - GUTTER) / tl.width) * state.end,
			w = tl.t1 - tl.t0;
		tl.show(t - w / 2, t + w / 2);
	}
	canvas.addEventListener('pointermove', (e) => {
		const [x, y] = at(e);
		moveCursor(tl, x, y);
		if (!drag) {
			hoverAt(x, y, e);
			return;
		}
		if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3) drag.moved = true;
		if (!drag.moved) return;
		if (drag.kind === 'strip') moveStrip(x);
		else if (drag.kind === 'span') {
			const a = tl.toT(drag.x),
				b = tl.toT(x);
			tl.span = [Math.min(a, b), Math.max(a, b)];
			tl.later();
		} else if (drag.kind === 'pan') {
			const by = ((drag.x - x) / tl.width) * (drag.t1 - drag.t0);
			tl.show(drag.t0 + by, drag.t1 + by);
			tl.y = drag.top;
			tl.scroll(drag.y - y);
		}
	});
	canvas.addEventListener('pointerup', (e) => {
		const [x, y] = at(e),
			was = drag;
		drag = null;
		if (!was) return;
		if (was.kind === 'span' && was.moved) describeSpan(tl);
		else if (!was.moved && was.kind === 'gutter') toggle(itemAt(y));
		else if (!was.moved && was.kind !== 'strip') {
			const i = hit(x, y),
				step = stepAt(x, y);
			if (i >= 0) selectEvent(tl, i);
			else if (step) selectTime(tl, state.index.zero + step.Start, state.index.zero + step.Start + step.Wall);
			else clearSelection(tl);
		}
	});
	canvas.addEventListener('pointerleave', () => {
		tl.cursor.hidden = true;
		tl.hover = -1;
		tl.pointed = null;
		hideTip();
		tl.later();
	});
	canvas.addEventListener('dblclick', (e) => {
		const [x, y] = at(e),
			i = hit(x, y);
		if (i >= 0) {
			const { ev } = state;
			tl.show(ev.start[i] - ev.dur[i] * 0.25, ev.start[i] + ev.dur[i] * 1.25);
		}
	});

	function toggle(item) {
		const key = item && (item.key || item.track);
		if (!key) return;
		if (tl.collapsed.has(key)) tl.collapsed.delete(key);
		else tl.collapsed.add(key);
		tl.layout();
		tl.scroll(0);
	}
	function hoverAt(x, y, e) {
		const i = hit(x, y),
			step = stepAt(x, y),
			item = x < GUTTER && y > TOP ? itemAt(y) : null;
		tl.pointed = item?.track;
		canvas.style.cursor = i >= 0 || item || step ? 'pointer' : y > STRIP && y < TOP ? 'col-resize' : 'default';
		if (i !== tl.hover) {
			tl.hover = i;
			tl.later();
		}
		if (i >= 0) {
			const { ev } = state,
				labels = state.index.labels;
			showTip(e.clientX, e.clientY, labels.texts[ev.label[i]], [
				fmtNs(ev.dur[i]) + '  at ' + fmtMoment(ev.start[i]),
				factsOf(i)
					.slice(2, 4)
					.map((f) => f.join(' '))
					.join(', '),
			]);
		} else if (step) showStepTip(e, step);
		else if (item)
			showTip(e.clientX, e.clientY, item.track?.name ?? item.title, [
				item.note,
				item.track && counted(item.track.events, 'event') + '; P: ' + (tl.pinned.has(item.track) ? 'unpin' : 'pin to the top'),
			]);
		else hideTip();
	}
}

/* The line at the pointer: its time to the resolution of a pixel, and the distance from the selection. */
function moveCursor(tl, x, y) {
	const { cursor } = tl,
		t = tl.toT(x),
		from = tl.span ? tl.span[0] : tl.selected >= 0 ? state.ev.start[tl.selected] : null;
	cursor.hidden = x <= GUTTER || y < STRIP;
	cursor.style.left = x + 'px';
	cursor.classList.toggle('turned', x > tl.canvas.clientWidth - 220);
	cursor.firstChild.textContent =
		fmtTick(Math.round(t - state.index.zero), tl.step / 100) +
		(from === null ? '' : '  ' + (t < from ? '−' : '+') + fmtNs(Math.abs(t - from)) + ' from the start of the ' + (tl.span ? 'selection' : 'event'));
}

const SHAPE = (shape) =>
	[
		['grid', shape.slice(0, 3).join(' × ')],
		['block', shape.slice(3, 6).join(' × ')],
		['registers', shape[6] ? shape[6] + ' per thread' : ''],
		['shared memory', shape[7] + shape[8] ? fmtBytes(shape[7] + shape[8]) : ''],
		['static part', shape[7] ? fmtBytes(shape[7]) : shape[7] === null && shape[8] ? 'unknown' : ''],
		['cluster', shape[9] ? shape.slice(9, 12).join(' × ') : ''],
	].filter((f) => f[1]);

/* The result of a call whose stack is estimated: GP_HTML_ESTIMATED of report/html/gather.h. */
const ESTIMATED = 65536;

/* The facts of an event: [name, value]. */
function factsOf(i) {
	const { ev, index } = state,
		kind = index.labels.kinds[ev.label[i]],
		facts = [
			['duration', fmtNs(ev.dur[i])],
			['start', fmtMoment(ev.start[i])],
		];
	if (kind === 'k' && ev.aux[i] > 0 && index.shapes[ev.aux[i] - 1]) facts.push(...SHAPE(index.shapes[ev.aux[i] - 1]));
	else if ('csu'.includes(kind) && ev.aux[i] > 0)
		facts.push(
			['size', fmtBytes(ev.aux[i])],
			['rate', ev.dur[i] > 0 && kind !== 'u' ? (ev.aux[i] / ev.dur[i]).toFixed(2) + ' GB/s' : ''],
		);
	else if (isTogether(kind)) facts.push(['events', fmtCount(ev.stack[i])], ['total time', fmtNs(ev.aux[i])]);
	else if (isLook(kind)) facts.push(['samples', fmtCount(ev.aux[i]) + (ev.aux[i] > 1 ? ', one per ' + fmtNs(ev.dur[i] / ev.aux[i]) : '')]);
	else if (kind === 'a' && ev.aux[i] > 0 && ev.aux[i] !== ESTIMATED) facts.push(['returned', 'error ' + ev.aux[i]]);
	return facts.filter((f) => f[1] !== '');
}

function closeButton(tl) {
	return el(
		'button',
		{ class: 'close', title: 'Close  ( Esc )', 'aria-label': 'Close', onclick: () => clearSelection(tl) },
		'✕',
	);
}
function openDrawer(tl, ...children) {
	tl.drawer.replaceChildren(closeButton(tl), ...children.flat());
	tl.described = '';
	tl.resize();
}
function clearSelection(tl) {
	tl.selected = -1;
	tl.span = null;
	tl.resize();
	tl.later();
}

function selectEvent(tl, i, move) {
	const { ev, index } = state,
		name = index.labels.texts[ev.label[i]],
		full = index.labels.full[ev.label[i]],
		row = rowOf(i),
		s = spread(eventsOf(new Set([ev.label[i]]), row.track.kind === 'gpu-ranges').map((k) => ev.dur[k]));
	tl.selected = i;
	if (tl.collapsed.has(row.track) && !row.track.lanes.slice(0, tl.rowsOfFolded(row.track)).includes(row)) {
		tl.collapsed.delete(row.track);
		tl.layout();
	}
	if (move) centre(tl, i);
	const call = callOf(i),
		ops = call === i ? opsOf(call) : [],
		facts = factsOf(i),
		below = s.sorted.reduce((n, d) => n + (d < ev.dur[i]), 0);
	facts.push(['on', row.track.name]);
	if (call >= 0 && call !== i)
		facts.push(
			['launched by', link(tl, call, index.labels.texts[ev.label[call]])],
			['from launch to start', fmtNs(ev.start[i] - ev.start[call])],
		);
	const isLooked = isLook(index.labels.kinds[ev.label[i]]),
		frames = sitesOf(isLooked ? i : call),
		yours = frames.find(isYours);
	const isEstimated = !isLooked && ev.aux[call] === ESTIMATED;
	if (yours && !isLooked) facts.push(['your code', (isEstimated ? '~ ' : '') + plain(yours[0])]);
	if (ops.length)
		facts.push([
			'started',
			[link(tl, ops[0], index.labels.texts[ev.label[ops[0]]]), ops.length > 1 ? ' and ' + fmtCount(ops.length - 1) + ' more' : ''],
		]);
	if (s.n > 1)
		facts.push(
			['all of this name', fmtCount(s.n) + ', ' + fmtNs(s.total)],
			['median', fmtNs(s.median)],
			['min, max', fmtNs(s.min) + ', ' + fmtNs(s.max)],
			['longer than', fmtPercent(below, s.n) + ' of them'],
		);
	openDrawer(
		tl,
		el('h2', null, plain(full || name)),
		el(
			'dl',
			{ class: 'facts' },
			facts.map(([k, v]) => el('div', null, el('dt', null, k), el('dd', null, v))),
		),
		stackList(frames, isLooked ? 'Call stack ' : isEstimated ? 'Called by (estimated from a similar call) ' : 'Called by '),
	);
	tl.later();
}
const link = (tl, i, text) => el('button', { class: 'go', title: plain(text), onclick: () => selectEvent(tl, i, true) }, plain(text));

/* Scroll to an event, and zoom in if it is too small. */
function centre(tl, i) {
	const { ev } = state,
		width = tl.t1 - tl.t0,
		wanted =
			ev.dur[i] < width / 200
				? Math.max(ev.dur[i] * 30, 2000)
				: ev.dur[i] > width * 0.8
					? ev.dur[i] * 1.4
					: width,
		middle = ev.start[i] + ev.dur[i] / 2;
	tl.show(middle - wanted / 2, middle + wanted / 2);
	const place = tl.placeOf(i);
	if (place && (place.y0 < TOP || place.y1 > tl.canvas.clientHeight - 20)) tl.scroll(place.y0 - TOP - 60);
}
function showEvent(i) {
	openView('timeline');
	selectEvent(timeline, i, true);
}

/* The sites of the stack of a call or sample, the innermost function first. */
function sitesOf(i) {
	const { ev, stacks, sites } = state,
		frames = [];
	if (i < 0 || !stacks) return frames;
	for (let node = ev.stack[i] - 1; node > 0 && frames.length < 100; node = stacks.parent[node]) frames.push(sites[stacks.site[node]]);
	return frames;
}
const isYours = ([, , kind, rank]) => kind < 2 && rank === 0;
function stackList(frames, title) {
	if (!frames.length) return '';
	const copy = el('button', { class: 'go', title: 'Copy the call stack  ( C )', onclick: () => copyText(stackText(frames), copy) }, 'copy');
	return [
		el('h3', { class: 'called' }, title, copy),
		el(
			'ul',
			{ class: 'frames' },
			frames.map((frame) => el('li', { class: isYours(frame) ? 'yours' : null }, plain(frame[0]), el('span', { class: 'dim' }, plain(frame[1])))),
		),
	];
}

/* Count and time of each label in a time; null: another time was requested meanwhile. */
let asked = 0;
async function sumsBetween(a, b) {
	const { start, dur, label, busy, stack } = state.ev,
		together = Uint8Array.from(state.index.labels.kinds, isTogether),
		waits = state.index.labels.texts.map((text, l) => isWait(state.index.labels.kinds[l], text)),
		own = ++asked,
		count = new Float64Array(state.index.labels.texts.length),
		time = new Float64Array(count.length);
	for (const row of rowsOnceMore(false)) {
		const { first, n, track } = row;
		/* functions of Python are nested: only the first row counts */
		if (track.kind === 'python' && row !== track.lanes[0]) continue;
		/* waits of a thread without calls delay nothing */
		const isAside = track.kind === 'python' && !timeline.leads(track);
		const until = first + lowerBound(start, first, n, b);
		for (let i = first + Math.max(0, lowerBound(start, first, n, a) - 1); i < until;) {
			for (const stop = Math.min(until, i + 65536); i < stop; i++) {
				const inside = Math.min(b, start[i] + dur[i]) - Math.max(a, start[i]);
				if (inside < 0 || (inside === 0 && dur[i] > 0) || (isAside && waits[label[i]])) continue;
				count[label[i]] += together[label[i]] ? stack[i] : 1;
				time[label[i]] += dur[i] > 0 ? (inside * busy[i]) / dur[i] : 0;
			}
			await breathe();
			if (own !== asked) return null;
		}
	}
	return { count, time };
}

function sumsTable(title, found, { count, time }) {
	const { kinds, texts } = state.index.labels,
		marks = marksOf(found.map((l) => plain(texts[l])));
	const line = (l) =>
		el(
			'tr',
			null,
			nameCell(swatch(colorOf(kinds[l], texts[l])), texts[l], texts[l], marks.get(plain(texts[l]))),
			el('td', { style: { 'min-width': '92px' } }, fmtCount(count[l]) + ' ×'),
			el('td', { style: { 'min-width': '84px' } }, fmtNs(time[l])),
		);
	return el(
		'section',
		null,
		el('h2', { class: 'plain' }, title),
		found.length ? null : el('p', { class: 'dim' }, 'nothing'),
		el('table', { class: 'mini names' }, el('tbody', null, found.map(line))),
	);
}

/*
 * How busy each GPU was in a time, as text.  Shares are of the part between the first and the last
 * CUDA call, as in the summary; for all of that they are those of the summary.  Work during pauses
 * of the recording is unknown.
 */
function busyWords(a, b) {
	const { about, index } = state,
		[first, last] = callsTime(),
		isAll = a <= first && b >= last,
		[from, until] = first < b && last > a ? [Math.max(a, first), Math.min(b, last)] : [a, b],
		isPart = about.doubt || index.pauses.some(([, start, end]) => start < until && end > from),
		shareOf = ([number, { union }]) => {
			const device = isAll && about.devices?.find((d) => d.number === number);
			return device ? busySentence(device, about.doubt) : (isPart ? '≥ ' : index.grouped ? 'about ' : '') + fmtPercent(busyBetween(union, from, until), until - from) + ' busy';
		};
	if (!state.devices.size) return '';
	return (until - from < b - a ? '; of the ' + fmtNs(until - from) + ' between the first and the last CUDA call: ' : ' · ') + [...state.devices].map((entry) => 'GPU ' + entry[0] + ' ' + shareOf(entry)).join(' · ');
}
/* The content of a time: how busy the GPUs were, and the longest labels, at most `most` of each kind. */
async function happenings(what, a, b, most) {
	const sums = await sumsBetween(a, b);
	if (!sums) return null;
	const found = [...sums.count.keys()].filter((l) => sums.count[l] > 0 && state.index.labels.kinds[l] !== 'x').sort((x, y) => sums.time[y] - sums.time[x]),
		isGpu = (l) => 'kcsgm'.includes(state.index.labels.kinds[l]);
	return [
		el('h2', { class: 'plain' }, what + ': ' + fmtNs(b - a) + ' from ' + fmtFrom(a) + busyWords(a, b)),
		el(
			'div',
			{ class: 'two' },
			sumsTable('On the GPU', found.filter(isGpu).slice(0, most), sums),
			sumsTable('On the host', found.filter((l) => !isGpu(l)).slice(0, most), sums),
		),
	];
}
/* The number of table rows that fit. */
const rowsOfDrawer = (tl, least) => (tl.hasRoom ? Math.max(least, Math.floor((tl.node.clientHeight - tl.legend.offsetHeight - tl.box.clientHeight - 76) / 25)) : least);
function selectTime(tl, a, b) {
	tl.span = [a, b];
	describeSpan(tl);
	tl.later();
}
async function describeSpan(tl) {
	tl.selected = -1;
	const shown = await happenings('Selected', ...tl.span, rowsOfDrawer(tl, 8)),
		gap = idleTimeAt(tl.span),
		step = recordsOf('iteration').find((row) => tl.span && isSpanOf(row, tl.span));
	if (!shown || !tl.span) return;
	if (step) shown.splice(1, 0, el('p', null, 'Step ' + fmtCount(step.Number) + ', ' + step.Part + (step['Most idle by'] ? '; most idle: ' + step['Most idle by'] + ', ' + fmtNs(step['Idle by it']) : '')));
	if (gap)
		shown.splice(
			1,
			0,
			el('p', null, 'GPU ' + (gap.Device ?? 0) + ' was idle: ', el('b', null, plain(gap.Cause)), '; from ' + plain(gap.Before || 'the start') + ' to ' + plain(gap.After || 'the end')),
		);
	openDrawer(tl, ...shown);
	saveHash();
}

/* If there is space and nothing is selected: describe the time in view. */
async function describeView(tl) {
	const most = rowsOfDrawer(tl, 6),
		[a, b] = [Math.max(0, tl.t0), Math.min(state.end, tl.t1)],
		shown = [a, b, most];
	if (!tl.hasRoom || tl.described === shown.join()) return;
	tl.described = shown.join();
	const found = a < b && (await happenings('In view', a, b, most));
	if (found && !tl.isChosen) tl.drawer.replaceChildren(...found);
}

/* ---- keys ---- */

function stepEvent(tl, by) {
	const { ev } = state;
	if (tl.selected < 0) {
		const row = (tl.drawn.find((item) => item.kind === 'track') || {}).lanes?.[0];
		if (row) selectEvent(tl, row.first + Math.min(row.n - 1, lowerBound(ev.start, row.first, row.n, tl.t0)), true);
		return;
	}
	const row = rowOf(tl.selected),
		next = tl.selected + by;
	if (next >= row.first && next < row.first + row.n) selectEvent(tl, next, true);
}
function followLink(tl, down) {
	if (tl.selected < 0) return;
	const call = callOf(tl.selected),
		ops = call >= 0 ? opsOf(call) : [];
	if (down && ops.length) selectEvent(tl, ops[(ops.indexOf(tl.selected) + 1) % ops.length], true);
	else if (!down && call >= 0) selectEvent(tl, call, true);
}
/* Returns true if the key belongs to the timeline. */
function timelineKey(tl, e) {
	const shift = e.shiftKey,
		keys = {
			KeyW: () => tl.zoom(0.7),
			KeyS: () => tl.zoom(1 / 0.7),
			KeyA: () => tl.pan(-0.15),
			KeyD: () => tl.pan(0.15),
			ArrowLeft: () => (shift ? growSpan(tl, -1) : tl.pan(-0.08)),
			ArrowRight: () => (shift ? growSpan(tl, 1) : tl.pan(0.08)),
			ArrowUp: () => tl.scroll(-60),
			ArrowDown: () => tl.scroll(60),
			PageUp: () => tl.scroll(-400),
			PageDown: () => tl.scroll(400),
			Digit0: () => tl.all(),
			Home: () => tl.all(),
			KeyG: () => tl.work(),
			KeyL: () => jumpToLongest(tl, shift ? -1 : 1),
			KeyN: () => jumpToIdle(tl, shift ? -1 : 1),
			KeyC: () => tl.drawer.querySelector('.called button')?.click(),
			Comma: () => stepEvent(tl, -1),
			Period: () => stepEvent(tl, 1),
			BracketLeft: () => followLink(tl, false),
			BracketRight: () => followLink(tl, true),
			KeyF: () => {
				if (tl.span) tl.show(tl.span[0], tl.span[1]);
				else if (tl.selected >= 0) {
					const { ev } = state,
						i = tl.selected;
					tl.show(ev.start[i] - ev.dur[i] * 0.3, ev.start[i] + ev.dur[i] * 1.3);
				}
			},
			KeyM: () => {
				if (tl.selected >= 0) {
					const { ev } = state,
						i = tl.selected;
					tl.span = [ev.start[i], ev.start[i] + ev.dur[i]];
					describeSpan(tl);
					tl.later();
				}
			},
			KeyP: () => tl.pin(tl.pointed ?? (tl.selected >= 0 ? rowOf(tl.selected).track : null)),
			Escape: () => clearSelection(tl),
		};
	const signs = {
			'+': 'KeyW',
			'=': 'KeyW',
			'-': 'KeyS',
			',': 'Comma',
			'.': 'Period',
			'[': 'BracketLeft',
			']': 'BracketRight',
		},
		code = signs[e.key] || e.code;
	if (!keys[code]) return false;
	keys[code]();
	return true;
}
function growSpan(tl, by) {
	const step = (tl.t1 - tl.t0) / 40;
	if (!tl.span) {
		const middle = (tl.t0 + tl.t1) / 2;
		tl.span = [middle, middle + step];
	} else tl.span = [tl.span[0], Math.max(tl.span[0] + step / 4, tl.span[1] + by * step)];
	describeSpan(tl);
	tl.later();
}

/* ---- search ---- */

/* Find the matching labels, and the events of each row with one of them. */
function searchTimeline(tl, text) {
	const wanted = matcherOf(text),
		{ labels } = state.index,
		{ ev } = state;
	state.matches =
		wanted &&
		Uint8Array.from(labels.texts, (name, i) => (wanted(name) || (labels.full[i] && wanted(labels.full[i])) ? 1 : 0));
	state.hitCount = 0;
	for (const row of state.rows) {
		row.hits = null;
		if (!wanted) continue;
		const hits = [];
		for (let i = row.first; i < row.first + row.n; i++) if (state.matches[ev.label[i]]) hits.push(i);
		row.hits = Uint32Array.from(hits);
		state.hitCount += hits.length;
	}
	tl.later();
	return wanted ? fmtCount(state.hitCount) + ' found' : '';
}
function nextMatch(tl, by) {
	const { ev } = state;
	if (!state.matches || !state.hitCount) return;
	const t = tl.selected >= 0 ? ev.start[tl.selected] : by > 0 ? -1 : Infinity;
	let best = -1;
	for (const row of state.rows)
		for (const i of row.hits || []) {
			const after =
				by > 0
					? ev.start[i] > t || (ev.start[i] === t && i > tl.selected)
					: ev.start[i] < t || (ev.start[i] === t && i < tl.selected);
			if (after && (best < 0 || (by > 0 ? ev.start[i] < ev.start[best] : ev.start[i] > ev.start[best])))
				best = i;
		}
	if (best >= 0) selectEvent(tl, best, true);
}
