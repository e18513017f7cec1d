/* What differs from another run: its tables, and its stacks beside our own. */

/* The tables of `gpuprof diff` as the page has tables. */
async function readDiff() {
	const found = await readJson('diff', null);
	if (!found) return [];
	state.baseName = found.name;
	state.doubts = found.doubts;
	return found.tables.map((table) => ({
		word: table.report,
		title: DIFF_TITLES[table.report] || table.report,
		help: 'A: the other run, B: this one; Sure: whether that can be told from so many runs',
		all: table.rows.length,
		sort: table.columns.findIndex((column) => column.name === 'Change'),
		columns: table.columns.map((column) => [
			column.name,
			column.unit === 'text' ? '' : column.unit,
			column.unit === 'text' ? 1 : 0,
		]),
		rows: table.rows.map((row) => table.columns.map((column) => row[column.name])),
	}));
}
const DIFF_TITLES = {
	'diff-times': 'Times',
	'diff-counts': 'Counts',
	'diff-bytes': 'Bytes',
	'diff-kernels': 'Kernels',
	'diff-operations': 'Other operations',
	'diff-api': 'CUDA calls',
	'diff-calls': 'CUDA calls',
	'diff-host': 'Python on the host',
};

/* The other run's stacks; its sites get the numbers of ours, new ones at the end. */
async function readBase(measures) {
	const stacks = await readStacks(measures, 'basestacks'),
		sites = await readJson('basesites', []),
		known = new Map(),
		keyOf = (site) => site[2] + '\0' + site[0] + '\0' + site[1];
	if (!stacks.n) return null;
	state.sites.forEach((site, i) => known.set(keyOf(site), i));
	const numbers = sites.map((site) => {
		const key = keyOf(site);
		if (!known.has(key)) known.set(key, state.sites.push(site) - 1);
		return known.get(key);
	});
	stacks.site = stacks.site.map((site) => numbers[site]);
	return stacks;
}

/* One tree of both: every frame knows what it is now and what it was; as wide as one of them. */
function mergeTrees(now, before, wideAsBefore) {
	const todo = [[now, before]];
	while (todo.length) {
		const [frame, other] = todo.pop();
		for (const kid of other ? other.kids : []) kidOf(frame, kid.site);
		for (const kid of frame.kids) todo.push([kid, other && other.index.get(kid.site)]);
		frame.now = frame.total;
		frame.before = other ? other.total : 0;
		if (wideAsBefore) {
			frame.total = frame.before;
			frame.self = other ? other.self : 0;
		}
	}
	return now;
}

/* Blue: it has become less; red: more; the paler, the smaller the change. */
function changeColor(frame) {
	const change = (frame.now - frame.before) / Math.max(frame.now, frame.before, 1),
		grey = rgbOf(isDark() ? '#3a4450' : '#dfe3e8'),
		far = rgbOf(change > 0 ? (isDark() ? '#e0664f' : '#c2371f') : isDark() ? '#4f9de0' : '#1f6fb8');
	return mix(grey, far, Math.min(1, Math.abs(change) * 1.6));
}
function changeText(frame, format) {
	const by = frame.now - frame.before;
	return (
		'before ' +
		format(frame.before) +
		', now ' +
		format(frame.now) +
		': ' +
		(by < 0 ? '-' : '+') +
		format(Math.abs(by)) +
		(frame.before > 0 ? ' (' + (by < 0 ? '' : '+') + ((100 * by) / frame.before).toFixed(1) + ' %)' : ', new')
	);
}

/* The largest changes, for the overview. */
function compareSection() {
	const tables = state.diff.filter((table) => table.rows.length).slice(0, 4);
	if (!state.baseName) return null;
	return section(
		'Compared with ' + plain(state.baseName.split('/').pop()),
		'A: that run, B: this one; the largest changes first; what differs by chance cannot be told from one run each',
		state.doubts.map((line) => el('p', { class: 'doubt' }, marked(plain(line)))),
		tables.length ? el('div', { class: 'two' }, tables.map(changeTable)) : el('p', null, 'Nothing differs.'),
	);
}
function changeTable(table) {
	const column = (title) => table.columns.findIndex((c) => c[0] === title),
		name = nameColumn(table),
		either = (title) => (column(title) < 0 ? column('Total ' + title) : column(title)),
		[a, b, by, percent] = [either('A'), either('B'), column('Change'), column('Change %')],
		go = () => openView('tables', table.word),
		unit = table.columns[by][1],
		rows = table.rows.slice(0, 7),
		marks = marksOf(rows.map((values) => plain(values[name])));
	const row = (values) =>
		el(
			'tr',
			{ tabIndex: 0, onclick: go, onkeydown: (e) => e.key === 'Enter' && go() },
			nameCell(null, values[name], values[name], marks.get(plain(values[name]))),
			[a, b].map((c) => el('td', null, fmtUnit(values[c], unit))),
			el(
				'td',
				{ style: { color: values[by] > 0 ? 'var(--bad)' : 'var(--accent)' } },
				(values[by] > 0 ? '+' : '') + fmtUnit(values[by], unit),
			),
			el('td', null, fmtChange(values[percent])),
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
