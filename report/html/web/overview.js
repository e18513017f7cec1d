/* Overview: what the summary says. */

function tableOf(word) {
	return state.tables.find((table) => table.word === word) || state.diff.find((table) => table.word === word);
}
/* A table's rows as objects by column title. */
function recordsOf(word) {
	const table = tableOf(word);
	return table ? table.rows.map((row) => Object.fromEntries(table.columns.map(([title], c) => [title, row[c]]))) : [];
}

function card(title, value, ...notes) {
	return el(
		'div',
		{ class: 'card' },
		el('h3', null, title),
		el('strong', { class: 'num' }, value),
		notes.filter(Boolean).map((note) => el('p', { title: typeof note === 'string' ? note : null }, note)),
	);
}

function busyText(device, doubt) {
	if (!device.possible || (!device.busy && doubt)) return 'not known';
	return (doubt ? '≥ ' : '') + fmtPercent(device.busy, device.possible);
}

function overviewCards(about) {
	const devices = about.devices || [],
		busy = devices.reduce((s, d) => s + d.busy, 0),
		possible = devices.reduce((s, d) => s + d.possible, 0);
	const peak = (about.memory || [])
		.filter((row) => row.device !== undefined && row.kind === 'all')
		.sort((a, b) => b.peak - a.peak)[0];
	const cards = [
		card(
			'Time',
			fmtNs(about.span),
			'first to last CUDA call',
			about.processes.length > 1 ? about.processes.length + ' processes' : 'pid ' + about.processes[0].pid,
		),
		card(
			devices.length > 1 ? 'GPUs busy' : 'GPU busy',
			busyText({ busy, possible }, about.doubt),
			possible ? fmtNs(busy) + ' of ' + fmtNs(possible) : '',
			about.doubt || (possible ? fmtPercent(possible - busy, possible) + ' idle' : ''),
		),
		card(
			'Kernels',
			fmtCount(about.kernels),
			fmtCount(about.launches) + ' launches',
			about.graphs ? fmtCount(about.graphs) + ' whole graphs' : '',
		),
		card('GPU time', fmtNs(about.gpuTime), 'kernels, copies and sets, added up'),
		card('Copies', fmtBytes(about.copyBytes), fmtCount(about.copies) + ' copies, ' + fmtCount(about.sets) + ' sets'),
		card(
			'CUDA calls',
			fmtCount(about.calls),
			fmtNs(about.callTime) + ' in them',
			about.failures ? fmtCount(about.failures) + ' failed' : '',
		),
	];
	if (peak && peak.peak > 0)
		cards.push(
			card(
				'Peak memory',
				fmtBytes(peak.peak),
				(devices.length > 1 ? 'GPU ' + peak.device + ' ' : '') + 'at +' + fmtNs(peak.at),
				el('button', { class: 'go', onclick: () => openView('memory') }, 'who held it'),
			),
		);
	return el('div', { class: 'cards' }, cards);
}

/* One bar of shares; parts: {name, value, color, title, go, class}. */
function shareBar(parts, format) {
	const total = parts.reduce((sum, part) => sum + part.value, 0),
		title = (part) => plain(part.name) + ': ' + format(part.value) + ', ' + fmtPercent(part.value, total);
	return [
		el(
			'div',
			{ class: 'stack', role: 'img', 'aria-label': parts.map(title).join('; ') },
			parts.map((part) =>
				el('i', {
					class: part.class,
					title: title(part),
					onclick: part.go,
					style: { flex: part.value + ' 0 0', 'background-color': hexOf(part.color) },
				}),
			),
		),
		el(
			'div',
			{ class: 'legend' },
			parts
				.filter((part) => part.value >= 0.0005 * total)
				.map((part) =>
					el(
						'button',
						{ onclick: part.go, title: title(part) },
						swatch(part.color, part.class),
						el('span', null, plain(part.name)),
						el('b', { class: 'num' }, fmtPercent(part.value, total)),
					),
				),
		),
	];
}

