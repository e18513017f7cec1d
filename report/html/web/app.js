/* The page: views, search, keys, and where in the page one is, which the address keeps. */

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
	isLoaded = false; /* until then the address is left as it was opened: not all that it names can be shown */
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
/* Before another view is opened: the browser's Back leads to where one is now. */
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
/* To where the address says. */
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
			/* not kept */
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
		/* none is kept */
	}
	const dark = matchMedia('(prefers-color-scheme: dark)');
	document.documentElement.dataset.theme = kept === 'dark' || kept === 'light' ? kept : dark.matches ? 'dark' : 'light';
	dark.addEventListener('change', () => setTheme(dark.matches ? 'dark' : 'light'));
}

/* ---- keys ---- */

const KEYS = [
	['1 … 6', 'views'],
	['/', 'search'],
	['Enter, Shift+Enter', 'in the search: next, previous match in the timeline'],
	['Esc', 'clear'],
	['T', 'dark or light'],
	['?', 'this list'],
	['W S or + −', 'timeline: closer, farther (also Ctrl+wheel)'],
	['A D or ← →', 'to the left, to the right (also drag)'],
	['↑ ↓', 'scroll'],
	['0', 'show all'],
	['G', 'where the GPU works: the shortest time with 90 % of it'],
	['L', 'the longest on the GPUs of what is shown, then the next longest (Shift: back)'],
	['N', 'the next of the 100 longest idle times (Shift: the one before)'],
	['C', 'copy the call stack (flame graph: of the frame)'],
	['F', 'fit what is selected'],
	[', .', 'previous, next on the row'],
	['[ ]', 'to the call, to what it started'],
	['Shift+← →', 'select a time (also drag the ruler, or Shift+drag)'],
	['M', 'select the time of what is selected'],
	['P', 'the track whose name is pointed at, or of what is selected, to the top; again: back'],
	['← → ↑ ↓ Enter', 'flame graph: go through frames, zoom'],
	['I', 'flame graph: upside down'],
	['← → , . P', 'memory: move the moment by a pixel (Shift: ten), to the change before or after, to the peak'],
	['M', 'memory: mark the moment: the table says what came since'],
	['Tab, ← →, Enter', 'tables: from the rows to the titles of columns, to the next one, sort by it'],
	['W S F', 'memory: closer, farther (also Ctrl+wheel); the moment in the timeline'],
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
				'Search: all words must be in the name; /…/ is a regular expression. The page loads nothing from anywhere.',
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
	/* a row without a process goes on with what is said of the last one */
	const lines = (state.about?.incomplete || []).reduce((lines, { pid, text }) => (pid === undefined ? lines.push(lines.pop().replace(/[^:]$/, '$&;') + ' ' + text.trim()) : lines.push(text), lines), []),
		index = state.index;
	if (index?.holes?.length) {
		const lost = holesBefore(index.holes, index.events);
		lines.unshift(
			'The timeline has ' +
				fmtCount(index.events - lost) +
				' of ' +
				fmtCount(index.events) +
				' events: the others could not be read.',
		);
	}
	if (state.ended === false)
		lines.unshift(
			'This file is cut off: what follows is what could be read of it. Write it again with gpuprof html.',
		);
	if (state.damaged)
		lines.unshift(
			state.damaged +
				' part' +
				(state.damaged > 1 ? 's' : '') +
				' of this file cannot be read and ' +
				(state.damaged > 1 ? 'are' : 'is') +
				' left out: it is damaged. Write it again with gpuprof html.',
		);
	if (index && index.grouped)
		lines.push(
			'In the timeline ' +
				fmtCount(index.grouped) +
				' events shorter than ' +
				fmtNs(index.least) +
				' stand together with their neighbors' +
				(index.limited ? '' : ', where less than that is between them') +
				'; how high they are drawn says how much of the time they fill. Tables and flame graphs are of each. For each: gpuprof ' +
				(state.served ? 'serve' : 'html') +
				(index.limited ? ' --limit 0.' : ' without --min-duration.'),
		);
	if (state.held?.leftOut)
		lines.push(
			'Memory over time is without ' +
				fmtCount(state.held.leftOut) +
				(state.held.least ? ' blocks that lived shorter than ' + fmtNs(state.held.least) : ' blocks, also such as were never freed') +
				', and lower where they were. Tables and flame graphs are of all, but that of a moment. For each: gpuprof ' +
				(state.served ? 'serve' : 'html') +
				' --limit 0.',
		);
	if (state.allocatorsLeftOut)
		lines.push(
			'Of PyTorch’s allocators memory over time is without ' +
				fmtCount(state.allocatorsLeftOut) +
				' changes: of each few that follow each other those are there after which most was in use, or reserved, and the last. For each: gpuprof ' +
				(state.served ? 'serve' : 'html') +
				' --limit 0.',
		);
	if (state.curvesLeftOut)
		lines.push(
			'Of queues and bandwidth ' +
				fmtCount(state.curvesLeftOut) +
				' points are left out: of each few that follow each other the highest is there, and the last. For each: gpuprof html --counters --limit 0.',
		);
	if (index && index.crowded)
		lines.push(
			'In the timeline ' +
				fmtCount(index.crowded) +
				' events stand together in the last row of their track: too many were at the same time there. Tables and flame graphs are of each.',
		);
	$('banner').replaceChildren(...lines.map((line) => el('p', null, plain(line))));
	$('banner').hidden = !lines.length;
}

function heading() {
	const { about } = state,
		process = about.processes[0],
		more = about.processes.length > 1 ? ' and ' + (about.processes.length - 1) + ' more' : '';
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

/* What comes first in the file is shown before the rest is there: the index follows on it. */
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

/* Whether the file is whole; not known while it is still read. */
function findEnd() {
	if (document.readyState !== 'loading') state.ended = dataOf('end').length > 0;
}

async function load() {
	await overviewThere();
	begin();
	state.about = await readJson('about', null);
	if (!state.about) {
		$('loading').textContent =
			'The data of this file cannot be read: it is cut off or damaged. Write it again with gpuprof html.';
		document.body.dataset.ready = 'nothing';
		return;
	}
	findEnd();
	state.tables = await readJson('tables', []);
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
/* For tests, and for whoever is curious. */
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
