import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Html, html } from './html.ts';

type Regions = Readonly<Record<string, Html>>;

/** Rendering a page calls the services, so a page that has not changed for a while is polled less often. */
const ACTIVE_POLL_MS = 1_000;
const IDLE_POLL_MS = 3_000;
const IDLE_AFTER_MS = 60_000;
/** Limits what a process renders: with many streams open, each is polled less often. */
const MAX_POLLS_PER_SECOND = 100;
const HEARTBEAT_MS = 15_000;
const MAX_STREAM_MS = 10 * 60_000;
/** Browsers reconnect after a random delay within these bounds, so that they do not all return at once. */
const RECONNECT_MS = { min: 1_000, max: 4_000 };
/** More than a person has visible tabs; hidden ones close their stream. */
const MAX_PER_PERSON = 12;
/** Forms get a new key whenever they are rendered, which is not a visible change. */
const FORM_KEYS = /name="_key" value="[^"]*"/g;

/** Marks the place of a `Page.live` region; the script replaces its content when it changes. */
export function liveRegion(name: string, content: Html): Html {
  return html`<div data-live="${name}">${content}</div>`;
}

/** All regions of a page, one below the other. */
export const liveRegions = (live: Readonly<Record<string, Html>>): readonly Html[] =>
  Object.entries(live).map(([name, content]) => liveRegion(name, content));

/** Whether a request is for a page's event stream rather than the page. */
export function isStreamRequest({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.accept === 'text/event-stream';
}

/**
 * How long to wait before polling a page again, given how long it has been unchanged and how many streams are open.
 * @param isCostly whether the page is never polled more often than an unchanged one
 */
export function pollIntervalMs(unchangedMs: number, openStreams: number, isCostly: boolean): number {
  const wantedMs = isCostly || unchangedMs > IDLE_AFTER_MS ? IDLE_POLL_MS : ACTIVE_POLL_MS;
  return Math.max(wantedMs, (openStreams * 1_000) / MAX_POLLS_PER_SECOND);
}

/** The open event streams of a dashboard. */
export class LiveStreams {
  readonly #open = new Map<AbortController, string>();
  #closed = false;

  /** Ends all streams and accepts no new ones: browsers reconnect, to another process if this one shuts down. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#open.keys()) stream.abort();
  }

  /**
   * Sends the live regions of a page as server-sent events, as HTML by name, whenever they change.
   * @param initial the regions as they are now
   * @param poll renders the regions again, with all checks of the page; the stream ends when it throws. Not called while
   *   the browser has yet to read what was sent before.
   * @param isCostly see {@link pollIntervalMs}
   * @returns false, with nothing sent, when the person has too many streams open across all their sessions
   */
  async send(
    accountId: string,
    reply: FastifyReply,
    initial: Regions,
    poll: () => Promise<Regions>,
    isCostly = false,
  ): Promise<boolean> {
    const own = [...this.#open.values()].filter((id) => id === accountId).length;
    if (this.#closed || own >= MAX_PER_PERSON) return false;
    reply.hijack();
    const { raw } = reply;
    // A browser that left while the page was rendered emits no further close event.
    if (raw.destroyed) return true;
    const stream = new AbortController();
    this.#open.set(stream, accountId);
    const timeout = setTimeout(() => stream.abort(), MAX_STREAM_MS);
    stream.signal.addEventListener('abort', () => {
      clearTimeout(timeout);
      this.#open.delete(stream);
      if (raw.writableNeedDrain) raw.destroy();
      else raw.end();
    });
    raw.once('close', () => stream.abort());
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    raw.writeHead(200, headers as Record<string, string>);
    // The headers are sent, so an error cannot be reported here: the browser reconnects and gets it from the page.
    await this.#sendChanges(raw, stream.signal, initial, poll, isCostly).catch(() => undefined);
    stream.abort();
    return true;
  }

  async #sendChanges(
    raw: ServerResponse,
    signal: AbortSignal,
    initial: Regions,
    poll: () => Promise<Regions>,
    isCostly: boolean,
  ): Promise<void> {
    const { min, max } = RECONNECT_MS;
    const sent = new Map<string, string>();
    let regions = initial;
    let [sentAt, changedAt] = [performance.now(), performance.now()];
    let text = `retry: ${Math.round(min + Math.random() * (max - min))}\n`;
    while (!signal.aborted) {
      const changed = await changesOf(regions, sent);
      if (signal.aborted) return;
      if (changed) text += `data: ${JSON.stringify(changed)}\n\n`;
      else if (performance.now() - sentAt > HEARTBEAT_MS) text += ': heartbeat\n\n';
      if (changed) changedAt = performance.now();
      if (text !== '') {
        sentAt = performance.now();
        if (!raw.write(text)) await once(raw, 'drain', { signal });
        text = '';
      }
      const intervalMs = pollIntervalMs(performance.now() - changedAt, this.#open.size, isCostly);
      await delay(intervalMs, undefined, { signal });
      regions = await poll();
    }
  }
}

/** The regions that differ from what was last sent, recorded as sent; undefined when there are none. */
async function changesOf(
  regions: Regions,
  sent: Map<string, string>,
): Promise<Record<string, string> | undefined> {
  const changed: Record<string, string> = {};
  for (const [name, content] of Object.entries(regions)) {
    const text = String(await content);
    const compared = text.replaceAll(FORM_KEYS, '');
    if (sent.get(name) !== compared) changed[name] = text;
    sent.set(name, compared);
  }
  return Object.keys(changed).length > 0 ? changed : undefined;
}
