import { setTimeout as delay } from 'node:timers/promises';
import { ArrivalLog, type Endpoint, startEndpoint } from './endpoints.ts';
import { ENDPOINTS, type EndpointName, planFaults } from './fault-schedule.ts';
import { countRemainder, listDeliveries, listEvents, listSchedules, type Remainder } from './look-up.ts';
import { Merchants, subscribeOn } from './merchants.ts';
import { type PlayOptions, playFaults } from './play-faults.ts';
import { startPublishers } from './publishers.ts';
import { type Reconciliation, reconcile } from './reconcile.ts';
import type { AcceptedEvent, Arrival, FaultWindow, LoggedDelivery } from './records.ts';
import { resendOn } from './resends.ts';
import { type System, startSystem } from './system.ts';

export interface RunOptions extends PlayOptions {
  readonly seed: number;
  /** How long faults go on. */
  readonly durationMs: number;
  readonly eventsPerSecond: number;
  /** Folder of the bundled workflow code. Default: it is bundled for the run. */
  readonly bundles?: string;
}

/** The result of a run. */
export interface RunResult extends Reconciliation {
  readonly accepted: readonly AcceptedEvent[];
  readonly arrivals: readonly Arrival[];
  readonly deliveries: readonly LoggedDelivery[];
  readonly faults: readonly FaultWindow[];
  readonly subscriptions: number;
  readonly resends: number;
  /** The work left when the time to settle was up. */
  readonly left: Remainder;
  /** The time from the end of the last fault until no work was left. */
  readonly settledAfterMs: number;
  /** Requests with a wrong signature, refusals, and processes that ended by themselves. */
  readonly broken: readonly string[];
  /** During faults. */
  readonly publishingMs: number;
}

const MERCHANTS = 4;
const EVENT_TYPES = [
  ...['payment.succeeded.v1', 'payment.failed.v1', 'refund.requested.v1', 'refund.succeeded.v1'],
  ...['product.created.v1', 'dispute.opened.v1'],
];
const SUBSCRIBE_EVERY_MS = 15_000;
const CALM_MS = 2_000;
/** The slowest recovery: workflows that Temporal has lost are started again after a minute. */
const SETTLE_MS = 10 * 60_000;
const POLL_MS = 1_000;
const PROGRESS_MS = 15_000;

/** Runs the system under load and the seed's faults, waits until it has settled, and reconciles. */
export async function runReconciliation(options: RunOptions): Promise<RunResult> {
  const { seed, durationMs, eventsPerSecond, say, signal } = options;
  await using stack = new AsyncDisposableStack();
  const log = new ArrivalLog();
  const endpoints = new Map<EndpointName, Endpoint>();
  for (const name of ENDPOINTS) endpoints.set(name, stack.use(await startEndpoint(log)));
  const system = stack.use(await startSystem(endpoints, options.bundles));
  const merchants = new Merchants(system, log);
  const portOf = (n: number) => system.links.get(`lanes to ${anyOf(ENDPOINTS, n)}`)!.port;
  const merchantIds = await firstMerchants(merchants, portOf);
  const { servicesUrl, token } = system;
  const eventTypes = EVENT_TYPES;
  const publishers = await startPublishers({ servicesUrl, token, merchantIds, eventTypes, eventsPerSecond });
  await delay(CALM_MS, undefined, { signal });
  const schedules = await listSchedules(system);

  say(`seed ${seed}: the faults begin`);
  const startedAt = Date.now();
  const subscribers = subscribeOn(merchants, SUBSCRIBE_EVERY_MS, (n) => ({
    merchantId: anyOf(merchantIds, n),
    port: portOf(n),
    eventTypes: [anyOf(EVENT_TYPES, n)],
  }));
  const wholes = merchants.subscriptions.filter(({ eventTypes }) => eventTypes.length === EVENT_TYPES.length);
  const resends = resendOn(system, log, (n) => anyOf(wholes, n));
  const progress = setInterval(() => {
    say(`${publishers.accepted.length} events accepted, ${log.arrivals.length} arrivals`);
  }, PROGRESS_MS);
  stack.defer(() => clearInterval(progress));
  const played = await playFaults(planFaults(seed, durationMs), system, endpoints, options);
  await delay(Math.max(0, startedAt + durationMs - Date.now()), undefined, { signal });
  const publishingMs = Date.now() - startedAt;
  const healedAt = Date.now();
  await Promise.all([publishers.stop(), subscribers.stop(), resends.stop()]);
  const left = await settle(system, schedules, options);
  const settledAfterMs = Date.now() - healedAt;

  const faults = [...played, ...withoutFault(system.lostLeases(), played)];
  const { accepted } = publishers;
  const { subscriptions } = merchants;
  const { arrivals } = log;
  const deliveries = await listDeliveries(system, merchantIds);
  const events = await listEvents(system.databaseUrl, merchantIds);
  const requested = await resends.look();
  const evidence = { accepted, subscriptions, arrivals, deliveries, events, faults, resends: requested };
  return {
    ...reconcile(evidence),
    accepted,
    arrivals,
    deliveries,
    faults,
    left,
    settledAfterMs,
    publishingMs,
    subscriptions: subscriptions.length,
    resends: requested.length,
    broken: [
      ...(log.unverified > 0 ? [`${log.unverified} arrivals whose secret is not known`] : []),
      ...[publishers, merchants, resends].flatMap(({ refused }) => refused),
      ...[...log.forged, ...system.crashes()],
    ],
  };
}

/** Each with an ordered subscription, one of everything, and one of few types; they are at different endpoints. */
async function firstMerchants(merchants: Merchants, portOf: (n: number) => number): Promise<string[]> {
  const merchantIds: string[] = [];
  for (let n = 0; n < MERCHANTS; n += 1) {
    const merchantId = await merchants.join();
    merchantIds.push(merchantId);
    await merchants.subscribeOrdered({ merchantId, port: portOf(n), eventTypes: EVENT_TYPES.slice(0, 4) });
    await merchants.subscribe({ merchantId, port: portOf(n + 1), eventTypes: EVENT_TYPES });
    await merchants.subscribe({ merchantId, port: portOf(n + 2), eventTypes: EVENT_TYPES.slice(n, n + 2) });
  }
  return merchantIds;
}

/** Leases that were lost without a fault of their owner. */
function withoutFault(lost: readonly FaultWindow[], played: readonly FaultWindow[]): FaultWindow[] {
  const touches = (a: FaultWindow, b: FaultWindow) => a.from <= b.to && b.from <= a.to;
  return lost.filter(
    (lease) => !played.some((fault) => fault.target === lease.target && touches(fault, lease)),
  );
}

const anyOf = <T>(values: readonly T[], n: number): T => values[n % values.length]!;

/** Waits until no work is left. @returns the work left when the time is up. */
async function settle(
  system: System,
  schedules: readonly string[],
  { say, signal }: RunOptions,
): Promise<Remainder> {
  const giveUpAt = performance.now() + SETTLE_MS;
  for (let n = 0; ; n += 1) {
    const left = await countRemainder(system, schedules);
    const isSettled = Object.values(left).every((count) => count === 0);
    if (isSettled || performance.now() > giveUpAt) return left;
    if (n % 10 === 0) say(`settling: ${JSON.stringify(left)}`);
    await delay(POLL_MS, undefined, { signal });
  }
}
