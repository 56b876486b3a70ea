import { CompiledQuery } from 'kysely';
import type { Tenant } from '../platform/tenant.ts';
import type { ReleaseStatus } from './installment.ts';
import { MAX_AMOUNT_MINOR } from './release-rows.ts';

export const INVARIANTS = [
  'ORIGINAL',
  'DISTRIBUTION',
  'STATUS',
  'SALE',
  'DEBT',
  'SALES_COUNT',
  'POSTING',
  'REFUND',
  'RESERVATION',
  'RANGE',
] as const;
export type InvariantName = (typeof INVARIANTS)[number];

/** Something kept that is not what the rest of the account makes it. */
export interface DifferenceReadRow {
  invariant: InvariantName;
  figure: string;
  date: string | null;
  status: ReleaseStatus | null;
  sale_id: string | null;
  installment_id: string | null;
  source_id: string | null;
  expected: string;
  found: string;
}

const DIFFERENCES_PER_CHECK = 100;

const TABLES = [
  ...['sale', 'installment', 'block', 'release', 'posting'],
  ...['deduction', 'refund_debit', 'pending_debit', 'reservation'],
];

/** The tables of one account under their own names, as if there were no other. Inlined: nothing is copied. */
const ACCOUNT = TABLES.map(
  (name) => `${name} as not materialized
  (select * from funds.${name} where merchant_id = $1 and environment = $2)`,
).join(',\n');

const NOTHING = {
  date: 'null::date',
  status: 'null',
  sale: 'null::uuid',
  installment: 'null::uuid',
  source: 'null::uuid',
};

/** The columns of a difference, named for what it is a difference of. */
function of(subject: Partial<typeof NOTHING>): string {
  const { date, status, sale, installment, source } = { ...NOTHING, ...subject };
  return `${date} as date, ${status} as status, ${sale} as sale_id, ${installment} as installment_id, ${source} as source_id`;
}

/**
 * Figures of a row beside what each should be, one difference for each that is not; what is missing counts as 0. Rows
 * are told apart before their figures are: nearly all have none that differs.
 */
function compare(
  figures: Readonly<Record<string, readonly [invariant: string, expected: string, found: string]>>,
) {
  const all = Object.entries(figures);
  const values = all.map(
    ([figure, [invariant, expected, found]]) =>
      `(${invariant}, '${figure}', coalesce((${expected})::text, '0'), coalesce((${found})::text, '0'))`,
  );
  const differ = all.map(([, [, expected, found]]) => `(${expected}) is distinct from (${found})`);
  return `cross join lateral (values ${values.join(', ')}) as figure (invariant, figure, expected, found)
    where (${differ.join(' or ')}) and figure.expected <> figure.found`;
}

const summed = (invariant: InvariantName, column: string) =>
  [`'${invariant}'`, `anew.${column}`, `kept.${column}`] as const;

/** (A), (B), (F): the kept rows beside the sums of their installments; a row that only one side has differs in all of them. */
const ROWS = `
select ${of({ date: 'date', status: 'status' })}, figure.* from release as kept full join (
  select date, status, sum(gross_minor) as gross_minor, sum(fees_minor) as fees_minor,
         sum(deducted_minor) as deducted_minor, sum(advanced_minor) as advanced_minor, sum(remaining_minor) as remaining_minor,
         count(*) as sales_count
    from installment group by date, status
) as anew using (date, status)
${compare({
  gross_minor: summed('ORIGINAL', 'gross_minor'),
  fees_minor: summed('ORIGINAL', 'fees_minor'),
  deducted_minor: summed('DISTRIBUTION', 'deducted_minor'),
  advanced_minor: summed('DISTRIBUTION', 'advanced_minor'),
  remaining_minor: summed('DISTRIBUTION', 'remaining_minor'),
  sales_count: summed('SALES_COUNT', 'sales_count'),
})}`;

/** (F) of rows and days: installments are counted, so no sale may have two on a date. */
const TWICE_A_DAY = `
select ${of({ date: 'date', sale: 'sale_id' })}, 'SALES_COUNT', 'installments_of_sale', '1', count(*)::text
  from installment group by sale_id, date having count(*) > 1`;

const OUT_OF_RANGE = `
select ${of({ date: 'date' })}, 'RANGE', 'day_gross_minor', '<= ${MAX_AMOUNT_MINOR}', sum(gross_minor)::text
  from installment group by date having sum(gross_minor) > ${MAX_AMOUNT_MINOR}`;

const heldBy = (reason: string) => `count(distinct installment.id) filter (where block.reason = '${reason}')`;

/** (C) of rows: how many installments each reason holds. */
const HOLDS = `
select ${of({ date: 'date', status: 'status' })}, figure.* from release as kept full join (
  select installment.date, installment.status, ${heldBy('HOLD_OR_DISPUTE')} as held_by_dispute,
         ${heldBy('REFUND_IN_PROGRESS')} as held_by_refund, ${heldBy('KYC_PENDING')} as held_by_kyc,
         ${heldBy('COMPLIANCE_HOLD')} as held_by_compliance
    from installment join block using (sale_id)
   where installment.status = 'BLOCKED' and block.closed_at is null group by installment.date, installment.status
) as anew using (date, status)
${compare({
  held_by_dispute: summed('STATUS', 'held_by_dispute'),
  held_by_refund: summed('STATUS', 'held_by_refund'),
  held_by_kyc: summed('STATUS', 'held_by_kyc'),
  held_by_compliance: summed('STATUS', 'held_by_compliance'),
})}`;

