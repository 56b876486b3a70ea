// Everything works without this file; it adds live changes, copying and a filter for long lists of choices.

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
}
document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches('[data-copy]')) return;
  await navigator.clipboard.writeText(target.parentElement.querySelector('code').textContent);
  target.textContent = target.dataset.copied;
});

// What is shown once is gone when its page is left, also from the copy that a browser keeps for the back button.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.remove();
});

// Of two answers, as after a double click, only the last is seen; what is shown once is in the first.
const SENDING_MS = 3_000;
const sending = new Set();
document.addEventListener('submit', (event) => {
  if (sending.has(event.target)) return event.preventDefault();
  sending.add(event.target);
  setTimeout(() => sending.delete(event.target), SENDING_MS);
});

for (const box of document.querySelectorAll('[data-filter]')) {
  box.hidden = false;
  const list = document.getElementById(box.dataset.filter);
  box.querySelector('input').addEventListener('input', ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/);
    for (const option of list.querySelectorAll('.option')) {
      const text = option.textContent.toLowerCase();
      option.hidden = !words.every((word) => text.includes(word));
    }
  });
}

// A hidden tab lets its connection go: browsers have few for a host.
let stream;
function follow() {
  stream?.close();
  stream = undefined;
  if (document.hidden || !document.querySelector('[data-stream]')) return;
  stream = new EventSource(location.href);
  stream.addEventListener('message', ({ data }) => {
    for (const [name, html] of Object.entries(JSON.parse(data))) replace(name, html);
  });
  stream.addEventListener('error', async () => {
    if (stream?.readyState !== EventSource.CLOSED) return;
    // Refused, not interrupted. Whose session has ended goes to sign in again.
    const { type } = await fetch(location.href, { method: 'HEAD', redirect: 'manual' });
    if (type === 'opaqueredirect') location.reload();
  });
}

/** Leaves alone what somebody is using just now. */
function replace(name, html) {
  const region = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
  if (!region || region.innerHTML === html || region.contains(document.activeElement)) return;
  const fresh = document.createElement('template');
  fresh.innerHTML = html;
  if (fresh.innerHTML === region.innerHTML) return;
  const open = [...region.querySelectorAll('details')].map((details) => details.open);
  region.replaceChildren(fresh.content);
  region.querySelectorAll('details').forEach((details, index) => {
    details.open = open[index] ?? false;
  });
  for (const button of region.querySelectorAll('[data-copy]')) button.hidden = false;
  region.classList.remove('changed');
  void region.offsetWidth;
  region.classList.add('changed');
}

document.addEventListener('visibilitychange', follow);
follow();
