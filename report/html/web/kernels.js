/* Kernels: the table, and the distribution of durations of the selected one. */

function kernelsView() {
	const table = tableOf('gpu') || tableOf('kernel'),
		left = el('div', { class: 'col' }),
		right = el('div', {
			class: 'side',
			style: { padding: '12px 16px', 'border-right': '0', 'border-left': '1px solid var(--line)' },
		});
	const node = el(
		'div',
		{ class: 'view', id: 'view-kernels', tabIndex: -1 },
		el(
			'div',
			{ class: 'split beside', style: { 'grid-template-columns': 'minmax(0, 1fr) minmax(330px, 36%)' } },
			left,
			right,
		),
	);
	let grid = null,
		chosen = null,
		found = null;

	if (!table) {
		left.append(el('p', { class: 'empty' }, isWhole() ? 'No GPU operation was recorded.' : UNREAD));
		return { node, show() {} };
	}
	grid = gridOf(table, (name) => choose(name), ['Time %', 'Total', 'Count', 'Avg', 'Med', 'Min', 'Max']);
	left.append(
		el(
			'div',
			{ class: 'bar' },
			el('h2', null, 'Kernels, copies and memsets'),
			el(
				'span',
				{ class: 'dim grow' },
				fmtCount(table.all) + ' by name; select one to see the distribution of its durations',
			),
			el(
				'div',
				{ class: 'tool' },
				el('button', { onclick: () => saveText('gpuprof-kernels.csv', grid.csv()) }, 'CSV'),
			),
		),
		grid.node,
	);

	function labelsNamed(name) {
		const wanted = new Set();
		state.index.labels.texts.forEach((text, i) => {
			if (text === name && 'kcsg'.includes(state.index.labels.kinds[i])) wanted.add(i);
		});
		return wanted;
	}
	function choose(name) {
		chosen = name;
		if (!state.ready) {
			right.replaceChildren(el('p', { class: 'dim' }, 'Reading …'));
			return;
		}
		const labels = labelsNamed(name),
			{ ev } = state;
		found = eventsOf(labels);
		if (!found.length) {
			right.replaceChildren(
				el('h2', null, plain(name)),
				el(
					'p',
					{ class: 'dim' },
					'None of these events is in the timeline: they have no times, or are too short.',
				),
			);
			return;
		}
		found.sort((a, b) => ev.start[a] - ev.start[b]);
		const s = spread(found.map((i) => ev.dur[i])),
			full = state.index.labels.full[[...labels][0]];
		const histogram = el('canvas', {
			role: 'img',
			'aria-label': 'Durations: median ' + fmtNs(s.median) + ', 99th percentile ' + fmtNs(s.p99),
		});
		const over = el('canvas', { role: 'img', 'aria-label': 'Durations over time' });
		const longest = [...found].sort((a, b) => ev.dur[b] - ev.dur[a]).slice(0, 8);
		right.replaceChildren(
			el(
				'h2',
				{ style: { 'font-family': 'var(--mono)', 'font-size': '12.5px', 'overflow-wrap': 'anywhere' } },
				plain(name),
			),
			full
				? el(
						'details',
						null,
						el('summary', null, 'full name'),
						el(
							'pre',
							{ style: { 'white-space': 'pre-wrap', 'overflow-wrap': 'anywhere' } },
							plain(full),
						),
					)
				: '',
			el(
				'dl',
				{ class: 'facts', style: { 'grid-template-columns': '1fr 1fr' } },
				[
					['Count', fmtCount(s.n)],
					['Total', fmtNs(s.total)],
					['Median', fmtNs(s.median)],
					['Average', fmtNs(s.mean)],
					['Min', fmtNs(s.min)],
					['Max', fmtNs(s.max)],
					['90 %', '≤ ' + fmtNs(s.p90)],
					['99 %', '≤ ' + fmtNs(s.p99)],
				].map(([k, v]) => el('div', null, el('dt', null, k), el('dd', null, v))),
			),
			state.index.grouped
				? el(
						'p',
						{ class: 'dim' },
						'Only events that the timeline shows: shorter than ' + fmtNs(state.index.least) + ' only if not merged with others.',
					)
				: '',
			el('h2', null, 'Durations ', el('small', { class: 'most' })),
			histogram,
			el('h2', null, 'Duration over time ', el('small', null, '0 to ' + fmtNs(s.max) + '; click to see one')),
			over,
			el('h2', null, 'The longest'),
			el(
				'table',
				{ class: 'mini' },
				el(
					'tbody',
					null,
					longest.map((i) =>
						el(
							'tr',
							{
								tabIndex: 0,
								onclick: () => showEvent(i),
								onkeydown: (e) => {
									if (e.key === 'Enter') showEvent(i);
								},
							},
							el('td', { style: { width: '48px' } }, el('span', { style: { color: 'var(--accent)' } }, 'show')),
							el('td', null, fmtAt(ev.start[i])),
							el('td', null, fmtNs(ev.dur[i])),
							el('td', null, s.median > 0 ? digits(ev.dur[i] / s.median) + ' × median' : ''),
						),
					),
				),
			),
		);
		draw(histogram, over, s);
	}
	function draw(
		histogram = right.querySelectorAll('canvas')[0],
		over = right.querySelectorAll('canvas')[1],
		s = found?.length ? spread(found.map((i) => state.ev.dur[i])) : null,
	) {
		if (!s || !histogram) return;
		const width = Math.max(200, right.clientWidth - 34);
		right.querySelector('.most').textContent = 'the highest column is ' + fmtCount(drawHistogram(histogram, s, width, 130)) + ' of ' + fmtCount(s.n);
		drawOverTime(over, found, width, 110);
		over.onclick = (e) => {
			const t = state.ev.start[found[0]] + (e.offsetX / width) * (state.ev.start[found.at(-1)] - state.ev.start[found[0]]);
			let best = found[0];
			for (const i of found) if (Math.abs(state.ev.start[i] - t) < Math.abs(state.ev.start[best] - t)) best = i;
			showEvent(best);
		};
	}
	return {
		node,
		show() {
			grid.draw();
			if (!chosen && grid.shown.length) grid.pick(0);
			else draw();
		},
		ready() {
			if (chosen) choose(chosen);
		},
		open(word, name) {
			const at = grid.shown.findIndex((i) => grid.rows[i][0] === name);
			if (at >= 0) grid.pick(at);
		},
		search(text) {
			grid.setFilter(text);
			return grid.shown.length + ' rows';
		},
		resize() {
			grid.layout();
			grid.draw();
			draw();
		},
		theme() {
			grid.draw();
			draw();
		},
		print() {
			grid.draw();
			draw();
		},
		get grid() {
			return grid;
		},
	};
}

