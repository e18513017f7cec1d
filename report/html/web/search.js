/* Search on the overview: all names that match, each with a link to its place. */

const FOUND_MOST = 12;

/* For each label: count, time and the longest event; computed on first use. */
function labelTotals() {
	if (state.totals) return state.totals;
	const { ev, index } = state,
		n = index.labels.texts.length,
		totals = { count: new Float64Array(n), time: new Float64Array(n), longest: new Int32Array(n).fill(-1) };
	for (const { first, n: all } of rowsOnceMore(false))
		for (let i = first; i < first + all; i++) {
			const l = ev.label[i];
			totals.count[l]++;
			totals.time[l] += ev.dur[i];
			if (totals.longest[l] < 0 || ev.dur[i] > ev.dur[totals.longest[l]]) totals.longest[l] = i;
		}
	state.totals = totals;
	return totals;
}

const WHAT_KINDS = { k: 'kernel', c: 'copy', s: 'memset', g: 'graph', a: 'call', r: 'range', f: 'phase', o: 'overhead', j: 'compiling', u: 'unified memory', h: 'host', p: 'Python', q: 'Python' };

/* The matching labels, by time, and the number of matching functions of call stacks. */
function findEverywhere(text) {
	const wanted = matcherOf(text),
		{ texts, full, kinds } = state.index.labels,
		{ count, time, longest } = labelTotals();
	const labels = texts
		.map((name, l) => l)
		.filter((l) => count[l] > 0 && kinds[l] in WHAT_KINDS && (wanted(texts[l]) || (full[l] && wanted(full[l]))))
		.sort((a, b) => time[b] - time[a]);
	return { labels, count, time, longest, functions: state.stacks ? state.sites.filter(([name, , kind]) => kind < 2 && wanted(name)).length : 0 };
}

/* The section with the matches, and their number as text. */
function foundSection(text) {
	const { labels, count, time, longest, functions } = findEverywhere(text),
		{ texts, kinds } = state.index.labels;
	const row = (l) =>
		el(
			'tr',
			{
				tabIndex: 0,
				title: 'Show the longest one in the timeline',
				onclick: () => showEvent(longest[l]),
				onkeydown: (e) => {
					if (e.key === 'Enter') showEvent(longest[l]);
				},
			},
			el('td', null, swatch(colorOf(kinds[l], texts[l])), ' ', plain(texts[l])),
			el('td', { style: { width: '110px' } }, WHAT_KINDS[kinds[l]]),
			el('td', { style: { width: '90px' } }, fmtCount(count[l]) + ' ×'),
			el('td', { style: { width: '100px' } }, fmtNs(time[l])),
		);
	const node = section(
		'Found',
		labels.length > FOUND_MOST ? 'the ' + FOUND_MOST + ' with the most time of ' + fmtCount(labels.length) : '',
		labels.length ? el('table', { class: 'mini' }, el('tbody', null, labels.slice(0, FOUND_MOST).map(row))) : el('p', { class: 'dim' }, 'The timeline has no kernel, copy, call or range of that name.'),
		el(
			'p',
			{ class: 'found' },
			labels.length > 0 && el('button', { class: 'go', onclick: () => openView('timeline') }, 'Show all in the timeline ›'),
			functions > 0 &&
				el('button', { class: 'go', onclick: () => openView('flame') }, counted(functions, 'function') + ' in the flame graph ›'),
		),
	);
	return [node, counted(labels.length, 'name')];
}
