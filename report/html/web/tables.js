/* Tables: everything that `gpuprof summary --by` prints. */

const TABLE_GROUPS = [
	['Where the time went', ['time', 'iteration', 'phase', 'idle', 'gap', 'gap-site', 'host', 'operator', 'line', 'kind', 'kind-kernel', 'critical-path', 'tuning', 'queue-kernel', 'queue-stream', 'concurrency-device', 'concurrency-stream']],
	['Kernels', ['kernel', 'grid', 'gpu', 'exec', 'occupancy', 'sequence', 'graph']],
	[
		'Hardware',
		[
			'roofline-kernel',
			'roofline-peak',
			'counter',
			'stall-reason',
			'stall-kernel',
			'stall-line',
			'stall-source',
			'hardware-activity',
			'hardware-traffic',
			'hardware-kernel',
			'hardware-range',
			'hardware-phase',
			'hardware-part',
			'hardware-step',
			'energy-device',
			'energy-clock',
			'energy-kernel',
		],
	],
	['CUDA calls', ['api', 'failure', 'unfinished', 'api-gpu', 'sync', 'module', 'overhead']],
	['Copies', ['copy-time', 'copy-size', 'unified', 'unified-address', 'unified-fault']],
	['Ranges', ['nvtx', 'nvtx-group', 'nvtx-gpu', 'nvtx-kernel', 'nvtx-time', 'nvtx-counter']],
	[
		'Memory',
		[
			'memory',
			'memory-peak',
			'memory-leak',
			'memory-churn',
			'memory-wait',
			'memory-cache',
			'memory-pool',
			'torch-category',
			'torch-segment',
			'torch-block',
		],
	],
	['Places', ['device', 'stream', 'context', 'thread', 'process', 'missing']],
];

/* Whether the rows of a table are times, which the timeline can show. */
const isOfTimes = ({ columns }) => columns.some(([title]) => title === 'Start') && columns.some(([title]) => title === 'Duration' || title === 'Wall');

/* A table of one row, as names and values. */
const namesAndValues = ({ columns, rows: [row] }) =>
	el(
		'dl',
		{ class: 'facts single' },
		columns.map((column, c) => el('div', { class: 'row' }, el('dt', null, column.title), el('dd', null, fmtUnit(row[c], column.unit, column.isReal)))),
	);
/* The values that are the same in all rows, which have no column. */
const constantsOf = ({ constants }) =>
	constants.length ? el('p', { class: 'dim constants' }, 'In all rows: ' + constants.map(([{ title, unit, isReal }, value]) => title + ' ' + fmtUnit(value, unit, isReal)).join(' · ')) : '';

function tablesView() {
	const side = el('div', { class: 'side', role: 'navigation', 'aria-label': 'Tables' }),
		bar = el('div', { class: 'bar' }),
		right = el('div', { class: 'col' });
	/* the same list for a narrow window */
	const choose = el('select', { 'aria-label': 'Table', onchange: () => open(choose.value) });
	const node = el(
		'div',
		{ class: 'view', id: 'view-tables', tabIndex: -1 },
		el('div', { class: 'split beside listed', style: { 'grid-template-columns': '216px minmax(0, 1fr)' } }, side, right),
	);
	const known = new Set(TABLE_GROUPS.flatMap((g) => g[1])),
		others = state.tables.filter((t) => !known.has(t.word)).map((t) => t.word);
	let grid = null,
		word = null;

	function open(next, name) {
		const table = tableOf(next) || state.tables[0];
		if (!table) {
			right.replaceChildren(el('p', { class: 'empty' }, isWhole() ? 'The recording has no data for a table.' : UNREAD));
			return;
		}
		word = table.word;
		grid = gridOf(table, () => {});
		if (isOfTimes(table)) grid.onopen = (i) => showGap(recordsOf(word)[i]);
		if (state.search) grid.setFilter(state.search);
		bar.replaceChildren(
			el('div', { class: 'tool narrow' }, choose),
			el('h2', null, plain(table.title)),
			el(
				'span',
				{ class: 'dim grow' },
				(table.help.toLowerCase() === table.title.toLowerCase() ? '' : plain(table.help)) +
					(table.all > table.rows.length
						? '; the first ' +
							fmtCount(table.rows.length) +
							' of ' +
							fmtCount(table.all) +
							' rows'
						: ''),
			),
			el(
				'div',
				{ class: 'tool' },
				el(
					'button',
					{
						onclick: () => saveText('gpuprof-' + word + '.csv', grid.csv()),
						title: 'Save the shown rows',
					},
					'CSV',
				),
			),
		);
		const chart = word === 'roofline-kernel' ? rooflineChart() : null;
		right.replaceChildren(bar, chart || '', ...(table.rows.length === 1 ? [namesAndValues(grid)] : [constantsOf(grid), grid.node]));
		choose.value = word;
		for (const button of side.querySelectorAll('button'))
			button.setAttribute('aria-current', button.dataset.word === word);
		grid.draw();
		if (name !== undefined) {
			const at = grid.shown.findIndex((i) => grid.rows[i][0] === name);
			if (at >= 0) grid.pick(at);
		}
		saveHash();
	}
	const compared = state.diff.map((t) => t.word);
	for (const [title, words] of [['Compared', compared], ...TABLE_GROUPS, ['More', others]]) {
		const tables = words.map(tableOf).filter(Boolean);
		if (!tables.length) continue;
		choose.append(el('optgroup', { label: title }, tables.map((t) => el('option', { value: t.word }, plain(t.title)))));
		side.append(
			el('h3', null, title),
			...tables.map((t) =>
				el(
					'button',
					{ 'data-word': t.word, onclick: () => open(t.word), title: plain(t.help) },
					el('small', null, fmtCount(t.all)),
					plain(t.title),
				),
			),
		);
	}
	return {
		node,
		show() {
			if (!grid) open('kernel');
			else grid.draw();
		},
		open,
		search(text) {
			if (grid) {
				grid.setFilter(text);
				return grid.shown.length + ' rows';
			}
			return '';
		},
		resize() {
			if (grid) {
				grid.layout();
				grid.draw();
			}
		},
		print() {
			if (grid) grid.draw();
		},
		hash: () => (word ? { table: word } : {}),
		get grid() {
			return grid;
		},
	};
}
