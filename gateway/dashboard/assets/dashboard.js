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
const AGAIN_MS = 15_000;
let stream;
let again;
function follow() {
  stream?.close();
  stream = undefined;
  clearTimeout(again);
  if (document.hidden || !document.querySelector('[data-stream]')) return;
  const opened = new EventSource(location.href);
  stream = opened;
  opened.addEventListener('message', ({ data }) => {
    for (const [name, html] of Object.entries(JSON.parse(data))) replace(name, html);
  });
  opened.addEventListener('error', () => {
    // What was interrupted comes back by itself; this one was refused.
    if (opened === stream && opened.readyState === EventSource.CLOSED) askWhy();
  });
}

/** Whoever may no longer look on is told so by the page itself, or goes to sign in; all else is tried again later. */
async function askWhy() {
  const asked = new AbortController();
  const { headers, signal } = { headers: { accept: 'text/event-stream' }, signal: asked.signal };
  const status = await fetch(location.href, { headers, signal }).then(
    (answer) => answer.status,
    () => 0,
  );
  asked.abort();
  if ([401, 403, 404].includes(status)) location.reload();
  else again = setTimeout(follow, AGAIN_MS);
}

/** What came while somebody was using its region, by its name. */
const waiting = new Map();

/** Leaves alone what somebody is using just now, and comes back to it later. */
function replace(name, html) {
  waiting.delete(name);
  const region = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
  if (!region) return;
  const fresh = document.createElement('template');
  fresh.innerHTML = html;
  if (plainly(fresh.content) === plainly(region)) return;
  if (isInUse(region)) {
    waiting.set(name, html);
    return;
  }
  const wasOpen = new Map(
    [...region.querySelectorAll('details')].map((part, at) => [keyOf(part, at), part.open]),
  );
  region.replaceChildren(fresh.content);
  region.querySelectorAll('details').forEach((part, at) => {
    part.open = wasOpen.get(keyOf(part, at)) ?? part.open;
  });
  for (const button of region.querySelectorAll('[data-copy]')) button.hidden = false;
  region.classList.remove('changed');
  void region.offsetWidth;
  region.classList.add('changed');
}

const keyOf = (part, at) => part.dataset.key ?? at;

/** Where the focus is, or a text that is being selected. */
function isInUse(region) {
  const selection = getSelection();
  const isSelected = !selection.isCollapsed && selection.containsNode(region, true);
  return isSelected || region.contains(document.activeElement);
}

/** What is to be seen of a part, without what scripts and readers do to it and without the keys of its forms. */
function plainly(part) {
  const copy = document.createElement('div');
  copy.append(...part.cloneNode(true).childNodes);
  for (const button of copy.querySelectorAll('[data-copy]')) button.hidden = true;
  for (const folded of copy.querySelectorAll('details')) folded.open = false;
  for (const key of copy.querySelectorAll('input[name="_key"]')) key.setAttribute('value', '');
  return copy.innerHTML;
}

function comeBack() {
  for (const [name, html] of waiting) replace(name, html);
}
document.addEventListener('focusout', () => setTimeout(comeBack));
document.addEventListener('selectionchange', comeBack);
document.addEventListener('visibilitychange', follow);
follow();
