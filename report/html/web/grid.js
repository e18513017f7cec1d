/* A table of any length: only visible rows are elements. */

const ROW_HEIGHT = 25;

/*
 * columns: {title, unit, text, isReal, width, share, color(row)}; rows: arrays of values.  onpick(row)
 * is called for a selected row; onopen(i), if set, for the index of a row that is clicked, or selected
 * and opened by Enter.
 */
class Grid {
	constructor({ columns, rows, sort, label, onpick, constants = [] }) {
		Object.assign(this, { columns, rows, onpick, constants, sortColumn: sort ?? 0, descending: true, filter: '', picked: null });
		this.descending = !columns[this.sortColumn]?.text;
		this.head = el('div', { class: 'head', role: 'row' });
		this.body = el('div', { class: 'rows', role: 'rowgroup' });
		this.node = el(
			'div',
			{
				class: 'grid',
				role: 'grid',
				tabIndex: 0,
				'aria-label': label,
				onscroll: () => this.draw(),
				onkeydown: (e) => this.key(e),
			},
			this.head,
			this.body,
		);
		this.observer = new ResizeObserver(() => {
			this.layout();
			this.draw();
		});
		this.observer.observe(this.node);
		this.columns.forEach((column, c) => {
			if (column.share) column.most = rows.reduce((most, row) => Math.max(most, row[c] || 0), 0);
			column.natural = this.measure(column, c);
		});
		this.order();
	}

	/* Set the width for the title and the longest of the first values; for texts, find where they differ from similar ones. */
	measure(column, c) {
		column.marks = column.text ? marksOf(this.rows.map((row) => fmtUnit(row[c], column.unit))) : null;
		let chars = column.title.length + (column.text ? 1 : 2);
		for (let i = 0; i < Math.min(this.rows.length, 300); i++) {
			const value = this.rows[i][c];
			if (value !== null)
				chars = Math.max(chars, column.text ? String(value).length : fmtUnit(value, column.unit, column.isReal).length);
		}
		return Math.round(clamp(chars, 4, column.text ? 90 : 18) * 7.2 + 24 + (column.color ? 18 : 0));
	}

	/* Text columns share the space that numbers leave. */
	layout() {
		const room = this.node.clientWidth,
			texts = this.columns.filter((c) => c.text),
			numbers = this.columns.filter((c) => !c.text);
		const fixed = numbers.reduce((sum, c) => sum + (c.width = Math.min(c.natural, 150)), 0);
		let left = Math.max(room - fixed, 0),
			todo = [...texts].sort((a, b) => a.natural - b.natural);
		while (todo.length) {
			const column = todo.shift();
			column.width = Math.max(
				Math.min(column.natural, left / (todo.length + 1)),
				Math.min(column.natural, column === this.columns[0] ? clamp(room - fixed, 150, 200) : 150),
			);
			left = Math.max(0, left - column.width);
		}
		if (left > 0 && this.columns[0].text) texts.reduce((a, b) => (b.natural > a.natural ? b : a)).width += left;
		this.total = this.columns.reduce((sum, c) => sum + c.width, 0);
		const focused = [...this.head.children].indexOf(document.activeElement);
		this.head.replaceChildren(
			...this.columns.map((column, c) =>
				el(
					'button',
					{
						class: column.text ? 'text' : '',
						role: 'columnheader',
						title: column.title + (column.hint ? ': ' + column.hint : ''),
						tabIndex: c === this.sortColumn ? 0 : -1,
						style: { width: column.width + 'px', flex: 'none' },
						onclick: () => this.sort(c),
						onkeydown: (e) => this.headKey(e, c),
						'aria-sort':
							c === this.sortColumn
								? this.descending
									? 'descending'
									: 'ascending'
								: null,
					},
					column.title + (c === this.sortColumn ? (this.descending ? ' ▾' : ' ▴') : ''),
				),
			),
		);
		if (focused >= 0) this.head.children[focused].focus({ preventScroll: true });
	}

