import { Histogram } from 'prom-client';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { MINUTE_MS } from '../../platform/durations.ts';
import { environmentGauge, registerMeasuredGauges, rowOf } from '../../platform/process/measured-gauges.ts';
import { metrics } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';
import { idTimeMs } from '../id-time.ts';

const OPEN_STATUSES = ['PENDING', 'RETRYING', 'HELD', 'BLOCKED'] as const;
const CONDITIONS = ['ERROR', 'PAUSED', 'HOLDING'] as const;

const BY_ENVIRONMENT = ENVIRONMENTS.map((environment) => ({ environment }));
const withEach = (label: string, values: readonly string[]) =>
  BY_ENVIRONMENT.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value })));

/** Open deliveries are counted in this many blocks of 8 KiB; if the table has more, the count is extrapolated. */
const SAMPLE_BLOCKS = 2_000;

export const LANES: Statement = {
  name: 'measure_lanes',
  text: `
select (select count(*) from webhooks.lane l
         where not exists (select from webhooks.lane_owner o where o.id = l.owner_id and o.leased_until > now())
       )::int as unowned,
       (select extract(epoch from now() - next_attempt_at)::float8
          from webhooks.open_delivery where status = 'RETRYING' order by next_attempt_at limit 1) as retry_overdue`,
};

interface ConditionRow {
  readonly environment: string;
  readonly condition: string;
  readonly count: number;
  readonly longest: number | null;
}

/** Costs the same for any number of deliveries, and of dead rows that a long transaction keeps. */
const SAMPLED_SHARE = `least(1, ${SAMPLE_BLOCKS} * 8192.0 / greatest(pg_relation_size('webhooks.open_delivery'), 1))`;

const OPEN: Statement = {
  name: 'measure_open',
  text: `
select environment, status, round(count(*) / ${SAMPLED_SHARE})::float8 as count
  from webhooks.open_delivery tablesample system (100 * ${SAMPLED_SHARE})
 group by environment, status`,
};

/** Reads the partial indexes on such subscriptions; paused ones hold deliveries too. */
export const SUBSCRIPTIONS: Statement = {
  name: 'measure_subscriptions',
  text: `
select environment, condition, count(*)::int as count, extract(epoch from now() - min(paused_at))::float8 as longest
  from (select environment, 'ERROR' as condition, null::timestamptz as paused_at
          from webhooks.subscription where state = 'ERROR'
         union all
        select environment, case when paused_at is null then 'HOLDING' else 'PAUSED' end, paused_at
          from webhooks.subscription where holding) troubled
 group by environment, condition`,
};

interface PartitionsRow {
  readonly environment: EnvironmentName;
  readonly runway: number;
  readonly age: number;
}

/**
 * How far partitions reach from now without a gap; the shortest log counts. A clock that was wrong may have created others
 * far from now.
 */
const PARTITIONS: Statement = {
  name: 'measure_partitions',
  text: `
select environment, extract(epoch from min(coalesce(until, now())) - now())::float8 as runway,
       extract(epoch from now() - least(min(since), now()))::float8 as age
  from unnest(:environments::text[]) as environment
 cross join unnest(array['event', 'ended_delivery', 'attempt']) as log
 cross join lateral (
   select min(since) as since,
          case when bool_or(since <= now() and until > now()) then min(until) filter (where until > now() and is_last) end
            as until
     from (
       select since, until, lead(since) over (order by since) is distinct from until as is_last
         from pg_inherits i join pg_class c on c.oid = i.inhrelid
        cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\(''(.+)''\\) TO \\(''(.+)''') as bounds
        cross join lateral (
          select uuid_extract_timestamp(bounds[1]::uuid) as since, uuid_extract_timestamp(bounds[2]::uuid) as until) range
        where i.inhparent = to_regclass('webhooks.' || log || '_' || environment)
     ) known
 ) reach
 group by environment`,
};

const firstAttemptDelay = new Histogram({
  name: 'payments_webhook_first_attempt_delay_seconds',
  help: 'Time from the commit of an event to the start of its first attempt, resends left out, by environment.',
  labelNames: ['environment'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800],
  registers: [metrics],
});
// Starts every series at 0, so that the first observation is an increase.
for (const labels of BY_ENVIRONMENT) firstAttemptDelay.zero(labels);

/** Measures a first attempt, from the time in the event's id, which is set just before the commit. */
export function observeFirstAttempt(environment: EnvironmentName, eventId: string): void {
  const delayMs = Math.max(Date.now() - idTimeMs(eventId), 0);
  firstAttemptDelay.observe({ environment }, delayMs / 1_000);
}

/** Registers gauges that are measured when /metrics is read; every process on one database reports the same values. */
export function registerDispatchMetrics(db: CrossTenantDatabase): void {
  registerMeasuredGauges({
    measure: async () => (await db.run<{ unowned: number; retry_overdue: number | null }>(LANES))[0]!,
    gauges: [
      {
        name: 'payments_webhook_unowned_lanes',
        help: 'Lanes that no process owns: their deliveries wait.',
        read: ({ unowned }) => unowned,
      },
      {
        name: 'payments_webhook_retry_overdue_seconds',
        help: 'How long the most overdue retry has been due.',
        read: ({ retry_overdue }) => Math.max(retry_overdue ?? 0, 0),
      },
    ],
  });
  registerMeasuredGauges({
    measure: () => db.run<{ environment: string; status: string; count: number }>(OPEN),
    cacheMs: 10_000,
    gauges: [
      {
        name: 'payments_webhook_open_deliveries',
        help: 'Deliveries that have not ended, by environment and status; estimated from a sample if they are many.',
        labels: withEach('status', OPEN_STATUSES),
        read: (rows, labels) => rowOf(rows, labels)?.count ?? 0,
      },
    ],
  });
  registerMeasuredGauges({
    measure: () => db.run<ConditionRow>(SUBSCRIPTIONS),
    cacheMs: MINUTE_MS,
    gauges: [
      {
        name: 'payments_webhook_troubled_subscriptions',
        help: 'Subscriptions in state ERROR, PAUSED by operations, or HOLDING deliveries because their endpoint fails.',
        labels: withEach('condition', CONDITIONS),
        read: (rows, labels) => rowOf(rows, labels)?.count ?? 0,
      },
      {
        name: 'payments_webhook_longest_pause_seconds',
        help: 'How long the subscription that was paused first has been paused, by environment; 0 if none is.',
        labels: BY_ENVIRONMENT,
        read: (rows, labels) => Math.max(rowOf(rows, { ...labels, condition: 'PAUSED' })?.longest ?? 0, 0),
      },
    ],
  });
  registerMeasuredGauges({
    measure: () => db.run<PartitionsRow>(PARTITIONS, { environments: ENVIRONMENTS }),
    cacheMs: MINUTE_MS,
    gauges: [
      environmentGauge(
        'payments_webhook_partition_runway_seconds',
        'How far into the future partitions of events, deliveries and attempts exist, by environment.',
        ({ runway }: PartitionsRow) => runway,
      ),
      environmentGauge(
        'payments_webhook_partition_age_seconds',
        'How long ago the oldest partition of them begins, by environment.',
        ({ age }: PartitionsRow) => age,
      ),
    ],
  });
}
