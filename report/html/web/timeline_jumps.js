/* Timeline: jumps to what is worth a look: the longest of what is shown, idle times; and copying what is found there. */

const RANKED = 200,
	IDLE_TIMES = 100;

/* The longest events of the GPUs in that time, of those that match where something is searched, the longest first; short ones that stand together are none. */
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
/* Of what is in view; from one of them on, the next longest of what was. */
function jumpToLongest(tl, by) {
	let at = tl.ranked ? tl.ranked.indexOf(tl.selected) : -1;
	if (at < 0) {
		tl.ranked = longestBetween(tl.t0, tl.t1);
		at = by > 0 ? -1 : 1;
	}
	const next = tl.ranked[Math.max(0, at + by)];
	if (next !== undefined) selectEvent(tl, next, true);
}

/* The longest idle times, in the order of time. */
function idleTimes() {
	state.idle ??= recordsOf('gap')
		.filter((gap) => gap.Start !== undefined)
		.sort((a, b) => b.Duration - a.Duration)
		.slice(0, IDLE_TIMES)
		.sort((a, b) => a.Start - b.Start);
	return state.idle;
}
/* The idle time that is selected. */
const idleTimeAt = (span) =>
	recordsOf('gap').find((gap) => span && state.index.zero + gap.Start === span[0] && state.index.zero + gap.Start + gap.Duration === span[1]);

/* The next one to the right of what is selected, or of the left edge; after the last one comes the first. */
function jumpToIdle(tl, by) {
	const gaps = idleTimes(),
		from = tl.span ? tl.span[0] : by > 0 ? tl.t0 - 1 : tl.t1 + 1,
		starts = (gap) => state.index.zero + gap.Start;
	if (!gaps.length) return;
	showGap(by > 0 ? (gaps.find((gap) => starts(gap) > from) ?? gaps[0]) : (gaps.findLast((gap) => starts(gap) < from) ?? gaps.at(-1)));
}

/* ---- copying ---- */

/* A page of a file may write to the clipboard, too; where a browser refuses, the selection is copied. */
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
/* Lines as debuggers print them, the innermost function first: name, and where it is. */
const stackText = (sites) => sites.map(([name, file]) => name + (file ? '  ' + file : '') + '\n').join('');