/* Kinds that have one hue differ in shade. */
function gpuTimeByKind() {
	const seen = {};
	return recordsOf('kind')
		.filter((row) => row.Total > 0)
		.slice(0, 14)
		.map((row) => {
			const group = KIND_GROUPS[row.Kind] || 'other',
				shade = (seen[group] = (seen[group] ?? -1) + 1);
			return {
				name: row.Kind,
				value: row.Total,
				color: mix(hueOf(group), isDark() ? [0, 0, 0] : [255, 255, 255], Math.min(0.66, shade * 0.22)),
				go: () => openView('tables', 'kind', row.Kind),
			};
		});
}

/* Where most kernels are of no known kind: the ones that took most, each in a colour of its own. */
function gpuTimeByName() {
	const hues = ['gemm', 'elementwise', 'reduce', 'norm', 'attention', 'comm', 'copy'].map(hueOf),
		rows = recordsOf('gpu').filter((row) => row.Total > 0),
		parts = rows.slice(0, hues.length).map((row, i) => ({
			name: row.Name,
			value: row.Total,
			color: hues[i],
			go: () => openView('kernels', 'gpu', row.Name),
		})),
		rest = rows.slice(hues.length).reduce((sum, row) => sum + row.Total, 0);
	if (rest > 0) parts.push({ name: 'others', value: rest, color: hueOf('call'), go: () => openView('kernels') });
	return parts;
}
function workSection() {
	const kinds = recordsOf('kind').filter((row) => row.Total > 0),
		total = kinds.reduce((sum, row) => sum + row.Total, 0),
		unknown = kinds.find((row) => row.Kind === 'unknown')?.Total || 0,
		named = unknown > total / 2,
		parts = named ? gpuTimeByName() : gpuTimeByKind();
	if (!parts.length) return null;
	const title = named
		? ['GPU time by operation']
		: ['GPU time by kind of work ', el('small', null, 'by the kernels’ names')];
	return el('section', null, el('h2', null, ...title), ...shareBar(parts, fmtNs));
}

/* Of each GPU: what ran, and why nothing did. */
function whereSection(about) {
	const theme = isDark() ? 'dark' : 'light';
	const devices = (about.devices || []).filter((d) => d.states && d.possible > 0);
	if (!devices.length) return null;
	const bars = devices.map((d) => {
		const parts = [];
		for (let i = 1; i < 8; i++)
			if (d.states[i] > 0)
				parts.push({
					name: STATE_NAMES[i],
					value: d.states[i],
					color: rgbOf(STATE_COLORS[theme][i]),
					go: () => openView('timeline'),
				});
		const causes = d.states
			.slice(8)
			.map((value, i) => ({
				name: 'idle: ' + about.causes[i],
				value,
				color: rgbOf(IDLE_COLORS[theme][i]),
				class: 'idle',
				go: () => openView('tables', 'gap'),
			}))
			.filter((p) => p.value > 0)
			.sort((a, b) => b.value - a.value);
		parts.push(...causes);
		return [
			devices.length > 1 ? el('h2', null, el('small', null, 'GPU ' + d.number)) : null,
			...shareBar(parts, fmtNs),
		];
	});
	return el(
		'section',
		null,
		el(
			'h2',
			null,
			'Where the GPU’s time went ',
			el(
				'small',
				null,
				about.doubt
					? about.doubt + ': idle is the most that it was'
					: 'from the first CUDA call to the last',
			),
		),
		bars,
	);
}

