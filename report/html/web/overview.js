/* Overview: the summary. */

function tableOf(word) {
	return state.tables.find((table) => table.word === word) || state.diff.find((table) => table.word === word);
}
const recordsByTable = new WeakMap();
/* The rows of a table as objects by column title, made once: not to be changed. */
function recordsOf(word) {
	const table = tableOf(word);
	if (!table) return [];
	if (!recordsByTable.has(table))
		recordsByTable.set(
			table,
			table.rows.map((row) => Object.fromEntries(table.columns.map(([title], c) => [title, row[c]]))),
		);
	return recordsByTable.get(table);
}

/* lead: [text of the button, view, ...arguments of the view]. */
function card(title, value, notes, [there, ...where]) {
	return el(
		'div',
		{ class: 'card' },
		el('h3', null, title),
		el('strong', { class: 'num' }, value),
		notes.filter(Boolean).map((note) => el('p', { title: note }, note)),
		el('button', { class: 'go', onclick: () => openView(...where) }, there + ' ›'),
	);
}

const isBusyKnown = (device, doubt) => device.possible_ns && (device.busy_ns || !doubt);
function busyText(device, doubt) {
	if (!isBusyKnown(device, doubt)) return 'not known';
	return (doubt ? '≥ ' : '') + fmtPercent(device.busy_ns, device.possible_ns);
}
const busySentence = (device, doubt) => busyText(device, doubt).replace(/ %$/, ' % busy');

/* Devices with operations: one that the program never used does not count as idle. */
function usedDevices(about) {
	const devices = about.devices || [],
		used = devices.filter((d) => d.operations > 0);
	return used.length ? used : devices;
}

/* The sentences of a section; none in a page without calls. */
const sentences = (rows) => (rows || []).map((row) => plain(row.text));
const leftText = () => sentences(state.about.left).join('; ');

/* The end of the time, if it is not a call. */
const lastOf = (about) => (about.ends_with === 'call' ? '' : about.ends_with);

function overviewCards(about) {
	const devices = usedDevices(about),
		unused = (about.devices || []).length - devices.length,
		busy = devices.reduce((s, d) => s + d.busy_ns, 0),
		possible = devices.reduce((s, d) => s + d.possible_ns, 0),
		isKnown = isBusyKnown({ busy_ns: busy, possible_ns: possible }, about.doubt);
	const peak = (about.memory || [])
		.filter((row) => row.device !== undefined && row.kind === 'all')
		.sort((a, b) => b.peak_bytes - a.peak_bytes)[0];
	/* a lower bound if operations may be missing */
	const atLeast = (text, isAny) => (!about.doubt ? text : isAny ? '≥ ' + text : 'not known');
	const cards = [
		card(
			'Time',
			fmtNs(about.span_ns),
			[
				lastOf(about)
					? 'first CUDA call to last ' + lastOf(about)
					: about.has_pauses
						? 'first to last recorded CUDA call'
						: 'first to last CUDA call',
				about.processes.length > 1 ? about.processes.length + ' processes' : 'pid ' + about.processes[0].pid,
			],
			['Timeline', 'timeline'],
		),
		card(
			devices.length > 1 ? 'GPUs busy' : 'GPU busy',
			busyText({ busy_ns: busy, possible_ns: possible }, about.doubt),
			[
				isKnown ? fmtNs(busy) + ' of ' + fmtNs(possible) : '',
				about.doubt || (possible ? fmtPercent(possible - busy, possible) + ' idle' : ''),
				unused ? counted(unused, 'GPU') + ' without operations not counted' : '',
				about.has_pauses ? 'while recording was on' : '',
			],
			tableOf('gap') ? ['Idle gaps', 'tables', 'gap'] : ['Timeline', 'timeline'],
		),
		card(
			'Kernels',
			atLeast(fmtCount(about.kernels), about.kernels),
			[
				about.launches || !about.graph_launches ? counted(about.launches, 'launch', 'launches') : '',
				about.graph_launches ? counted(about.graph_launches, 'graph launch', 'graph launches') : '',
				about.graphs ? counted(about.graphs, 'whole graph') : '',
			],
			['Each by name', 'kernels'],
		),
		card('GPU time', atLeast(fmtNs(about.gpu_ns), about.gpu_ns), ['sum of kernels, copies and memsets'], ['Flame graph', 'flame']),
		card(
			'Copies',
			atLeast(fmtBytes(about.copy_bytes), about.copies),
			about.doubt && !about.copies && !about.memsets ? [] : [counted(about.copies, 'copy', 'copies') + ', ' + counted(about.memsets, 'memset')],
			['By direction', 'tables', 'copy-size'],
		),
		card(
			'CUDA calls',
			fmtCount(about.calls),
			[fmtNs(about.call_ns) + ' in total', failedText(about)],
			about.failures && tableOf('failure') ? ['Failed calls', 'tables', 'failure'] : ['Each by name', 'tables', 'api'],
		),
	];
	if (peak && peak.peak_bytes > 0)
		cards.push(
			card(
				'Peak memory',
				fmtBytes(peak.peak_bytes),
				[(devices.length > 1 ? 'GPU ' + peak.device + ' ' : '') + 'at +' + fmtNs(peak.at_ns), elsewhereText(about, peak), leftText()],
				['Owners', 'memory'],
			),
		);
	else cards.push(...allocatorCard(devices.length > 1));
	return el('div', { class: 'cards' }, stepCard(about), cards);
}