	/* Move from title to title; Enter sorts, as for any button. */
	headKey(event, c) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!step || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		event.stopPropagation();
		this.head.children[c + step]?.focus();
	}

	sort(c) {
		this.descending = c === this.sortColumn ? !this.descending : !this.columns[c].text;
		this.sortColumn = c;
		this.order();
		this.layout();
		this.draw();
	}

	setFilter(text) {
		this.filter = text;
		this.order();
		this.node.scrollTop = 0;
		this.draw();
	}

	/* Set other rows; columns keep at least their width. */
	setRows(rows) {
		this.rows = rows;
		this.picked = null;
		this.columns.forEach((column, c) => {
			if (column.share) column.most = rows.reduce((most, row) => Math.max(most, row[c] || 0), 0);
			column.natural = Math.max(column.natural, this.measure(column, c));
		});
		this.order();
		this.layout();
		this.draw();
	}

	order() {
		const c = this.sortColumn,
			sign = this.descending ? -1 : 1,
			wanted = matcherOf(this.filter);
		const texts = this.columns.map((column, i) => (column.text ? i : -1)).filter((i) => i >= 0);
		const shown = [];
		for (let i = 0; i < this.rows.length; i++)
			if (!wanted || texts.some((t) => this.rows[i][t] !== null && wanted(String(this.rows[i][t]))))
				shown.push(i);
		const key = (i) => this.rows[i][c];
		if (this.columns[c]?.text)
			shown.sort((a, b) => sign * String(key(a) ?? '').localeCompare(String(key(b) ?? '')) || a - b);
		else if (this.columns[c])
			shown.sort((a, b) => (key(a) === null) - (key(b) === null) || sign * (key(a) - key(b)) || a - b);
		this.shown = shown;
		this.node.setAttribute('aria-rowcount', shown.length);
	}

	cell(column, row, c) {
		const value = row[c],
			text = fmtUnit(value, column.unit, column.isReal);
		const mark = column.marks?.get(text),
			node = el(
			'div',
			{
				class: 'cell' + (column.text ? ' text' : '') + (mark ? ' cut' : '') + (column.share && value > 0 ? ' share' : ''),
				role: 'gridcell',
				style: {
					width: column.width + 'px',
					...(column.share && column.most > 0 ? { '--w': (100 * value) / column.most + '%' } : {}),
				},
			},
			column.color ? swatch(column.color(row)) : null,
			mark ? cutText(text, mark) : text,
		);
		if (column.text && text.length * 7 > column.width) node.title = text;
		return node;
	}

	draw() {
		if (!this.total) this.layout();
		const top = this.node.scrollTop,
			height = state.printRatio ? 200 * ROW_HEIGHT : this.node.clientHeight;
		const from = Math.max(0, Math.floor(top / ROW_HEIGHT) - 4),
			to = Math.min(this.shown.length, Math.ceil((top + height) / ROW_HEIGHT) + 4);
		this.body.style.height = this.shown.length * ROW_HEIGHT + 'px';
		this.body.style.width = this.total + 'px';
		const nodes = [];
		for (let at = from; at < to; at++) {
			const i = this.shown[at],
				row = this.rows[i];
			nodes.push(
				el(
					'div',
					{
						class: this.onopen ? 'row leads' : 'row',
						role: 'row',
						title: this.onopen ? 'Show it in the timeline' : null,
						'aria-rowindex': at + 1,
						'aria-selected': i === this.picked ? 'true' : null,
						style: { top: at * ROW_HEIGHT + 'px' },
						onclick: () => {
							this.pick(at);
							this.onopen?.(i);
						},
					},
					this.columns.map((column, c) => this.cell(column, row, c)),
				),
			);
		}
		if (!nodes.length)
			nodes.push(el('p', { class: 'empty' }, this.rows.length ? 'Nothing matches the search.' : 'No rows.'));
		this.body.replaceChildren(...nodes);
	}

	pick(at) {
		if (at < 0 || at >= this.shown.length) return;
		this.picked = this.shown[at];
		const y = at * ROW_HEIGHT,
			view = this.node;
		if (y < view.scrollTop) view.scrollTop = y;
		else if (y + ROW_HEIGHT * 2.4 > view.scrollTop + view.clientHeight)
			view.scrollTop = y + ROW_HEIGHT * 2.4 - view.clientHeight;
		this.draw();
		if (this.onpick) this.onpick(this.rows[this.picked]);
	}

	key(event) {
		const at = this.shown.indexOf(this.picked),
			page = Math.max(1, Math.floor(this.node.clientHeight / ROW_HEIGHT) - 2);
		if (event.key === 'Enter' && at >= 0) this.onopen?.(this.picked);
		const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 };
		if (!(event.key in moves) || event.ctrlKey || event.metaKey) return;
		event.preventDefault();
		event.stopPropagation();
		this.pick(clamp((at < 0 ? -1 : at) + moves[event.key], 0, this.shown.length - 1));
	}

	csv() {
		const columns = [...this.columns, ...this.constants.map(([column]) => column)],
			same = this.constants.map(([, value]) => value),
			quote = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text),
			cell = (v, c) => {
				if (v === null || v === undefined) return '';
				if (typeof v === 'string') return quote((/^[=+\-@]/.test(v) ? "'" : '') + v);
				return columns[c].unit === 'address' ? fmtAddress(v) : fmtReal(v);
			};
		const title = (c) =>
			['ns', 'bytes'].includes(c.unit)
				? c.title + ' (' + c.unit + ')'
				: c.title;
		return (
			[
				columns.map((c) => quote(title(c))).join(','),
				...this.shown.map((i) => [...this.rows[i], ...same].map(cell).join(',')),
			].join('\n') + '\n'
		);
	}
}

