/* Memory over time, and its owners: at a moment, at the peak, at the end. */

/* Call sites with memory at the moment, or at the mark, as rows of a table. */
function holdersNow() {
	const { series, changes, mark } = moment,
		{ accounts, holders, sites } = state.held,
		then = mark ? mark.bytes : heldAtPeak(series),
		now = heldAfter(changes),
		rows = new Map(),
		total = momentBytes();
	holders.forEach(([account, , site], holder) => {
		const key = account * 1e9 + site,
			[place, callers, owner] = sites[site];
		if (!series.parts[account]) return;
		if (!rows.has(key)) rows.set(key, { bytes: 0, blocks: 0, then: 0, blocksThen: 0, texts: [accounts[account].kind, place, callers, owner] });
		const row = rows.get(key);
		row.bytes += now.bytes[holder];
		row.blocks += now.blocks[holder];
		row.then += then[holder];
		row.blocksThen += mark ? mark.blocks[holder] : 0;
	});
	return [...rows.values()]
		.filter((row) => row.blocks > 0 || row.blocksThen > 0)
		.map((row) => [total > 0 ? (100 * row.bytes) / total : 0, row.bytes, row.blocks, mark ? row.bytes - row.then : row.then, ...row.texts]);
}
const holderColumns = () => [
	{ title: 'Held %', unit: 'percent' },
	{ title: 'Bytes', unit: 'bytes', share: true },
	{ title: 'Blocks', unit: 'count' },
	{ title: moment.mark ? 'Since mark' : 'At peak', unit: 'bytes', hint: moment.mark ? 'change since ' + fmtAt(moment.mark.time) : '' },
	{ title: 'Memory', text: true },
	{ title: 'Call site', text: true },
	{ title: 'Called by', text: true },
	{ title: 'Allocator', text: true },
];
const holderGrid = () =>
	new Grid({
		columns: holderColumns().slice(0, state.held.sites.some(([, , owner]) => owner) ? undefined : -1),
		rows: holdersNow(),
		sort: moment.mark ? 3 : 1,
		label: 'Owners',
	});

const fmtSigned = (bytes) => (bytes > 0 ? '+' : '') + fmtBytes(bytes);

