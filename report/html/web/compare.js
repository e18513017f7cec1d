/* Differences from another run: its tables, and its stacks next to ours. */

/* The tables of `gpuprof diff` in the form of other tables of the page. */
async function readDiff() {
	const found = await readJson('diff', null);
	if (!found) return [];
	state.compared = found;
	return found.tables.map((table) => diffTable(table, found.meanings));
}
function diffTable(table, meanings) {
	const columns = table.columns.map((column) => [
			column.name,
			column.unit === 'text' ? '' : column.unit,
			column.unit === 'text' ? 1 : 0,
		]),
		rows = table.rows.map((row) => table.columns.map((column) => row[column.name])),
		metric = table.columns.findIndex((column) => column.name === 'Metric');
	if (metric >= 0) {
		columns.splice(metric, 0, ['Meaning', '', 1]);
		/* metric names are only for threshold files */
		for (const row of rows) row.splice(metric, 1, meanings[row[metric]][1], meanings[row[metric]][0]);
	}
	return {
		word: table.report,
		title: DIFF_TITLES[table.report] || table.report,
		help: sidesText() + '; Differs: whether a rank test of the runs finds a difference, for each row alone',
		all: rows.length,
		sort: columns.findIndex((column) => column[0] === 'Change'),
		columns,
		rows,
	};
}
/* Whether one side has several runs. */
const areSets = () => Math.max(...state.compared.runs) > 1;
const lastName = (path) => plain(path.split('/').slice(-2).join('/'));
const fmtRuns = (count) => (count > 1 ? 'the median of ' + count + ' runs' : 'one run');
const sidesText = () =>
	areSets() ? 'A: before, ' + fmtRuns(state.compared.runs[0]) + '; B: now, ' + fmtRuns(state.compared.runs[1]) : 'A: the other run, B: this one';
const DIFF_TITLES = {
	'diff-times': 'Times',
	'diff-energy': 'Energy in J',
	'diff-clocks': 'Percent of the time',
	'diff-counts': 'Counts',
	'diff-bytes': 'Bytes',
	'diff-phases': 'Phases of the step on the host',
	'diff-ranks': 'Ranks',
	'diff-kernels': 'Kernels',
	'diff-operations': 'Other operations',
	'diff-api': 'CUDA calls',
	'diff-calls': 'CUDA calls',
	'diff-host': 'Python on the host',
	'diff-leaks': 'Never freed',
};

/* The stacks of the other run; its sites get our numbers, new ones are appended. */
async function readBase(measures) {
	const stacks = await readStacks(measures, 'basestacks'),
		sites = (await readJson('basesites', [])).map(renameProgram);
	if (!stacks.n) return null;
	const numbers = matchSites(state.sites, sites).map((number, i) => (number < 0 ? state.sites.push(sites[i]) - 1 : number));
	stacks.site = stacks.site.map((site) => numbers[site]);
	return stacks;
}

/* Functions of the program's file are in ours, whatever both are called; unnamed ones have its name in theirs. */
function renameProgram(site) {
	const [before, now] = state.compared.programs,
		[name, file, ...rest] = site;
	if (file !== before) return site;
	return [name.startsWith(before + '+0x') ? now + name.slice(before.length) : name, now, ...rest];
}

/*
 * For each site of the other run our site, or -1.  The program may be in another folder, so a site
 * without a match in its file is matched in a file whose path has the same end: the last three
 * names, two, one.
 */
function matchSites(ours, others) {
	const found = others.map(() => -1),
		taken = new Set();
	for (const names of [Infinity, 3, 2, 1]) {
		const keyOf = ([name, file, kind]) => [kind, name, ...file.split('/').slice(-names)].join('\0'),
			free = new Map();
		ours.forEach((site, i) => taken.has(i) || free.has(keyOf(site)) || free.set(keyOf(site), i));
		others.forEach((site, i) => {
			const key = keyOf(site);
			if (found[i] >= 0 || !free.has(key)) return;
			found[i] = free.get(key);
			taken.add(found[i]);
			free.delete(key);
		});
	}
	return found;
}

