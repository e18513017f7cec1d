/* The heat map of all ranks of a large job: rank by time.  With more ranks than rows, a row has several. */

const RANK_WORKS = [
	['computing', 'kernels and copies, without communication'],
	['busy', 'any operation'],
];
const MAP = { height: 384, least: 2, most: 14, left: 130, right: 84, axis: 18, fewest: 16 },
	NO_SHARE = 255,
	/* in percent: so far from the median of all ranks, a rank counts as an outlier */
	OUTLIER = 10;

async function readRankMap() {
	const facts = await readJson('ranks', null),
		element = dataOf('rankparts')[0],
		shares = facts && element && (await tryUnpack(element)),
		ranks = recordsOf('rank');
	if (!shares || shares.length !== ranks.length * facts.parts * RANK_WORKS.length) return null;
	return { ...facts, shares, ranks, work: 0, first: 0, count: ranks.length, chosen: -1, medians: [] };
}

const medianOf = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const shareAt = (map, rank, part) => map.shares[(map.work * map.ranks.length + rank) * map.parts + part];
const percentOf = (map, share) => (100 * share) / map.most;

/* The known shares of ranks in a part of the time. */
function sharesAt(map, first, count, part) {
	const found = [];
	for (let rank = first; rank < first + count; rank++) if (shareAt(map, rank, part) !== NO_SHARE) found.push(shareAt(map, rank, part));
	return found;
}

/* Of all ranks, by part; made once for each kind of work. */
function mediansOf(map) {
	map.medians[map.work] ??= Array.from({ length: map.parts }, (_, part) => medianOf(sharesAt(map, 0, map.ranks.length, part)));
	return map.medians[map.work];
}

/* How many ranks a row has, and how high it is. */
function rowsOf(map) {
	const each = Math.ceil(map.count / (MAP.height / MAP.least)),
		rows = Math.ceil(map.count / each);
	return { each, rows, height: clamp(Math.floor(MAP.height / rows), MAP.least, MAP.most) };
}

/* The share that is drawn for several ranks: the median, or the one that is farthest from the median of all if that is an outlier. */
function shownOf(map, first, count, part) {
	const shares = sharesAt(map, first, count, part),
		median = mediansOf(map)[part];
	if (!shares.length) return NO_SHARE;
	const farthest = shares.reduce((a, b) => (Math.abs(b - median) > Math.abs(a - median) ? b : a));
	return Math.abs(percentOf(map, farthest - median)) > OUTLIER ? farthest : medianOf(shares);
}

/* The scale begins at the lowest share of many, so that the others differ visibly. */
function lowestOf(map) {
	const medians = mediansOf(map).filter((share) => share !== undefined);
	return Math.max(0, Math.floor((percentOf(map, Math.min(...medians)) - 40) / 10) * 10);
}
function colorOfShare(map, share, lowest) {
	const place = clamp((percentOf(map, share) - lowest) / (100 - lowest), 0, 1);
	return hexOf(mix(rgbOf(isDark() ? '#1c2733' : '#edf1f5'), rgbOf(css('--accent')), place));
}

const hostOfRank = (row) => (row.Host ? plain(row.Host) : ''),
	nameOfRank = (row) => 'rank ' + row.Rank + (row.Host ? ' on ' + hostOfRank(row) : '');
function nameOfRanks(map, first, count) {
	const [a, b] = [map.ranks[first], map.ranks[first + count - 1]];
	if (count === 1) return nameOfRank(a);
	return 'ranks ' + a.Rank + ' to ' + b.Rank + (a.Host ? (a.Host === b.Host ? ' on ' + hostOfRank(a) : ', ' + hostOfRank(a) + ' to ' + hostOfRank(b)) : '');
}

/* The rows of ranks that differ, by the table of the section Ranks. */
function differingOf(map, about) {
	const differs = new Map((about.ranks || []).filter((row) => row.id === 'differs').map((row) => [String(row.rank), plain(row.text || row.ended || '')]));
	return map.ranks.flatMap((row, at) => (differs.has(String(row.Rank)) ? [{ at, text: differs.get(String(row.Rank)) }] : []));
}

