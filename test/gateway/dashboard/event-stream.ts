import type { Visitor } from './dashboard-fixture.ts';

/** The stream of a page, as a browser sees it. */
export interface EventStream {
  readonly status: number;
  /** The regions that changed, by their names; undefined when the stream has ended. */
  next(): Promise<Record<string, string> | undefined>;
  close(): Promise<void>;
}

/** Opens the stream of a page. */
export async function openStream(
  visitor: Pick<Visitor, 'fetch' | 'token'>,
  path: string,
): Promise<EventStream> {
  const gone = new AbortController();
  const response = await visitor.fetch(path, {
    headers: { accept: 'text/event-stream', cookie: `__Host-session=${visitor.token}; language=en` },
    signal: gone.signal,
  });
  const events = eventsOf(response);
  return {
    status: response.status,
    next: async () => {
      const { done, value } = await events.next();
      return done ? undefined : value;
    },
    close: async () => gone.abort(),
  };
}

async function* eventsOf(response: Response): AsyncGenerator<Record<string, string>, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split('\n\n');
    text = events.pop()!;
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data) yield JSON.parse(data.slice('data: '.length)) as Record<string, string>;
    }
  }
  return undefined;
}
