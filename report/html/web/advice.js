/* Overview: advice, and the longest idle gaps. */

/* Select the time of a row in the timeline: a gap, a call or a step. */
function showGap(gap) {
	if (!state.ready) return;
	const duration = gap.Duration ?? gap.Wall,
		a = state.index.zero + gap.Start,
		b = a + duration;
	openView('timeline');
	timeline.show(a - duration * 0.2, b + duration * 0.2);
	selectTime(timeline, a, b);
	/* the work of the host meanwhile */
	const { y, h } = timeline.items.find((item) => item.track?.kind === 'python') || {};
	if (y + h > timeline.y + timeline.box.clientHeight - TOP) timeline.scroll(y + h - timeline.y - timeline.box.clientHeight + TOP);
}

/*
 * The time that a finding is about: a call or idle gap with a usual cost, if it recurs in the main loop,
 * else its longest one; or a usual step; undefined: there is nothing to show.
 */
function evidence(finding) {
	if (finding.show_ns) return { Start: finding.show_at_ns, Duration: finding.show_ns };
	return finding.recurs && finding.saves_ns > 0 ? usualStep() : undefined;
}

/* Capitalize the first word, unless it is a name: cudaMalloc, a_kernel, lib::run, gpuprof. */
function beginning(text) {
	return plain(/^(?!gpuprof\b)[a-z]+(?![\w:<(])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);
}
const sentence = (text) => beginning(text) + '.';

/*
 * Text with links instead of commands that print what the page has, as its reader may have no trace
 * file; other text between backticks is code.
 */
const COMMAND = /`?gpuprof (?:summary --(?:by )?([a-z,-]+)|trace \w+|export)(?: --top \d+)?(?: FILE)?`?/;
function linked(text) {
	const found = COMMAND.exec(text);
	if (!found) return text.split('`').map((part, i) => (i % 2 ? el('code', null, part) : part));
	const places = (found[1] || 'timeline').split(',').map((word) => LINKS[word] || (tableOf(word) ? [tableOf(word).title, 'tables', word] : LINKS.timeline));
	return [
		linked(text.slice(0, found.index)),
		places.map(([title, ...where], i) => [i ? ', ' : '', el('button', { class: 'go', onclick: () => openView(...where) }, plain(title))]),
		linked(text.slice(found.index + found[0].length)),
	].flat(Infinity);
}
const LINKS = { timeline: ['timeline', 'timeline'], memory: ['memory', 'memory'], stack: ['flame graph', 'flame'], 'stack-api': ['flame graph', 'flame'], caller: ['flame graph', 'flame'] };

const TOLD_WHOLLY = 3;
const savedBy = (f) =>
	el('div', { class: 'num worth' }, el('b', null, f.worth), ' ', el('span', { class: 'dim' }, f.saves_ns > 0 ? fmtPercent(f.worth_share, 1) : ''));
const lead = (f) =>
	evidence(f)
		? el('button', { class: 'go see', onclick: () => showGap(evidence(f)), title: 'A call or idle gap with a usual cost, the longest one, or a usual step of the main loop' }, 'see it in the timeline ›')
		: el('span');
function findingArticle(f, advice) {
	const level = f.worth_share > 0.1 ? 'high' : f.worth_share > 0.01 ? 'medium' : 'low',
		rule = advice.rules.find((rule) => rule.rule === f.rule);
	return el(
		'article',
		{ class: level },
		savedBy(f),
		el(
			'div',
			null,
			el('b', null, plain(f.title)),
			f.when ? el('span', { class: 'dim' }, ' ' + f.when) : null,
			el(
				'p',
				null,
				linked(beginning(f.found)),
				f.call_site ? ', at ' + plain(f.call_site) : null,
				f.called_by ? ' < ' + plain(f.called_by) : null,
				'.',
			),
			el('p', { class: 'change' }, '→ ', linked(sentence(f.change))),
			el(
				'details',
				null,
				el('summary', null, 'meaning, and when to ignore it'),
				el('p', null, linked(plain(rule.meaning))),
				el('p', null, linked('Ignore it: ' + plain(rule.ignore))),
			),
		),
		lead(f),
	);
}
const findingLine = (f) =>
	el('article', { class: 'line' }, savedBy(f), el('div', null, plain(f.title) + ': ', f.call_site ? 'the same at ' + plain(f.call_site) : linked(plain(f.found))), lead(f));

/* A note; instead of a command whose table is in the page: the first row and a link. */
function noteOf({ id, text, command }) {
	const [first] = recordsOf('failure');
	if (id === 'failed-calls' && first)
		return [beginning(text) + ': ' + failureOf(first) + ' ', el('button', { class: 'go', onclick: () => openView('tables', 'failure') }, 'all ›')];
	return linked(beginning(text) + (command ? ': ' + (COMMAND.test(command) ? command : '`' + command + '`') : ''));
}

/* As in `gpuprof advice`: findings of a rule that differ in their places only are shown in full three times. */
function findingsOf(findings, advice) {
	const isAlike = (f, other) => f.rule === other.rule && f.change === other.change,
		isToldWholly = (f, i) => findings.slice(0, i).filter((before) => isAlike(before, f)).length < TOLD_WHOLLY;
	return el(
		'div',
		{ class: 'advice' },
		findings.map((f, i) => (isToldWholly(f, i) ? findingArticle(f, advice) : findingLine(f))),
	);
}

function adviceSection({ advice }) {
	if (!advice) return null;
	const { findings, span_ns: span, step_ns: step } = advice,
		isOnce = (f) => step > 0 && !f.recurs,
		recurring = findings.filter((f) => !isOnce(f)),
		once = findings.filter(isOnce),
		notes = el('div', { class: 'notes' }, [...(advice.none || []), ...advice.notes].map((note) => el('p', { class: 'dim' }, noteOf(note))));
	if (!findings.length) return section('What to change', '', notes);
	return el(
		'div',
		null,
		recurring.length
			? section(
					'What to change',
					'largest possible savings out of ' + (step ? 'an average step of ' + fmtNs(step) : fmtNs(span)),
					findingsOf(recurring, advice),
				)
			: step
				? section(
						'What to change',
						'no rule finds how to shorten the steps, ' +
							fmtNs(step) +
							' on average' +
							(advice.largest_place ? '; the line with most of their GPU time is ' + advice.largest_place : ''),
					)
				: null,
		once.length
			? section('One-time costs', 'out of ' + fmtNs(span) + ': they matter less the longer the program runs', findingsOf(once, advice))
			: null,
		notes,
	);
}

/* The longest idle gaps of the GPUs. */
function gapSection() {
	const gaps = recordsOf('gap').slice(0, 6);
	if (!gaps.length || gaps[0].Start === undefined) return null;
	const several = (state.about.devices || []).length > 1,
		heads = ['Between', several && 'GPU', 'Cause', 'At', 'For'].filter(Boolean);
	return section(
		several ? 'Longest idle gaps of the GPUs' : 'Longest idle gaps of the GPU',
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