/* Texts of one line each, none over another: [y, text]. */
function drawLabels(ctx, labels, x, color) {
	let last = -Infinity;
	ctx.fillStyle = color;
	for (const [y, text] of labels) {
		if (y < last + 12) continue;
		last = y;
		ctx.fillText(text, x, y);
	}
}

/* One for the marked ranks of each row: [row, rank]. */
function markLabels(marks, height) {
	const rows = new Map();
	for (const [row, rank] of marks) rows.set(row, rows.has(row) ? rows.get(row) + ', ' + rank : 'rank ' + rank);
	return [...rows].map(([row, text]) => [Math.max(0, row * height + height / 2 - 6), text.length > 13 ? text.slice(0, 12) + '…' : text]);
}

function drawRankMap(canvas, map, about) {
	const width = (canvas.parentNode.clientWidth && canvas.clientWidth) || 600,
		{ each, rows, height } = rowsOf(map),
		{ ctx } = fitCanvas(canvas, width, rows * height + MAP.axis),
		[left, right] = [MAP.left, width - MAP.right],
		lowest = lowestOf(map),
		partX = (part) => Math.round(left + ((right - left) * part) / map.parts),
		rowOf = (rank) => Math.floor((rank - map.first) / each);
	canvas.style.width = '100%';
	canvas.style.height = rows * height + MAP.axis + 'px';
	ctx.clearRect(0, 0, width, rows * height + MAP.axis);
	for (let row = 0; row < rows; row++) {
		const first = map.first + row * each,
			count = Math.min(each, map.first + map.count - first);
		for (let part = 0; part < map.parts; part++) {
			const share = shownOf(map, first, count, part);
			if (share === NO_SHARE) continue;
			ctx.fillStyle = colorOfShare(map, share, lowest);
			ctx.fillRect(partX(part), row * height, partX(part + 1) - partX(part), height - (height > 4 ? 1 : 0));
		}
	}
	ctx.font = '11px ' + getComputedStyle(document.body).fontFamily;
	ctx.textBaseline = 'top';
	const every = Math.ceil(16 / height);
	drawLabels(
		ctx,
		Array.from({ length: Math.ceil(rows / every) }, (_, i) => [i * every * height, shortRank(map.ranks[map.first + i * every * each])]),
		0,
		css('--dim'),
	);
	const marks = differingOf(map, about).filter(({ at }) => at >= map.first && at < map.first + map.count);
	ctx.fillStyle = css('--bad');
	for (const { at } of marks) ctx.fillRect(right + 3, rowOf(at) * height, 7, Math.max(2, height - 1));
	drawLabels(ctx, markLabels(marks.map(({ at }) => [rowOf(at), map.ranks[at].Rank]), height), right + 14, css('--bad'));
	ctx.fillStyle = css('--dim');
	ctx.fillText('0', left, rows * height + 4);
	ctx.textAlign = 'right';
	ctx.fillText('+' + fmtNs(map.span_ns), right, rows * height + 4);
	ctx.textAlign = 'left';
}
const shortRank = (row) => {
	const text = row.Rank + (row.Host ? ' ' + hostOfRank(row) : '');
	return text.length > 20 ? text.slice(0, 19) + '…' : text;
};

/* The ranks and the part of the time at a point of the map; null: it is beside the map. */
function placeInMap(canvas, map, event) {
	const { each, rows, height } = rowsOf(map),
		part = Math.floor(((event.offsetX - MAP.left) * map.parts) / (canvas.clientWidth - MAP.left - MAP.right)),
		row = Math.floor(event.offsetY / height),
		first = map.first + row * each;
	if (row < 0 || row >= rows || part < 0 || part >= map.parts) return null;
	return { first, count: Math.min(each, map.first + map.count - first), part };
}
function showRankTip(canvas, map, event) {
	const place = placeInMap(canvas, map, event);
	if (!place) return hideTip();
	const { first, count, part } = place,
		ranks = Array.from({ length: count }, (_, i) => first + i).filter((rank) => shareAt(map, rank, part) !== NO_SHARE),
		by = ranks.sort((a, b) => shareAt(map, a, part) - shareAt(map, b, part)),
		words = (rank, name) => name + ' ' + inPercent(percentOf(map, shareAt(map, rank, part))) + ' %' + (count > 1 ? ', ' + nameOfRank(map.ranks[rank]) : ''),
		at = (edge) => '+' + fmtNs(Math.round((map.span_ns * edge) / map.parts));
	showTip(event.clientX, event.clientY, nameOfRanks(map, first, count), [
		RANK_WORKS[map.work][0] + ', ' + at(part) + ' to ' + at(part + 1),
		!by.length ? 'not recorded' : count === 1 ? words(by[0], '') : words(by[0], 'lowest'),
		by.length && count > 1 ? words(by[by.length >> 1], 'median') : '',
		by.length && count > 1 ? words(by[by.length - 1], 'highest') : '',
		count > 1 ? 'click: show these ranks' : 'click: its values',
	]);
}