/* If the trace has no CUDA allocations: the memory of PyTorch's allocator. */
function allocatorCard(isOneOfMany) {
	const most = recordsOf('memory-pool')
		.filter((row) => !row.Pool && row['Most used'] > 0)
		.sort((a, b) => b['Most used'] - a['Most used'])[0];
	if (!most) return [];
	return [
		card(
			'Peak of tensors',
			fmtBytes(most['Most used']),
			[isOneOfMany ? 'GPU ' + most.Device : '', fmtBytes(most.Reserved) + ' reserved by PyTorch’s allocator'],
			['Over time', 'memory'],
		),
	];
}

/* Memory outside GPUs is not in the peak of a GPU, but may be kept or never freed: shown if it is large enough. */
function elsewhereText(about, { peak_bytes: peak }) {
	const rows = about.memory.filter((row) => row.device === undefined && row.peak_bytes > peak / 1000);
	return rows.length ? 'besides ' + rows.map((row) => fmtBytes(row.peak_bytes) + ' ' + row.kind).join(', ') : '';
}

/* The number of failed calls, and the first kind. */
function failedText(about) {
	const first = recordsOf('failure')[0];
	if (!about.failures) return '';
	return fmtCount(about.failures) + ' failed' + (first ? ': ' + failureOf(first) + (first.Count < about.failures ? ', ...' : '') : '');
}
const failureOf = (row) => plain(row.Name + ' (' + row.Meaning + ')' + (row['Call site'] ? ', at ' + row['Call site'] : ''));

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
			parts.map((part) =>
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

/* Kernels by kind, without copies, memsets and autotuning: shares as in the summary. */
const TUNING = 'autotuning',
	MOST_KINDS = 14,
	kernelKinds = () => recordsOf('kind').filter((row) => row.Total > 0 && !['memcpy', 'memset', 'graph, launched whole', TUNING].includes(row.Kind));

/* Kinds with the same hue differ in shade. */
function gpuTimeByKind() {
	const seen = {},
		rows = kernelKinds(),
		rest = rows.slice(MOST_KINDS).reduce((sum, row) => sum + row.Total, 0),
		others = { name: 'others', value: rest, color: hueOf('call'), go: () => openView('tables', 'kind') };
	return rows
		.slice(0, MOST_KINDS)
		.map((row) => {
			const group = KIND_GROUPS[row.Kind] || 'other',
				shade = (seen[group] = (seen[group] ?? -1) + 1);
			return {
				name: row.Kind,
				value: row.Total,
				color: mix(hueOf(group), isDark() ? [0, 0, 0] : [255, 255, 255], Math.min(0.66, shade * 0.22)),
				go: () => openView('tables', 'kind', row.Kind),
			};
		})
		.concat(rest > 0 ? [others] : []);
}

/* If most kernels are of unknown kind: the longest ones, each with its own color. */
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
	const kinds = kernelKinds(),
		total = kinds.reduce((sum, row) => sum + row.Total, 0),
		unknown = kinds.find((row) => row.Kind === 'unknown')?.Total || 0,
		without = recordsOf('kind').some((row) => row.Kind === TUNING) ? ', without autotuning' : '',
		named = unknown > total / 2,
		parts = named ? gpuTimeByName() : gpuTimeByKind();
	if (!parts.length) return null;
	const title = named
		? ['GPU time by operation']
		: ['Kernels by kind of work ', el('small', null, 'by their names; shares of ' + fmtNs(total) + ' kernel time' + without)];
	return el('section', null, el('h2', null, ...title), ...shareBar(parts, fmtNs));
}

