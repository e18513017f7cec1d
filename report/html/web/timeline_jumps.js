/* Timeline: jumps to the longest events in view and to idle gaps; copying call stacks. */

const RANKED = 200,
	IDLE_TIMES = 100;

/* The longest GPU events in that time, the longest first; only matches during a search; no merged events. */
function longestBetween(a, b) {
	const { ev } = state,
		ranks = Array.from(state.index.labels.kinds, (kind, label) => !isTogether(kind) && (!state.matches || state.matches[label])),
		best = [];
	let least = -1;
	for (const { first, n, track } of state.rows) {
		if (track.kind !== 'stream') continue;
		for (let i = Math.max(first, first + lowerBound(ev.start, first, n, a) - 1), end = first + lowerBound(ev.start, first, n, b); i < end; i++) {
			if (ev.dur[i] <= least || ev.start[i] + ev.dur[i] <= a || !ranks[ev.label[i]]) continue;
			best.push(i);
			if (best.length < 2 * RANKED) continue;
			best.sort((x, y) => ev.dur[y] - ev.dur[x]);
			best.length = RANKED;
			least = ev.dur[best.at(-1)];
		}
	}
	return best.sort((x, y) => ev.dur[y] - ev.dur[x] || x - y).slice(0, RANKED);
}
/* Jump to the longest event in view; after such a jump, to the next longest of the same view. */
function jumpToLongest(tl, by) {
	let at = tl.ranked ? tl.ranked.indexOf(tl.selected) : -1;
	if (at < 0) {
		tl.ranked = longestBetween(tl.t0, tl.t1);
		at = by > 0 ? -1 : 1;
	}
	const next = tl.ranked[Math.max(0, at + by)];
	if (next !== undefined) selectEvent(tl, next, true);
}

/* The longest idle gaps, in order of time. */
function idleTimes() {
	state.idle ??= recordsOf('gap')
		.filter((gap) => gap.Start !== undefined)
		.sort((a, b) => b.Duration - a.Duration)
		.slice(0, IDLE_TIMES)
		.sort((a, b) => a.Start - b.Start);
	return state.idle;
}
/* Whether a time is that of a row: a gap or a step. */
const isSpanOf = (row, [a, b]) => state.index.zero + row.Start === a && a + (row.Duration ?? row.Wall) === b;
/* The selected idle gap. */
const idleTimeAt = (span) => recordsOf('gap').find((gap) => span && isSpanOf(gap, span));

/* Jump to the next gap after the selection, or after the left edge; after the last one to the first. */
function jumpToIdle(tl, by) {
	const gaps = idleTimes(),
		from = tl.span ? tl.span[0] : by > 0 ? tl.t0 - 1 : tl.t1 + 1,
		starts = (gap) => state.index.zero + gap.Start;
	if (!gaps.length) return;
	showGap(by > 0 ? (gaps.find((gap) => starts(gap) > from) ?? gaps[0]) : (gaps.findLast((gap) => starts(gap) < from) ?? gaps.at(-1)));
}

/* ---- copying ---- */

/* Pages from files may write to the clipboard, too; if the browser refuses, copy by selecting the text. */
async function copyText(text, button) {
	try {
		await navigator.clipboard.writeText(text);
	} catch (error) {
		const area = el('textarea', { class: 'offpage' });
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
	}
	if (!button) return;
	const before = button.textContent;
	button.textContent = 'copied';
	setTimeout(() => (button.textContent = before), 1200);
}
/* Lines as in debuggers, the innermost function first: name and place. */
const stackText = (sites) => sites.map(([name, file]) => name + (file ? '  ' + file : '') + '\n').join('');
