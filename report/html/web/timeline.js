/* Timeline: layout and drawing.  Filled areas are drawn into a buffer of pixels, row by row; then texts and marks. */

/* width of names on the left; narrower on phones */
let GUTTER = 196;
const STRIP = 38,
	RULER = 22,
	TOP = STRIP + RULER,
	GPU_LANE = 20,
	CPU_LANE = 15,
	HEAD = 24,
	COUNTER = 34,
	GAP = 3,
	IN_VIEW = 236,
	TALLEST = 4, /* the largest factor of heights if there is space */
	COUNTER_MOST = 220,
	PIECE = 0.56; /* height of a printed page, in units of its width */

class Timeline {
	constructor() {
		this.canvas = el('canvas', {
			tabIndex: 0,
			role: 'img',
			'aria-label': 'Timeline; the tables show the same as text',
		});
		this.reading = el('p', { class: 'empty' }, 'Reading …');
		this.jumps = el(
			'div',
			{ class: 'jumps', hidden: true },
			el('button', { class: 'go', title: 'Show all  ( 0 )', onclick: () => this.all() }, 'all'),
			el('button', { class: 'go', title: 'Zoom to the shortest time with 90 % of the GPU work  ( G )', onclick: () => this.work() }, 'GPU work'),
			el('button', { class: 'go', title: 'Go to the longest GPU event in view, then to the next longest  ( L )', onclick: () => jumpToLongest(this, 1) }, 'longest'),
			el('button', { class: 'go', title: 'Go to the next of the longest idle gaps of a GPU  ( N )', onclick: () => jumpToIdle(this, 1) }, 'idle'),
		);
		this.cursor = el('div', { class: 'cursor', hidden: true }, el('span'));
		this.box = el('div', { class: 'canvas' }, this.canvas, this.jumps, this.cursor, this.reading);
		this.legend = el('div', { class: 'legend foot' });
		this.drawer = el('div', { class: 'drawer', hidden: true, 'aria-live': 'polite' });
		this.node = el(
			'div',
			{ class: 'view', id: 'view-timeline', tabIndex: -1 },
			el('div', { class: 'split col' }, this.box, this.drawer, this.legend),
		);
		Object.assign(this, {
			t0: 0,
			t1: 1,
			y: 0,
			items: [],
			height: 0,
			selected: -1,
			span: null,
			hover: -1,
			collapsed: new Set(),
			waiting: new Set(), // Python tracks of threads that only wait
			lesser: new Set(), // minor tracks of ranges on a GPU: below its streams
			leading: [],
			pinned: new Set(), // tracks pinned to the top, in the order of pinning
			pointed: null, // the track at the pointer
			pending: false,
			pieces: [], // canvases for printing
			labelWidths: [],
		});
	}

	nothing() {
		this.canvas.hidden = true;
		this.reading.textContent = state.index?.events === 0 ? 'The recording has no events with a start and an end.' : UNREAD;
	}

	/* ---- layout: groups of tracks, from the top down ---- */

	ready() {
		/* the time of the strip, so that a time is at the same x in both */
		this.t0 = 0;
		this.t1 = state.end;
		if (state.ev.n) this.reading.remove();
		else this.nothing();
		this.jumps.hidden = !state.devices.size;
		const threads = state.index.tracks
			.filter((t) => t.kind === 'thread' && t.events)
			.sort((a, b) => b.events - a.events);
		threads.slice(12).forEach((t) => this.collapsed.add(t));
		this.leading = leadingThreads(threads);
		this.titles = titlesOf(state.index.tracks);
		for (const t of state.index.tracks.filter((t) => t.events && t.kind === 'python' && isWaiting(t)))
			if (!threads.some((thread) => isSameThread(thread, t) && thread.calls)) this.waiting.add(t);
		for (const t of state.index.tracks)
			if (['overhead', 'code'].includes(t.kind) || (t.kind === 'python' && !this.leads(t)) || ((t.kind === 'gpu-ranges' || t.kind === 'python') && t.lanes.length > 10)) this.collapsed.add(t);
		for (const track of lesserRanges(state.index.tracks.filter((t) => t.events && t.kind === 'gpu-ranges'))) {
			this.lesser.add(track);
			this.collapsed.add(track);
		}
		this.layout();
		this.paintLabels();
		attachTimeline(this);
		this.resize();
	}