function miniTable(word, title, view, limit = 10) {
	const table = tableOf(word);
	if (!table) return null;
	const records = recordsOf(word)
			.filter((r) => r.Total > 0)
			.slice(0, limit),
		title0 = table.columns[nameColumn(table)][0];
	const most = records[0]?.Total,
		kind = { kernel: 'k', api: 'a', nvtx: 'r', 'nvtx-gpu': 'r' }[word] || 'c';
	const go = (name) => () => {
		openView(view, word, name);
	};
	const share = table.columns.some((c) => c[0] === 'Time %');
	return el(
		'section',
		null,
		el('h2', null, title, ' ', el('small', null, table.all > limit ? limit + ' of ' + fmtCount(table.all) : '')),
		el(
			'table',
			{ class: 'mini' },
			el(
				'thead',
				null,
				el(
					'tr',
					null,
					['Name', share ? 'Time %' : null, 'Total', 'Count', 'Avg'].filter(Boolean).map((t, i) =>
						el(
							'th',
							{
								style: i
									? {
											width:
												[
													'',
													'66px',
													'96px',
													'74px',
													'84px',
												][i + (share ? 0 : 1)] || '84px',
										}
									: null,
							},
							t,
						),
					),
				),
			),
			el(
				'tbody',
				null,
				records.map((r) => {
					const name = String(r[title0]),
						run = go(name);
					return el(
						'tr',
						{
							tabIndex: 0,
							onclick: run,
							onkeydown: (e) => {
								if (e.key === 'Enter') run();
							},
						},
						el('td', { title: plain(name) }, swatch(colorOf(kind, name)), ' ', plain(name)),
						share ? el('td', null, r['Time %'].toFixed(1)) : null,
						el(
							'td',
							{ class: 'share', style: { '--w': (100 * r.Total) / most + '%' } },
							fmtNs(r.Total),
						),
						el('td', null, fmtCount(r.Count)),
						el('td', null, r.Avg ? fmtNs(r.Avg) : ''),
					);
				}),
			),
		),
	);
}

/* How busy a GPU was over time; known once the events are read. */
function drawGpuStrip(canvas, union) {
	const width = (canvas.parentNode.clientWidth && canvas.clientWidth) || 600,
		height = 44,
		{ ctx } = fitCanvas(canvas, width, height);
	canvas.style.width = '100%';
	const columns = Math.floor(width),
		span = state.end / columns;
	ctx.clearRect(0, 0, width, height);
	ctx.fillStyle = css('--accent');
	busyColumns(union, 0, span, columns, (x, share) => ctx.fillRect(x, height - Math.max(1.5, share * height), 1, height));
}

function gpuRows(about) {
	const devices = about.devices || [];
	if (!devices.length) return null;
	return el(
		'section',
		null,
		el(
			'h2',
			null,
			'GPU activity over time ',
			el(
				'small',
				null,
				'height: share of the time with at least one operation; click to open it in the timeline',
			),
		),
		el(
			'div',
			{ class: 'gpus' },
			devices.map((device) =>
				el(
					'div',
					{ class: 'gpu' },
					el(
						'div',
						null,
						el('b', null, 'GPU ' + device.number),
						' ',
						plain(device.name || ''),
						el('br'),
						el(
							'span',
							{ class: 'dim' },
							[
								device.sms && device.sms + ' SMs',
								device.memory && fmtBytes(device.memory),
								device.major && 'cc ' + device.major + '.' + device.minor,
							]
								.filter(Boolean)
								.join(', '),
						),
					),
					el('canvas', {
						'data-gpu': device.number,
						role: 'img',
						'aria-label':
							'GPU ' + device.number + ' ' + busyText(device, about.doubt) + ' busy',
						onclick: (e) => {
							const box = e.target.getBoundingClientRect(),
								t = ((e.clientX - box.left) / box.width) * state.end;
							openView('timeline');
							timeline.show(t - state.end / 40, t + state.end / 40);
						},
					}),
					el(
						'div',
						{ class: 'num' },
						el('b', null, busyText(device, about.doubt) + ' busy'),
						el('br'),
						el(
							'span',
							{ class: 'dim' },
							fmtNs(device.busy) + ' of ' + fmtNs(device.possible),
						),
					),
				),
			),
		),
	);
}

