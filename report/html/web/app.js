/* The page: views, search, keys, and the state of the page in its address. */

const TITLES = [
	['overview', 'Overview'],
	['timeline', 'Timeline'],
	['kernels', 'Kernels'],
	['flame', 'Flame graph'],
	['memory', 'Memory'],
	['tables', 'Tables'],
];
const views = {};
let current = 'overview';

function openView(name, ...rest) {
	if (!views[name]) return;
	const changed = current !== name;
	if (changed) leave();
	current = name;
	hideTip();
	for (const [key, view] of Object.entries(views)) view.node.hidden = key !== name;
	for (const tab of $('tabs').children) {
		const on = tab.dataset.view === name;
		tab.setAttribute('aria-selected', on);
		tab.tabIndex = on ? 0 : -1;
	}
	if (views[name].show) views[name].show();
	if (rest.length && views[name].open) views[name].open(...rest);
	if (changed && document.activeElement !== $('search'))
		(views[name].node.querySelector('canvas[tabindex], .grid') || views[name].node).focus({ preventScroll: true });
	applySearch();
	if (isNewPlace) keepHash();
	saveHash();
}

/* ---- search ---- */

function applySearch() {
	const view = views[current];
	$('found').textContent = view && view.search && (state.search || view.searched) ? view.search(state.search) : '';
	if (view) view.searched = !!state.search;
}
function setSearch(text) {
	state.search = text;
	applySearch();
	saveHash();
}

/* ---- the address ---- */

let hashTimer = 0,
	isNewPlace = false,
	isArriving = true,
	isLoaded = false; /* until then the address stays as it was opened, as the page cannot show all of it yet */
function hashText() {
	const words = { v: current, q: state.search || null, ...(views[current]?.hash ? views[current].hash() : {}) };
	if (current === 'timeline' && timeline && state.ready)
		Object.assign(words, {
			t: Math.round(timeline.t0) + ',' + Math.round(timeline.t1),
			s: timeline.selected >= 0 ? timeline.selected : null,
			r: timeline.span ? timeline.span.join() : null,
		});
	return Object.entries(words)
		.filter(([, v]) => v !== null && v !== undefined && v !== '')
		.map(([k, v]) => k + '=' + encodeURIComponent(v))
		.join('&');
}
function keepHash() {
	clearTimeout(hashTimer);
	const isNew = isNewPlace;
	isNewPlace = false;
	try {
		history[isNew ? 'pushState' : 'replaceState'](null, '', '#' + hashText());
	} catch (error) {
		/* a page without an address */
	}
}
function saveHash() {
	clearTimeout(hashTimer);
	if (isLoaded) hashTimer = setTimeout(keepHash, 200);
}
/* Before another view is opened: add a history entry for the browser's Back. */
function leave() {
	if (isArriving || !isLoaded) return;
	keepHash();
	isNewPlace = true;
}
function readHash() {
	const words = Object.fromEntries(
		location.hash
			.slice(1)
			.split('&')
			.map((part) => part.split('='))
			.filter((p) => p.length === 2),
	);
	const text = (key) => {
		try {
			return decodeURIComponent(words[key] || '');
		} catch (error) {
			return '';
		}
	};
	return {
		view: text('v'),
		search: text('q'),
		table: text('table'),
		value: text('value'),
		memory: /^\d+$/.test(text('memory')) ? +text('memory') : -1,
		at: text('at') ? +text('at') : NaN,
		time: text('t').split(',').map(Number),
		span: text('r').split(',').map(Number),
		selected: /^\d+$/.test(text('s')) ? +text('s') : -1,
	};
}

