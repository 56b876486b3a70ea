/** Changes the first matching row of a table. */
const set = (table: string, change: string, where = 'true') =>
  `update funds.${table} set ${change} where ctid = (select min(ctid) from funds.${table} where ${where})`;

const drop = (table: string, where: string) =>
  `delete from funds.${table} where ctid = (select min(ctid) from funds.${table} where ${where})`;

const isOpen = 'closed_at is null';
const lift = "closed_at = now(), outcome = 'RETURNED'";
const isHeld = "state = 'HELD'";
const hasPart = 'part = 2';

/** Faults of an account: each with the statement that causes it and the differences that must report it. */
export const CORRUPTIONS: readonly (readonly [what: string, sql: string, told: readonly string[]])[] = [
  [
    '(A) a row off by a cent in its gross',
    set('release', 'gross_minor = gross_minor + 1'),
    ['ORIGINAL gross_minor', 'DISTRIBUTION remaining_minor'],
  ],
  [
    '(A) a row off by a cent in its fees',
    set('release', 'fees_minor = fees_minor - 1', 'fees_minor > 0'),
    ['ORIGINAL fees_minor', 'DISTRIBUTION remaining_minor'],
  ],
  [
    '(A) a row that is missing',
    drop('release', "status = 'SCHEDULED'"),
    ['ORIGINAL gross_minor', 'SALES_COUNT sales_count'],
  ],
  [
    '(A) a row of no installments',
    set('release', "date = '2031-01-01'"),
    ['ORIGINAL gross_minor', 'SALES_COUNT sales_count'],
  ],
  [
    '(B) a row off in its deductions',
    set('release', 'deducted_minor = deducted_minor + 1'),
    ['DISTRIBUTION deducted_minor', 'DISTRIBUTION remaining_minor'],
  ],
  [
    '(B) a row off in what is advanced',
    set('release', 'advanced_minor = advanced_minor - 1', 'advanced_minor > 0'),
    ['DISTRIBUTION advanced_minor', 'DISTRIBUTION remaining_minor'],
  ],
  [
    '(C) a row in the wrong status',
    set('release', "status = 'BLOCKED'", "status = 'SCHEDULED'"),
    ['STATUS has_blocked_reasons', 'ORIGINAL gross_minor'],
  ],
  [
    '(C) a blocked row with nothing blocked',
    set('release', 'deducted_minor = gross_minor - fees_minor', "status = 'BLOCKED'"),
    ['STATUS has_blocked_amount'],
  ],
  [
    '(C) a blocked row without reasons',
    set('release', 'held_by_kyc = 0, held_by_compliance = 0', 'held_by_kyc > 0'),
    ['STATUS has_blocked_reasons', 'STATUS held_by_kyc', 'STATUS held_by_compliance'],
  ],
  [
    '(C) a reason in a row that is not blocked',
    set('release', 'held_by_refund = 1', "status <> 'BLOCKED'"),
    ['STATUS has_blocked_reasons', 'STATUS held_by_refund'],
  ],
  [
    '(C) a reason that no block has',
    set('block', "reason = 'HOLD_OR_DISPUTE'", `${isOpen} and reason = 'KYC_PENDING'`),
    ['STATUS held_by_kyc', 'STATUS held_by_dispute'],
  ],
  [
    '(C) an installment held by a block that was lifted',
    `update funds.block set ${lift} where ${isOpen}`,
    ['HOLD held_by'],
  ],
  [
    '(C) an installment held by a block of another sale',
    set('installment', 'held_by = array(select id from funds.block where closed_at is not null)', hasPart),
    ['HOLD held_by', 'HOLD held_minor'],
  ],
  [
    '(C) a held installment that is advanced',
    set('installment', 'advanced_minor = 1', "status = 'BLOCKED'"),
    ['HOLD holdable_minor'],
  ],
  [
    'a hold of less than its amount',
    set('block', 'amount_minor = amount_minor + 1', 'amount_minor > 0'),
    ['HOLD held_minor'],
  ],
  [
    'a hold of more than its amount',
    set('block', 'amount_minor = 1', 'amount_minor > 1'),
    ['HOLD held_minor'],
  ],
  [
    'a hold of more than the rest of its sale',
    `insert into funds.refund_debit (merchant_id, environment, refund_case_id, sale_id, amount_minor, debited_at)
       select merchant_id, environment, gen_random_uuid(), sale_id, 1, now() from funds.block
        where ${isOpen} and reason = 'KYC_PENDING'`,
    ['HOLD held_minor'],
  ],
  [
    'two holds that share cents beside cents that nothing holds',
    `with other as (
       insert into funds.block
       select merchant_id, environment, gen_random_uuid(), sale_id, 'KYC_PENDING', gen_random_uuid(), amount_minor,
              opened_at, null, null
         from funds.block where amount_minor > 0 returning id
     ) update funds.installment set held_by = held_by || other.id from other where ${hasPart}`,
    ['HOLD held_alone_minor'],
  ],
  [
    '(C) an installment that its block does not hold',
    set('installment', "status = 'RELEASED'", "status = 'BLOCKED'"),
    ['STATUS status'],
  ],
  [
    '(C) a released installment that is scheduled',
    set('installment', 'released = true', "status = 'SCHEDULED'"),
    ['STATUS status'],
  ],
  [
    '(C) a sale in the wrong status',
    set('sale', "status = 'PARTIALLY_RELEASED'", "status <> 'PARTIALLY_RELEASED'"),
    ['STATUS sale_status'],
  ],
  ['(C) a negative amount', set('installment', 'fees_minor = -1', 'fees_minor = 0'), ['STATUS fees_minor']],
  [
    '(D) an installment that is missing',
    drop('installment', 'number = 3'),
    ['SALE installments', 'SALE sale_gross_minor'],
  ],
  [
    '(D) a part that is missing',
    drop('installment', hasPart),
    ['SALE installment_gross_minor', 'SALE split'],
  ],
  ['(D) a gap between parts', set('installment', 'part = 3', hasPart), ['SALE parts']],
  ['(D) a part that is not marked', set('installment', 'split = false', hasPart), ['SALE split']],
  [
    '(D) a sale of more',
    set('sale', 'gross_minor = gross_minor + 1, fees_minor = fees_minor + 1', 'installments = 3'),
    [
      'SALE sale_gross_minor',
      'SALE sale_fees_minor',
      'SALE installment_gross_minor',
      'SALE installment_fees_minor',
    ],
  ],
  [
    '(D) the left-over cent with the wrong installment',
    `update funds.installment set fees_minor = 7 - fees_minor
      where number < 3 and sale_id in (select id from funds.sale where installments = 3)`,
    ['SALE installment_fees_minor'],
  ],
  [
    '(E) an installment that has given more than it had',
    set('installment', 'deducted_minor = gross_minor + 1', "status = 'RELEASED'"),
    ['DEBT remaining_minor'],
  ],
  [
    '(E) a debt forgiven',
    set('deduction', 'open_debt_minor = open_debt_minor - 1', 'open_debt_minor > 0'),
    ['DEBT posted_minor', 'MOVEMENT available_minor'],
  ],
  [
    '(E) a payment of a debt off by a cent',
    set('debt_payment', 'amount_minor = amount_minor - 1'),
    ['DEBT posted_minor'],
  ],
  ['(E) a payment of no debt', set('debt_payment', 'source_id = payment_id'), ['DEBT posted_minor']],
  [
    '(E) a debt beside a free installment',
    set('installment', 'reserved_for = null, reserved_minor = null', 'reserved_for is not null'),
    ['DEBT free_minor', 'RESERVATION reserved_minor'],
  ],
  [
    '(F) a sale too many in a row',
    set('release', 'sales_count = sales_count + 1'),
    ['SALES_COUNT sales_count'],
  ],
  [
    '(F) a sale too many in a day',
    set('release', 'first_parts = first_parts + 1'),
    ['SALES_COUNT first_parts'],
  ],
  [
    '(F) a part on another date than its installment',
    set('installment', 'date = date + 1', hasPart),
    ['SALES_COUNT dates_of_parts'],
  ],
  [
    '(F) a sale with two installments on a date',
    `update funds.installment set date = (select max(date) from funds.installment), released = false, status = 'SCHEDULED',
        reserved_for = null, reserved_minor = null where number > 1`,
    ['SALES_COUNT installments_of_sale'],
  ],
  [
    'an installment with a lower deduction than was posted',
    set('installment', 'deducted_minor = deducted_minor - 1', 'deducted_minor > 0'),
    ['POSTING posted_deducted_minor'],
  ],
  [
    'an installment with a higher advance than was posted',
    set('installment', 'advanced_minor = advanced_minor + 1', 'advanced_minor > 0'),
    ['POSTING posted_advanced_minor'],
  ],
  [
    'a missing posting',
    drop('posting', "kind = 'DEDUCTION'"),
    ['DEBT posted_minor', 'POSTING posted_deducted_minor'],
  ],
  [
    'a posting without a cause',
    set('posting', 'source_id = gen_random_uuid()', "kind = 'ADVANCE'"),
    ['POSTING posted_minor', 'RESERVATION posted_minor'],
  ],
  [
    'a consumption without a lost block',
    set('posting', 'source_id = gen_random_uuid()', "kind = 'CONSUMPTION'"),
    ['POSTING consumed_minor'],
  ],
  [
    'a refund debited with less',
    set('refund_debit', 'amount_minor = amount_minor + 1', 'reversed_at is null'),
    ['REFUND posted_minor'],
  ],
  [
    'a reversal that was not posted',
    set('refund_debit', 'reversed_at = now()', 'reversed_at is null'),
    ['REFUND posted_minor'],
  ],
  [
    'a reversal to another installment',
    set(
      'posting',
      "installment_id = (select id from funds.installment where status = 'SCHEDULED' limit 1)",
      "kind = 'REFUND_REVERSAL'",
    ),
    ['REFUND reversed_minor', 'POSTING posted_deducted_minor'],
  ],
  [
    'a deduction that was reversed without a posting',
    set('deduction', 'reversed_at = now()', 'sale_id is not null'),
    ['DEBT reversed_minor'],
  ],
  [
    'a reversal of a deduction that stands',
    set('posting', "kind = 'DEDUCTION_REVERSAL'", "kind = 'DEDUCTION'"),
    ['DEBT reversed_minor', 'DEBT posted_minor'],
  ],
  [
    'a lost block that was reversed without a posting',
    set('block', "outcome = 'REVERSED'", "outcome = 'CONSUMED'"),
    ['POSTING reversed_minor'],
  ],
  [
    'a reversal of more than a lost block consumed',
    set('posting', "kind = 'CONSUMPTION_REVERSAL'", "kind = 'CONSUMPTION'"),
    ['POSTING reversed_minor'],
  ],
  [
    'a debited refund that waits',
    set('pending_debit', 'refund_case_id = (select refund_case_id from funds.refund_debit limit 1)'),
    ['REFUND pending_minor'],
  ],
  [
    'a reservation of another amount',
    set('reservation', 'amount_minor = amount_minor + 1', isHeld),
    ['RESERVATION reserved_minor'],
  ],
  [
    'a reservation of other dates',
    set('reservation', "first_date = '2020-01-01', last_date = '2030-01-01'", isHeld),
    ['RESERVATION first_date', 'RESERVATION last_date'],
  ],
  [
    'a failed reservation that still holds installments',
    set('reservation', "state = 'FREED'", isHeld),
    ['RESERVATION reserved_minor'],
  ],
  [
    'a reserved installment with more left than promised',
    set('installment', 'reserved_minor = reserved_minor - 1', 'reserved_for is not null'),
    ['RESERVATION reserved_installment_minor', 'RESERVATION reserved_minor'],
  ],
  [
    'a reserved installment that was released',
    set('installment', "status = 'RELEASED', released = true", 'reserved_for is not null'),
    ['RESERVATION reserved_status'],
  ],
  [
    'a missing movement',
    drop('movement', "kind = 'SALE' and available_minor > 0"),
    ['MOVEMENT available_minor'],
  ],
  [
    'a day that differs from the sum of its movements',
    set('balance_day', 'scheduled_minor = scheduled_minor + 1'),
    ['MOVEMENT scheduled_minor'],
  ],
  [
    'a movement that is a cent too high',
    set('movement', 'blocked_minor = blocked_minor + 1', "kind = 'BLOCK'"),
    ['MOVEMENT blocked_minor'],
  ],
  [
    'a day beyond the exact range',
    set('installment', 'gross_minor = 9007199254740991', "status = 'RELEASED'"),
    ['RANGE day_gross_minor'],
  ],
];
