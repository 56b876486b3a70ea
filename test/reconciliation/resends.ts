import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DeliveryService, ResendState } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import type { ArrivalLog } from './endpoints.ts';
import { retryUntilAnswered } from './publishers.ts';
import type { KnownSubscription, RequestedResend } from './records.ts';
import type { System } from './system.ts';

export interface Resends {
  readonly refused: readonly string[];
  /** Stops resending; resolves when each request has a response. */
  stop(): Promise<void>;
  /** Returns the resends with their states. */
  look(): Promise<RequestedResend[]>;
}

const EVERY_MS = 10_000;
const CALL_TIMEOUT_MS = 5_000;
const PERIOD_MS = 3_000;
/** Events of a period this long ago are normally in the log. */
const AGO_MS = 10_000;

/**
 * Operators who resend to a subscription, in turn, one event or the events of some seconds. Events that have arrived
 * there before must arrive again, once.
 * @param next returns an unordered subscription, because resends keep no order.
 */
export function resendOn(system: System, log: ArrivalLog, next: (n: number) => KnownSubscription): Resends {
  const client = createClient(DeliveryService, remoteTransport(system.servicesUrl, system.token));
  const stopping = new AbortController();
  const { signal } = stopping;
  const asked: Omit<RequestedResend, 'state'>[] = [];
  const refused: string[] = [];

  async function resendOne(subscription: KnownSubscription, isPeriod: boolean): Promise<void> {
    const { id: subscriptionId, merchantId, path } = subscription;
    const toMs = Date.now() - AGO_MS;
    const fromMs = toMs - PERIOD_MS;
    const known = log.arrivals.filter((arrival) => arrival.path === path && arrival.answer === 204);
    const within = known.filter(({ eventId }) => isBetween(publishedMs(eventId), fromMs, toMs));
    const wanted = new Set((isPeriod ? within : known.slice(-1)).map(({ eventId }) => eventId));
    const [eventId] = wanted;
    if (eventId === undefined) return;
    const period = { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) };
    const request = {
      merchantId,
      environment: Environment.TEST,
      subscriptionId,
      idempotencyKey: randomUUID(),
      selection: isPeriod
        ? ({ case: 'period', value: period } as const)
        : ({ case: 'eventId', value: eventId } as const),
    };
    const { resend } = await retryUntilAnswered(() =>
      client.resendDeliveries(request, { timeoutMs: CALL_TIMEOUT_MS }),
    );
    asked.push({ id: resend!.id, merchantId, subscriptionId, eventIds: [...wanted] });
  }

  const open: Promise<void>[] = [];
  const running = (async () => {
    for (let n = 0; !signal.aborted; n += 1) {
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
      const one = resendOne(next(n), n % 2 === 1);
      open.push(
        one.catch((error: unknown) => {
          // While delivery is blocked, resends keep running, and at most ten may run.
          if (errorInfoOf(error)?.reason === 'RESEND_LIMIT_REACHED') return;
          refused.push(`a resend was refused: ${error}`);
        }),
      );
    }
  })();
  return {
    refused,
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(open);
    },
    look: () =>
      Promise.all(
        asked.map(async (one) => {
          const named = { merchantId: one.merchantId, environment: Environment.TEST, resendId: one.id };
          const { resend } = await client.getResend(named);
          return { ...one, state: ResendState[resend!.state] };
        }),
      ),
  };
}

/** The time in its id. */
const publishedMs = (eventId: string) => Number.parseInt(eventId.replace('-', '').slice(0, 12), 16);
const isBetween = (ms: number, from: number, to: number) => ms >= from && ms < to;
