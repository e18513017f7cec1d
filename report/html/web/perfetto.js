/*
 * In a page of gpuprof serve: a button that opens the trace in the Perfetto UI in a new window.
 *
 * This page sends messages to that window until it answers, then sends the trace in a message.
 */

const PERFETTO_ASK_MS = 50,
	PERFETTO_PATIENCE_MS = 60000;

/* Resolves when the page in that window answers. */
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
		/* any page may receive this message: it contains no data */
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
	if (!ui) throw new Error('the browser opened no window: allow pop-up windows for this page');
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
			'Open the trace at ' + state.served.perfetto + ': that page is loaded from the network, the trace stays in this browser';
	const button = el('button', { id: 'perfetto', title, onclick: () => onPerfetto(button, trouble) }, 'Perfetto ↗');
	return button;
}
