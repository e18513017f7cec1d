/*
 * Of a page that gpuprof serve shows: a button that hands the trace to the Perfetto UI, in a window of its own.
 *
 * That page gets the trace from this one as a message: it is asked until it says that it listens, then it is given the trace.
 */

const PERFETTO_ASK_MS = 50,
	PERFETTO_PATIENCE_MS = 60000;

/* Resolves when the page in that window listens. */
function untilPerfettoListens(ui) {
	return new Promise((done, fail) => {
		const began = performance.now();
		const end = (settle, value) => {
			clearInterval(timer);
			removeEventListener('message', hear);
			settle(value);
		};
		const hear = (e) => {
			if (e.source === ui && e.origin === state.served.perfetto && e.data === 'PONG') end(done);
		};
		/* any page may hear the question: it tells nothing */
		const timer = setInterval(() => {
			if (ui.closed) end(fail, new Error('its window was closed'));
			else if (performance.now() - began > PERFETTO_PATIENCE_MS) end(fail, new Error('it does not answer'));
			else ui.postMessage('PING', '*');
		}, PERFETTO_ASK_MS);
		addEventListener('message', hear);
	});
}

async function fetchTrace() {
	const answer = await fetch('trace' + location.search).catch(() => {
		throw new Error('gpuprof serve has ended');
	});
	if (!answer.ok) throw new Error((await answer.text()).trim());
	return answer.arrayBuffer();
}

async function openInPerfetto() {
	const ui = open(state.served.perfetto);
	if (!ui) throw new Error('the browser opened no window: it has to allow that for this page');
	const [buffer] = await Promise.all([fetchTrace(), untilPerfettoListens(ui)]);
	const title = document.title.replace(/ – gpuprof$/, '');
	ui.postMessage({ perfetto: { buffer, title, fileName: title + '.pftrace' } }, state.served.perfetto, [buffer]);
}

async function onPerfetto(button, trouble) {
	trouble.remove();
	$('banner').hidden = !$('banner').childElementCount;
	button.disabled = true;
	try {
		await openInPerfetto();
	} catch (error) {
		trouble.textContent = 'The trace could not be opened in the Perfetto UI: ' + plain(error.message) + '.';
		$('banner').append(trouble);
		$('banner').hidden = false;
	}
	button.disabled = false;
}
function perfettoButton() {
	const trouble = el('p'),
		title =
			'Open the trace at ' + state.served.perfetto + ': that page is loaded from there, the trace stays in this browser';
	const button = el('button', { id: 'perfetto', title, onclick: () => onPerfetto(button, trouble) }, 'Perfetto ↗');
	return button;
}
