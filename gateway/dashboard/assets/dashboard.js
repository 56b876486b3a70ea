// Progressive enhancement: live updates, copy buttons, drafts of long texts, and a filter for long lists of options.

// The notice of an action is shown once: neither again by a reload, nor to someone who gets the link.
const here = new URL(location.href);
const notice = document.getElementById('notice');
if (here.searchParams.has('notice')) {
  here.searchParams.delete('notice');
  history.replaceState(history.state, '', here);
  // Screen readers announce what has the focus, and Tab continues from there.
  notice?.focus();
}

// Keep long texts in this tab until they are sent. The session may end while someone writes, and no page is cached.
const DRAFT = 'draft ';
const SENT = 'sent';
const draftOf = (area) => `${DRAFT}${area.form.action} ${area.name}`;
const draftsOf = (prefix) => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
const forget = (keys) => {
  for (const key of keys) sessionStorage.removeItem(key);
};
if (notice?.classList.contains('good') && sessionStorage.getItem(SENT))
  forget(draftsOf(`${DRAFT}${sessionStorage.getItem(SENT)} `));
sessionStorage.removeItem(SENT);
document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLTextAreaElement && target.form)
    sessionStorage.setItem(draftOf(target), target.value);
});
document.addEventListener('submit', ({ target }) => {
  if (new URL(target.action).pathname.includes('/sign-out')) forget(draftsOf(DRAFT));
  else sessionStorage.setItem(SENT, target.action);
});
/** Fills in what was typed before, unless the page comes with its own text. */
function restoreDrafts(part) {
  for (const area of part.querySelectorAll('form textarea')) {
    const draft = sessionStorage.getItem(draftOf(area));
    if (draft && area.value === '') area.value = draft;
  }
}
restoreDrafts(document);

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
}
document.addEventListener('click', async ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches('[data-copy]')) return;
  await navigator.clipboard.writeText(target.parentElement.querySelector('code').textContent);
  target.textContent = target.dataset.copied;
});

// On narrow screens the sections scroll sideways. `scrollIntoView` would have the first Tab start at the section, behind
// the link that skips to the content.
const section = document.querySelector('.sections [aria-current]');
if (section) {
  const list = section.closest('ul');
  const { left, width } = section.getBoundingClientRect();
  list.scrollLeft += left + width / 2 - list.getBoundingClientRect().left - list.clientWidth / 2;
}

// Remove secrets when the page is left, so that the back-forward cache does not keep them.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-once]')) secret.remove();
});

// Ignore double clicks: the browser would show only the second response, and a secret is in the first.
// As long as the dashboard waits for the services.
const SENDING_MS = 10_000;
const sending = new Set();
/** Shows on the buttons whether a response is awaited. */
const showSending = () => document.documentElement.classList.toggle('sending', sending.size > 0);
document.addEventListener('submit', (event) => {
  if (sending.has(event.target)) return event.preventDefault();
  sending.add(event.target);
  showSending();
  setTimeout(() => {
    sending.delete(event.target);
    showSending();
  }, SENDING_MS);
});
// Back in the history, the browser may show the page as it was left: its forms were answered.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  sending.clear();
  showSending();
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

// Close the stream while the tab is hidden: browsers limit connections per host.
const RECONNECT_MS = 15_000;
let stream;
let reconnect;
function connect() {
  stream?.close();
  stream = undefined;
  clearTimeout(reconnect);
  if (document.hidden || !document.querySelector('[data-stream]')) return;
  const opened = new EventSource(location.href);
  stream = opened;
  opened.addEventListener('message', ({ data }) => {
    for (const [name, html] of Object.entries(JSON.parse(data))) replace(name, html);
  });
  opened.addEventListener('error', () => {
    // EventSource reconnects after interruptions, but not after an error status.
    if (opened === stream && opened.readyState === EventSource.CLOSED) checkAccess();
  });
}