	/* Whether an event or a time is selected. */
	get isChosen() {
		return this.selected >= 0 || this.span !== null;
	}
	layout() {
		this.place(1);
		GUTTER = this.node.clientWidth < 600 ? 124 : 196;
		const all = this.node.clientHeight - this.legend.offsetHeight;
		this.hasRoom = this.height + TOP + IN_VIEW <= all;
		this.drawer.hidden = !this.isChosen && !this.hasRoom;
		this.drawer.classList.toggle('roomy', this.hasRoom);
		this.drawer.setAttribute('aria-live', this.isChosen ? 'polite' : 'off');
		/* few tracks may be higher; the drawer gets the rest */
		if (this.hasRoom) this.stretch(Math.max(this.height, Math.min(all - IN_VIEW, all * 0.62) - TOP));
		this.box.style.flex = this.hasRoom ? 'none' : '';
		this.box.style.height = this.hasRoom ? this.height + TOP + 'px' : '';
		if (!this.hasRoom) this.stretch(this.box.clientHeight - TOP - 10);
	}
	/* Make rows as high as possible; counters get the rest. */
	stretch(room) {
		if (room <= this.height) return;
		let grow = 1;
		/* items with a fixed height leave space: repeat */
		for (let again = 0; again < 3; again++) {
			grow = Math.min(TALLEST, (grow * room) / this.height);
			this.place(grow);
		}
		const counters = this.items.filter((item) => item.kind === 'counter').length,
			more = Math.floor(Math.min((room - this.height) / counters, COUNTER_MOST - COUNTER * grow));
		if (counters && more > 0) this.place(grow, more);
	}
	place(grow, more = 0) {
		this.items = [];
		let y = 0;
		const add = (item) => {
			item.y = y;
			y += item.h;
			this.items.push(item);
		};
		const tracks = state.index.tracks.filter((t) => t.events && !this.pinned.has(t)),
			processes = state.about.processes;
		if (this.pinned.size) add({ kind: 'head', key: 'pinned', h: HEAD, title: 'on top', note: '' });
		for (const track of this.collapsed.has('pinned') ? [] : this.pinned)
			add({ ...this.trackItem(track, Math.round((track.kind === 'stream' ? GPU_LANE : CPU_LANE) * Math.min(grow, 2.5))), title: this.placedTitle(track) });
		for (const [number, device] of [...state.devices].sort((a, b) => a[0] - b[0])) {
			const about = (state.about.devices || []).find((d) => d.number === number) || {};
			add({
				kind: 'head',
				key: 'gpu' + number,
				h: HEAD + 4,
				title: (about.process?.startsWith('rank') ? plain(about.process) + ', ' : '') + 'GPU ' + number,
				note: shortDevice(about.name || ''),
				union: device.union,
			});
			if (this.collapsed.has('gpu' + number)) continue;
			const ranges = tracks.filter((t) => t.kind === 'gpu-ranges' && t.id === number),
				addRanges = (some) => some.forEach((track) => add(this.trackItem(track, Math.round(CPU_LANE * Math.min(grow, 2.5)))));
			addRanges(ranges.filter((track) => !this.lesser.has(track)));
			for (const track of device.tracks.filter((t) => !this.pinned.has(t))) add(this.trackItem(track, Math.round(GPU_LANE * grow)));
			addRanges(ranges.filter((track) => this.lesser.has(track)));
			for (const series of (state.memory || []).filter((s) => s.device === number && (s.kind === 'all' || s.reserved)))
				add({ kind: 'counter', h: Math.round(COUNTER * grow) + GAP + more, series, title: series.reserved ? 'tensors' : 'memory' });
			for (const series of state.curves.filter((s) => s.device === number)) add({ kind: 'counter', h: Math.round(COUNTER * grow) + GAP + more, series, title: series.title });
		}
		const ranks = processes
			.map((process, p) => p)
			.sort((a, b) => (processes[a].rank ?? 1e9) - (processes[b].rank ?? 1e9) || a - b);
		for (const p of ranks) {
			const process = processes[p],
				own = tracks.filter(
					(t) =>
						t.process === p &&
						t.kind !== 'stream' &&
						!(t.kind === 'gpu-ranges' && state.devices.has(t.id)),
				);
			if (!own.length) continue;
			add({
				kind: 'head',
				key: 'process' + p,
				h: HEAD,
				title: nameOfProcess(p),
				note: process.program || '',
			});
			if (this.collapsed.has('process' + p)) continue;
			if (p === processOfSteps(state.about.steps?.[0])) {
				const rows = stepRows(state.about);
				add({ kind: 'steps', h: Math.round(CPU_LANE * Math.min(grow, 2.5)) + GAP, title: cutSteps(state.about, rows) || 'steps', rows });
			}
			for (const track of this.inOrder(own))
				add(this.trackItem(track, Math.round(CPU_LANE * Math.min(grow, 2.5))));
		}
		this.height = y + 8;
	}
	/* First the phases, the thread that calls CUDA and its Python track; last the threads that only wait. */
	inOrder(own) {
		const rankOf = (t) => (t.kind === 'phase' ? -1 : this.waiting.has(t) ? 2 : ['thread', 'python'].includes(t.kind) && this.leads(t) ? 0 : 1);
		return own.sort((a, b) => rankOf(a) - rankOf(b));
	}
	/* Whether a track is of a thread that directs the others of its process. */
	leads(track) {
		return this.leading.some((thread) => isSameThread(thread, track));
	}
	/* The number of rows of a folded track: the outermost; of Python in a thread that calls CUDA also likely user code. */
	rowsOfFolded(track) {
		if (track.kind === 'python' && this.leads(track)) return 8;
		return track.kind === 'gpu-ranges' && !this.lesser.has(track) ? 3 : 1;
	}
	/* The title with the text of its head, for a track in another place. */
	placedTitle(track) {
		const owner = track.kind === 'stream' ? 'GPU ' + track.id + ' ' : state.about.processes.length > 1 && track.kind !== 'gpu-ranges' ? nameOfProcess(track.process) + ' ' : '';
		return owner + this.titles.get(track);
	}
	/* Pin a track to the top, or unpin it. */
	pin(track) {
		if (!track) return;
		if (!this.pinned.delete(track)) this.pinned.add(track);
		this.y = 0;
		this.resize();
	}
	trackItem(track, lane) {
		const small = this.collapsed.has(track),
			lanes = small ? track.lanes.slice(0, this.rowsOfFolded(track)) : track.lanes,
			high = small && (this.lesser.has(track) || !['python', 'gpu-ranges'].includes(track.kind)) ? 8 : lane;
		return {
			kind: 'track',
			track,
			lanes,
			lane: high,
			h: Math.max(lanes.length * high, 15) + GAP,
			title: this.titles.get(track),
			small,
		};
	}

