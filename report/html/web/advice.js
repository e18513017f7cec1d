/* Overview: what to change, and when a GPU had nothing to do. */

/* A time in the timeline: of a gap, or of a call. */
function showGap(gap) {
	if (!state.ready) return;
	const a = state.index.zero + gap.Start,
		b = a + gap.Duration;
	openView('timeline');
	timeline.span = [a, b];
	timeline.show(a - gap.Duration * 0.2, b + gap.Duration * 0.2);
	describeSpan(timeline);
	/* what the host did meanwhile */
	const { y, h } = timeline.items.find((item) => item.track?.kind === 'python') || {};
	if (y + h > timeline.y + timeline.box.clientHeight - TOP) timeline.scroll(y + h - timeline.y - timeline.box.clientHeight + TOP);
}

/* An iteration of the main loop that took as long as most do; none where no loop was found. */
function usualIteration() {
	const passes = recordsOf('iteration').sort((a, b) => a.Wall - b.Wall);
	return passes[passes.length >> 1];
}

/*
 * What leads to where a finding can be seen: its longest call or idle time, the calls that it names, or an iteration where it is about the loop;
 * null: nothing does.
 */
function evidence(finding) {
	const pass = finding.savesInLoop * 2 > finding.saves && usualIteration(),
		call = /\b(cuda|cu)[A-Z]\w+/.exec(finding.found) || /\bmem(cpy|set)\b/i.exec(finding.found);
	if (finding.showFor) return () => showGap({ Start: finding.showAt, Duration: finding.showFor });
	if (!call && pass) return () => showGap({ Start: pass.Start, Duration: pass.Wall });
	if (!call) return null;
	return () => {
		openView('timeline');
		$('search').value = call[0];
		setSearch(call[0]);
		if (state.ready) nextMatch(timeline, 1);
	};
}

/* A first word that is a name, of a function or of code, stays as it is: cudaMalloc, a_kernel, lib::run, gpuprof. */
function beginning(text) {
	return plain(/^(?!gpuprof\b)[a-z]+(?![\w:<(])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);
}
const sentence = (text) => beginning(text) + '.';

/* What the text has between backticks, commands to type, is shown as such. */
function marked(text) {
	return text.split('`').map((part, i) => (i % 2 ? el('code', null, part) : part));
}

/* Of the findings of one rule so many stand with all that there is to say; of the others a line, as in `gpuprof advice`. */
const TOLD_WHOLLY = 3;
const savedBy = (f, about) =>
	el('div', { class: 'num worth' }, el('b', null, f.worth), ' ', el('span', { class: 'dim' }, f.saves > 0 ? fmtPercent(f.saves, about.adviceSpan) : ''));
const lead = (f) =>
	evidence(f)
		? el('button', { class: 'go', onclick: evidence(f), title: 'Its longest time, call or gap; or an iteration of the loop' }, 'see it in the timeline ›')
		: el('span');
function findingArticle(f, about) {
	const level = f.saves > 0.1 * about.adviceSpan ? 'high' : f.saves > 0.01 * about.adviceSpan ? 'medium' : 'low';
	return el(
		'article',
		{ class: level },
		savedBy(f, about),
		el(
			'div',
			null,
			el('b', null, plain(f.title)),
			el('span', { class: 'dim' }, f.when),
			el(
				'p',
				null,
				marked(beginning(f.found)),
				f.place ? ', at ' + plain(f.place) : null,
				f.callers ? ' < ' + plain(f.callers) : null,
				'.',
			),
			el('p', { class: 'change' }, '→ ', marked(sentence(f.change))),
			el(
				'details',
				null,
				el('summary', null, 'what it means, and when to ignore it'),
				el('p', null, marked(plain(f.meaning))),
				el('p', null, marked('Ignore it: ' + plain(f.ignore))),
				el('p', null, el('code', null, 'gpuprof explain ' + f.id)),
			),
		),
		lead(f),
	);
}
const findingLine = (f, about) =>
	el('article', { class: 'line' }, savedBy(f, about), el('div', null, plain(f.title) + ': ', f.place ? 'the same at ' + plain(f.place) : marked(plain(f.found))), lead(f));

/* Of a command that the page has the table of: that, in its place. */
function noteOf(line) {
	const [told] = line.split(': gpuprof summary --by failure FILE'),
		[first] = recordsOf('failure');
	if (told === line || !first) return marked(beginning(line));
	return [beginning(told) + ': ' + failureOf(first) + ' ', el('button', { class: 'go', onclick: () => openView('tables', 'failure') }, 'all ›')];
}

function adviceSection(about) {
	if (!about.advice) return null;
	const lines = about.adviceNotes.trim().split('\n').filter(Boolean).map((line) => el('p', { class: 'dim' }, noteOf(line.trim()))),
		notes = el('div', { class: 'notes' }, lines),
		isToldWholly = (f, i) => about.advice.slice(0, i).filter((before) => before.id === f.id).length < TOLD_WHOLLY;
	if (!about.advice.length) return section('What to change', '', notes);
	return section(
		'What to change',
		'what it could save at most, of ' +
			fmtNs(about.adviceSpan) +
			(about.loop
				? ', of which ' + (about.loop * 2 >= about.adviceSpan ? 'the main loop of ' : 'a loop of ') + fmtCount(about.loopPasses) + ' iterations took ' + fmtNs(about.loop)
				: ''),
		el('div', { class: 'advice' }, about.advice.map((f, i) => (isToldWholly(f, i) ? findingArticle : findingLine)(f, about))),
		notes,
	);
}

/* The longest times in which a GPU had nothing to do. */
function gapSection() {
	const gaps = recordsOf('gap').slice(0, 6);
	if (!gaps.length || gaps[0].Start === undefined) return null;
	const several = (state.about.devices || []).length > 1,
		heads = ['Between', several && 'GPU', 'Cause', 'At', 'For'].filter(Boolean);
	return section(
		several ? 'Longest idle times of the GPUs' : 'Longest idle times of the GPU',
		el('button', { class: 'go', onclick: () => openView('tables', 'gap') }, 'all'),
		el(
			'table',
			{ class: 'mini names' },
			el(
				'thead',
				null,
				el(
					'tr',
					null,
					heads.map((title) => el('th', null, title)),
				),
			),
			el(
				'tbody',
				null,
				gaps.map((gap) =>
					el(
						'tr',
						{
							tabIndex: 0,
							onclick: () => showGap(gap),
							onkeydown: (e) => {
								if (e.key === 'Enter') showGap(gap);
							},
						},
						el(
							'td',
							{
								title: plain(
									(gap.Before || 'the start') +
										' → ' +
										(gap.After || 'the end'),
								),
							},
							el(
								'span',
								{ class: 'cut' },
								el('span', null, plain(gap.Before || 'the start')),
								el('span', { class: 'end' }, el('span', { class: 'dim' }, ' → '), plain(gap.After || 'the end')),
							),
						),
						several ? el('td', null, gap.Device) : null,
						el('td', null, plain(gap.Cause)),
						el('td', null, '+' + fmtNs(gap.Start)),
						el('td', null, fmtNs(gap.Duration)),
					),
				),
			),
		),
	);
}