/* How many operations ran at the same time, and for how long. */
function concurrencySection() {
	const sections = [...state.devices]
		.map(([number, device]) => {
			const levels = device.union.levels,
				parts = [],
				busy = device.union.cum[device.union.start.length];
			if (!levels.some((ns, level) => level > 1 && ns > 0)) return null;
			for (let level = 1; level < levels.length; level++)
				if (levels[level] > 0) parts.push({ level, value: levels[level] });
			const shown = parts.slice(0, 5),
				rest = parts.slice(5).reduce((s, p) => s + p.value, 0);
			const theme = rgbOf(isDark() ? '#6db3f2' : '#0b62b8'),
				back = rgbOf(isDark() ? '#0f141a' : '#ffffff');
			const bars = shown.map((p, i) => ({
				name: p.level === 1 ? '1 operation' : p.level + ' at once',
				value: p.value,
				color: mix(back, theme, 0.3 + (0.7 * i) / Math.max(1, shown.length)),
				go: () => openView('timeline'),
			}));
			if (rest > 0) bars.push({ name: 'more', value: rest, color: theme, go: () => openView('timeline') });
			return [
				el(
					'h2',
					null,
					'Operations at the same time ',
					el('small', null, 'GPU ' + number + ', of the ' + fmtNs(busy) + ' in which it was busy' + (state.index.shorter ? ' with the events that the timeline has' : '')),
				),
				...shareBar(bars, fmtNs),
			];
		})
		.filter(Boolean);
	return sections.length ? el('section', null, sections) : null;
}

function overviewView() {
	const about = state.about,
		body = el('div', { class: 'pad' }),
		node = el('div', { class: 'view', id: 'view-overview', tabIndex: -1 }, body),
		later = el('div');
	if (about.span === undefined) {
		body.append(el('h2', null, 'No CUDA call was recorded'), el('pre', null, spellLines(about.summary)));
		return { node, show() {} };
	}
	const draw = () => {
		for (const canvas of node.querySelectorAll('canvas[data-gpu]')) {
			const device = state.devices.get(+canvas.dataset.gpu);
			if (device) drawGpuStrip(canvas, device.union);
		}
	};
	const ready = () => {
		later.replaceChildren(concurrencySection() || '');
		draw();
	};
	fillOverview(about, body, later);
	return {
		node,
		show: draw,
		resize: draw,
		print: draw,
		ready,
		theme() {
			fillOverview(about, body, later);
			if (state.ready) ready();
		},
	};
}
const spellLines = (text) => text.replace(/[^\n -~\u00a0-\uffff]/g, spell);

/* Anew for each theme: colours are in it. */
function fillOverview(about, body, later) {
	const process = about.processes[0];
	body.replaceChildren(
		overviewCards(about),
		compareSection() || '',
		adviceSection(about) || '',
		gpuRows(about) || '',
		whereSection(about) || '',
		workSection() || '',
		later,
		el(
			'div',
			{ class: 'two' },
			miniTable('kernel', 'Kernels by GPU time', 'kernels'),
			miniTable('api', 'CUDA calls by time', 'tables'),
			miniTable('nvtx-gpu', 'Ranges, by the time of their GPU work', 'tables') ||
				miniTable('nvtx', 'Ranges', 'tables'),
			miniTable('copy-time', 'Copies and sets', 'tables'),
			gapSection(),
		),
		el('h2', null, 'As text'),
		el(
			'details',
			null,
			el('summary', null, 'The summary, as ', el('code', null, 'gpuprof summary'), ' prints it'),
			el('pre', null, spellLines(about.summary)),
		),
		el(
			'p',
			{ class: 'dim' },
			[
				process.command && 'command: ' + plain(process.command),
				process.host && 'host: ' + plain(process.host),
				about.clock,
				process.options && 'options: ' + plain(process.options),
				'gpuprof ' + plain(about.version),
			]
				.filter(Boolean)
				.join(' · '),
		),
	);
}