const isTime = (pair) => pair.length === 2 && pair.every(Number.isFinite) && pair[1] > pair[0];
/* Show the state in the address. */
function arrive(wanted) {
	isArriving = true;
	state.search = $('search').value = wanted.search;
	openView(Object.hasOwn(views, wanted.view) ? wanted.view : 'overview', ...(wanted.table ? [wanted.table] : []));
	if (state.ready) {
		arriveInMemory(wanted);
		arriveInTimeline(wanted);
	}
	isArriving = false;
}
function arriveInMemory(wanted) {
	views.memory.arrive(wanted.memory, wanted.at);
	if (wanted.view === 'flame' && wanted.value) views.flame.openMeasure(wanted.value);
}
function arriveInTimeline(wanted) {
	if (isTime(wanted.time)) timeline.show(...wanted.time);
	if (wanted.selected >= 0 && wanted.selected < state.ev.n) selectEvent(timeline, wanted.selected);
	else if (isTime(wanted.span)) {
		timeline.span = wanted.span;
		describeSpan(timeline);
	} else clearSelection(timeline);
}

/* ---- dark and light ---- */

function setTheme(theme, keep) {
	document.documentElement.dataset.theme = theme;
	if (keep)
		try {
			localStorage.setItem('gpuprof-theme', theme);
		} catch (error) {
			/* cannot be stored */
		}
	if (timeline && state.ready) {
		timeline.paintLabels();
		timeline.later();
	}
	const view = views[current];
	if (view) (view.theme || view.show || (() => {})).call(view);
	if (current !== 'overview' && views.overview?.theme) views.overview.theme();
}
function firstTheme() {
	let kept = null;
	try {
		kept = localStorage.getItem('gpuprof-theme');
	} catch (error) {
		/* nothing is stored */
	}
	const dark = matchMedia('(prefers-color-scheme: dark)');
	document.documentElement.dataset.theme = kept === 'dark' || kept === 'light' ? kept : dark.matches ? 'dark' : 'light';
	dark.addEventListener('change', () => setTheme(dark.matches ? 'dark' : 'light'));
}

/* ---- keys ---- */

