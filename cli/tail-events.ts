import type { Channel } from './channel.ts';
import { whileConnected } from './connected.ts';

interface TailOptions {
  /** Empty for all. */
  readonly eventTypes: readonly string[];
  readonly signal: AbortSignal;
  print(line: string): void;
  warn(line: string): void;
}

/** Prints the sandbox's events as they are published, a line of JSON for each, until the signal is aborted. */
export async function tailEvents(
  channel: Channel,
  { eventTypes, signal, print, warn }: TailOptions,
): Promise<void> {
  const query = eventTypes.length > 0 ? `?types=${encodeURIComponent(eventTypes.join(','))}` : '';
  const open = () => channel.stream('GET', `/cli/v1/events${query}`, { signal });
  const onLost = (reason: string, waitMs: number) => {
    warn(
      `${reason} Reconnecting in ${Math.ceil(waitMs / 1_000)} s; events published in the meantime are not shown.`,
    );
  };
  for await (const { data } of whileConnected(open, { signal, onLost })) print(JSON.stringify(data));
}