	/* Colors of labels as pixels, and faint ones for labels that do not match a search. */
	paintLabels() {
		const { labels } = state.index,
			n = labels.texts.length,
			page = rgbOf(css('--bg')),
			pack = (c) => 0xff000000 | (c[2] << 16) | (c[1] << 8) | c[0];
		this.bright = new Uint32Array(n);
		this.faint = new Uint32Array(n);
		this.pale = new Uint32Array(n); // of Python between its samples
		this.hatched = Uint8Array.from(labels.kinds, (kind, i) => (kind === 'x' || isWait(kind, labels.texts[i]) ? 1 : 0));
		this.rgb = [];
		this.inkDark = new Uint8Array(n);
		for (let i = 0; i < n; i++) {
			const color = colorOf(labels.kinds[i], labels.texts[i]);
			this.rgb[i] = color;
			this.bright[i] = pack(color);
			this.faint[i] = pack(mix(color, page, 0.82));
			this.pale[i] = this.hatched[i] ? this.bright[i] : pack(mix(color, page, 0.55));
			this.inkDark[i] = luminance(color) > 0.2 ? 1 : 0;
		}
		this.differs = differencesOf(labels.texts.map((text, i) => (labels.kinds[i] === 'k' ? plain(text) : '')));
		this.pack = pack;
		this.explain();
	}
	/* The legend of the used colors. */
	explain() {
		const { kinds, texts } = state.index.labels,
			found = new Map();
		texts.forEach((text, i) => {
			const group = groupOf(kinds[i], text);
			if (!found.has(group)) found.set(group, i);
		});
		const MOST_HUES = 8;
		/* the first ones that are used */
		const huesOf = (group) => [...new Set(texts.map((text, i) => (groupOf(kinds[i], text) === group ? hexOf(this.rgb[i]) : '')))].filter(Boolean).slice(0, MOST_HUES);
		const nameOf = (group) => (group === 'other' && !KERNEL_GROUPS.some((one) => found.has(one)) ? 'kernels' : GROUP_NAMES[group]);
		this.legend.replaceChildren(
			...Object.keys(GROUP_NAMES)
				.filter((group) => found.has(group))
				.map((group) => el('span', null, ['range', 'other'].includes(group) ? huesOf(group).map((hue) => swatch(rgbOf(hue))) : swatch(hueOf(group), group === 'waiting' && 'idle'), ' ' + nameOf(group))),
			...stepColors(),
			...(found.has('phase') ? phaseColors() : []),
		);
	}

