/* Memory over time, and who held the most. */

function memoryView() {
	const canvas = el('canvas', { tabIndex: 0, role: 'img', 'aria-label': 'Memory over time' }),
		choose = el('select', { 'aria-label': 'Which memory', onchange: () => draw() });
	const box = el('div', { style: { height: 'clamp(220px, 36vh, 480px)', position: 'relative', flex: 'none' } }, canvas),
		lower = el('div', { class: 'col', style: { flex: 1, 'border-top': '1px solid var(--line)' } }),
		shown = el('b', { class: 'onpaper' }),
		head = el('span', { class: 'dim grow' });
	const node = el(
		'div',
		{ class: 'view', id: 'view-memory', tabIndex: -1 },
		el(
			'div',
			{ class: 'split col' },
			el(
				'div',
				{ class: 'bar' },
				el('h2', null, 'Memory over time'),
				el('div', { class: 'tool' }, choose),
				shown,
				head,
			),
			box,
			lower,
		),
	);
	const words = [
		['memory-peak', 'Who held the peak'],
		['memory-leak', 'Never freed'],
		['memory-churn', 'Allocated again and again'],
		['memory-wait', 'Waited for the GPU'],
		['memory', 'All by kind'],
		['memory-pool', 'Pools'],
		['memory-cache', 'Kept by libraries'],
	];
	let grid = null,
		word = null,
		ready = false;

	const tabs = el('div', { class: 'tool' }),
		about = el('span', { class: 'dim grow' });
	function openTable(next) {
		const table = tableOf(next);
		word = next;
		grid = gridOf(table);
		if (state.search) grid.setFilter(state.search);
		about.textContent = plain(table.help);
		for (const button of tabs.children) button.setAttribute('aria-pressed', button.dataset.word === next);
		lower.replaceChildren(
			el(
				'div',
				{ class: 'bar' },
				tabs,
				about,
				el(
					'div',
					{ class: 'tool' },
					state.memory?.length > 0 && el(
						'button',
						{
							onclick: () => {
								openView('flame');
								views.flame.openMeasure('peak');
							},
							title: 'The peak by the stacks that allocated it',
						},
						'Flame graph of the peak',
					),
					el('button', { onclick: () => saveText('gpuprof-' + word + '.csv', grid.csv()) }, 'CSV'),
				),
			),
			grid.node,
		);
	}
	const nameOf = (s) =>
		(s.device !== undefined ? 'GPU ' + s.device + ' ' : '') +
		(s.kind === 'all' ? 'memory (all but managed)' : s.kind);

	function draw() {
		const all = state.memory || [],
			series = all[+choose.value];
		if (!ready || node.hidden) return;
		if (!series) {
			box.hidden = true;
			return;
		}
		const width = box.clientWidth,
			height = box.clientHeight,
			left = 78,
			right = 14,
			top = 22,
			foot = 24,
			{ ctx } = fitCanvas(canvas, width, height),
			{ t, v } = series;
		let most = 0,
			peakAt = 0;
		for (let i = 0; i < v.length; i++)
			if (v[i] > most) {
				most = v[i];
				peakAt = t[i];
			}
		const known = (state.about.memory || []).find((row) => row.device === series.device && row.kind === series.kind);
		const step = niceBytes(most / 5 || 1),
			ceiling = Math.max(step, Math.ceil((most * 1.04) / step) * step),
			X = (time) => left + (time / state.end) * (width - left - right),
			Y = (value) => top + (height - top - foot) * (1 - value / ceiling);
		shown.textContent = nameOf(series);
		head.textContent =
			'peak ' +
			fmtBytes(most) +
			' at ' +
			fmtAt(peakAt) +
			(known
				? '; ' + fmtCount(known.allocations) + ' allocations of ' + fmtBytes(known.allocated)
				: '') +
			(leftText() ? '  ·  All memory: ' + leftText() : '');
		head.title = head.textContent;
		ctx.clearRect(0, 0, width, height);
		ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
		ctx.textBaseline = 'middle';
		for (let value = 0; value <= ceiling; value += step) {
			ctx.fillStyle = css('--line2');
			ctx.fillRect(left, Math.round(Y(value)), width - left - right, 1);
			ctx.fillStyle = css('--dim');
			ctx.textAlign = 'right';
			ctx.fillText(fmtBytes(value), left - 8, Y(value));
		}
		const tick = niceStep(state.end / Math.max(2, (width - left - right) / 130)),
			zero = state.index.zero;
		ctx.textAlign = 'center';
		for (let k = Math.ceil(-zero / tick); zero + k * tick <= state.end; k++)
			ctx.fillText(k === 0 && zero > tick / 4 ? ZERO_TICK : fmtTick(k * tick, tick), X(zero + k * tick), height - 10);
		ctx.fillStyle = mixCss('--accent', '--bg', 0.7);
		const edge = [];
		let i = 0;
		for (let x = left; x < width - right; x++) {
			const until = ((x + 1 - left) / (width - left - right)) * state.end;
			let high = i > 0 ? v[i - 1] : 0,
				low = high;
			for (; i < t.length && t[i] < until; i++) {
				high = Math.max(high, v[i]);
				low = Math.min(low, v[i]);
			}
			ctx.fillRect(x, Y(high), 1, Y(0) - Y(high));
			edge.push([x, Y(high), Y(low)]);
		}
		ctx.fillStyle = css('--accent');
		for (const [x, high, low] of edge) ctx.fillRect(x, high, 1, Math.max(1.5, low - high));
		const px = X(peakAt),
			py = Y(most),
			text = 'peak ' + fmtBytes(most);
		ctx.strokeStyle = ctx.fillStyle = css('--bad');
		ctx.setLineDash([4, 3]);
		ctx.beginPath();
		ctx.moveTo(px, py);
		ctx.lineTo(px, Y(0));
		ctx.stroke();
		ctx.setLineDash([]);
		ctx.beginPath();
		ctx.arc(px, py, 4, 0, 7);
		ctx.fill();
		ctx.fillStyle = css('--ink');
		ctx.textAlign = px > width - 160 ? 'right' : 'left';
		ctx.fillText(text, px + (px > width - 160 ? -8 : 8), Math.max(10, py - 8));
		canvas.onpointermove = (e) => {
			const time = ((e.offsetX - left) / (width - left - right)) * state.end,
				k = lowerBound(t, 0, t.length, time);
			if (e.offsetX > left)
				showTip(e.clientX, e.clientY, fmtBytes(k > 0 ? v[k - 1] : 0), [
					'at ' + fmtAt(time),
					'click: see it in the timeline',
				]);
		};
		canvas.onpointerleave = hideTip;
		canvas.onclick = (e) => {
			const time = ((e.offsetX - left) / (width - left - right)) * state.end;
			hideTip();
			openView('timeline');
			timeline.show(time - state.end / 50, time + state.end / 50);
		};
	}
	return {
		node,
		resize() {
			draw();
			if (grid) {
				grid.layout();
				grid.draw();
			}
		},
		theme: draw,
		print: draw,
		show() {
			draw();
			if (grid) grid.draw();
		},
		search(text) {
			if (!grid) return '';
			grid.setFilter(text);
			return grid.shown.length + ' rows';
		},
		ready() {
			ready = true;
			const all = state.memory || [],
				order = all
					.map((s, i) => i)
					.sort(
						(a, b) =>
							(all[b].kind === 'all') - (all[a].kind === 'all') ||
							(all[a].device ?? 99) - (all[b].device ?? 99),
					);
			choose.replaceChildren(...order.map((i) => el('option', { value: i }, nameOf(all[i]))));
			if (!all.length) {
				head.textContent = isWhole() ? 'No allocation is in this recording' + (state.about.processes[0].recorder ? '.' : ' (--trace=memory records them).') : UNREAD;
				choose.hidden = true;
			}
			tabs.replaceChildren(
				...words
					.filter(([w]) => tableOf(w))
					.map(([w, title]) =>
						el('button', { 'data-word': w, onclick: () => openTable(w) }, title),
					),
			);
			if (tabs.children.length) openTable(tabs.children[0].dataset.word);
			draw();
		},
		get grid() {
			return grid;
		},
	};
}
