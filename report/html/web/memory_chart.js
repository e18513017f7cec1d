/* Memory over time, with a movable moment: owners of memory are shown for this moment. */

/*
 * The chosen memory, the shown part of the time, the moment, and its number of changes.  mark: a
 * moment to compare with, and the memory of each holder then.
 */
const moment = { series: null, t0: 0, t1: 1, time: 0, changes: 0, mark: null };

const nameOfSeries = (s) =>
	(s.device !== undefined ? 'GPU ' + s.device + ' ' : '') + (s.kind === 'all' ? 'memory (all but managed)' : s.kind);
/* The number of changes of the series until that time. */
const changesUntil = (series, time) => lowerBound(series.t, 0, series.n, Math.floor(time) + 1);
const bytesUntil = (series, time) => series.v[changesUntil(series, time) - 1] ?? 0;

/* The memory of an allocator is unknown before its first change. */
const knownFrom = (series) => (series.isAllocator ? series.t[0] : 0);
function momentAt(time) {
	const { series } = moment;
	moment.time = clamp(time, knownFrom(series), state.end);
	moment.changes = series.at[changesUntil(series, moment.time) - 1] ?? 0;
}
/* Move to change k of the series exactly: several may have the same time. */
function momentOfChange(k) {
	const { series } = moment,
		at = clamp(k, 0, series.n - 1);
	moment.time = series.t[at];
	moment.changes = series.at[at];
	if (moment.time < moment.t0 || moment.time > moment.t1) showAround(moment.t1 - moment.t0);
}
function showAround(width) {
	const span = clamp(width, Math.min(1000, state.end), state.end);
	moment.t0 = clamp(moment.time - span / 2, 0, state.end - span);
	moment.t1 = moment.t0 + span;
}
const changeNow = () => lowerBound(moment.series.at, 0, moment.series.n, moment.changes + 1) - 1;
const momentBytes = () => moment.series.v[changeNow()] ?? 0;
/* Mark the moment, or remove its mark. */
function toggleMark() {
	if (moment.series.isAllocator) return;
	const { time, changes, mark } = moment,
		{ bytes, blocks } = heldAfter(changes);
	moment.mark = mark?.changes === changes ? null : { time, changes, bytes: bytes.slice(), blocks: blocks.slice() };
}
function startMoment(series) {
	moment.series = series;
	momentOfChange(series.mostAt);
}

/* Handle keys of a view with a chart; returns whether the key was one of them. */
function momentKey(e, chart) {
	if (!moment.series?.n) return false;
	const pixel = (moment.t1 - moment.t0) / Math.max(1, chart.width()),
		step = (e.shiftKey ? 10 : 1) * pixel,
		width = moment.t1 - moment.t0;
	const moves = {
		ArrowLeft: () => momentAt(moment.time - step),
		ArrowRight: () => momentAt(moment.time + step),
		',': () => momentOfChange(changeNow() - 1),
		'.': () => momentOfChange(changeNow() + 1),
		Home: () => momentAt(0),
		End: () => momentAt(state.end),
		KeyP: () => momentOfChange(moment.series.mostAt),
		KeyW: () => showAround(width * 0.7),
		KeyS: () => showAround(width / 0.7),
		KeyM: () => toggleMark(),
		KeyF: () => showMomentInTimeline(),
	};
	const move = moves[e.key] || moves[e.code];
	if (!move) return false;
	move();
	if (e.key.startsWith('Arrow') && (moment.time < moment.t0 || moment.time > moment.t1)) showAround(width);
	chart.moved();
	return true;
}
function showMomentInTimeline() {
	const width = (moment.t1 - moment.t0) / 25;
	openView('timeline');
	timeline.show(moment.time - width / 2, moment.time + width / 2);
}

