/* Flame graphs: costs by call stack; callers above callees, or inverted. */

const FRAME = 18;
const FLAME_HUES = {
	light: { own: '#e8a33d', framework: '#7fa3c7', beneath: '#b9c0c8' },
	dark: { own: '#b9781f', framework: '#48698a', beneath: '#434d58' },
};

/* Unnamed functions of a library are one frame, and frames of Python imports are left out (-2), unless all frames are shown. */
function siteKeys(every) {
	const modules = new Map();
	return state.sites.map(([name, file, kind], site) => {
		if (!every && kind === 1 && file.startsWith('<frozen importlib.')) return -2;
		const match = !every && kind === 0 && /^(.+?)(?:\+| at )0x[0-9a-f]+$/.exec(name);
		if (!match) return site;
		if (!modules.has(match[1])) modules.set(match[1], site);
		return modules.get(match[1]) + 1e9;
	});
}
const siteOf = (key) => (key >= 1e9 ? key - 1e9 : key);

const newFrame = (site, parent) => ({ site, parent, kids: [], total: 0, self: 0, index: new Map() });
function kidOf(frame, key) {
	let kid = frame.index.get(key);
	if (!kid) {
		kid = newFrame(key, frame);
		frame.index.set(key, kid);
		frame.kids.push(kid);
	}
	return kid;
}

/* What --stacks=sample leaves to estimates. */
const OF_LAUNCHES = ['gpu-time', 'operations', 'api-time', 'calls'];
function estimates({ stacks_sampled: own, stacks_estimated: estimated, stacks_wrong: wrong }) {
	if (!estimated) return '';
	return `The stacks of ${fmtPercent(estimated, own + estimated)} of the launches are estimated from the others; ` + (wrong === undefined ? 'their error is not known.' : `about ${fmtPercent(wrong, 1)} of the GPU time has a wrong frame in its stack.`);
}

/* Callers above callees. */
function flameTree(measure, keys, stacks = state.stacks) {
	const values = stacks.values[measure],
		total = Float64Array.from(values),
		root = newFrame(-1, null),
		frames = new Array(stacks.n);
	for (let i = stacks.n - 1; i > 0; i--) if (stacks.parent[i] >= 0) total[stacks.parent[i]] += total[i];
	for (let i = 0; i < stacks.n; i++) {
		if (total[i] <= 0) continue;
		/* node 0 stands for calls without a stack: its children become children of the root */
		const parent = (i > 0 && frames[stacks.parent[i]]) || root,
			key = keys[stacks.site[i]];
		if ((i > 0 && stacks.parent[i] < 0) || i === 0) root.total += total[i];
		if (i === 0) {
			frames[0] = root;
			root.self += values[0];
			continue;
		}
		const same = key === -2 || (key >= 1e9 && parent.site === key);
		frames[i] = same ? parent : kidOf(parent, key);
		if (!same) frames[i].total += total[i];
		frames[i].self += values[i];
	}
	return root;
}

/* Inverted: functions with a value on top, their callers below. */
function invertTree(measure, keys, stacks = state.stacks) {
	const values = stacks.values[measure],
		root = newFrame(-1, null);
	for (let i = 1; i < stacks.n; i++) {
		let at = root;
		if (values[i] <= 0) continue;
		root.total += values[i];
		for (let node = i; node > 0; node = stacks.parent[node]) {
			const key = keys[stacks.site[node]];
			if (key === -2 || (key >= 1e9 && at.site === key)) continue;
			at = kidOf(at, key);
			at.total += values[i];
		}
		at.self += values[i];
	}
	return root;
}

/* Flatten depth first, the largest first; end[i] is the first frame that is not below i. */
function flatten(root) {
	const list = [],
		depth = [],
		x = [],
		end = [],
		todo = [[root, 0, 0]];
	while (todo.length) {
		const entry = todo.pop();
		if (entry[1] < 0) {
			end[entry[2]] = list.length;
			continue;
		}
		const [node, level, from] = entry,
			at = list.length;
		list.push(node);
		depth.push(level);
		x.push(from);
		todo.push([node, -1, at]);
		node.kids.sort((a, b) => b.total - a.total);
		let left = from + node.kids.reduce((sum, kid) => sum + kid.total, 0);
		for (let k = node.kids.length - 1; k >= 0; k--) {
			left -= node.kids[k].total;
			todo.push([node.kids[k], level + 1, left]);
		}
		node.at = at;
	}
	return { list, depth, x, end };
}