/* If there are more GPUs, they are drawn as a heat map, and summed up in one bar. */
const MANY_GPUS = 8,
	hasManyGpus = (about) => usedDevices(about).length > MANY_GPUS,
	/* with still more, a row is a thin line, and each eighth is named: 512 fit on two screens */
	DENSE_GPUS = 32,
	DENSE_NAMED = 8,
	isDense = (about) => usedDevices(about).length > DENSE_GPUS,
	heightOfGpu = (about) => (isDense(about) ? 4 : hasManyGpus(about) ? 12 : 44);

/* The rows of several GPUs' states, added up by class and cause. */
function sumStates(rows) {
	const sums = new Map();
	for (const row of rows) {
		const key = row.classes ?? row.idle_cause;
		sums.set(key, { ...row, time_ns: row.time_ns + (sums.get(key)?.time_ns || 0) });
	}
	return [...sums.values()];
}

/* For each GPU, or for all together if there are many: times of work and idle causes. */
function whereSection(about) {
	const theme = isDark() ? 'dark' : 'light';
	const devices = (about.devices || []).filter((d) => d.possible_ns > 0 && (d.operations > 0 || !about.doubt));
	if (!devices.length) return null;
	const groups = devices.length > MANY_GPUS ? [devices] : devices.map((d) => [d]);
	const bars = groups.map((group) => {
		const numbers = new Set(group.map((d) => d.number)),
			states = sumStates(about.states.filter((row) => numbers.has(row.device))),
			parts = states
				.filter((row) => row.classes)
				.map(({ classes, time_ns: value }) => ({
					name: STATE_NAMES[classes],
					value,
					color: rgbOf(STATE_COLORS[theme][classes]),
					go: () => openView('timeline'),
				})),
			causes = states
				.filter((row) => row.idle_cause)
				.map(({ idle_cause: cause, text, time_ns: value }) => ({
					name: 'idle: ' + text,
					value,
					color: rgbOf(IDLE_COLORS[theme][about.causes.indexOf(cause)]),
					class: 'idle',
					go: () => openView('tables', 'gap'),
				}))
				.sort((a, b) => b.value - a.value);
		parts.push(...causes);
		return [
			group.length > 1 ? el('h3', null, group.length + ' GPUs') : devices.length > 1 ? el('h3', null, nameOfGpu(group[0])) : null,
			...shareBar(parts, fmtNs),
		];
	});
	return section(
		'Where the GPU’s time went',
		about.doubt
			? about.doubt + ': idle times are upper bounds'
			: about.has_pauses
				? 'while recording was on and no earlier operation was running'
				: lastOf(about)
					? 'from the first CUDA call to the last ' + lastOf(about)
					: 'from the first CUDA call to the last',
		bars,
		sentences(about.outliers).map((text) => el('p', { class: 'dim outlier' }, 'outlier ' + text)),
	);
}