	get width() {
		return Math.max(50, this.canvas.clientWidth - GUTTER);
	}
	toX(t) {
		return GUTTER + ((t - this.t0) / (this.t1 - this.t0)) * this.width;
	}
	toT(x) {
		return this.t0 + ((x - GUTTER) / this.width) * (this.t1 - this.t0);
	}

	show(a, b) {
		const least = 20,
			most = state.end * 1.1,
			width = clamp(b - a, least, most),
			middle = (a + b) / 2;
		this.t0 = clamp(middle - width / 2, -0.05 * state.end - width * 0.45, 1.05 * state.end - width * 0.55);
		this.t1 = this.t0 + width;
		this.later();
	}
	zoom(factor, at = (this.t0 + this.t1) / 2) {
		this.show(at - (at - this.t0) * factor, at + (this.t1 - at) * factor);
	}
	pan(share) {
		const by = (this.t1 - this.t0) * share;
		this.show(this.t0 + by, this.t1 + by);
	}
	scroll(by) {
		this.y = clamp(this.y + by, 0, Math.max(0, this.height - (this.canvas.clientHeight - TOP)));
		this.later();
	}
	all() {
		this.show(0, state.end);
	}
	/* Show the shortest time with most of the work of the busiest GPU: without startup, which is often long. */
	work() {
		const unions = [...state.devices.values()].map((device) => device.union).filter((union) => union.cum.at(-1) > 0);
		if (!unions.length) return this.all();
		const most = unions.reduce((a, b) => (b.cum.at(-1) > a.cum.at(-1) ? b : a)),
			[a, b] = densest(most, 0.9);
		this.show(a - (b - a) * 0.03, b + (b - a) * 0.03);
	}
	later() {
		if (!this.pending) {
			this.pending = true;
			requestAnimationFrame(() => {
				this.pending = false;
				this.draw();
				saveHash();
				this.rest();
			});
		}
	}
	resize() {
		if (this.node.hidden || !this.box.clientWidth || !state.ready) return;
		this.layout();
		this.scroll(0);
		this.draw();
		this.rest();
	}
	/* Describe the view once nothing moves. */
	rest() {
		clearTimeout(this.resting);
		if (!this.isChosen) this.resting = setTimeout(() => describeView(this), 120);
	}

	/* ---- the buffer ---- */

	draw(height = this.box.clientHeight) {
		const width = this.box.clientWidth;
		if (!state.ready || width < GUTTER + 50 || height <= TOP) return;
		const began = performance.now(),
			{ ctx, ratio } = fitCanvas(this.canvas, width, height);
		const W = Math.round((width - GUTTER) * ratio),
			H = Math.round((height - TOP) * ratio);
		if (!this.image || this.image.width !== W || this.image.height !== H) {
			this.image = new ImageData(W, H);
			this.pixels = new Uint32Array(this.image.data.buffer);
			this.tops = new Int32Array(W);
			this.inks = new Uint32Array(W);
		}
		Object.assign(this, { W, H, ratio });
		const shown = [this.t0, this.t1, this.y, W, H, this.items, this.bright, state.matches];
		if (!this.shown?.every((value, i) => value === shown[i])) this.fillAll();
		this.shown = shown;
		ctx.clearRect(0, 0, width, height);
		ctx.fillStyle = css('--panel');
		ctx.fillRect(0, 0, width, TOP);
		ctx.putImageData(this.image, Math.round(GUTTER * ratio), Math.round(TOP * ratio));
		this.drawTexts(ctx);
		this.drawPauses(ctx, height);
		this.drawFlows(ctx);
		this.drawSelection(ctx, height);
		this.drawGutter(ctx, height);
		this.drawTop(ctx, width);
		this.drawOutside(ctx, height);
		this.frame = performance.now() - began;
	}