/** Leads to sign-in without a session; reloads a page that is no longer accessible, to show why; otherwise reconnects later. */
async function checkAccess() {
  const request = new AbortController();
  const { headers, signal } = { headers: { accept: 'text/event-stream' }, signal: request.signal };
  const status = await fetch(location.href, { headers, signal }).then(
    (response) => response.status,
    () => 0,
  );
  request.abort();
  if (status === 401) {
    const back = { return: location.pathname + location.search, ended: '1' };
    location.replace(`/sign-in?${new URLSearchParams(back)}`);
  } else if ([403, 404].includes(status)) location.reload();
  else reconnect = setTimeout(connect, RECONNECT_MS);
}

/** Updates postponed while their region is in use, by region. */
const postponed = new Map();

/** Replaces a region's content, later if it is in use. */
function replace(name, html) {
  postponed.delete(name);
  const region = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
  if (!region) return;
  const fresh = document.createElement('template');
  fresh.innerHTML = html;
  if (visibleHtml(fresh.content) === visibleHtml(region)) return;
  if (isInUse(region)) {
    postponed.set(name, html);
    return;
  }
  const wasOpen = new Map(
    [...region.querySelectorAll('details')].map((part, at) => [keyOf(part, at), part.open]),
  );
  update(region, fresh.content);
  region.querySelectorAll('details').forEach((part, at) => {
    part.open = wasOpen.get(keyOf(part, at)) ?? part.open;
  });
  for (const button of region.querySelectorAll('[data-copy]')) button.hidden = false;
  restoreDrafts(region);
}

/** Replaces only the children that differ, so that unchanged forms keep what was typed and do not flash. */
function update(part, fresh) {
  const [before, after] = [[...part.childNodes], [...fresh.childNodes]];
  const isAlike = (node, at) => node.nodeType === after[at].nodeType && node.nodeName === after[at].nodeName;
  if (before.length !== after.length || !before.every(isAlike)) {
    part.replaceChildren(...after);
    flash(part);
    return;
  }
  before.forEach((node, at) => {
    const next = after[at];
    if (visibleHtml(wrapped(node)) === visibleHtml(wrapped(next))) return;
    if (node instanceof Element && node.childElementCount > 0 && tagOf(node) === tagOf(next)) {
      update(node, next);
    } else {
      node.replaceWith(next);
      flash(next instanceof Element ? next : part);
    }
  });
}

/** An element around a copy of a node. */
function wrapped(node) {
  const element = document.createElement('div');
  element.append(node.cloneNode(true));
  return element;
}

/** An element's start tag, without what the script and the reader change. */
function tagOf(element) {
  const tag = element.cloneNode(false);
  tag.removeAttribute('open');
  tag.classList.remove('changed');
  if (tag.className === '') tag.removeAttribute('class');
  return tag.outerHTML;
}

function flash(part) {
  part.classList.remove('changed');
  void part.offsetWidth;
  part.classList.add('changed');
}

const keyOf = (part, at) => part.dataset.key ?? at;

/** Whether a region has the focus or part of the text selection. */
function isInUse(region) {
  const selection = getSelection();
  const isSelected = !selection.isCollapsed && selection.containsNode(region, true);
  return isSelected || region.contains(document.activeElement);
}

/** An element's HTML without changes by scripts and readers, and without form keys, for comparison. */
function visibleHtml(part) {
  const copy = document.createElement('div');
  copy.append(...part.cloneNode(true).childNodes);
  for (const button of copy.querySelectorAll('[data-copy]')) button.hidden = true;
  for (const folded of copy.querySelectorAll('details')) folded.open = false;
  for (const key of copy.querySelectorAll('input[name="_key"]')) key.setAttribute('value', '');
  for (const part of copy.querySelectorAll('.changed')) part.classList.remove('changed');
  for (const part of copy.querySelectorAll('[class=""]')) part.removeAttribute('class');
  return copy.innerHTML;
}

function applyPostponed() {
  // A copy, because a region that is still in use is added again, and the loop would never end.
  for (const [name, html] of [...postponed]) replace(name, html);
}
document.addEventListener('focusout', () => setTimeout(applyPostponed));
document.addEventListener('selectionchange', applyPostponed);
document.addEventListener('visibilitychange', connect);
connect();