const KEYS = [
	['1 … 6', 'views'],
	['/', 'search'],
	['Enter, Shift+Enter', 'in the search field: next, previous match in the timeline'],
	['Esc', 'clear'],
	['T', 'dark or light colors'],
	['?', 'this list'],
	['W S or + −', 'timeline: zoom in, out (also Ctrl+wheel)'],
	['A D or ← →', 'move left, right (also drag)'],
	['↑ ↓', 'scroll'],
	['0', 'show all'],
	['G', 'zoom to GPU work: the shortest time with 90 % of it'],
	['L', 'go to the longest GPU event in view, then to the next longest (Shift: back)'],
	['N', 'go to the next of the 100 longest idle gaps (Shift: previous)'],
	['C', 'copy the call stack (flame graph: of the selected frame)'],
	['F', 'zoom to the selection'],
	[', .', 'previous, next event in the row'],
	['[ ]', 'go to the call, to the operation that it launched'],
	['Shift+← →', 'select a time (also drag the ruler, or Shift+drag)'],
	['M', 'select the time of the selected event'],
	['P', 'pin the track under the pointer, or of the selected event, to the top; again: unpin'],
	['← → ↑ ↓ Enter', 'flame graph: move between frames, zoom'],
	['I', 'flame graph: invert'],
	['← → , . P', 'memory: move the moment by a pixel (Shift: ten), to the previous or next change, to the peak'],
	['M', 'memory: mark the moment; the table shows the changes since'],
	['Tab, ← →, Enter', 'tables: to the column titles, to the next title, sort by it'],
	['↑ ↓, Enter', 'tables: select a row; show it in the timeline, if it is a time'],
	['W S F', 'memory: zoom in, out (also Ctrl+wheel); show the moment in the timeline'],
];
function showHelp() {
	let dialog = $('keys');
	if (!dialog) {
		dialog = el(
			'dialog',
			{ id: 'keys', 'aria-label': 'Keys' },
			el('h2', null, 'Keys'),
			el(
				'dl',
				null,
				KEYS.map(([key, what]) => [
					el('dt', null, el('kbd', null, key)),
					el('dd', { style: { margin: 0 } }, what),
				]),
			),
			el(
				'p',
				{ class: 'dim' },
				'Search: all words must be in the name; /…/ is a regular expression. The page loads nothing from the network.',
			),
			el('form', { method: 'dialog' }, el('button', { style: { padding: '4px 14px' } }, 'Close')),
		);
		dialog.addEventListener('click', (e) => {
			if (e.target === dialog) dialog.close();
		});
		document.body.append(dialog);
	}
	if (dialog.open) dialog.close();
	else dialog.showModal();
}
function onKey(e) {
	const typing = e.target.matches('input, select, textarea');
	if (e.target === $('search')) {
		if (e.key === 'Enter') {
			e.preventDefault();
			if (current === 'overview' && state.ready && e.target.value) {
				setSearch(e.target.value);
				openView('timeline');
			}
			if (current === 'timeline') nextMatch(timeline, e.shiftKey ? -1 : 1);
		} else if (e.key === 'Escape') {
			e.target.value = '';
			setSearch('');
			views[current].node.focus();
		}
		return;
	}
	if (typing || e.ctrlKey || e.metaKey || e.altKey || $('keys')?.open) return;
	if (e.target.closest('nav') && ['ArrowLeft', 'ArrowRight'].includes(e.key)) {
		const at = TITLES.findIndex(([name]) => name === current),
			next = TITLES[(at + (e.key === 'ArrowRight' ? 1 : TITLES.length - 1)) % TITLES.length][0];
		openView(next);
		[...$('tabs').children].find((tab) => tab.dataset.view === next).focus();
		e.preventDefault();
		return;
	}
	if (e.key === '/') {
		e.preventDefault();
		$('search').focus();
		$('search').select();
		return;
	}
	if (e.key === '?') {
		showHelp();
		return;
	}
	if (e.code === 'KeyT') {
		$('theme').click();
		return;
	}
	const digit = /^Digit([1-9])$/.exec(e.code);
	if (digit && TITLES[digit[1] - 1]) {
		openView(TITLES[digit[1] - 1][0]);
		return;
	}
	if (e.target.matches('button, summary, tr') && ['Enter', ' '].includes(e.key)) return;
	const mine =
		current === 'timeline' && state.ready
			? timelineKey(timeline, e)
			: views[current]?.key
				? views[current].key(e)
				: false;
	if (mine) {
		e.preventDefault();
		if (current === 'timeline') saveHash();
	}
}

/* ---- print: more pixels, light ---- */

function printing(on) {
	state.printRatio = on ? 3 : 0;
	if (on) {
		state.themeBefore = document.documentElement.dataset.theme;
		document.documentElement.dataset.theme = 'light';
	} else if (state.themeBefore) document.documentElement.dataset.theme = state.themeBefore;
	if (timeline && state.ready) timeline.paintLabels();
	const view = views[current];
	if (!view) return;
	if (state.themeBefore === 'dark') view.theme?.();
	(view.print || view.resize || view.show || (() => {})).call(view);
}

/* ---- from the file to the page ---- */