	/* In print all tracks are drawn, in pieces that fit a page, each with its ruler. */
	print() {
		for (const piece of this.pieces.splice(0)) piece.remove();
		this.canvas.hidden = !!state.printRatio && this.height > 0;
		if (!this.canvas.hidden) return this.draw();
		const before = this.y,
			places = this.piecesOf(this.box.clientWidth * PIECE - TOP);
		/* as sharp as memory allows */
		state.printRatio = clamp(12 / places.length, 1, state.printRatio);
		for (const [from, until] of places) {
			this.y = from;
			this.draw(TOP + until - from);
			const piece = el('canvas', { width: this.canvas.width, height: this.canvas.height });
			piece.getContext('2d').drawImage(this.canvas, 0, 0);
			this.pieces.push(piece);
		}
		this.y = before;
		this.canvas.after(...this.pieces);
	}
	/* Split items into pieces [from, until] of at most that height, with at least one item each. */
	piecesOf(most) {
		const pieces = [[0, 0]];
		for (const { y, h } of this.items) {
			const piece = pieces.at(-1);
			if (y > piece[0] && y + h - piece[0] > most) pieces.push([y, y + h]);
			else piece[1] = y + h;
		}
		return pieces;
	}

	/* Fill all pixels; selection and pointer are drawn over them. */
	fillAll() {
		const { W, H, ratio, pixels } = this,
			back = this.pack(rgbOf(css('--bg'))),
			line = this.pack(rgbOf(css('--line2'))),
			band = this.pack(rgbOf(css('--panel')));
		Object.assign(this, { scale: W / (this.t1 - this.t0), texts: [] });
		pixels.fill(back);
		for (const t of this.ticks()) {
			const x = Math.floor((t - this.t0) * this.scale);
			if (x >= 0 && x < W) for (let y = 0; y < H; y++) pixels[y * W + x] = line;
		}
		this.drawn = this.items.filter((item) => item.y + item.h > this.y && item.y < this.y + H / ratio);
		for (const item of this.drawn) this.fillItem(item, band, line);
	}

	fillItem(item, band, line) {
		const r = this.ratio,
			top = Math.round((item.y - this.y) * r),
			bottom = Math.round((item.y + item.h - this.y) * r);
		if (item.kind === 'head') {
			this.fill(0, this.W, top, bottom - 1, band);
			if (item.union) this.fillUnion(item.union, top + Math.round(4 * r), bottom - 1);
		} else if (item.kind === 'counter')
			this.fillCounter(item.series, top + Math.round(3 * r), bottom - Math.round(GAP * r));
		else if (item.kind === 'steps') this.fillSteps(item.rows, top + 1, bottom - Math.round(GAP * r));
		else {
			this.sampled = item.track.kind === 'python' ? this.sampledColumns(item.track) : null;
			item.lanes.forEach((row, lane) => {
				const y = top + Math.round(lane * item.lane * r) + 1;
				this.fillRow(row, y, y + Math.round((item.lane - 1) * r) - 1);
			});
		}
		this.fill(0, this.W, bottom - 1, bottom, line);
	}

	/* Of the steps of one part in a column of pixels the first one is drawn. */
	fillSteps(rows, y0, y1) {
		const colors = Object.fromEntries(Object.entries(PART_HUES).map(([part, hue]) => [part, this.pack(hueOf(hue))]));
		let end = 0,
			last;
		for (const { Start, Wall, Part } of rows) {
			const x = Math.round((state.index.zero + Start - this.t0) * this.scale),
				until = Math.max(x + 1, Math.round(x + Wall * this.scale) - 1);
			if (until <= 0 || (until <= end && Part === last)) continue;
			if (x >= this.W) break;
			this.fill(x, until, y0, y1, colors[Part]);
			end = until;
			last = Part;
		}
	}
	/* The columns of pixels at which a sample found the thread at work. */
	sampledColumns({ process, id }) {
		const { t0, t1, scale, W } = this,
			columns = new Uint8Array(W),
			wide = Math.round(2 * this.ratio),
			{ t, length, count } = state.samples.get(process + ' ' + id) || { t: [] };
		for (let i = Math.max(0, lowerBound(t, 0, t.length, t0) - 1); i < t.length && t[i] < t1; ) {
			const step = count[i] > 1 ? Math.max(length[i] / (count[i] - 1), 1 / scale) : Infinity;
			for (let at = t[i] + Math.max(0, Math.floor((t0 - t[i]) / step)) * (step < Infinity ? step : 0); at <= Math.min(t[i] + length[i], t1); at += step) {
				const x = Math.round((at - t0) * scale - wide / 2);
				columns.fill(1, Math.max(0, x), Math.max(0, x + wide));
			}
			i = Math.max(i + 1, gallop(t, 0, t.length, i, t[i] + 0.5 / scale));
		}
		return columns;
	}