/* The largest rows of a table, by the first column with a time; a row opens its place in the view. */
function miniTable(word, title, view, columns = ['Time %', 'Total', 'Count', 'Avg'], shortOf = (name) => name) {
	const table = tableOf(word),
		limit = 10;
	if (!table) return null;
	const by = columns.find((column) => !column.endsWith('%')),
		all = recordsOf(word).filter((row) => row[by] > 0),
		rows = all.sort((a, b) => b[by] - a[by]).slice(0, limit),
		named = table.columns[nameColumn(table)][0],
		marks = marksOf(rows.map((row) => plain(shortOf(String(row[named]))))),
		unitOf = Object.fromEntries(table.columns.map(([name, unit, , isReal]) => [name, [unit, isReal]]));
	if (!rows.length) return null;
	const line = (row) => {
		const name = String(row[named]),
			go = () => openView(view, word, name);
		return el(
			'tr',
			{ tabIndex: 0, onclick: go, onkeydown: (e) => e.key === 'Enter' && go() },
			nameCell(swatch(colorOf(kindOfRow(word, name), name)), shortOf(name), name, marks.get(plain(shortOf(name)))),
			columns.map((column) =>
				el(
					'td',
					column === by ? { class: 'share', style: { '--w': (100 * row[by]) / rows[0][by] + '%' } } : null,
					fmtUnit(row[column], ...unitOf[column]),
				),
			),
		);
	};
	const heads = ['Name', ...columns].map((text) => el('th', null, text));
	return section(
		title,
		[
			table.all > rows.length ? rows.length + ' of ' + fmtCount(table.all) + ' ' : '',
			el('button', { class: 'go', onclick: () => openView(view, word) }, 'all'),
		],
		el('table', { class: 'mini names' }, el('thead', null, el('tr', null, heads)), el('tbody', null, rows.map(line))),
	);
}
/* The least height of a mark in pixels. */
const LEAST_MARK = 4;
const LEAST_ALPHA = 0.2;

/* The activity of a GPU over time, as height or as intensity; known once the events are read. */
function drawGpuStrip(canvas, union, about) {
	const isHeat = hasManyGpus(about),
		width = (canvas.parentNode.clientWidth && canvas.clientWidth) || 600,
		height = heightOfGpu(about),
		{ ctx } = fitCanvas(canvas, width, height),
		columns = Math.floor(width),
		[from, until] = callsTime(),
		step = (until - from) / columns;
	canvas.style.width = '100%';
	ctx.clearRect(0, 0, width, height);
	ctx.fillStyle = css('--accent');
	busyColumns(union, from, step, columns, (x, share) => {
		if (isHeat) ctx.globalAlpha = LEAST_ALPHA + (1 - LEAST_ALPHA) * share;
		ctx.fillRect(x, isHeat ? 0 : height - Math.max(LEAST_MARK, share * height), 1, height);
	});
}

const nameOfGpu = (device) =>
	(device.process && state.about.processes.length > 1 ? plain(device.process) + ' ' : '') + 'GPU ' + device.number;

function gpuRows(about) {
	const devices = about.devices || [],
		isHeat = hasManyGpus(about),
		dense = isDense(about),
		isNamed = (index) => !dense || index % DENSE_NAMED === 0;
	if (!devices.length) return null;
	return section(
		'GPU activity over time',
		(isHeat ? 'color' : 'height') +
			': share of the time with at least one operation, 0 to 100 %; a mark if it is small; click: show it in the timeline',
		el(
			'div',
			{ class: dense ? 'gpus heat dense' : isHeat ? 'gpus heat' : 'gpus' },
			devices.map((device, index) =>
				el(
					'div',
					{ class: 'gpu', title: dense ? nameOfGpu(device) + ', ' + busySentence(device, about.doubt) : null },
					el(
						'div',
						null,
						!isNamed(index) ? null : [
						el('b', null, isHeat && device.process ? plain(device.process) : nameOfGpu(device)),
						' ',
						isHeat && device.process ? 'GPU ' + device.number : plain(shortDevice(device.name || '')),
						isHeat ? null : el('br'),
						isHeat ? null : el(
							'span',
							{ class: 'dim' },
							[
								device.which && plain(device.which),
								device.sms && device.sms + ' SMs',
								device.memory_bytes && fmtBytes(device.memory_bytes),
								device.major && 'compute capability ' + device.major + '.' + device.minor,
							]
								.filter(Boolean)
								.join(', '),
						)],
					),
					el('canvas', {
						'data-gpu': device.number,
						role: 'img',
						'aria-label': nameOfGpu(device) + ', ' + busySentence(device, about.doubt),
						onclick: (e) => {
							if (!state.ready) return;
							const box = e.target.getBoundingClientRect(),
								[from, until] = callsTime(),
								t = from + ((e.clientX - box.left) / box.width) * (until - from);
							openView('timeline');
							timeline.show(t - state.end / 40, t + state.end / 40);
						},
					}),
					el(
						'div',
						{ class: 'num' },
						dense ? null : [el('b', null, busySentence(device, about.doubt)),
						isHeat ? ' ' : el('br'),
						el(
							'span',
							{ class: 'dim' },
							isBusyKnown(device, about.doubt) ? fmtNs(device.busy_ns) + ' of ' + fmtNs(device.possible_ns) : '',
						)],
					),
				),
			),
		),
	);
}