/* Merge both trees: every frame has its value and count now and before; one of them is the width. */
function mergeTrees(now, before, counts, wideAsBefore) {
	const todo = [[now, before, ...counts]];
	while (todo.length) {
		const [frame, other, often, oftenBefore] = todo.pop(),
			below = (tree, kid) => tree && tree.index.get(kid.site);
		for (const kid of other ? other.kids : []) kidOf(frame, kid.site);
		for (const kid of frame.kids) todo.push([kid, below(other, kid), below(often, kid), below(oftenBefore, kid)]);
		frame.now = frame.total;
		frame.before = other ? other.total : 0;
		frame.sameCount = (often ? often.total : 0) === (oftenBefore ? oftenBefore.total : 0);
		if (wideAsBefore) {
			frame.total = frame.before;
			frame.self = other ? other.self : 0;
		}
	}
	return now;
}

/* The measure with the counts of a time measure, by its word. */
const COUNT_OF = { 'gpu-time': 'operations', 'api-time': 'calls' };
/* The usual time between two stack samples of Python: the resolution of times from samples. */
const LOOK_NS = 2e7;

/* Whether a time changed by more than the tolerance of the gate (gpuprof check) for noise between runs. */
const isBeyondMargin = (before, now) => Math.abs(now - before) > Math.max((state.compared.margin.percent / 100) * before, state.compared.margin.ns);
/* Whether two times from samples differ by more than twice the statistical error. */
const isBeyondLooks = (before, now) => Math.abs(now - before) > 2 * Math.sqrt((before + now) * LOOK_NS);

/* The certainty of a change: 0: none, 1: possible (times of one run each differ by chance), 2: certain. */
function worthOf(frame, word, unit) {
	if (unit !== 'nanoseconds' || (COUNT_OF[word] && !frame.sameCount)) return frame.now === frame.before ? 0 : 2;
	return isBeyondMargin(frame.before, frame.now) && (!word.startsWith('host-') || isBeyondLooks(frame.before, frame.now)) ? 1 : 0;
}

/* Blue: less; red: more; paler for small changes, half as strong if it may be chance, gray if negligible. */
function changeColor(frame, worth) {
	const change = (frame.now - frame.before) / Math.max(frame.now, frame.before, 1),
		grey = rgbOf(isDark() ? '#3a4450' : '#dfe3e8'),
		far = rgbOf(change > 0 ? (isDark() ? '#e0664f' : '#c2371f') : isDark() ? '#4f9de0' : '#1f6fb8');
	return mix(grey, far, Math.min(1, Math.abs(change) * 1.6) * [0, 0.4, 1][worth]);
}
const changeLegend = (unit) => [
	[changeColor({ now: 1, before: 0 }, 2), 'more than before'],
	[changeColor({ now: 0, before: 1 }, 2), 'less'],
	...(unit === 'nanoseconds'
		? [
				[changeColor({ now: 1, before: 0 }, 1), 'longer,'],
				[changeColor({ now: 0, before: 1 }, 1), 'shorter, with the same count: may be chance'],
				[changeColor({ now: 0, before: 0 }, 0), 'within ' + marginText()],
			]
		: []),
];
const marginText = () => state.compared.margin.percent + ' % or ' + state.compared.margin.ns / 1000 + 'us';
function changeText(frame, format, worth) {
	const by = frame.now - frame.before;
	return (
		'before ' +
		format(frame.before) +
		', now ' +
		format(frame.now) +
		': ' +
		(by < 0 ? '-' : '+') +
		format(Math.abs(by)) +
		(frame.before > 0 ? ' (' + (by < 0 ? '' : '+') + ((100 * by) / frame.before).toFixed(1) + ' %)' : ', new') +
		(by && worth < 2 ? [', within noise', ', may be chance'][worth] : '')
	);
}

