import { setTimeout as delay } from 'node:timers/promises';
import type { TestHarness } from '../../support/harness.ts';
import { sqlOf } from '../../support/harness-sql.ts';
import type { TestProvider } from '../../support/provider-server.ts';
import type { SmtpInbox } from '../../workflows/accounts/smtp-inbox.ts';

/** What the sagas act on. */
export interface SagaWorld {
  readonly harness: TestHarness;
  readonly provider: TestProvider;
  readonly inbox: SmtpInbox;
}

/** One saga of a merchant who has no other. */
export interface SagaRun {
  readonly merchantId: string;
  /** Refund cases and advance requests that the provider is asked about. */
  readonly submitted?: readonly string[];
  /** Who is sent mail. */
  readonly email?: string;
  /** Makes the calls that start the saga; the worker does the rest. */
  setOff(): Promise<unknown>;
  /** Passes when the worker has done its part. */
  isDone(): Promise<void>;
  /** Ends whatever is left open, such as a hold. */
  end?(): Promise<void>;
}

/** A saga, and the steps of the worker at which faults strike: `<before|within|after> <rpc>`. */
export interface Saga {
  readonly name: string;
  readonly steps: readonly string[];
  /** How long the workflow waits, before its first step, for the call that started it. */
  readonly waitMs?: number;
  prepare(world: SagaWorld): Promise<SagaRun>;
}

/** Activities that were lost with a process come again after a minute at most, and may be lost once more. */
const RECOVERY_MS = 150_000;

const LONGEST_PAUSE_MS = 3_000;

/**
 * Waits until a condition holds, for as long as a recovery may take. Checks less and less often, because many sagas
 * wait at once.
 */
export async function recovers(check: () => Promise<void>): Promise<void> {
  const giveUpAt = Date.now() + RECOVERY_MS;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await delay(pauseMs);
    }
  }
}

const sum = (column: string) => `coalesce(sum(${column}), 0)::int`;

/** Sent before the deadline only: a fault may outlast it. */
const NOTICE = 'refund.deadline_approaching.v1';

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
                 where merchant_id = $1 and type <> '${NOTICE}' group by type) e
       ) as events,
       (select count(*) <= 1 from webhooks.event where merchant_id = $1 and type = '${NOTICE}') as one_notice,
       (select count(*)::int from funds.pending_debit where merchant_id = $1) as waiting,
       (select count(*)::int from platform.outbox_command where merchant_id = $1) as commands`;

/** Everything that a saga has caused, which must be the same for every run, whatever the fault. */
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