/* What the table of ranks has about one. */
function rankFacts(map) {
	const row = map.ranks[map.chosen];
	if (!row) return [];
	const { columns } = tableOf('rank');
	return [
		el('b', null, nameOfRank(row)),
		': ' +
			columns
				.filter(([title]) => !['Rank', 'Host', 'PID'].includes(title) && row[title] && row[title] !== '-')
				.map(([title, unit, , isReal]) => title.toLowerCase() + ' ' + fmtUnit(row[title], unit, isReal))
				.join(', '),
	];
}

function zoomMap(map, first, count) {
	map.count = clamp(count, Math.min(MAP.fewest, map.ranks.length), map.ranks.length);
	map.first = clamp(Math.round(first + (count - map.count) / 2), 0, map.ranks.length - map.count);
}

function rankMapSection(about) {
	const map = state.rankMap;
	if (!map) return null;
	const canvas = el('canvas', { 'data-ranks': 'map', role: 'img', tabIndex: 0 }),
		facts = el('p', { class: 'rankfacts', role: 'status' }),
		note = el('small'),
		redraw = () => {
			const { each } = rowsOf(map),
				lowest = lowestOf(map);
			note.replaceChildren(
				'color: share of the time, ' + lowest + (lowest ? ' % or less ' : ' '),
				el('i', { class: 'scale', style: { background: `linear-gradient(90deg, ${colorOfShare(map, 0, lowest)}, ${colorOfShare(map, map.most, lowest)})` } }),
				' 100 %; blank: not recorded' +
					(each > 1
						? `; a row has ${each} ranks: their median, or the rank that is farthest from the median of all ranks, if by more than ${OUTLIER} points`
						: ''),
			);
			canvas.setAttribute('aria-label', RANK_WORKS[map.work][0] + ' time of ' + nameOfRanks(map, map.first, map.count));
			facts.replaceChildren(...(rankFacts(map).length ? rankFacts(map) : ['Shown: ' + nameOfRanks(map, map.first, map.count) + '.']));
			out.disabled = map.count === map.ranks.length;
			drawRankMap(canvas, map, about);
		},
		show = (first, count) => {
			zoomMap(map, first, count);
			redraw();
		},
		out = el('button', { onclick: () => ((map.chosen = -1), show(0, map.ranks.length)) }, 'all ranks'),
		go = (text) => {
			const at = map.ranks.findIndex((row) => String(row.Rank) === text.trim());
			if (at < 0) return;
			map.chosen = at;
			show(at - MAP.fewest / 2, MAP.fewest + 1);
		};
	canvas.onmousemove = (event) => showRankTip(canvas, map, event);
	canvas.onmouseleave = hideTip;
	canvas.onclick = (event) => {
		const place = placeInMap(canvas, map, event);
		if (!place) return;
		hideTip();
		map.chosen = place.count === 1 ? place.first : -1;
		if (place.count === 1) redraw();
		else show(place.first, place.count);
	};
	canvas.drawMap = redraw;
	return el(
		'section',
		null,
		el('h2', null, 'Ranks over time ', note),
		el(
			'div',
			{ class: 'tool rankmap' },
			el(
				'select',
				{ 'aria-label': 'Share of', onchange: (e) => ((map.work = e.target.selectedIndex), redraw()) },
				RANK_WORKS.map(([name, words], i) => el('option', { selected: i === map.work }, name + ': ' + words)),
			),
			out,
			el('input', {
				type: 'search',
				placeholder: 'Go to rank',
				'aria-label': 'Go to rank',
				onchange: (e) => go(e.target.value),
			}),
		),
		canvas,
		facts,
	);
}