/* The largest changes, for the overview. */
function compareSection() {
	const tables = state.diff.filter((table) => table.rows.length).slice(0, 4);
	if (!state.compared) return null;
	return section(
		'Compared with ' + (areSets() ? 'another set of runs' : plain(state.compared.name.split('/').pop())),
		sidesText() + '; the largest changes first',
		areSets() &&
			el(
				'p',
				{ class: 'dim' },
				'The rest of this page shows one run, the one with the median wall time: ' + lastName(state.compared.own) + '; its flame graph is compared with ' + lastName(state.compared.name) + '.',
			),
		state.compared.doubts.map((line) => el('p', { class: 'doubt' }, linked(plain(line)))),
		tables.length ? el('div', { class: 'two' }, tables.map(changeTable)) : el('p', null, 'Nothing differs.'),
		tables.length > 0 &&
			el(
				'p',
				{ class: 'dim' },
				el('b', { class: 'more' }, 'Red'),
				' and ',
				el('b', { class: 'less' }, 'blue'),
				areSets()
					? ': certain increase and decrease: counts differ, or a rank test of the runs finds a difference. Black: possible, but there are too few runs. '
					: ': certain increase and decrease: counts differ. Black: a time that differs by more than ' +
							marginText() +
							', perhaps by chance, as there is one run each (gpuprof diff compares repeated runs). ',
				el('span', { class: 'same' }, 'Gray'),
				areSets() ? ': no difference beyond chance.' : ': less than that.',
			),
	);
}

/* The same for a row of a table; columns by title. */
function worthOfRow(value) {
	if (value('Differs') === 'yes') return 2;
	if (value('Samples A') !== undefined)
		return isBeyondMargin(value('Total A'), value('Total B')) && isBeyondLooks(value('Total A'), value('Total B')) ? 1 : 0;
	/* phases are estimated from samples, so one that only one run has may be chance */
	if (value('Steps A') !== undefined) return value('Differs') !== 'no' && isBeyondMargin(value('Med A'), value('Med B')) ? 1 : 0;
	if (value('Is') === 'new' || value('Is') === 'gone' || value('Count A') !== value('Count B')) return 2;
	if (value('Differs') === 'no') return 0;
	const of = (side) => value('Total ' + side) ?? value(side) ?? value('Med ' + side);
	return isBeyondMargin(of('A'), of('B')) ? 1 : 0;
}
function changeTable(table) {
	const column = (title) => table.columns.findIndex((c) => c[0] === title),
		name = nameColumn(table),
		meaning = column('Meaning'),
		either = (side) => [side, 'Total ' + side, 'Med ' + side].map(column).find((c) => c >= 0),
		[a, b, by, percent] = [either('A'), either('B'), column('Change'), column('Change %')],
		go = () => openView('tables', table.word),
		unit = table.columns[by][1],
		rows = table.rows.slice(0, 7),
		marks = marksOf(rows.map((values) => plain(values[name])));
	const classOf = (values) => ['same', 'perhaps', values[by] > 0 ? 'more' : 'less'][worthOfRow((title) => values[column(title)])];
	const row = (values) =>
		el(
			'tr',
			{ tabIndex: 0, onclick: go, onkeydown: (e) => e.key === 'Enter' && go() },
			nameCell(null, values[name], meaning < 0 ? values[name] : values[name] + ': ' + values[meaning], marks.get(plain(values[name]))),
			[a, b].map((c) => el('td', null, fmtUnit(values[c], unit))),
			el('td', { class: classOf(values) }, (values[by] > 0 ? '+' : '') + fmtUnit(values[by], unit)),
			el('td', { class: classOf(values) }, fmtChange(values[percent])),
		);
	const titles = [table.title, 'A', 'B', 'Change', '%'].map((title, i) =>
		el('th', { style: i ? { width: i === 4 ? '96px' : '92px' } : null }, title),
	);
	return el(
		'table',
		{ class: 'mini gap' },
		el('thead', null, el('tr', null, titles)),
		el('tbody', null, rows.map(row)),
	);
}
