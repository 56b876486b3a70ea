import { notifyOfOutcome, type OutcomeKind, type OutcomeTransaction } from './notify-contact.contract.ts';

const WEEK_MS = 7 * 86_400_000;

/** The transaction that records a lasting outcome. */
interface LastingOutcomeTransaction extends OutcomeTransaction {
  execute(sql: string, parameters: Readonly<Record<string, unknown>>): Promise<readonly unknown[]>;
}

/** What lasts until the merchant settles it, and is settled for all at once. */
interface LastingOutcome {
  readonly kind: OutcomeKind;
  readonly beganAt: Date;
  /** A query for the `began_at` of the merchant's others that last and may have sent a mail. */
  readonly others: string;
  /** The parameters of the query, besides `merchantId` and `environment`. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** The first of the others sent a mail, and so did each that began more than a week after the last mail. */
const findMailed = (others: string) => `
with recursive other as (${others}), mailed (at) as (
  select min(began_at) from other
  union all
  select (select min(began_at) from other where began_at > mailed.at + interval '168 hours')
    from mailed where mailed.at is not null
)
select at from mailed where at > :since limit 1`;

/** Notifies the merchant's staff of a lasting outcome of live, unless a mail about one that still lasts was due within a week. */
export async function notifyWeekly(
  tx: LastingOutcomeTransaction,
  { kind, beganAt, others, parameters }: LastingOutcome,
): Promise<void> {
  if (tx.tenant.environment !== 'live') return;
  const since = new Date(beganAt.getTime() - WEEK_MS);
  const mailed = await tx.execute(findMailed(others), { ...parameters, since });
  if (mailed.length === 0) await notifyOfOutcome(tx, { kind, subjectId: tx.tenant.merchantId }, beganAt);
}
