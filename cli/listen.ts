import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from './channel.ts';
import { CommandFailure } from './command-failure.ts';
import { whileConnected } from './connected.ts';
import { type Delivery, forward, type Outcome } from './forward.ts';

interface ListenOptions {
  readonly forwardTo: URL;
  /** Empty for all. */
  readonly eventTypes: readonly string[];
  readonly signal: AbortSignal;
  print(line: string): void;
}

interface Opened {
  readonly listenerId: string;
  readonly eventTypes: readonly string[];
}

/** Many answers at once exceed the key's rate limit, so the rest are reported in the next seconds. */
const REPORT_TRIES = 10;
const REPORT_AGAIN_MS = 1_000;
const NOT_FORWARDED =
  'Events published in the meantime are not forwarded; you can resend them from the dashboard.';

/**
 * Forwards the sandbox's webhooks to a local server until the signal is aborted. Each connection is a temporary
 * subscription of its own, which the sandbox removes with it; the signing secret stays the same.
 */
export async function listen(channel: Channel, options: ListenOptions): Promise<void> {
  const { forwardTo, eventTypes, signal, print } = options;
  const signingSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const body = {
    signingSecret,
    forwardsTo: forwardTo.href,
    ...(eventTypes.length > 0 && { eventTypes }),
  };
  const open = () => channel.stream('POST', '/cli/v1/listeners', { body, signal });
  const onLost = (reason: string, waitMs: number) => {
    print(`${reason} Reconnecting in ${Math.ceil(waitMs / 1_000)} s. ${NOT_FORWARDED}`);
  };
  let isFirst = true;
  let listenerId = '';
  for await (const { event, data } of whileConnected(open, { signal, onLost })) {
    if (event === 'opened') {
      const opened = data as Opened;
      listenerId = opened.listenerId;
      if (isFirst) {
        print(`Forwarding ${countOf(opened.eventTypes)} from the sandbox to ${forwardTo.href}`);
        print(`Signing secret: ${signingSecret}`);
        print('Press Ctrl-C to stop.');
      } else print('Reconnected as a new temporary subscription with the same signing secret.');
      isFirst = false;
    } else if (event === 'delivery') {
      void deliver(channel, options, listenerId, data as Delivery);
    }
  }
}

const countOf = ({ length }: readonly string[]) => (length === 1 ? '1 event type' : `${length} event types`);

async function deliver(
  channel: Channel,
  { forwardTo, signal, print }: ListenOptions,
  listenerId: string,
  delivery: Delivery,
): Promise<void> {
  const outcome = await forward(forwardTo, delivery, signal);
  if (signal.aborted) return;
  print(lineOf(delivery, outcome));
  const path = `/cli/v1/listeners/${listenerId}/deliveries/${delivery.deliveryId}`;
  for (let left = REPORT_TRIES - 1; !signal.aborted; left -= 1) {
    try {
      await channel.post(path, outcome, signal);
      return;
    } catch (error) {
      const isTemporary = error instanceof CommandFailure && error.isTemporary;
      if (!isTemporary || left === 0) {
        print(`The outcome of ${delivery.eventId} was not recorded: ${messageOf(error)}`);
        return;
      }
    }
    await delay(REPORT_AGAIN_MS * (1 + Math.random()), undefined, { signal }).catch(() => undefined);
  }
}

/** The time, the status or failure, the type, the duration and the event's id. */
function lineOf({ eventType, eventId }: Delivery, outcome: Outcome): string {
  const time = new Date().toTimeString().slice(0, 8);
  const result = 'status' in outcome ? String(outcome.status) : outcome.failure;
  return `${time}  ${result.padEnd(3)}  ${eventType}  ${outcome.latencyMs} ms  ${eventId}`;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
