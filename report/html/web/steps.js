/* Overview: the steps of the main loop, and the parts of the run around them. */

const PART_NAMES = {
	startup: 'startup',
	'warm-up': 'warm-up',
	steady: 'steady state',
	slow: 'slow steps',
	between: 'between steps',
	shutdown: 'shutdown',
};
const PART_HUES = { startup: 'library', 'warm-up': 'call', steady: 'elementwise', slow: 'norm', between: 'overhead', shutdown: 'library' };

/* In a trace without its end, it is not known what came after the steps. */
function nameOfPart(about, part) {
	return part === 'shutdown' && about.incomplete?.length ? 'after the steps' : PART_NAMES[part];
}

/* The rows of the shown process on its first GPU, in order. */
function stepRows({ steps: [steps] }) {
	const process = processOfSteps(steps),
		rows = recordsOf('iteration').filter((row) => isOfProcess(row, process));
	return rows.filter((row) => row.Device === rows[0].Device).sort((a, b) => a.Number - b.Number);
}

/* "first 5,000 of 7,953 steps" if the page has not all of them; else "". */
function cutSteps({ steps: [{ step_count: count }] }, rows) {
	const { all, rows: kept } = tableOf('iteration') || { all: 0, rows: [] };
	return kept.length < all ? 'first ' + fmtCount(rows.length) + ' of ' + fmtCount(count) + ' steps' : '';
}

/* A step of usual length, to look at; undefined if no loop was found. */
function usualStep() {
	const [{ median_ns: median } = {}] = state.about.steps || [],
		differs = (row) => Math.abs(row.Wall - median) + (row.Part === 'steady' ? 0 : 1e18);
	return median ? stepRows(state.about).reduce((a, b) => (a && differs(a) <= differs(b) ? a : b), undefined) : undefined;
}

function showStepTip(event, row) {
	showTip(event.clientX, event.clientY, 'step ' + row.Number, [
		fmtNs(row.Wall) + ', ' + row.Part,
		'GPU ' + inPercent(row['Busy %']) + ' % busy',
		row['Most idle by'] && 'most idle: ' + row['Most idle by'] + ', ' + fmtNs(row['Idle by it']),
	]);
}

/* The steps that a column of the chart stands for: of several the longest one is drawn. */
const stepsPerColumn = (rows, width) => Math.max(1, Math.ceil((rows.length * 2) / width));

/* The longest step that is drawn whole, in medians: usual ones beside an evaluation stay visible. */
const TALLEST_STEP = 6;

/* A bar for each step: its height is its time; longer ones, and those of the warm-up, are cut off. */
function drawSteps(canvas, rows, median) {
	const width = (canvas.parentNode.clientWidth && canvas.clientWidth) || 600,
		height = 60,
		{ ctx } = fitCanvas(canvas, width, height),
		each = stepsPerColumn(rows, width),
		step = width / Math.ceil(rows.length / each),
		longest = rows.reduce((longest, row) => (row.Part === 'warm-up' ? longest : Math.max(longest, row.Wall)), 1),
		most = Math.min(longest, median > 0 ? TALLEST_STEP * median : longest);
	canvas.style.width = '100%';
	ctx.clearRect(0, 0, width, height);
	for (let i = 0; i < rows.length; i += each) {
		const row = rows.slice(i, i + each).reduce((a, b) => (b.Wall > a.Wall ? b : a)),
			bar = Math.max(1, Math.min(1, row.Wall / most) * height);
		ctx.fillStyle = hexOf(hueOf(PART_HUES[row.Part]));
		ctx.fillRect((i / each) * step, height - bar, Math.max(1, step - (step > 3 ? 1 : 0)), bar);
	}
}

const PHASE_HUES = {
	'data loading': 'python',
	'host-to-device': 'copy',
	forward: 'gemm',
	backward: 'attention',
	'gradient clipping, scaling': 'norm',
	optimizer: 'reduce',
	communication: 'comm',
	evaluation: 'other',
	checkpoint: 'mem',
	logging: 'sync',
	other: 'call',
};
/* The user's functions in place of phases have hues by turns. */
const FUNCTION_HUES = ['gemm', 'attention', 'reduce', 'norm', 'elementwise', 'python', 'mem', 'comm'];
const phaseHue = (name) =>
	hueOf(PHASE_HUES[name] || FUNCTION_HUES[Math.max(0, recordsOf('phase').findIndex((row) => row.Phase === name)) % FUNCTION_HUES.length]);