function memoryView() {
	const choose = el('select', {
			'aria-label': 'Which memory',
			onchange: () => {
				startMoment(state.memory[+choose.value]);
				fillTabs();
				chart.moved();
			},
		}),
		chart = memoryChart(() => follow()),
		lower = el('div', { class: 'col', style: { flex: 1, 'border-top': '1px solid var(--line)' } }),
		shown = el('b', { class: 'onpaper' }),
		head = el('span', { class: 'dim grow' });
	const node = el(
		'div',
		{ class: 'view', id: 'view-memory', tabIndex: -1 },
		el('div', { class: 'split col' }, el('div', { class: 'bar' }, el('h2', null, 'Memory over time'), el('div', { class: 'tool' }, choose), shown, head), chart.node, lower),
	);
	const words = [
		['held', 'Owners'],
		['memory-peak', 'At the peaks'],
		['memory-leak', 'Never freed'],
		['memory-churn', 'Repeated allocations'],
		['memory-wait', 'Waited for the GPU'],
		['memory', 'All by kind'],
		['memory-pool', 'Pools'],
		['memory-cache', 'Kept by libraries'],
	];
	let grid = null,
		word = null,
		shownMark = null;

	const tabs = el('div', { class: 'tool' }),
		about = el('span', { class: 'dim grow' }),
		buttons = el('div', { class: 'tool' });
	const hasMoment = () => moment.series?.n > 0 && !moment.series.isAllocator;
	function openFlame() {
		openView('flame');
		views.flame.openMeasure(word === 'held' ? 'held' : 'peak');
	}
	function openTable(next) {
		word = next;
		shownMark = moment.mark;
		grid = word === 'held' ? holderGrid() : gridOf(tableOf(word));
		if (state.search) grid.setFilter(state.search);
		for (const button of tabs.children) button.setAttribute('aria-pressed', button.dataset.word === word);
		buttons.replaceChildren(
			...[
				hasMoment() && el('button', { onclick: openFlame, title: (word === 'held' ? 'This moment' : 'The peak') + ' by allocating call stack' }, word === 'held' ? 'Flame graph' : 'Flame graph of the peak'),
				word === 'held' &&
					el(
						'button',
						{
							'aria-pressed': !!moment.mark,
							title: 'Compare with this moment: then move; the table shows the changes since  ( M )',
							onclick: () => {
								if (moment.mark) moment.mark = null;
								else toggleMark();
								chart.moved();
							},
						},
						'Mark',
					),
				word === 'held' && el('button', { onclick: showMomentInTimeline, title: 'Show this moment in the timeline  ( F )' }, 'Timeline'),
				el('button', { onclick: () => saveText('gpuprof-' + word + '.csv', grid.csv()) }, 'CSV'),
			].filter(Boolean),
		);
		sayAbout();
		lower.replaceChildren(el('div', { class: 'bar' }, tabs, about, buttons), constantsOf(grid), grid.node);
		fit();
	}
	function sayAbout() {
		about.textContent =
			word === 'held'
				? fmtBytes(momentBytes()) + ' at ' + fmtAt(moment.time) + (changeNow() === moment.series.mostAt ? ', the peak' : '') + (moment.mark ? ', ' + fmtSigned(momentBytes() - bytesUntil(moment.series, moment.mark.time)) + ' since ' + fmtAt(moment.mark.time) : '')
				: plain(tableOf(word).help);
		about.title = about.textContent;
	}
	/* Fill the tabs with the tables of the chosen memory; keep the open one if possible. */
	function fillTabs() {
		const there = words.filter(([w]) => (w === 'held' ? hasMoment() : tableOf(w)));
		tabs.replaceChildren(...there.map(([w, title]) => el('button', { 'data-word': w, onclick: () => openTable(w) }, title)));
		if (there.length) openTable(there.some(([w]) => w === word) ? word : there[0][0]);
	}
	/* The chart fills the space that the rows of the table leave. */
	function fit() {
		if (!grid || node.hidden) return;
		const above = chart.node.getBoundingClientRect().top - node.getBoundingClientRect().top,
			below = lower.clientHeight - grid.node.clientHeight + (grid.shown.length + 2) * ROW_HEIGHT;
		chart.node.style.setProperty('--room', node.clientHeight - above - below + 'px');
		chart.draw();
	}
	/* Called when the moment moved. */
	function follow() {
		sayHead();
		if (word === 'held' && shownMark !== moment.mark) openTable('held');
		else if (word === 'held') {
			grid.setRows(holdersNow());
			sayAbout();
		}
		saveHash();
	}
	function sayHead() {
		const { series } = moment;
		if (!series) return;
		const known = (state.about.memory || []).find((row) => row.device === series.device && row.kind === series.kind);
		shown.textContent = nameOfSeries(series);
		head.textContent =
			'peak ' +
			fmtBytes(series.most) +
			' at ' +
			fmtAt(series.t[series.mostAt] ?? 0) +
			(known ? '; ' + counted(known.allocations, 'allocation') + ' of ' + fmtBytes(known.allocated_bytes) : '') +
			(leftText() ? '  ·  All memory: ' + leftText() : '') +
			(state.held.n < state.held.changes ? '  ·  only the first ' + fmtCount(state.held.n) + ' of ' + fmtCount(state.held.changes) + ' changes are readable' : '');
		head.title = head.textContent;
	}
	function draw() {
		if (!node.hidden) chart.draw();
	}
	return {
		node,
		key: (e) => momentKey(e, chart),
		resize() {
			fit();
			draw();
			if (grid) {
				grid.layout();
				grid.draw();
			}
		},
		theme: draw,
		print: draw,
		show() {
			fit();
			draw();
			if (moment.series) follow();
			if (grid) grid.draw();
		},
		search(text) {
			if (!grid) return '';
			grid.setFilter(text);
			return grid.shown.length + ' rows';
		},
		ready() {
			const all = state.memory || [],
				order = all.map((s, i) => i).sort((a, b) => (all[b].kind === 'all') - (all[a].kind === 'all') || (all[a].device ?? 99) - (all[b].device ?? 99));
			choose.replaceChildren(...order.map((i) => el('option', { value: i }, nameOfSeries(all[i]))));
			moment.t1 = state.end;
			if (all.length) startMoment(all[order[0]]);
			else {
				head.textContent = isWhole() ? 'This recording has no allocations' + (state.about.processes[0].recorder || tableOf('memory') ? '.' : ' (--trace=memory records them).') : UNREAD;
				choose.hidden = chart.node.hidden = true;
			}
			fillTabs();
			sayHead();
			draw();
		},
		/* Restore from the address: memory, moment. */
		arrive(number, time) {
			if (!state.memory?.[number]?.n || !Number.isFinite(time)) return;
			choose.value = number;
			startMoment(state.memory[number]);
			fillTabs();
			momentAt(time);
			chart.moved();
		},
		hash: () => (moment.series?.n > 0 ? { memory: state.memory.indexOf(moment.series), at: Math.round(moment.time) } : {}),
		get grid() {
			return grid;
		},
	};
}