	fill(x0, x1, y0, y1, color) {
		x0 = Math.max(0, x0);
		x1 = Math.min(this.W, x1);
		y0 = Math.max(0, y0);
		y1 = Math.min(this.H, y1);
		for (let y = y0; y < y1 && x0 < x1; y++) this.pixels.fill(color, y * this.W + x0, y * this.W + x1);
	}
	hatch(x0, x1, y0, y1) {
		const line = this.pack(rgbOf(css('--line')));
		for (let x = x0; x < x1; x++) for (let y = y0 - (y0 + x) % 7; y < y1; y += 7) this.fill(x, x + 1, Math.max(y, y0), y + 1, line);
	}
	column(x, y0, y1, color) {
		y0 = Math.max(0, y0);
		y1 = Math.min(this.H, y1);
		for (let at = y0 * this.W + x, end = y1 * this.W + x; at < end; at += this.W) this.pixels[at] = color;
	}

	/* The height of a share, with a visible minimum. */
	heightOf(share, h) {
		return Math.max(Math.round(Math.max(3 * this.ratio, h / 4)), Math.ceil(h * share));
	}
	fillRow(row, y0, y1) {
		if (y1 < 0 || y0 > this.H) return;
		this.walk(row, y0, y1, state.matches ? this.faint : this.sampled ? this.pale : this.bright);
		if (state.matches && row.hits) this.walkHits(row, y0, y1);
	}

	/* Events wider than a pixel are drawn alone.  For narrower ones, each pixel (within a quarter of its width) has the color of the longest, and the busy share as height. */
	walk(row, y0, y1, colors) {
		const { start, dur, busy, label, n, starts } = row,
			{ t0, t1, scale, W, tops, inks } = this,
			h = y1 - y0,
			pixel = 1 / scale,
			wide = 1.2 * pixel;
		let i = lowerBound(start, 0, n, t0) - 1,
			likely = 1;
		if (i < 0 || start[i] + dur[i] <= t0) i++;
		tops.fill(y1);
		for (let before = i < n ? timeBefore(row, i) : 0; i < n;) {
			const c = i >>> CHUNK_BITS,
				from = c << CHUNK_BITS === i ? starts[c] : start[i];
			if (from >= t1) break;
			if (isAsLong(row, i, wide)) {
				this.fillWide(from, from + dur[i], y0, y1, label[i], colors, busy[i] / dur[i]);
				before += busy[i++];
				continue;
			}
			const x = Math.max(0, Math.floor((from - t0) * scale));
			if (x >= W) break;
			const end = t0 + (x + 1) * pixel,
				chunk = chunkFrom(row, c, end, likely);
			likely = Math.min(16, chunk - c);
			let j = nextFrom(row, i, chunk, end, pixel / 4);
			if (j - i > 1 && isAsLong(row, j - 1, wide)) j--;
			const after = timeBefore(row, j),
				share = Math.min(1, (after - before) * scale);
			tops[x] = y1 - this.heightOf(share, h);
			inks[x] = (this.sampled?.[x] && !state.matches ? this.bright : colors)[longestOf(row, i, j)];
			i = j;
			before = after;
		}
		this.fillColumns(y1);
	}
	/* share: the height of merged events. */
	fillWide(from, until, y0, y1, label, colors, share) {
		const { t0, scale, W } = this,
			a = Math.max(0, Math.round((from - t0) * scale)),
			b = Math.min(W, Math.max(Math.round((until - t0) * scale), a + 1));
		this.fillEvent(a, b, share < 1 ? y1 - this.heightOf(share, y1 - y0) : y0, y1, label, colors);
		if (b > a) this.tops.fill(y1, a, b);
		if (b - a > 26 * this.ratio && !(share < 0.7)) this.texts.push(a, b, y0, y1, label, colors === this.faint ? 1 : 0);
	}
	fillEvent(a, b, y0, y1, label, colors) {
		const end = b - (b - a > 4 ? 1 : 0);
		this.fill(a, end, y0, y1, colors[label]);
		for (let x = a; this.sampled && colors !== this.faint && x < end; x++) if (this.sampled[x]) this.column(x, y0, y1, this.bright[label]);
		if (this.hatched[label]) this.hatch(a, b, y0, y1);
	}
	/* Draw columns of pixels from their tops down to y1: line by line, in the order of memory, without unpredictable branches. */
	fillColumns(y1) {
		const { W, tops, inks, pixels } = this;
		let first = y1,
			full = 0;
		for (let x = 0; x < W; x++) {
			first = Math.min(first, tops[x]);
			full = Math.max(full, tops[x]);
		}
		for (let y = Math.max(0, first); y < Math.min(this.H, y1); y++) {
			if (y >= full) {
				pixels.set(inks, y * W);
				continue;
			}
			for (let x = 0, at = y * W; x < W; x++, at++) {
				const inside = (tops[x] - y - 1) >> 31;
				pixels[at] = (inks[x] & inside) | (pixels[at] & ~inside);
			}
		}
	}