/* Draw columns of equal ratio from the shortest to the longest.  Returns the count of the highest. */
function drawHistogram(canvas, s, width, height) {
	/* the axis of nearly equal durations is wider than these, and they are in its middle */
	const { ctx } = fitCanvas(canvas, width, height),
		foot = 18,
		least = Math.max(1, s.min),
		wider = Math.max(1, Math.sqrt((1.02 * least) / Math.max(s.max, 1))),
		low = least / wider,
		high = Math.max(s.max, 1) * wider,
		bins = clamp(Math.round(width / 9), 12, 48);
	const ratio = Math.log(high / low) / bins,
		counts = new Array(bins).fill(0);
	for (const d of s.sorted) counts[clamp(Math.floor(Math.log(Math.max(d, low) / low) / ratio), 0, bins - 1)]++;
	const most = Math.max(...counts),
		step = width / bins;
	ctx.clearRect(0, 0, width, height);
	ctx.fillStyle = css('--accent');
	counts.forEach((count, b) => {
		if (count) {
			const h = Math.max(2, ((height - foot - 14) * count) / most);
			ctx.fillRect(b * step, height - foot - h, step - 1.5, h);
		}
	});
	ctx.fillStyle = css('--line');
	ctx.fillRect(0, height - foot, width, 1);
	ctx.fillStyle = css('--dim');
	ctx.font = '11px system-ui, sans-serif';
	ctx.textBaseline = 'alphabetic';
	ctx.textAlign = 'left';
	ctx.fillText(fmtNs(wider > 1 ? low : s.min), 0, height - 5);
	ctx.textAlign = 'right';
	ctx.fillText(fmtNs(high), width, height - 5);
	ctx.textAlign = 'center';
	if (s.max > s.min * 1.5) ctx.fillText(fmtNs(Math.sqrt(low * high)), width / 2, height - 5);
	const x = (Math.log(Math.max(s.median, low) / low) / ratio) * step;
	ctx.fillStyle = css('--ink');
	ctx.fillRect(clamp(x, 0, width - 1), 12, 1, height - foot - 12);
	ctx.textAlign = x > width - 70 ? 'right' : x < 70 ? 'left' : 'center';
	ctx.fillText('median ' + fmtNs(s.median), clamp(x, 0, width), 10);
	return most;
}

function drawOverTime(canvas, found, width, height) {
	const { ctx, ratio } = fitCanvas(canvas, width, height),
		{ ev } = state,
		foot = 18;
	let most = 1;
	for (const i of found) most = Math.max(most, ev.dur[i]);
	const from = ev.start[found[0]],
		span = Math.max(1, ev.start[found.at(-1)] - from);
	ctx.clearRect(0, 0, width, height);
	ctx.fillStyle = css('--line2');
	for (let part = 0; part <= 2; part++) ctx.fillRect(0, Math.round(((height - foot - 4) * part) / 2) + 2, width, 1);
	ctx.fillStyle = css('--accent');
	const seen = new Set(),
		size = found.length > 2000 ? 1.5 : 2.5;
	for (const i of found) {
		const x = Math.round(((ev.start[i] - from) / span) * (width - size) * ratio) / ratio,
			y = Math.round((2 + (height - foot - 6) * (1 - ev.dur[i] / most)) * ratio) / ratio,
			at = x * 4096 + y;
		if (!seen.has(at)) {
			seen.add(at);
			ctx.fillRect(x, y, size, size);
		}
	}
	ctx.fillStyle = css('--dim');
	ctx.font = '11px system-ui, sans-serif';
	ctx.textAlign = 'left';
	ctx.fillText(fmtAt(from), 0, height - 4);
	ctx.textAlign = 'right';
	if (found.length > 1) ctx.fillText(fmtAt(from + span), width, height - 4);
}