const MOST_RANKS = 50;

/* The ranks of a job: how many there are, and those that differ from the median. */
function ranksSection(about) {
	const [job, ...others] = about.ranks || [];
	if (!job) return null;
	const differing = others.filter((row) => row.id === 'differs'),
		rows = differing.slice(0, MOST_RANKS),
		clocks = others.filter((row) => row.id === 'clock');
	const columns = [
		['Rank', 'rank', String],
		['Step', 'step_ns', fmtNs],
		['Computing', 'computing_ns', fmtNs],
		['Communicating', 'communicating_ns', fmtNs],
		['Held up', 'held_up_ns', fmtNs],
		['Peak memory', 'peak_bytes', fmtBytes],
		['Host', 'host', plain],
		['Ended', 'ended', plain],
		['Differs in', 'text', plain],
	];
	const known = columns
		.map(([title, id, format]) => [title, rows.map((row) => (row[id] == null ? '' : format(row[id])))])
		.filter(([, texts]) => texts.some((text) => !['', '-', '0B'].includes(text)));
	return section(
		'Ranks',
		[
			fmtCount(job.ranks) + (job.world_size ? ' of ' + fmtCount(job.world_size) : ''),
			job.wanted ? ' (--ranks ' + job.wanted + ')' : '',
			job.without_trace ? '; no trace of rank' + (/[-,]/.test(job.without_trace) ? 's ' : ' ') + job.without_trace : '',
			clocks.length === 0
				? ''
				: clocks.some((clock) => clock.ahead_ns == null)
					? '; not all clocks of hosts are aligned'
					: '; clocks of hosts are aligned within ' + fmtNs(Math.max(...clocks.map((clock) => clock.error_ns))),
			'; ',
			rows.length
				? (rows.length < differing.length ? 'the first ' + rows.length + ' of ' + fmtCount(differing.length) + ' ' : '') +
					'ranks that differ from the median, or are incomplete'
				: 'no rank differs from the median',
			' ',
			el('button', { class: 'go', onclick: () => openView('tables', 'rank') }, 'all'),
		],
		job.gain_ns
			? el('p', null, `If no rank came later to an operation than the median of its group, the job would take ${fmtPercent(job.gain_ns, job.gain_of_ns)} less time (± ${fmtPercent(job.gain_error_ns, job.gain_of_ns)}).`)
			: null,
		rows.length
			? el(
					'table',
					{ class: 'mini ranks' },
					el('thead', null, el('tr', null, known.map(([title]) => el('th', null, title)))),
					el('tbody', null, rows.map((_, i) => el('tr', null, known.map(([, texts]) => el('td', null, texts[i]))))),
				)
			: null,
	);
}