function banner() {
	/* a row without a process continues the previous line */
	const lines = (state.about?.incomplete || []).reduce((lines, { pid, text }) => (pid === undefined ? lines.push(lines.pop().replace(/[^:]$/, '$&;') + ' ' + text.trim()) : lines.push(text), lines), []),
		index = state.index;
	if (index?.holes?.length) {
		const lost = holesBefore(index.holes, index.events);
		lines.unshift(
			'The timeline has ' +
				fmtCount(index.events - lost) +
				' of ' +
				fmtCount(index.events) +
				' events: the others are unreadable.',
		);
	}
	if (state.ended === false)
		lines.unshift(
			'This file is cut off: the page shows only its readable part. Write it again with gpuprof html.',
		);
	if (state.about?.ranks?.[0]?.shown) lines.unshift('The section Ranks compares all ranks; the rest of the page is about ' + state.about.ranks[0].shown + '.');
	if (state.damaged)
		lines.unshift(
			state.damaged +
				' part' +
				(state.damaged > 1 ? 's' : '') +
				' of this file ' +
				(state.damaged > 1 ? 'are' : 'is') +
				' damaged and left out. Write it again with gpuprof html.',
		);
	if (index && index.grouped)
		lines.push(
			'The timeline merges ' +
				fmtCount(index.grouped) +
				' events shorter than ' +
				fmtNs(index.least) +
				' with their neighbors' +
				(index.limited ? '' : ' if gaps between them are shorter than that') +
				'; the height of a merged event is the share of time that its events fill. Tables and flame graphs include all events. For all in the timeline: gpuprof ' +
				(state.served ? 'serve' : 'html') +
				(index.limited ? ' --limit 0.' : ' without --min-duration.'),
		);
	if (state.held?.leftOut)
		lines.push(
			'Memory over time leaves out ' +
				fmtCount(state.held.leftOut) +
				(state.held.least ? ' blocks with a lifetime below ' + fmtNs(state.held.least) : ' blocks, including some that were never freed') +
				', so it is lower while they existed. Tables and flame graphs include all blocks, except the flame graph of a moment. For all blocks: gpuprof ' +
				(state.served ? 'serve' : 'html') +
				' --limit 0.',
		);
	if (state.allocatorsLeftOut)
		lines.push(
			'Memory over time of PyTorch’s allocators leaves out ' +
				fmtCount(state.allocatorsLeftOut) +
				' changes: of each few successive changes it has those with the most memory in use and reserved, and the last. For all changes: gpuprof ' +
				(state.served ? 'serve' : 'html') +
				' --limit 0.',
		);
	if (state.curvesLeftOut)
		lines.push(
			'Values of devices over time leave out ' +
				fmtCount(state.curvesLeftOut) +
				' points: of every few successive points, the page shows the highest and the last. For all points: gpuprof html --limit 0 (queue lengths and bandwidth also need --counters).',
		);
	if (index && index.crowded)
		lines.push(
			'The timeline merges ' +
				fmtCount(index.crowded) +
				' events in the last row of their track, because too many ran in parallel. Tables and flame graphs include all events.',
		);
	$('banner').replaceChildren(...lines.map((line) => el('p', null, plain(line))));
	$('banner').hidden = !lines.length;
}

function heading() {
	const { about } = state,
		[process] = about.processes,
		[job] = about.ranks || [],
		others = about.processes.length > 1 ? ' and ' + (about.processes.length - 1) + ' more' : '',
		more = job ? ', ' + (job.shown ? about.processes.length + ' of ' : '') + fmtCount(job.ranks) + ' ranks' : others;
	const devices = (about.devices || []).map((d) => d.name && shortDevice(d.name)).filter(Boolean),
		names = [...new Set(devices)].map(
			(name) => (devices.length > 1 ? devices.filter((one) => one === name).length + ' × ' : '') + name,
		);
	const text = [
		(process.program || 'pid ' + process.pid) + more,
		names.join(', '),
		about.span_ns !== undefined && fmtNs(about.span_ns),
	]
		.filter(Boolean)
		.map(plain)
		.join(' · ');
	$('what').textContent = text;
	$('what').title = plain(process.command || text);
	document.title = plain(process.program || 'gpuprof') + ' – gpuprof';
}

function buildViews() {
	$('tabs').replaceChildren(
		...TITLES.map(([name, title], i) =>
			el(
				'button',
				{
					role: 'tab',
					'data-view': name,
					title: title + '  ( ' + (i + 1) + ' )',
					onclick: () => openView(name),
				},
				title,
			),
		),
	);
	timeline = new Timeline();
	Object.assign(views, {
		overview: overviewView(),
		kernels: kernelsView(),
		flame: flameView(),
		memory: memoryView(),
		tables: tablesView(),
		timeline: {
			node: timeline.node,
			show: () => timeline.resize(),
			resize: () => timeline.resize(),
			print: () => timeline.print(),
			search: (text) => (state.ready ? searchTimeline(timeline, text) : ''),
		},
	});
	$('main').replaceChildren(...TITLES.map(([name]) => views[name].node));
}

