import { setTimeout as delay } from 'node:timers/promises';
import type { TestHarness } from '../../support/harness.ts';
import type { TestProvider } from '../../support/provider-server.ts';
import { sqlOf } from '../../support/sql.ts';
import type { SmtpInbox } from '../../workflows/accounts/smtp-inbox.ts';

/** What the sagas act on. */
export interface SagaWorld {
  readonly harness: TestHarness;
  readonly provider: TestProvider;
  readonly inbox: SmtpInbox;
}

/** A single run of a saga, by its own merchant. */
export interface SagaRun {
  readonly merchantId: string;
  /** Refund cases and advance requests that are submitted to the provider. */
  readonly submitted?: readonly string[];
  /** The address to which the saga sends mail. */
  readonly email?: string;
  /** Makes the calls that start the saga; the worker does the rest. */
  start(): Promise<unknown>;
  /** Resolves when the worker has done its part. */
  waitUntilDone(): Promise<void>;
  /** Closes what the saga leaves open, such as a hold. */
  finish?(): Promise<void>;
}

/** A saga, and the steps of the worker at which faults are injected: `<before|within|after> <rpc>`. */
export interface Saga {
  readonly name: string;
  readonly steps: readonly string[];
  /** How long the workflow waits for the call that started it, before its first step. */
  readonly waitMs?: number;
  prepare(world: SagaWorld): Promise<SagaRun>;
}

/** The steps before, within and after each of these calls. */
export const around = (...rpcs: readonly string[]): string[] =>
  rpcs.flatMap((rpc) => [`before ${rpc}`, `within ${rpc}`, `after ${rpc}`]);

/** An activity that was lost with its process is retried within a minute, and may be lost a second time. */
const RECOVERY_MS = 150_000;

const MAX_INTERVAL_MS = 3_000;

/**
 * Waits until a condition holds, for as long as a recovery may take. The interval between checks grows, because many
 * sagas wait at the same time.
 */
export async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS;
  for (let intervalMs = 100; ; intervalMs = Math.min(intervalMs * 1.5, MAX_INTERVAL_MS)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(intervalMs);
    }
  }
}

const sum = (column: string) => `coalesce(sum(${column}), 0)::int`;

/** Sent before the deadline only: a fault may outlast it. */
const NOTICE = 'refund.deadline_approaching.v1';

/** Published by the daily release, which runs again where Temporal has lost its state. */
const RELEASED = 'funds.released.v1';

const EFFECTS = `
select array(select jsonb_build_object('kind', kind, 'times', count(*), 'minor', ${sum('amount_minor')})
               from funds.posting where merchant_id = $1 group by kind order by kind) as postings,
       array(select jsonb_build_object('status', status, 'executions', executions, 'provider', provider_refund_id,
                                       'executing', execution_started_at is not null)
               from refunds.refund_case where merchant_id = $1) as cases,
       array(select jsonb_build_object('status', status, 'payout', payout_provider_id)
               from advances.request where merchant_id = $1) as advances,
       array(select jsonb_build_object('status', state) from funds.reservation where merchant_id = $1) as reservations,
       array(select jsonb_build_object('reason', reason, 'outcome', outcome, 'minor', amount_minor)
               from funds.block where merchant_id = $1 order by id) as holds,
       (select jsonb_object_agg(type, times order by type)
          from (select type, count(*) as times from webhooks.event
                 where merchant_id = $1 and type not in ('${NOTICE}', '${RELEASED}') group by type) e
       ) as events,
       (select count(*) <= 1 from webhooks.event where merchant_id = $1 and type = '${NOTICE}') as one_notice,
       (select count(*)::int from funds.pending_debit where merchant_id = $1) as waiting,
       (select count(*)::int from platform.outbox_command where merchant_id = $1) as commands`;

/** All effects of a saga, which must be the same for every run, in any system, whatever the fault. */
export async function effectsOf({ harness, provider, inbox }: SagaWorld, run: SagaRun): Promise<object> {
  const { merchantId, submitted = [], email = '' } = run;
  const [effects] = await sqlOf<object>(harness, EFFECTS, [merchantId]);
  // A provider and a mail server recognize what is sent to them again.
  const submissions = submitted.map(
    (id) => new Set(provider.callsOf(id).map(({ reference }) => reference)).size,
  );
  const mails = new Set(inbox.mailTo(email).map(({ mail }) => mail.messageId)).size;
  return { ...effects, submissions, mails };
}
