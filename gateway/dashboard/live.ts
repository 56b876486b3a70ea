import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Html, html } from './html.ts';

type Regions = Readonly<Record<string, Html>>;

const LOOK_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** A browser opens a new stream by itself; a gateway that closes does not wait for ever. */
const LONGEST_MS = 10 * 60_000;
const MOST_PER_SESSION = 6;

/** Where a region of `Page.live` stands in the page; scripts replace what is inside when it changes. */
export function liveRegion(name: string, content: Html): Html {
  return html`<div data-live="${name}">${content}</div>`;
}

/** Whether a page is asked for as a stream of its changes. */
export function asksForStream({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept === 'text/event-stream';
}

/** The open streams of a listener. */
export class LiveStreams {
  readonly #open = new Map<AbortController, string>();

  /** Ends them all: what looks on connects anew, to another process if this one closes. */
  close(): void {
    for (const stream of this.#open.keys()) stream.abort();
  }

  /**
   * Sends the regions of a page as server-sent events, each as its HTML, whenever they change. `look` draws them again,
   * with all checks of the page; when it throws, the stream ends.
   * @returns false, with nothing sent, when the session has too many streams already.
   */
  async send(sessionId: string, reply: FastifyReply, look: () => Promise<Regions>): Promise<boolean> {
    if ([...this.#open.values()].filter((id) => id === sessionId).length >= MOST_PER_SESSION) return false;
    const stream = new AbortController();
    this.#open.set(stream, sessionId);
    reply.hijack();
    const { raw } = reply;
    raw.once('close', () => stream.abort());
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    raw.writeHead(200, headers as Record<string, string>);
    try {
      await follow(look, (text) => raw.write(text), stream.signal);
    } catch {
      // The answer has begun: the browser connects anew, and is told why by the page itself.
    } finally {
      this.#open.delete(stream);
      raw.end();
    }
    return true;
  }
}

async function follow(
  look: () => Promise<Regions>,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const shown = new Map<string, string>();
  const endsAt = performance.now() + LONGEST_MS;
  let heardAt = performance.now();
  while (!signal.aborted && performance.now() < endsAt) {
    const changed: Record<string, string> = {};
    for (const [name, content] of Object.entries(await look())) {
      const text = String(await content);
      if (shown.get(name) !== text) changed[name] = text;
      shown.set(name, text);
    }
    if (signal.aborted) return;
    if (Object.keys(changed).length > 0) {
      write(`data: ${JSON.stringify(changed)}\n\n`);
      heardAt = performance.now();
    } else if (performance.now() - heardAt > HEARTBEAT_MS) {
      write(': still here\n\n');
      heardAt = performance.now();
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