	/* Draw only the events that match the search. */
	walkHits(row, y0, y1) {
		const { start, dur, label } = state.ev,
			{ t0, t1, scale, W } = this,
			hits = row.hits;
		let low = 0,
			high = hits.length;
		while (low < high) {
			const m = (low + high) >>> 1;
			if (start[hits[m]] + dur[hits[m]] < t0) low = m + 1;
			else high = m;
		}
		for (let k = low, last = -1; k < hits.length && start[hits[k]] < t1; k++) {
			const i = hits[k],
				a = Math.max(0, Math.round((start[i] - t0) * scale)),
				b = Math.min(W, Math.max(Math.round((start[i] + dur[i] - t0) * scale), a + 1));
			if (b <= last) {
				k += Math.max(0, this.skipHits(hits, k, t0 + last / scale));
				continue;
			}
			this.fillEvent(a, b, y0, y1, label[i], this.sampled ? this.pale : this.bright);
			if (b - a > 26 * this.ratio) this.texts.push(a, b, y0, y1, label[i], 0);
			last = b;
		}
	}
	/* The number of next matches that begin before t. */
	skipHits(hits, k, t) {
		const { start } = state.ev;
		let step = 1,
			low = k;
		while (low + step < hits.length && start[hits[low + step]] < t) {
			low += step;
			step *= 2;
		}
		return low - k;
	}

	fillUnion(union, y0, y1) {
		const color = this.pack(mix(rgbOf(css('--accent')), rgbOf(css('--panel')), 0.35)),
			h = y1 - y0;
		busyColumns(union, this.t0, 1 / this.scale, this.W, (x, share) =>
			this.column(x, y1 - Math.max(1, Math.round(h * share)), y1, color),
		);
	}

	/* Reserved memory is drawn behind the used part. */
	fillCounter({ t, v, most, reserved }, y0, y1) {
		if (reserved) this.fillCourse(reserved, reserved.most, 0.85, y0, y1);
		this.fillCourse({ t, v }, reserved?.most ?? most, 0.6, y0, y1);
	}
	fillCourse({ t, v }, highest, paler, y0, y1) {
		const most = Math.max(1, highest),
			h = y1 - y0;
		const body = this.pack(mix(rgbOf(css('--good')), rgbOf(css('--bg')), paler)),
			edge = this.pack(mix(rgbOf(css('--good')), rgbOf(css('--bg')), paler - 0.6));
		let i = lowerBound(t, 0, t.length, this.t0);
		for (let x = 0; x < this.W; x++) {
			const until = this.t0 + (x + 1) / this.scale;
			let value = i > 0 ? v[i - 1] : 0,
				peak = value;
			const j = Math.min(t.length, lowerBoundFrom(t, i, until));
			for (let k = i; k < j; k += Math.max(1, (j - i) >> 6)) peak = Math.max(peak, v[k]);
			if (j > i) {
				value = v[j - 1];
				peak = Math.max(peak, value);
			}
			i = j;
			if (peak > 0) {
				const top = y1 - Math.max(1, Math.round((h * peak) / most));
				this.column(x, top, y1, body);
				this.column(x, top, top + Math.round(this.ratio), edge);
			}
		}
	}
}
const lowerBoundFrom = (t, i, until) => {
	while (i < t.length && t[i] < until) {
		let step = 1;
		while (i + step < t.length && t[i + step] < until) {
			i += step;
			step *= 2;
		}
		i++;
	}
	return i;
};
/*
 * The titles of tracks.  The thread number is left out if the name is unique and the track is not the
 * track of the thread itself; the process is added if several processes are under one head.
 */