/* The number of parallel operations, and their times. */
function concurrencySection() {
	const sections = [...state.devices]
		.map(([number, device]) => {
			const levels = device.union.levels,
				parts = [],
				busy = busyBetween(device.union, ...callsTime());
			if (!levels.some((ns, level) => level > 1 && ns > 0)) return null;
			for (let level = 1; level < levels.length; level++)
				if (levels[level] > 0) parts.push({ level, value: levels[level] });
			const shown = parts.slice(0, 5),
				rest = parts.slice(5).reduce((s, p) => s + p.value, 0);
			const theme = rgbOf(isDark() ? '#6db3f2' : '#0b62b8'),
				back = rgbOf(isDark() ? '#0f141a' : '#ffffff');
			const bars = shown.map((p, i) => ({
				name: p.level === 1 ? '1 operation' : p.level + ' in parallel',
				value: p.value,
				color: mix(back, theme, 0.3 + (0.7 * i) / Math.max(1, shown.length)),
				go: () => openView('timeline'),
			}));
			if (rest > 0) bars.push({ name: 'more', value: rest, color: theme, go: () => openView('timeline') });
			return [
				el(
					'h2',
					null,
					'Operations in parallel ',
					el('small', null, 'GPU ' + number + ', of its busy time of ' + fmtNs(busy) + (state.index.grouped ? ', by the events in the timeline' : '')),
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
		found = el('div', { class: 'pad foundbox' }),
		node = el('div', { class: 'view', id: 'view-overview', tabIndex: -1 }, found, body),
		later = el('div'),
		search = (text) => searchOverview(found, text);
	if (about.span_ns === undefined) {
		body.append(el('h2', null, 'No CUDA call was recorded'), el('pre', null, spellLines(about.summary)));
		return { node, show() {} };
	}
	const draw = () => {
		for (const canvas of node.querySelectorAll('canvas[data-gpu]')) {
			const device = state.devices.get(+canvas.dataset.gpu);
			if (device) drawGpuStrip(canvas, device.union, state.about);
		}
		node.querySelector('canvas[data-ranks]')?.drawMap();
		for (const canvas of node.querySelectorAll('canvas[data-steps]')) drawSteps(canvas, stepRows(about), about.steps[0].median_ns);
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
			search(state.search);
		},
		search,
	};
}
/* Finds nothing before the whole file is read; the search is repeated then. */
function searchOverview(box, text) {
	box.replaceChildren();
	if (!matcherOf(text) || !state.ready) return '';
	const [node, words] = foundSection(text);
	box.append(node);
	box.scrollIntoView({ block: 'nearest' });
	return words;
}
const spellLines = (text) => text.replace(/[^\n -~\u00a0-\uffff]/g, spell);

/* Drawn again for each theme, as it contains colors. */
function fillOverview(about, body, later) {
	const process = about.processes[0];
	body.replaceChildren(
		overviewCards(about),
		compareSection() || '',
		stepsSection(about) || '',
		adviceSection(about) || '',
		ranksSection(about) || '',
		rankMapSection(about) || '',
		gpuRows(about) || '',
		whereSection(about) || '',
		workSection() || '',
		later,
		el(
			'div',
			{ class: 'two' },
			miniTable('gpu', 'GPU activities by time', 'kernels'),
			miniTable('api', 'CUDA calls by time', 'tables'),
			miniTable('nvtx-gpu', 'Ranges by GPU time of their operations', 'tables', ['GPU time', 'GPU ops', 'Count', 'Range time']),
			miniTable('nvtx', 'Ranges by own time, without inner ranges', 'tables', ['Self', 'Total', 'Count', 'Avg']) ||
				miniTable('nvtx', 'Ranges', 'tables'),
			miniTable('copy-time', 'Copies and memsets', 'tables', undefined, (name) => name.replace(/^\[(?:memcpy )?(.*)\]$/, '$1')),
			gapSection(),
		),
		el('h2', null, 'As text'),
		el(
			'details',
			null,
			el('summary', null, 'The output of ', el('code', null, 'gpuprof summary --full')),
			el('pre', null, spellLines(about.summary)),
		),
		el(
			'p',
			{ class: 'dim' },
			[
				process.command && 'command: ' + plain(process.command),
				process.host && 'host: ' + plain(process.host),
				about.clock,
				process.options && 'options: ' + plain(process.options.trim().replace(/\n/g, ', ')),
				'gpuprof ' + plain(about.version),
			]
				.filter(Boolean)
				.join(' · '),
		),
	);
}
