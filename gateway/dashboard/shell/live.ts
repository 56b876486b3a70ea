import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Html, html } from './html.ts';

type Regions = Readonly<Record<string, Html>>;

/** How often a page is drawn again while it changes, and when it has been quiet for a while: each drawing reads. */
const BUSY_LOOK_MS = 1_000;
const QUIET_LOOK_MS = 3_000;
const QUIET_AFTER_MS = 60_000;
/** However many look on, a process draws no more often than this: each waits longer in its place. */
const MOST_LOOKS_PER_SECOND = 100;
const HEARTBEAT_MS = 15_000;
/** A browser opens a new stream by itself, after a while of its own, so that not all come back at once. */
const LONGEST_MS = 10 * 60_000;
const RECONNECT_MS = { least: 1_000, most: 4_000 };
/** Hidden tabs let theirs go, so nobody has as many in sight. */
const MOST_PER_PERSON = 12;
/** Forms have a new key at every drawing, which is no change to look at. */
const FORM_KEYS = /name="_key" value="[^"]*"/g;

/** Where a region of `Page.live` stands in the page; scripts replace what is inside when it changes. */
export function liveRegion(name: string, content: Html): Html {
  return html`<div data-live="${name}">${content}</div>`;
}

/** Whether a page is asked for as a stream of its changes. */
export function asksForStream({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.accept === 'text/event-stream';
}

/** After how many milliseconds a page is drawn again that has not changed for a while, with so many streams open. */
export function lookAgainMs(quietForMs: number, open: number): number {
  const wanted = quietForMs > QUIET_AFTER_MS ? QUIET_LOOK_MS : BUSY_LOOK_MS;
  return Math.max(wanted, (open * 1_000) / MOST_LOOKS_PER_SECOND);
}

/** The open streams of a listener. */
export class LiveStreams {
  readonly #open = new Map<AbortController, string>();
  #closed = false;

  /** Ends them all, and begins no other: what looks on connects anew, to another process if this one closes. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#open.keys()) stream.abort();
  }

  /**
   * Sends the regions of a page as server-sent events, each as its HTML, whenever they change. `look` draws them again,
   * with all checks of the page; when it throws, the stream ends. It looks no sooner than the reader has taken what was
   * sent before.
   * @param first the regions as they are now.
   * @returns false, with nothing sent, when the person has too many streams already, in whatever sessions.
   */
  async send(
    accountId: string,
    reply: FastifyReply,
    first: Regions,
    look: () => Promise<Regions>,
  ): Promise<boolean> {
    const own = [...this.#open.values()].filter((id) => id === accountId).length;
    if (this.#closed || own >= MOST_PER_PERSON) return false;
    reply.hijack();
    const { raw } = reply;
    // Who left while the page was drawn does not close again.
    if (raw.destroyed) return true;
    const stream = new AbortController();
    this.#open.set(stream, accountId);
    const longest = setTimeout(() => stream.abort(), LONGEST_MS);
    stream.signal.addEventListener('abort', () => {
      clearTimeout(longest);
      this.#open.delete(stream);
      if (raw.writableNeedDrain) raw.destroy();
      else raw.end();
    });
    raw.once('close', () => stream.abort());
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    raw.writeHead(200, headers as Record<string, string>);
    const again = (quietForMs: number) => lookAgainMs(quietForMs, this.#open.size);
    // Whatever ends it, the answer has begun: the browser connects anew, and is told why by the page itself.
    await follow(raw, stream.signal, first, look, again).catch(() => undefined);
    stream.abort();
    return true;
  }
}

async function follow(
  raw: ServerResponse,
  signal: AbortSignal,
  first: Regions,
  look: () => Promise<Regions>,
  again: (quietForMs: number) => number,
): Promise<void> {
  const { least, most } = RECONNECT_MS;
  const shown = new Map<string, string>();
  let regions = first;
  let [heardAt, changedAt] = [performance.now(), performance.now()];
  let text = `retry: ${Math.round(least + Math.random() * (most - least))}\n`;
  while (!signal.aborted) {
    const changed = await changesOf(regions, shown);
    if (signal.aborted) return;
    if (changed) text += `data: ${JSON.stringify(changed)}\n\n`;
    else if (performance.now() - heardAt > HEARTBEAT_MS) text += ': still here\n\n';
    if (changed) changedAt = performance.now();
    if (text !== '') {
      heardAt = performance.now();
      if (!raw.write(text)) await once(raw, 'drain', { signal });
      text = '';
    }
    await delay(again(performance.now() - changedAt), undefined, { signal });
    regions = await look();
  }
}

/** The regions that differ from those that were shown before, and now count as shown; undefined when none does. */
async function changesOf(
  regions: Regions,
  shown: Map<string, string>,
): Promise<Record<string, string> | undefined> {
  const changed: Record<string, string> = {};
  for (const [name, content] of Object.entries(regions)) {
    const text = String(await content);
    const compared = text.replaceAll(FORM_KEYS, '');
    if (shown.get(name) !== compared) changed[name] = text;
    shown.set(name, compared);
  }
  return Object.keys(changed).length > 0 ? changed : undefined;
}
