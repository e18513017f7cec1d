/* Timeline: texts and marks over the pixels. */

Object.assign(Timeline.prototype, {
	/* Ticks about every 110 pixels. */
	ticks() {
		const step = niceStep((this.t1 - this.t0) / Math.max(1, this.width / 110)),
			zero = state.index.zero,
			ticks = [];
		for (let k = Math.ceil((this.t0 - zero) / step); zero + k * step < this.t1 && ticks.length < 60; k++)
			ticks.push(zero + k * step);
		this.step = step;
		return ticks;
	},

	/* The width of the text of a label, cached. */
	textWidth(ctx, label) {
		return (
			this.labelWidths[label] ??
			(this.labelWidths[label] = ctx.measureText(plain(state.index.labels.texts[label].slice(0, 200))).width)
		);
	},
	drawTexts(ctx) {
		const { texts, ratio } = this;
		ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
		ctx.textBaseline = 'middle';
		ctx.textAlign = 'left';
		for (let k = 0, drawn = 0; k < texts.length && drawn < 1500; k += 6) {
			const x = GUTTER + texts[k] / ratio,
				room = (texts[k + 1] - texts[k]) / ratio - 7,
				y = TOP + (texts[k + 2] + texts[k + 3]) / 2 / ratio,
				label = texts[k + 4];
			let text = plain(state.index.labels.texts[label].slice(0, 200));
			if (texts[k + 3] - texts[k + 2] < 9 * ratio || texts[k + 3] < 0 || y < TOP + 2) continue;
			const width = this.textWidth(ctx, label);
			text = fitText(ctx, text, width, room, this.differs[label]);
			if (text.length < 3) continue;
			ctx.fillStyle = texts[k + 5] ? css('--dim') : this.inkDark[label] ? '#10161d' : '#ffffff';
			ctx.fillText(text, x + 3.5, y + 0.5);
			drawn++;
		}
		for (const item of this.drawn) if (item.kind === 'steps') this.drawStepNumbers(ctx, item);
	},

	drawStepNumbers(ctx, { rows, y, h }) {
		const room = 30,
			least = (room * (this.t1 - this.t0)) / this.width;
		for (const { Start, Wall, Number: number, Part } of rows) {
			if (Wall < least) continue;
			const a = Math.max(GUTTER, this.toX(state.index.zero + Start)),
				b = Math.min(GUTTER + this.width, this.toX(state.index.zero + Start + Wall));
			if (b - a < room) continue;
			ctx.fillStyle = luminance(hueOf(PART_HUES[Part])) > 0.2 ? '#10161d' : '#ffffff';
			ctx.fillText(fmtCount(number), a + 3.5, TOP + y - this.y + (h - GAP) / 2);
		}
	},

	/* Pauses of the recording; operations launched before them are complete. */
	drawPauses(ctx, height) {
		for (const [, from, to] of state.index.pauses) {
			const a = Math.max(GUTTER, this.toX(from)),
				b = Math.min(GUTTER + this.width, this.toX(to));
			if (b <= a) continue;
			ctx.save();
			ctx.beginPath();
			ctx.rect(a, TOP, b - a, height - TOP);
			ctx.clip();
			ctx.strokeStyle = css('--line');
			ctx.lineWidth = 2;
			ctx.beginPath();
			for (let x = a - height; x < b; x += 10) {
				ctx.moveTo(x, height);
				ctx.lineTo(x + height - TOP, TOP);
			}
			ctx.stroke();
			if (b - a > 110) {
				ctx.fillStyle = css('--dim');
				ctx.textAlign = 'center';
				ctx.fillText('recording paused', (a + b) / 2, TOP + 14);
			}
			ctx.restore();
		}
	},

	/* The time before the first CUDA call and after the last: outside the time of the summary. */
	drawOutside(ctx, height) {
		for (const [from, until, words] of outsideParts(this.t0, this.t1)) {
			const a = Math.max(GUTTER, this.toX(from)),
				b = Math.min(GUTTER + this.width, this.toX(until));
			ctx.fillStyle = isDark() ? 'rgba(150,165,180,.13)' : 'rgba(70,85,100,.10)';
			ctx.fillRect(a, STRIP, b - a, height - STRIP);
			if (b - a < 150) continue;
			ctx.fillStyle = css('--dim');
			ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
			ctx.textAlign = 'center';
			ctx.fillText(words, (a + b) / 2, TOP + 14);
		}
	},

	/* The place of an event on the page: {x0, x1, y0, y1}, or null if its track is not shown. */
	placeOf(i) {
		for (const item of this.items) {
			if (item.kind !== 'track') continue;
			for (let lane = 0; lane < item.lanes.length; lane++) {
				const row = item.lanes[lane];
				if (i < row.first || i >= row.first + row.n) continue;
				const y = TOP + item.y - this.y + lane * item.lane;
				return {
					x0: this.toX(state.ev.start[i]),
					x1: this.toX(state.ev.start[i] + state.ev.dur[i]),
					y0: y,
					y1: y + item.lane,
					item,
				};
			}
		}
		return null;
	},

	/* Arrows from a call to its operations. */
	drawFlows(ctx) {
		if (this.selected < 0) return;
		const call = callOf(this.selected),
			from = call >= 0 && this.placeOf(call);
		if (!from) return;
		ctx.save();
		ctx.beginPath();
		ctx.rect(GUTTER, TOP, this.width, this.canvas.clientHeight - TOP);
		ctx.clip();
		ctx.strokeStyle = ctx.fillStyle = isDark() ? '#ffd166' : '#b3261e';
		ctx.lineWidth = 1.5;
		for (const op of opsOf(call).slice(0, 200)) {
			const to = this.placeOf(op);
			if (!to) continue;
			const x = Math.max(from.x0, from.x0 + (from.x1 - from.x0) / 2),
				up = to.y0 < from.y0,
				y = up ? from.y0 : from.y1,
				end = up ? to.y1 : to.y0,
				bend = Math.max(18, Math.abs(to.x0 - x) / 2);
			ctx.beginPath();
			ctx.moveTo(x, y);
			ctx.bezierCurveTo(
				x + bend * 0.4,
				(y + end) / 2,
				to.x0 - bend * 0.4,
				(y + end) / 2,
				to.x0,
				end + (up ? 3 : -3),
			);
			ctx.stroke();
			ctx.beginPath();
			ctx.moveTo(to.x0, end);
			ctx.lineTo(to.x0 - 4, end + (up ? 7 : -7));
			ctx.lineTo(to.x0 + 4, end + (up ? 7 : -7));
			ctx.fill();
		}
		ctx.restore();
	},

	drawSelection(ctx, height) {
		const right = GUTTER + this.width;
		ctx.save();
		ctx.beginPath();
		ctx.rect(GUTTER, STRIP, this.width, height);
		ctx.clip();
		if (this.span) {
			const a = this.toX(this.span[0]),
				b = this.toX(this.span[1]);
			ctx.fillStyle = isDark() ? 'rgba(109,179,242,.16)' : 'rgba(11,98,184,.10)';
			ctx.fillRect(a, TOP, b - a, height);
			ctx.fillStyle = css('--accent');
			ctx.fillRect(a, TOP, 1, height);
			ctx.fillRect(b - 1, TOP, 1, height);
		}
		ctx.beginPath();
		ctx.rect(GUTTER, TOP, this.width, height);
		ctx.clip();
		for (const [i, width] of [
			[this.hover, 1],
			[this.selected, 2],
		]) {
			const place = i >= 0 && this.placeOf(i);
			if (!place || place.x1 < GUTTER || place.x0 > right) continue;
			ctx.strokeStyle = css('--ink');
			ctx.lineWidth = width;
			ctx.strokeRect(
				Math.max(GUTTER - 5, place.x0),
				place.y0 + 0.5,
				Math.max(3, Math.min(right + 5, place.x1) - Math.max(GUTTER - 5, place.x0)),
				place.y1 - place.y0 - 1,
			);
		}
		ctx.restore();
	},

	clipText(ctx, text, x, y, room) {
		let shown = text;
		while (shown.length > 1 && ctx.measureText(shown).width > room)
			shown = shown.slice(0, Math.max(1, Math.floor(shown.length * 0.9) - 1));
		ctx.fillText(shown === text ? text : shown + '…', x, y);
	},

	drawGutter(ctx, height) {
		ctx.fillStyle = css('--panel');
		ctx.fillRect(0, TOP, GUTTER, height);
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, TOP, GUTTER - 1, height);
		ctx.clip();
		ctx.textBaseline = 'middle';
		ctx.textAlign = 'left';
		for (const item of this.drawn) {
			const y = TOP + item.y - this.y;
			ctx.fillStyle = css('--line2');
			ctx.fillRect(0, y + item.h - 1, GUTTER, 1);
			if (item.kind === 'head') {
				ctx.fillStyle = css('--ink');
				ctx.font = '600 12px system-ui, "DejaVu Sans", sans-serif';
				const title = (this.collapsed.has(item.key) ? '▸ ' : '▾ ') + plain(item.title);
				ctx.fillText(title, 8, y + item.h / 2);
				const at = 16 + ctx.measureText(title).width;
				ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
				ctx.fillStyle = css('--dim');
				this.clipText(ctx, plain(item.note), at, y + item.h / 2, GUTTER - at - 8);
				continue;
			}
			ctx.font = '11.5px system-ui, "DejaVu Sans", sans-serif';
			ctx.fillStyle = item.small || item.kind === 'counter' ? css('--dim') : css('--ink');
			if (item.kind === 'track' && item.track.lanes.length > 1) {
				ctx.fillText(item.small ? '▸' : '▾', 9, y + Math.min(item.h / 2, 9));
			}
			this.clipText(ctx, plain(item.title), 22, y + Math.min(item.h / 2, 9), GUTTER - 32);
			if (item.small && item.lanes.length > 1) {
				ctx.fillStyle = css('--dim');
				ctx.font = '10.5px system-ui, sans-serif';
				ctx.fillText(item.lanes.length + ' of ' + item.track.lanes.length + ' rows; click to show all', 22, y + 24);
			}
			if (item.kind === 'counter') {
				ctx.fillStyle = css('--dim');
				ctx.font = '10.5px system-ui, sans-serif';
				ctx.fillText('peak ' + (item.series.peak ?? fmtBytes(item.series.most)) + (item.series.reserved ? ' of ' + fmtBytes(item.series.reserved.most) : ''), 22, y + 24);
			}
		}
		ctx.restore();
		ctx.fillStyle = css('--line');
		ctx.fillRect(GUTTER - 1, 0, 1, height);
	},

	/* The busy share of the GPUs for each pixel of the whole recording. */
	sharesOf(width) {
		if (this.shares?.length === width) return this.shares;
		const unions = [...state.devices.values()].map((d) => d.union),
			per = state.end / width;
		this.shares = new Float64Array(width);
		for (const union of unions)
			busyColumns(union, 0, per, width, (x, share) => (this.shares[x] += share / unions.length));
		return this.shares;
	},

	/* The strip: the whole recording with the view marked, and the ruler. */
	drawTop(ctx, width) {
		const shares = this.sharesOf(Math.floor(this.width));
		ctx.fillStyle = mixCss('--accent', '--panel', 0.45);
		for (let x = 0; x < shares.length; x++) {
			const h = Math.max(1, shares[x] * (STRIP - 7));
			if (shares[x] > 0.0005) ctx.fillRect(GUTTER + x, STRIP - 3 - h, 1, h);
		}
		const a = GUTTER + clamp(this.t0 / state.end, 0, 1) * this.width,
			b = GUTTER + clamp(this.t1 / state.end, 0, 1) * this.width;
		ctx.strokeStyle = css('--ink');
		ctx.lineWidth = 1.5;
		if (b - a < this.width - 2) {
			ctx.fillStyle = isDark() ? 'rgba(15,20,26,.5)' : 'rgba(255,255,255,.5)';
			ctx.fillRect(GUTTER, 1, a - GUTTER, STRIP - 3);
			ctx.fillRect(b, 1, GUTTER + this.width - b, STRIP - 3);
			ctx.strokeRect(a, 2, Math.max(3, b - a), STRIP - 5);
		}
		ctx.fillStyle = css('--dim');
		ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
		ctx.textBaseline = 'middle';
		ctx.textAlign = 'left';
		ctx.fillText(
			(state.devices.size ? 'GPU busy, ' : '') + (GUTTER > 150 ? 'recorded: ' : '') + fmtNs(state.end),
			8,
			state.devices.size ? 11 : STRIP / 2,
		);
		ctx.fillStyle = css('--line');
		ctx.fillRect(0, STRIP, width, 1);
		ctx.fillRect(0, TOP - 1, width, 1);
		this.drawRuler(ctx);
	},
	drawRuler(ctx) {
		const ticks = this.ticks(),
			zero = state.index.zero,
			far = Math.abs(ticks[0] - zero) > this.step * 500,
			base = far ? Math.floor((ticks[0] - zero) / (this.step * 100)) * this.step * 100 : 0;
		ctx.fillStyle = css('--dim');
		ctx.fillText(far ? fmtBase(base) + ' …' : 'shown: ' + fmtNs(this.t1 - this.t0), 8, STRIP + RULER / 2);
		for (const t of ticks) {
			const x = this.toX(t);
			ctx.fillStyle = css('--line');
			ctx.fillRect(x, TOP - 6, 1, 5);
			ctx.fillStyle = css('--dim');
			const room = (this.step / (this.t1 - this.t0)) * this.width - 8,
				text = t === zero && !far && ctx.measureText(ZERO_TICK).width < room ? ZERO_TICK : (far ? '+' : '') + fmtTick(t - zero - base, this.step);
			if (x + 8 + ctx.measureText(text).width < GUTTER + this.width) ctx.fillText(text, x + 4, STRIP + RULER / 2);
		}
	},
});

const ZERO_TICK = '0: first CUDA call';
const mixCss = (a, b, share) => hexOf(mix(rgbOf(css(a)), rgbOf(css(b)), share));
/* A moment with the digits that its step needs. */
function fmtTick(ns, step) {
	const unit = Math.abs(ns) >= 1e9 || step >= 1e9 ? 3 : Math.abs(ns) >= 1e6 ? 2 : Math.abs(ns) >= 1e3 ? 1 : 0,
		scale = 10 ** (3 * unit);
	if (ns === 0) return '0';
	return (ns / scale).toFixed(Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9))) + TIME_UNITS[unit];
}
function fmtBase(ns) {
	const unit = Math.abs(ns) >= 1e10 ? 3 : 2,
		digits = 3 * unit;
	let zeros = 0;
	while (zeros < digits && ns % 10 ** (zeros + 1) === 0) zeros++;
	return (ns / 10 ** digits).toFixed(Math.max(0, digits - 3 * Math.floor(zeros / 3))) + TIME_UNITS[unit];
}