const HELD = 'held_by_dispute + held_by_refund + held_by_kyc + held_by_compliance > 0';

/** (C) of rows: BLOCKED exactly with reasons and with something blocked. */
const BLOCKED_ROWS = `
select ${of({ date: 'date', status: 'status' })}, figure.* from release
${compare({
  has_blocked_reasons: [`'STATUS'`, `status = 'BLOCKED'`, HELD],
  has_blocked_amount: [`'STATUS'`, `status = 'BLOCKED'`, `status = 'BLOCKED' and remaining_minor > 0`],
})}`;

const AMOUNTS = ['gross_minor', 'fees_minor', 'deducted_minor', 'advanced_minor', 'remaining_minor'];
const NAMED_AMOUNTS = AMOUNTS.map((column) => `('${column}', ${column})`).join(', ');

/** (C) and (E): no amount of an installment is negative, so none of a row is, and no more is deducted than there is. */
const NEGATIVE_AMOUNTS = `
select ${of({ date: 'date', status: 'status', sale: 'sale_id', installment: 'id' })},
       case amount.figure when 'remaining_minor' then 'DEBT' else 'STATUS' end, amount.figure, '>= 0', amount.minor::text
  from installment cross join lateral (values ${NAMED_AMOUNTS}) as amount (figure, minor)
 where least(${AMOUNTS.join(', ')}) < 0 and amount.minor < 0`;

/** (C) of installments: the status that the blocks of the sale and the release give it. */
const STATUSES = `
select ${of({ date: 'date', status: 'status', sale: 'sale_id', installment: 'id' })}, 'STATUS', 'status', expected, status
  from (select installment.*, case
          when advanced_minor = 0 and reserved_for is null and remaining_minor > 0
               and sale_id in (select sale_id from block where closed_at is null) then 'BLOCKED'
          when released then 'RELEASED' else 'SCHEDULED' end as expected
        from installment) as installment
 where status <> expected`;

/** (D): the installments of a sale make up the sale. */
const SALES = `
select ${of({ sale: 'sale.id' })}, figure.* from sale full join (
  select sale_id, count(*) as installments, sum(gross_minor) as gross_minor, sum(fees_minor) as fees_minor
    from installment group by sale_id
) as installments on installments.sale_id = sale.id
${compare({
  installments: [`'SALE'`, 'sale.installments', 'installments.installments'],
  sale_gross_minor: [`'SALE'`, 'sale.gross_minor', 'installments.gross_minor'],
  sale_fees_minor: [`'SALE'`, 'sale.fees_minor', 'installments.fees_minor'],
})}`;

const share = (column: string) =>
  `sale.${column} / sale.installments + (installment.number <= sale.${column} % sale.installments)::int`;

/** (D): each installment has its share of the sale, the cents left over being with the first. */
const SHARES = `
select ${of({ date: 'installment.date', status: 'installment.status', sale: 'sale.id', installment: 'installment.id' })}, figure.*
  from installment join sale on sale.id = installment.sale_id
${compare({
  installment_gross_minor: [`'SALE'`, share('gross_minor'), 'installment.gross_minor'],
  installment_fees_minor: [`'SALE'`, share('fees_minor'), 'installment.fees_minor'],
})}`;

/** (E): no debt is open while an installment is free to bear it. */
const WAITING_DEBTS = `
select ${of({})}, 'DEBT', 'free_minor', '0', sum(remaining_minor)::text from installment
 where status = 'SCHEDULED' and reserved_for is null and remaining_minor > 0
   and exists (select from deduction where open_debt_minor > 0)
having sum(remaining_minor) > 0`;

/** What was taken from each installment, by its postings. */
const TAKEN = `
select ${of({ date: 'date', status: 'status', sale: 'sale_id', installment: 'id' })}, figure.* from installment left join (
  select installment_id, sum(amount_minor) filter (where kind = 'ADVANCE') as advanced_minor,
         sum(case kind when 'REFUND_REVERSAL' then -amount_minor else amount_minor end)
           filter (where kind <> 'ADVANCE') as deducted_minor
    from posting group by installment_id
) as posted on posted.installment_id = installment.id
${compare({
  posted_deducted_minor: [`'POSTING'`, 'coalesce(posted.deducted_minor, 0)', 'installment.deducted_minor'],
  posted_advanced_minor: [`'POSTING'`, 'coalesce(posted.advanced_minor, 0)', 'installment.advanced_minor'],
})}`;