/* onmove: called when the moment or the shown time changes. */
function memoryChart(onmove) {
	const LEFT = 78,
		RIGHT = 14,
		TOP = 22,
		FOOT = 24;
	const canvas = el('canvas', { tabIndex: 0, role: 'slider', 'aria-label': 'Memory over time; keys move the moment', 'aria-valuemin': '0' }),
		node = el('div', { class: 'memorychart' }, canvas);
	let asked = 0;
	const width = () => node.clientWidth - LEFT - RIGHT,
		timeAt = (x) => moment.t0 + clamp((x - LEFT) / width(), 0, 1) * (moment.t1 - moment.t0),
		X = (time) => LEFT + ((time - moment.t0) / (moment.t1 - moment.t0)) * width();

	function moved() {
		if (asked) return;
		asked = requestAnimationFrame(() => {
			asked = 0;
			draw();
			onmove();
		});
	}
	function paintAxes(ctx, height, Y, ceiling, step) {
		ctx.fillStyle = css('--panel');
		for (const [from, until] of outsideParts(moment.t0, moment.t1)) ctx.fillRect(X(from), TOP, X(until) - X(from), height - TOP - FOOT);
		for (let value = 0; value <= ceiling; value += step) {
			ctx.fillStyle = css('--line2');
			ctx.fillRect(LEFT, Math.round(Y(value)), width(), 1);
			ctx.fillStyle = css('--dim');
			ctx.textAlign = 'right';
			ctx.fillText(fmtBytes(value), LEFT - 8, Y(value));
		}
		const tick = niceStep((moment.t1 - moment.t0) / Math.max(2, width() / 130)),
			{ zero } = state.index;
		ctx.textAlign = 'center';
		for (let k = Math.ceil((moment.t0 - zero) / tick); zero + k * tick <= moment.t1; k++) {
			const text = k === 0 && zero > tick / 4 ? ZERO_TICK : fmtTick(k * tick, tick);
			/* the last one is not cut at the edge */
			ctx.fillText(text, Math.min(X(zero + k * tick), node.clientWidth - 2 - ctx.measureText(text).width / 2), height - 10);
		}
	}
	function paintCourse(ctx, Y) {
		const { t, v, n } = moment.series,
			edge = [],
			until = LEFT + width();
		let i = changesUntil(moment.series, moment.t0);
		ctx.fillStyle = mixCss('--accent', '--bg', 0.7);
		for (let x = Math.max(LEFT, Math.floor(X(knownFrom(moment.series)))); x < until; x++) {
			const end = timeAt(x + 1);
			let high = i > 0 ? v[i - 1] : 0,
				low = high;
			for (; i < n && t[i] < end; i++) {
				high = Math.max(high, v[i]);
				low = Math.min(low, v[i]);
			}
			ctx.fillRect(x, Y(high), 1, Y(0) - Y(high));
			edge.push([x, Y(high), Y(low)]);
		}
		ctx.fillStyle = css('--accent');
		for (const [x, high, low] of edge) ctx.fillRect(x, high, 1, Math.max(1.5, low - high));
	}
	function paintMark(ctx, color, time, bytes, text, Y, textY) {
		const x = X(time),
			isRight = x > LEFT + width() - 170;
		if (x < LEFT - 1 || x > LEFT + width() + 1) return;
		ctx.strokeStyle = ctx.fillStyle = color;
		ctx.beginPath();
		ctx.arc(x, Y(bytes), 4, 0, 7);
		ctx.fill();
		ctx.textAlign = isRight ? 'right' : 'left';
		ctx.lineWidth = 4;
		ctx.lineJoin = 'round';
		ctx.strokeStyle = css('--bg');
		ctx.fillStyle = css('--ink');
		ctx.strokeText(text, x + (isRight ? -8 : 8), textY);
		ctx.fillText(text, x + (isRight ? -8 : 8), textY);
	}
	function paintMoment(ctx, Y) {
		const { series } = moment,
			bytes = momentBytes(),
			x = Math.round(X(moment.time)),
			isPeak = changeNow() === series.mostAt;
		if (x >= LEFT - 1 && x <= LEFT + width() + 1) {
			ctx.fillStyle = css('--bad');
			ctx.fillRect(x - 1, TOP - 8, 2, Y(0) - TOP + 8);
		}
		if (moment.mark) {
			const at = X(moment.mark.time);
			ctx.fillStyle = css('--ink');
			ctx.globalAlpha = 0.12;
			ctx.fillRect(clamp(Math.min(at, x), LEFT, LEFT + width()), TOP - 8, Math.abs(clamp(at, LEFT, LEFT + width()) - clamp(x, LEFT, LEFT + width())), Y(0) - TOP + 8);
			ctx.globalAlpha = 1;
			if (at >= LEFT - 1 && at <= LEFT + width() + 1) ctx.fillRect(at - 1, TOP - 8, 2, Y(0) - TOP + 8);
		}
		if (!isPeak) paintMark(ctx, css('--accent'), series.t[series.mostAt], series.most, 'peak ' + fmtBytes(series.most), Y, Math.max(10, Y(series.most) - 8));
		paintMark(ctx, css('--bad'), moment.time, bytes, (isPeak ? 'peak ' : '') + fmtBytes(bytes) + ' at ' + fmtAt(moment.time), Y, isPeak ? Math.max(10, Y(bytes) - 8) : Y(0) - 10);
	}
	function draw() {
		if (!moment.series || !node.clientWidth) return;
		const height = node.clientHeight,
			{ ctx } = fitCanvas(canvas, node.clientWidth, height),
			step = niceBytes(moment.series.most / Math.max(2, Math.min(5, height / 40)) || 1),
			ceiling = Math.max(step, Math.ceil((moment.series.most * 1.04) / step) * step),
			Y = (value) => TOP + (height - TOP - FOOT) * (1 - value / ceiling);
		ctx.clearRect(0, 0, node.clientWidth, height);
		ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
		ctx.textBaseline = 'middle';
		paintAxes(ctx, height, Y, ceiling, step);
		paintCourse(ctx, Y);
		paintMoment(ctx, Y);
		canvas.setAttribute('aria-valuemax', Math.round(state.end));
		canvas.setAttribute('aria-valuenow', Math.round(moment.time));
		canvas.setAttribute('aria-valuetext', fmtBytes(momentBytes()) + ' at ' + fmtAt(moment.time));
	}
	function choose(e) {
		hideTip();
		momentAt(timeAt(e.offsetX));
		moved();
	}
	canvas.addEventListener('pointerdown', (e) => {
		if (e.button !== 0 || !moment.series) return;
		canvas.setPointerCapture(e.pointerId);
		choose(e);
	});
	canvas.addEventListener('pointermove', (e) => {
		if (!moment.series) return;
		if (e.buttons & 1) choose(e);
		else if (e.offsetX > LEFT)
			showTip(e.clientX, e.clientY, fmtBytes(bytesUntil(moment.series, timeAt(e.offsetX))), ['at ' + fmtAt(timeAt(e.offsetX)), 'click or drag: the owners at this time']);
	});
	canvas.addEventListener('pointerleave', hideTip);
	canvas.addEventListener(
		'wheel',
		(e) => {
			if (!e.ctrlKey || !moment.series) return;
			e.preventDefault();
			const at = timeAt(e.offsetX),
				share = (at - moment.t0) / (moment.t1 - moment.t0),
				span = clamp((moment.t1 - moment.t0) * (e.deltaY > 0 ? 1.25 : 0.8), Math.min(1000, state.end), state.end);
			moment.t0 = clamp(at - share * span, 0, state.end - span);
			moment.t1 = moment.t0 + span;
			moved();
		},
		{ passive: false },
	);
	return { node, canvas, draw, moved, width };
}