/* A legend of at most 8 names: the first one follows the title. */
const namedColors = (title, colors) => colors.slice(0, 8).map(([name, color], i) => el('span', null, i ? '' : title + ': ', swatch(color), ' ' + plain(name)));
/* Of the row of steps in the timeline, by the parts that have steps. */
const stepColors = () =>
	namedColors(
		'steps',
		['warm-up', 'steady', 'slow'].filter((name) => state.about.parts?.some(({ part }) => part === name)).map((name) => [name, hueOf(PART_HUES[name])]),
	);
/* Of the rows of phases, by the host's time. */
const phaseColors = () =>
	namedColors(
		'phases',
		[...new Set([...recordsOf('phase')].sort((a, b) => b.Host - a.Host).map((row) => row.Phase))].map((name) => [name, phaseHue(name)]),
	);

/* What the host did in the steps; null: that is not known. */
function phaseBar({ steps: [steps] }) {
	const process = processOfSteps(steps),
		rows = recordsOf('phase').filter((row) => row.Host > 0 && isOfProcess(row, process));
	if (!rows.length) return null;
	return [
		el('h3', null, 'Host time of the steps by phase'),
		...shareBar(
			rows
				.sort((a, b) => b.Host - a.Host)
				.map((row) => ({
					name: row.Phase,
					value: row.Host,
					color: phaseHue(row.Phase),
					go: () => openView('tables', 'phase', row.Phase),
				})),
			fmtNs,
		),
	];
}

/* The step's time, and how busy the GPU is once the loop runs steadily. */
function stepCard({ steps: [found] = [], parts = [], doubt }) {
	if (!found) return [];
	const steady = parts.find((part) => part.part === 'steady');
	return [
		card(
			'Step',
			fmtNs(found.median_ns),
			[
				'median of ' + fmtCount(found.step_count) + '; ' + fmtNs(found.mean_ns) + ' on average after the warm-up',
				steady?.busy_ns ? 'GPU ' + (doubt ? '≥ ' : '') + fmtPercent(steady.busy_ns, steady.time_ns) + ' busy in the steady state' : '',
			],
			['Each', 'tables', 'iteration'],
		),
	];
}

function stepsSection(about) {
	if (!about.steps?.length) return null;
	const [found] = about.steps,
		rows = stepRows(about),
		cut = cutSteps(about, rows),
		parts = about.parts
			.filter((part) => part.time_ns > 0)
			.map((part) => ({
				name: nameOfPart(about, part.part) + (part.step_count ? ' (' + fmtCount(part.step_count) + ')' : ''),
				value: part.time_ns,
				color: hueOf(PART_HUES[part.part]),
				go: () => openView('tables', 'iteration'),
			})),
		rowAt = (e) => {
			const box = e.target.getBoundingClientRect();
			return rows[Math.floor(((e.clientX - box.left) / box.width) * rows.length)];
		},
		chart = el('canvas', {
			'data-steps': '',
			role: 'img',
			'aria-label': 'the time of each step',
			onclick: (e) => rowAt(e) && showGap(rowAt(e)),
			onpointermove: (e) => {
				const row = rowAt(e);
				if (row) showStepTip(e, row);
			},
			onpointerleave: hideTip,
		});
	return section(
		'Steps',
		(about.processes.length > 1 ? 'of ' + nameOfProcess(processOfSteps(found)) + ', ' : '') +
			(found.found_by === 'ranges' ? 'marked by ranges' : 'found by repeating operations') + '; height: time of a step, up to ' + TALLEST_STEP + ' medians; click: show it in the timeline' + (cut && '; the ' + cut),
		rows.length > 1 ? el('div', { class: 'steps' }, chart) : null,
		...shareBar(parts, fmtNs),
		...(phaseBar(about) || []),
	);
}