/** What every deduction, refund and reservation has taken, beside what was posted for it: also for one there is not. */
const CAUSES = `
select ${of({ source: 'source_id' })}, figure.* from (
  select 'DEBT' as invariant, 'deducted_minor' as kind, source_id, amount_minor - open_debt_minor as minor from deduction
  union all select 'REFUND', 'debited_minor', refund_case_id, amount_minor from refund_debit
  union all select 'REFUND', 'reversed_minor', refund_case_id, amount_minor from refund_debit where reversed_at is not null
  union all select 'RESERVATION', 'advanced_minor', advance_request_id, amount_minor from reservation
   where state = 'SETTLED'
) as cause full join (
  select case kind when 'REFUND_DEBIT' then 'debited_minor' when 'REFUND_REVERSAL' then 'reversed_minor'
           when 'ADVANCE' then 'advanced_minor' else 'deducted_minor' end as kind, source_id, sum(amount_minor) as minor
    from posting where kind <> 'CONSUMPTION' group by 1, 2
) as posted using (kind, source_id)
${compare({ posted_minor: [`coalesce(invariant, 'POSTING')`, 'cause.minor', 'posted.minor'] })}`;

/** What a lost block has consumed was of its own sale. */
const CONSUMED = `
select ${of({ sale: 'sale_id', installment: 'installment_id', source: 'source_id' })}, 'POSTING', 'consumed_minor', '0',
       posting.amount_minor::text
  from posting join installment on installment.id = posting.installment_id
 where posting.kind = 'CONSUMPTION' and not exists (
   select from block where block.sale_id = installment.sale_id and block.source_id = posting.source_id
      and block.outcome = 'CONSUMED')`;

/** What was given back of a refund was taken for it from the same installment. */
const REVERSED = `
select ${of({ installment: 'installment_id', source: 'source_id' })}, 'REFUND', 'reversed_minor',
       coalesce(sum(amount_minor) filter (where kind = 'REFUND_DEBIT'), 0)::text,
       sum(amount_minor) filter (where kind = 'REFUND_REVERSAL')::text
  from posting where kind in ('REFUND_DEBIT', 'REFUND_REVERSAL') group by installment_id, source_id
having sum(amount_minor) filter (where kind = 'REFUND_REVERSAL')
       <> coalesce(sum(amount_minor) filter (where kind = 'REFUND_DEBIT'), 0)`;

const DEBITED_AND_WAITING = `
select ${of({ source: 'refund_case_id' })}, 'REFUND', 'waiting_minor', '0', pending_debit.amount_minor::text
  from pending_debit join refund_debit using (refund_case_id)`;

/** Reservations that are held, beside the installments that are reserved. */
const RESERVED = `
select ${of({ source: 'source_id' })}, figure.* from (
  select advance_request_id as source_id, amount_minor, first_date, last_date from reservation where state = 'HELD'
) as held full join (
  select reserved_for as source_id, sum(reserved_minor) as amount_minor, min(date) as first_date, max(date) as last_date
    from installment where reserved_for is not null group by reserved_for
) as installments using (source_id)
${compare({
  reserved_minor: [`'RESERVATION'`, 'held.amount_minor', 'installments.amount_minor'],
  first_date: [`'RESERVATION'`, 'installments.first_date', 'held.first_date'],
  last_date: [`'RESERVATION'`, 'installments.last_date', 'held.last_date'],
})}`;

/**
 * A reserved installment is scheduled and promised with all that was left of it: with less than is left now only where refunds
 * have come back to it.
 */
const PROMISED = `
select ${of({ date: 'date', status: 'status', sale: 'sale_id', installment: 'id', source: 'reserved_for' })}, figure.*
  from installment left join (
  select installment_id, sum(amount_minor) as minor from posting where kind = 'REFUND_REVERSAL' group by installment_id
) as returned on returned.installment_id = installment.id
${compare({
  reserved_status: [`'RESERVATION'`, `'SCHEDULED'`, 'installment.status'],
  reserved_installment_minor: [
    `'RESERVATION'`,
    'least(greatest(installment.reserved_minor, installment.remaining_minor - coalesce(returned.minor, 0)), installment.remaining_minor)',
    'installment.reserved_minor',
  ],
})} and installment.reserved_for is not null`;

const CHECKS = [
  ...[ROWS, TWICE_A_DAY, OUT_OF_RANGE, HOLDS, BLOCKED_ROWS, NEGATIVE_AMOUNTS, STATUSES, SALES, SHARES],
  ...[WAITING_DEBTS, TAKEN, CAUSES, CONSUMED, REVERSED, DEBITED_AND_WAITING, RESERVED, PROMISED],
];

const COLUMNS = 'date, status, sale_id, installment_id, source_id, invariant, figure, expected, found';

/** One statement, so that all of it is as of one moment and holds nobody up. */
const STATEMENT = `with ${ACCOUNT}
${CHECKS.map((check) => `select * from (${check} limit ${DIFFERENCES_PER_CHECK}) as difference (${COLUMNS})`).join('\nunion all\n')}`;

/** What of an account is not as the rest of it says; of each check at most a hundred differences. */
export function selectDifferences({ merchantId, environment }: Tenant): CompiledQuery<DifferenceReadRow> {
  return CompiledQuery.raw(STATEMENT, [merchantId, environment]) as CompiledQuery<DifferenceReadRow>;
}