/* A function for a search: all words, in any case; /.../ is a regular expression.  null: everything matches. */
function matcherOf(text) {
	text = text.trim();
	if (!text) return null;
	const pattern = /^\/(.+)\/$/.exec(text);
	if (pattern) {
		try {
			const regex = new RegExp(pattern[1], 'i');
			return (name) => regex.test(name);
		} catch (error) {
			return () => false;
		}
	}
	const words = text.toLowerCase().split(/\s+/);
	return (name) => {
		const low = name.toLowerCase();
		return words.every((word) => low.includes(word));
	};
}

function saveText(name, text) {
	const link = el('a', { href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })), download: name });
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* A table of `gpuprof summary --by` as a grid. */
const NAME_COLUMNS = [
	'Name',
	'Kind',
	'Metric',
	'Phase',
	'Operator',
	'What',
	'Cause',
	'Before',
	'Call site',
	'Range',
	'Operation',
];
function nameColumn(table) {
	for (const title of NAME_COLUMNS) {
		const c = table.columns.findIndex((column) => column[0] === title);
		if (c >= 0) return c;
	}
	return table.columns.findLastIndex((c) => c[2]);
}
const TABLE_KINDS = {
	kernel: 'k',
	grid: 'k',
	gpu: 'k',
	api: 'a',
	nvtx: 'r',
	'nvtx-group': 'r',
	'nvtx-gpu': 'r',
	'nvtx-kernel': 'k',
	'copy-time': 'c',
	'copy-size': 'c',
};
/* The label kind of a row of a table; undefined: it has no color. */
const kindOfRow = (word, name) => (TABLE_KINDS[word] === 'k' && name.startsWith('[') ? 'c' : TABLE_KINDS[word]);

function gridOf(table, onpick, only) {
	const name = nameColumn(table),
		total = table.columns.findIndex((c) => c[0] === 'Total');
	const columns = table.columns.map(([title, unit, text, isReal], c) => ({
		title,
		unit: unit || (text ? '' : 'number'),
		text: !!text,
		isReal: !!isReal,
		share: c === (total >= 0 ? total : table.sort) && !text,
		color:
			TABLE_KINDS[table.word] && c === name
				? (row) => colorOf(kindOfRow(table.word, String(row[0])), String(row[0]))
				: null,
	}));
	/* the name is the first column; columns without values, or with one value in all rows, are left out */
	const idle = (c) =>
		(only && !only.includes(columns[c].title)) ||
		(/^(Untimed|Failed|Open)$/.test(columns[c].title) && table.rows.every((row) => !row[c])) ||
		(table.rows.length > 0 && table.rows.every((row) => row[c] === null || row[c] === ''));
	const isConstant = (c) => !only && table.rows.length > 1 && (columns[c].text || columns[c].unit === 'number' || !table.rows[0][c]) && table.rows.every((row) => row[c] === table.rows[0][c]);
	const known = [name, ...columns.keys()].filter((c, i, all) => c >= 0 && all.indexOf(c) === i && (c === name || !idle(c))),
		differing = known.filter((c) => !isConstant(c)),
		order = differing.length ? differing : known;
	const sort = order.indexOf(table.sort);
	return new Grid({
		constants: known.filter((c) => !order.includes(c)).map((c) => [columns[c], table.rows[0][c]]),
		columns: order.map((c) => columns[c]),
		rows: table.rows.map((row) => order.map((c) => row[c])),
		sort,
		label: table.title,
		onpick: (row) => onpick && onpick(row[0], row),
	});
}