function titlesOf(tracks) {
	const isOfGpu = (t) => ['stream', 'gpu-ranges'].includes(t.kind),
		shorten = (t) => (t.kind === 'thread' ? t.name : t.name.replace(/ \(thread \d+\)$/, '')),
		/* the distinguishing part first, as the rest may not fit */
		numberFirst = (t) => (t.kind === 'thread' ? t.name : t.name.replace(/(\S+) \(thread (\d+)\)$/, 'thread $2 ($1)')),
		keyOf = (t) => [t.process, t.kind, shorten(t)].join(),
		ownerOf = ({ process: p }) => (state.about.processes[p].rank !== undefined ? 'r' + state.about.processes[p].rank : state.about.processes[p].pid) + ': ',
		counts = new Map(),
		owners = new Map();
	for (const t of tracks) {
		counts.set(keyOf(t), (counts.get(keyOf(t)) ?? 0) + 1);
		owners.set(t.kind + t.id, (owners.get(t.kind + t.id) ?? new Set()).add(t.process));
	}
	return new Map(
		tracks.map((t) => [t, (isOfGpu(t) && owners.get(t.kind + t.id).size > 1 ? ownerOf(t) : '') + (counts.get(keyOf(t)) === 1 ? shorten(t) : numberFirst(t))]),
	);
}
const isSameThread = (a, b) => a.process === b.process && a.id === b.id;
/* The number of calls among the events of a thread. */
function callsIn({ lanes }) {
	const { kinds } = state.index.labels;
	let calls = 0;
	for (const { label } of lanes) for (const l of label) calls += kinds[l] === 'a' ? 1 : 0;
	return calls;
}
/* For each process the thread with the most CUDA calls: Python threads first; the main thread counts tenfold, as it directs those of autograd. */
function leadingThreads(threads) {
	const leading = new Map(),
		inPython = (t) => state.index.tracks.some((other) => other.kind === 'python' && isSameThread(other, t)),
		weight = (t) => t.calls * (t.id === state.about.processes[t.process].pid ? 10 : 1),
		ranked = threads.filter((t) => t.calls).sort((a, b) => inPython(b) - inPython(a) || weight(b) - weight(a));
	for (const thread of ranked) if (!leading.has(thread.process)) leading.set(thread.process, thread);
	return [...leading.values()];
}
/* All tracks of ranges on a GPU except the few of a process with the most time: each compiler thread has one. */
const MOST_RANGES = 3;
function lesserRanges(tracks) {
	const time = ({ lanes: [row] }) => row.dur.reduce((sum, duration) => sum + duration, 0),
		ranked = [...tracks].sort((a, b) => time(b) - time(a)),
		besides = (track) => ranked.filter(({ process, id }) => process === track.process && id === track.id);
	return ranked.filter((track) => besides(track).indexOf(track) >= MOST_RANGES);
}
/* Whether a Python thread mostly waits, by its first row. */
function isWaiting({ lanes: [row] }) {
	const { kinds, texts } = state.index.labels,
		waits = texts.map((text, l) => isWait(kinds[l], text));
	let waited = 0,
		all = 0;
	for (let i = 0; i < row.n; i++) {
		if (row.label[i] === state.index.labels.kinds.indexOf('x')) continue;
		all += row.dur[i];
		waited += waits[row.label[i]] ? row.dur[i] : 0;
	}
	return waited > 0.8 * all;
}
let timeline = null;