function siteColor(site) {
	if (site < 0) return rgbOf(css('--line'));
	const [name, , kind, rank] = state.sites[siteOf(site)];
	if (kind === 3) return colorOf(/^\[?mem(cpy|set)/i.test(name) ? 'c' : 'k', name);
	if (kind === 2) return colorOf('a', name);
	const base = rgbOf(FLAME_HUES[isDark() ? 'dark' : 'light'][['own', 'framework', 'beneath'][rank] || 'own']),
		shade = ((hashOf(name) % 7) - 3) * 0.045;
	return mix(base, shade < 0 ? [0, 0, 0] : [255, 255, 255], Math.abs(shade));
}

function flameView() {
	const measures = [...state.about.measures, { word: 'held', title: 'Memory at a moment', unit: 'bytes' }],
		HELD = measures.length - 1,
		chart = memoryChart(() => {
			fillHeld();
			rebuild();
			saveHash();
		}),
		strip = el('div', { style: { flex: 'none' } }),
		canvas = el('canvas', { tabIndex: 0, role: 'img', 'aria-label': 'Flame graph' }),
		box = el('div', { class: 'canvas', style: { 'overflow-y': 'auto' } }, canvas);
	const choose = el('select', {
			'aria-label': 'Value to show',
			onchange: () => open(+choose.value),
		}),
		path = el('span', { class: 'dim grow' }),
		note = el('p', { class: 'dim', style: { margin: '0', padding: '4px 14px' } }, 'Reading …');
	const flip = el(
		'button',
		{
			'aria-pressed': 'false',
			title: 'Invert: operations on top, their callers below  ( I )',
			onclick: () => {
				inverted = !inverted;
				flip.setAttribute('aria-pressed', inverted);
				rebuild();
			},
		},
		'Invert',
	);
	const reset = el('button', { title: 'Show all  ( 0 )', onclick: () => focus(0) }, 'Show all');
	let every = false;
	const whole = el(
		'button',
		{
			'aria-pressed': 'false',
			title: 'Show unnamed functions of a library, else merged in one frame, and frames of Python’s import system',
			onclick: () => {
				every = !every;
				whole.setAttribute('aria-pressed', every);
				rebuild();
			},
		},
		'All frames',
	);
	const copy = el('button', { title: 'Copy the call stack of the selected frame  ( C )', onclick: () => copyText(stackText(stackOf(picked)), copy) }, 'Copy');
	const mode = el(
		'select',
		{ 'aria-label': 'Compare', hidden: true, onchange: () => rebuild() },
		['not compared', 'compared, width: now', 'compared, width: before'].map((title, i) =>
			el('option', { value: i }, title),
		),
	);
	let compared = false;
	const title = el('h2', { class: 'onpaper' });
	const legend = el('div', { class: 'legend foot' });
	const node = el(
		'div',
		{ class: 'view', id: 'view-flame', tabIndex: -1 },
		el(
			'div',
			{ class: 'split col' },
			el('div', { class: 'bar' }, title, el('div', { class: 'tool' }, choose, flip, whole, reset, copy, mode), path),
			strip,
			note,
			box,
			legend,
		),
	);
	let measure = 0,
		inverted = false,
		flat = null,
		root = 0,
		hover = -1,
		marked = null,
		picked = 0,
		layout = { width: 0, height: 0 };

	const unit = () => measures[measure].unit,
		format = (v) => (unit() === 'nanoseconds' ? fmtNs(v) : unit() === 'bytes' ? fmtBytes(v) : fmtCount(v));
	/* Where kernel names differ; computed on first use. */
	let marks = null;
	const kernelMarks = () => (marks ??= marksOf(state.sites.filter(([, , kind]) => kind === 3).map(([name]) => plain(name))));
	const label = (n) =>
		n.site < 0
			? 'all'
			: plain(
					n.site >= 1e9
						? state.sites[siteOf(n.site)][0].replace(/(?:\+| at )0x[0-9a-f]+$/, '')
						: state.sites[n.site][0],
				);

	/* The sites from a frame outwards; reversed if inverted. */
	function stackOf(i) {
		const sites = [];
		for (let n = flat?.list[i]; n?.parent; n = n.parent) sites.push([label(n), state.sites[siteOf(n.site)][1]]);
		return inverted ? sites.reverse() : sites;
	}
	/* The memory of each stack at the moment. */
	function fillHeld() {
		const values = (state.stacks.values[HELD] = new Float64Array(state.stacks.n)),
			{ bytes } = heldAfter(moment.series.isAllocator ? 0 : moment.changes);
		state.held.holders.forEach(([account, stack], holder) => {
			if (moment.series.parts[account]) values[stack] += bytes[holder];
		});
	}
	const titleNow = () => (measure === HELD ? nameOfSeries(moment.series) + ' allocated at ' + fmtAt(moment.time) : measures[measure].title);
	/* Whether most of a measure has a stack: with a function of the program or of a library. */
	function isTold(m) {
		const { n, parent, site, values } = state.stacks,
			told = new Uint8Array(n);
		let all = 0,
			known = 0;
		for (let i = 0; i < n; i++) {
			told[i] = i > 0 && (state.sites[site[i]][2] < 2 || told[parent[i]]) ? 1 : 0;
			all += values[m][i];
			known += told[i] * values[m][i];
		}
		return known > all / 2;
	}
	/* Trees of the counts of the shown measure, now and before; empty if unknown. */
	function countTrees(make, keys) {
		const count = measures.findIndex((m) => m.word === COUNT_OF[measures[measure].word]);
		return count < 0 ? [] : [make(count, keys), make(count, keys, state.base)];
	}
	const worth = (frame) => worthOf(frame, measures[measure].word, unit());
	function rebuild() {
		if (!state.stacks) return;
		mode.hidden = !state.base || measure === HELD;
		const keys = siteKeys(every);
		const make = inverted ? invertTree : flameTree,
			tree = make(measure, keys);
		compared = state.base && measure !== HELD && +mode.value > 0;
		flat = flatten(compared ? mergeTrees(tree, make(measure, keys, state.base), countTrees(make, keys), +mode.value === 2) : tree);
		whole.hidden = !keys.some((key) => key >= 1e9 || key < 0) && !every;
		root = picked = 0;
		search(state.search);
		const without = !flat.list.some((frame) => frame.site >= 0 && state.sites[siteOf(frame.site)][2] < 2);
		note.textContent = without
			? 'None of these calls has a stack in this recording: below “all” are CUDA functions and the operations that they launched.' + (state.about.processes[0].recorder ? '' : ' To see your code, record with --stacks=all.')
			: measures[measure]?.word === 'stalls'
				? 'The samples of a kernel are divided among the stacks that launched it by their GPU time.'
				: OF_LAUNCHES.includes(measures[measure]?.word)
					? estimates(state.about)
					: '';
		note.hidden = !note.textContent;
		const hues = FLAME_HUES[isDark() ? 'dark' : 'light'];
		const entries = compared
			? changeLegend(unit())
			: [
					[rgbOf(hues.own), 'your code'],
					[rgbOf(hues.framework), 'frameworks'],
					[rgbOf(hues.beneath), 'libraries'],
					[hueOf('gemm'), 'kernels, CUDA calls: colors of the timeline'],
				];
		legend.replaceChildren(
			...entries.map(([color, text]) => el('span', null, swatch(color), ' ' + text)),
			el('span', { class: 'dim' }, 'width: ' + titleNow() + ' · click: zoom to a frame · 0: all · ?: keys'),
		);
		draw();
		if (measure === HELD) chart.draw();
	}
	function open(which) {
		measure = which;
		strip.replaceChildren(...(measure === HELD ? [chart.node] : []));
		if (measure === HELD) fillHeld();
		rebuild();
	}
	function focus(at) {
		root = picked = at;
		box.scrollTop = 0;
		draw();
	}

	const frameBox = (i) => {
		const { list, depth, x } = flat,
			r = list[root],
			scale = layout.width / (r.total || 1),
			above = depth[i] < depth[root];
		if (above) return { x: 0, w: layout.width, y: depth[i] * FRAME };
		return { x: (x[i] - x[root]) * scale, w: list[i].total * scale, y: depth[i] * FRAME };
	};
	function draw() {
		if (!flat || node.hidden) return;
		const { list, depth, end } = flat,
			width = box.clientWidth;
		let deepest = 0;
		layout.width = width;
		for (let i = root; i < end[root];) {
			if (frameBox(i).w < 0.4) {
				i = end[i];
				continue;
			}
			deepest = Math.max(deepest, depth[i]);
			i++;
		}
		const height = Math.max(box.clientHeight - 2, (deepest + 1) * FRAME + 10),
			{ ctx } = fitCanvas(canvas, width, height);
		ctx.clearRect(0, 0, width, height);
		ctx.font = '11.5px system-ui, "DejaVu Sans", sans-serif';
		ctx.textBaseline = 'middle';
		for (let up = list[root].parent; up; up = up.parent) paint(ctx, up.at, true);
		for (let i = root; i < end[root];) {
			if (frameBox(i).w < 0.4) {
				i = end[i];
				continue;
			}
			paint(ctx, i, false);
			i++;
		}
		title.textContent = titleNow() + (inverted ? ', inverted' : '') + (compared ? ', ' + mode.selectedOptions[0].text : '');
		const p = list[picked];
		const names = [];
		for (let up = p; up; up = up.parent) names.unshift(label(up));
		path.textContent =
			(compared ? changeText(p, format, worth(p)) : format(p.total) + ', ' + fmtPercent(p.total, list[0].total)) +
			'  ' +
			names.slice(1).join(' › ') +
			(marked ? '  ·  found: ' + fmtPercent(marked.value, list[0].total) : '');
		path.title = path.textContent;
	}
	function drawAll() {
		draw();
		chart.draw();
	}
	function paint(ctx, i, dim) {
		const { list } = flat,
			b = frameBox(i),
			n = list[i],
			color = compared ? changeColor(n, worth(n)) : siteColor(n.site),
			page = rgbOf(css('--bg')),
			faint = dim || (marked && !marked.on[i]);
		const shown = faint ? mix(color, page, 0.7) : color;
		ctx.fillStyle = hexOf(shown);
		ctx.fillRect(b.x, b.y, Math.max(b.w - (b.w > 3 ? 1 : 0), 0.5), FRAME - 1);
		if (i === hover || i === picked) {
			ctx.strokeStyle = css('--ink');
			ctx.lineWidth = i === picked ? 2 : 1;
			ctx.strokeRect(b.x + 1, b.y + 1, Math.max(1, b.w - 3), FRAME - 3);
		}
		if (b.w < 28) return;
		const text = label(n),
			room = b.w - 9;
		ctx.fillStyle = luminance(shown) > 0.2 ? '#10161d' : '#ffffff';
		const width = ctx.measureText(text).width;
		const out =
			width > room
				? fitText(ctx, text, width, room, kernelMarks().get(text)?.[0])
				: b.w > width + 90 && b.w > 160
					? text + '   ' + format(n.total)
					: text;
		if (out.length > 1) ctx.fillText(out, b.x + 4, b.y + FRAME / 2);
	}
	function at(event) {
		if (!flat) return -1;
		const y = event.offsetY,
			level = Math.floor(y / FRAME),
			{ list, depth, end } = flat;
		if (level < depth[root]) {
			let up = list[root];
			while (up.parent && depth[up.at] > level) up = up.parent;
			return depth[up.at] === level ? up.at : -1;
		}
		for (let i = root; i < end[root];) {
			const b = frameBox(i);
			if (event.offsetX < b.x || event.offsetX >= b.x + b.w) {
				i = end[i];
				continue;
			}
			if (depth[i] === level) return i;
			i++;
		}
		return -1;
	}
	canvas.addEventListener('pointermove', (e) => {
		const i = at(e);
		if (i !== hover) {
			hover = i;
			draw();
		}
		canvas.style.cursor = i >= 0 ? 'pointer' : 'default';
		if (i < 0) {
			hideTip();
			return;
		}
		const n = flat.list[i],
			all = flat.list[0].total;
		showTip(e.clientX, e.clientY, label(n), [
			n.site >= 0 && state.sites[siteOf(n.site)][1],
			format(n.total) +
				', ' +
				fmtPercent(n.total, all) +
				' of all' +
				(n.parent && n.parent.parent
					? ', ' + fmtPercent(n.total, n.parent.total) + ' of its caller'
					: ''),
			n.self > 0 && n.self < n.total && 'itself: ' + format(n.self),
			compared && changeText(n, format, worth(n)),
		]);
	});
	canvas.addEventListener('pointerleave', () => {
		hover = -1;
		hideTip();
		draw();
	});
	canvas.addEventListener('click', (e) => {
		const i = at(e);
		if (i >= 0) focus(i);
	});

	/* Matching frames, with all frames above them; nested matches count once. */
	function search(text) {
		const wanted = matcherOf(text);
		marked = null;
		if (!wanted || !flat) return '';
		const named = state.sites.map(([name]) => wanted(name)),
			{ list, end } = flat,
			on = new Uint8Array(list.length);
		let value = 0,
			count = 0;
		for (let i = 1; i < list.length;) {
			if (!named[siteOf(list[i].site)]) {
				i++;
				continue;
			}
			value += list[i].total;
			for (let k = i; k < end[i]; k++) {
				on[k] = 1;
				count += named[siteOf(list[k].site)] ? 1 : 0;
			}
			for (let up = list[i].parent; up; up = up.parent) on[up.at] = 1;
			i = end[i];
		}
		marked = { on, value };
		return counted(count, 'frame');
	}
	function key(e) {
		if (!flat) return false;
		const { list, depth } = flat,
			n = list[picked],
			siblings = n.parent ? n.parent.kids : [n],
			own = siblings.indexOf(n);
		const moves = {
			ArrowDown: () => n.kids[0]?.at,
			ArrowUp: () => n.parent?.at,
			ArrowRight: () => siblings[own + 1]?.at,
			ArrowLeft: () => siblings[own - 1]?.at,
			Enter: () => picked,
			Digit0: () => 0,
			Escape: () => 0,
			KeyI: () => -1,
			KeyC: () => -2,
		};
		const move = moves[e.code] || moves[e.key];
		if (e.target === chart.canvas || !move) return measure === HELD && momentKey(e, chart);
		const next = move();
		if (next === -1) flip.click();
		else if (next === -2) copy.click();
		else if (e.code === 'Enter') focus(picked);
		else if (e.code === 'Digit0' || e.code === 'Escape') focus(0);
		else if (next !== undefined) {
			picked = next;
			if (next < root || next >= flat.end[root]) root = next;
			const y = depth[picked] * FRAME;
			if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - FRAME)
				box.scrollTop = y - box.clientHeight / 2;
			draw();
		}
		return true;
	}
	return {
		node,
		key,
		search(text) {
			const found = search(text);
			draw();
			return found;
		},
		resize: drawAll,
		print: drawAll,
		theme: rebuild,
		show() {
			if (measure === HELD) fillHeld();
			if (!flat || measure === HELD) rebuild();
			else draw();
		},
		ready() {
			choose.replaceChildren(
				...measures
					.map((m, i) => [m, i])
					.filter(([, i]) => state.stacks?.values[i]?.some((v) => v > 0))
					.map(([m, i]) => el('option', { value: i }, m.title)),
			);
			if (!choose.options.length) {
				note.textContent = isWhole() ? 'The recording has no data with call stacks.' : UNREAD;
				return;
			}
			const told = [...choose.options].map((option) => +option.value).filter(isTold);
			choose.value = told.find((m) => ['gpu-time', 'host-running'].includes(measures[m].word)) ?? told[0] ?? choose.value;
			measure = +choose.value;
			mode.value = state.base ? 1 : 0;
			if (!node.hidden) rebuild();
		},
		/* The holders of memory at each moment are now known. */
		memoryReady() {
			if (state.stacks && moment.series?.n && !moment.series.isAllocator) choose.append(el('option', { value: HELD }, measures[HELD].title));
		},
		openMeasure(word) {
			const i = measures.findIndex((m) => m.word === word);
			if (![...choose.options].some((o) => +o.value === i)) return;
			choose.value = i;
			open(i);
		},
		hash: () => ({ value: measures[measure].word, up: inverted ? 1 : null, ...(measure === HELD ? views.memory.hash() : {}) }),
		get flat() {
			return flat;
		},
		get rootTotal() {
			return flat ? flat.list[0].total : 0;
		},
	};
}