/* The first part of the file is shown before the rest is loaded; the index follows it. */
const overviewThere = () =>
	new Promise((resolve) => {
		const look = () => dataOf('index').length && resolve(),
			observer = new MutationObserver(look);
		observer.observe(document, { childList: true, subtree: true });
		allThere.then(() => {
			observer.disconnect();
			resolve();
		});
	});
const allThere = new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve));

/* Whether the file is complete; unknown while it is loaded. */
function findEnd() {
	if (document.readyState !== 'loading') state.ended = dataOf('end').length > 0;
}

async function load() {
	await overviewThere();
	begin();
	state.about = await readJson('about', null);
	if (!state.about) {
		$('loading').textContent =
			'This file is cut off or damaged, and has no readable data. Write it again with gpuprof html.';
		document.body.dataset.ready = 'nothing';
		return;
	}
	findEnd();
	state.tables = await readJson('tables', []);
	state.rankMap = await readRankMap();
	state.diff = await readDiff();
	state.served = await readJson('served', null);
	if (state.served) $('theme').before(perfettoButton());
	heading();
	buildViews();
	const wanted = readHash();
	arrive(wanted);
	banner();
	document.body.dataset.ready = 'overview';
	state.times = { overview: performance.now() };
	await pause();
	await allThere;
	findEnd();
	banner();
	sliceStart = performance.now();
	state.index = await readJson('index', null);
	state.sites = await readJson('sites', []);
	state.stacks = await readStacks(state.about.measures);
	state.base = await readBase(state.about.measures);
	if (!state.sites.length) state.stacks = null;
	views.flame.ready();
	if (state.index) await loadEvents(wanted);
	else timeline.nothing();
	banner();
	document.body.dataset.ready = state.index ? 'all' : 'part';
	state.times.all = performance.now();
	isLoaded = true;
	saveHash();
}
async function loadEvents(wanted) {
	state.end = Math.max(1, state.index.end);
	state.memory = [...(await readMemory()), ...(await readAllocators())];
	state.curves = await readCurves();
	state.samples = await readSamples();
	views.memory.ready();
	views.flame.memoryReady();
	arriveInMemory(wanted);
	sliceStart = performance.now();
	state.ev = await readEvents();
	await makeTracks();
	state.ready = true;
	timeline.ready();
	await pause();
	arriveInTimeline(wanted);
	views.kernels.ready?.();
	await breathe();
	views.overview.ready?.();
	if (current === 'timeline') timeline.resize();
	applySearch();
}

function begin() {
	$('theme').addEventListener('click', () => setTheme(isDark() ? 'light' : 'dark', true));
	$('help').addEventListener('click', showHelp);
	let searchTimer = 0;
	$('search').addEventListener('input', (e) => {
		clearTimeout(searchTimer);
		searchTimer = setTimeout(() => setSearch(e.target.value), 120);
	});
	addEventListener('keydown', onKey);
	/* what the tip is about moves away from the pointer */
	for (const kind of ['keydown', 'wheel']) addEventListener(kind, hideTip, { capture: true, passive: true });
	addEventListener('popstate', () => state.about && arrive(readHash()));
	addEventListener('resize', () => {
		const view = views[current];
		if (view?.resize) view.resize();
	});
	addEventListener('beforeprint', () => printing(true));
	addEventListener('afterprint', () => printing(false));
}
firstTheme();
load().catch((error) => {
	$('banner').replaceChildren(el('p', null, 'This page could not be shown: ' + plain(error.message)));
	$('banner').hidden = false;
	document.body.dataset.ready = 'failed';
	console.error(error);
});
/* For tests, and for use in the console. */
globalThis.gpuprof = {
	state,
	views,
	moment,
	get timeline() {
		return timeline;
	},
	checksums,
	busyColumns,
	fitText,
	fmtUnit,
	sentence,
};
