import { compare, subject } from './difference.sql.ts';

/** A held reservation has the amount and the dates of its reserved installments. */
const RESERVATIONS = `
select ${subject({ source: 'source_id' })}, figure.* from (
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
 * A reserved installment is scheduled, and promised with everything that remained of it. It may have more remaining now
 * only if refunds or deductions were restored to it since.
 */
const PROMISED = `
select ${subject({ date: 'date', status: 'status', sale: 'sale_id', installment: 'id', source: 'reserved_for' })}, figure.*
  from installment left join (
  select installment_id, sum(amount_minor) as minor from posting
   where kind in ('REFUND_REVERSAL', 'CONSUMPTION_REVERSAL', 'DEDUCTION_REVERSAL') group by installment_id
) as returned on returned.installment_id = installment.id
${compare({
  reserved_status: [`'RESERVATION'`, `'SCHEDULED'`, 'installment.status'],
  reserved_installment_minor: [
    `'RESERVATION'`,
    'least(greatest(installment.reserved_minor, installment.remaining_minor - coalesce(returned.minor, 0)), installment.remaining_minor)',
    'installment.reserved_minor',
  ],
})} and installment.reserved_for is not null`;

export const RESERVATION_CHECKS = [RESERVATIONS, PROMISED];
