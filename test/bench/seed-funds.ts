import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { v7 as uuidv7 } from 'uuid';
import { scheduleSale } from '../../services/funds/sales/sale-schedule.ts';
import { saleStatusOf } from '../../services/funds/sales/sale-status.ts';
import { addDays, type CivilDate } from '../../services/platform/civil-date.ts';
import type { Tenant } from '../../services/platform/tenant.ts';
import { createIndexes, dropIndexes } from './seed-lists.ts';

const INSTALLMENTS = 10;
/** Sales are captured on these many days up to today: a merchant of any size has installments on the same days. */
const CAPTURE_DAYS = 250;
const LINES_PER_CHUNK = 2_000;

interface Row {
  readonly date: CivilDate;
  readonly status: string;
  grossMinor: bigint;
  feesMinor: bigint;
  sales: number;
}

/**
 * Card sales of one merchant with this many installments in all, as RecordSale and the daily release leave them: scheduled by
 * the rules, with the sums of their installments and the statement. By COPY, in one transaction.
 */
export async function seedFunds(
  databaseUrl: string,
  tenant: Tenant,
  installmentCount: number,
  today: CivilDate,
) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const copy = (table: string, columns: string, lines: Iterable<string>) =>
    pipeline(
      Readable.from(inChunks(lines)),
      client.query(copyFrom(`copy ${table} (merchant_id, environment, ${columns}) from stdin`)),
    );
  const owned = (...values: unknown[]) =>
    `${[tenant.merchantId, tenant.environment, ...values].join('\t')}\n`;
  try {
    // Without the checks of foreign keys.
    await client.query(`set session_replication_role = 'replica'`);
    await client.query('begin');
    const indexes: string[] = [];
    for (const table of ['funds.sale', 'funds.installment', 'funds.movement'])
      indexes.push(...(await dropIndexes(client, table)));
    await copy('funds.account', 'schedule_id', [owned(uuidv7())]);
    // In slices: the installments of a sale follow it.
    const rows = new Map<string, Row>();
    const sales = installmentCount / INSTALLMENTS;
    for (let first = 0; first < sales; first += 50_000) {
      const slice = salesOf(first, Math.min(first + 50_000, sales), today);
      const saleColumns = 'id, method, gross_minor, fees_minor, installments, captured_at, status';
      await copy('funds.sale', saleColumns, saleLines(slice, owned, today));
      const installmentColumns =
        'id, sale_id, number, part, split, date, gross_minor, fees_minor, deducted_minor, advanced_minor, status, released, held_by, version';
      await copy('funds.installment', installmentColumns, installmentLines(slice, owned, today, rows));
    }
    const rowColumns =
      'date, status, gross_minor, fees_minor, deducted_minor, advanced_minor, sales_count, first_parts, held_by_dispute, held_by_refund, held_by_kyc, held_by_compliance';
    await copy('funds.release', rowColumns, rowLines(rows, owned));
    for (const statement of INSERT_MOVEMENTS)
      await client.query(statement, [tenant.merchantId, tenant.environment]);
    await createIndexes(client, indexes);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** What adds the movements of the sales and of the released days to the statement, and their sums by day. */
const INSERT_MOVEMENTS = [
  `insert into funds.movement
     (merchant_id, environment, id, kind, source_id, sale_id, available_minor, scheduled_minor, blocked_minor, occurred_at)
   select merchant_id, environment, uuidv7(), 'SALE', id, id, 0, gross_minor - fees_minor, 0, captured_at
     from funds.sale where merchant_id = $1 and environment = $2`,
  `insert into funds.movement
     (merchant_id, environment, id, kind, release_date, available_minor, scheduled_minor, blocked_minor, occurred_at)
   select merchant_id, environment, uuidv7(), 'RELEASE', date, gross_minor - fees_minor, fees_minor - gross_minor, 0,
          date::timestamp at time zone 'America/Sao_Paulo'
     from funds.release where merchant_id = $1 and environment = $2 and status = 'RELEASED'`,
  `insert into funds.balance_day (merchant_id, environment, date, available_minor, scheduled_minor, blocked_minor)
   select merchant_id, environment, (occurred_at at time zone 'America/Sao_Paulo')::date, sum(available_minor),
          sum(scheduled_minor), sum(blocked_minor)
     from funds.movement where merchant_id = $1 and environment = $2 group by 1, 2, 3`,
];

interface SeededSale {
  readonly id: string;
  readonly capturedOn: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
}

function salesOf(from: number, to: number, today: CivilDate): SeededSale[] {
  return Array.from({ length: to - from }, (_, index) => {
    const n = from + index;
    const grossMinor = 10_000n + BigInt((n * 7_919) % 90_000);
    const capturedOn = addDays(today, -(n % CAPTURE_DAYS));
    return { id: uuidv7(), capturedOn, grossMinor, feesMinor: grossMinor / 25n };
  });
}

type Line = (...values: unknown[]) => string;

function* saleLines(sales: readonly SeededSale[], line: Line, today: CivilDate): Generator<string> {
  for (const { id, capturedOn, grossMinor, feesMinor } of sales) {
    const schedule = scheduleSale({
      method: 'CARD',
      capturedOn,
      grossMinor,
      feesMinor,
      installments: INSTALLMENTS,
    });
    const status = saleStatusOf(schedule.map(({ date }) => (date <= today ? 'RELEASED' : 'SCHEDULED')));
    yield line(id, 'CARD', grossMinor, feesMinor, INSTALLMENTS, `${capturedOn}T03:00:00Z`, status);
  }
}

function* installmentLines(
  sales: readonly SeededSale[],
  line: Line,
  today: CivilDate,
  rows: Map<string, Row>,
): Generator<string> {
  for (const { id: saleId, ...sale } of sales) {
    for (const installment of scheduleSale({ ...sale, method: 'CARD', installments: INSTALLMENTS })) {
      const { number, date, grossMinor, feesMinor } = installment;
      const released = date <= today;
      const status = released ? 'RELEASED' : 'SCHEDULED';
      const amounts = [grossMinor, feesMinor, 0, 0];
      yield line(uuidv7(), saleId, number, 1, false, date, ...amounts, status, released, '{}', 1);
      const row = rows.get(date) ?? { date, status, grossMinor: 0n, feesMinor: 0n, sales: 0 };
      row.grossMinor += grossMinor;
      row.feesMinor += feesMinor;
      row.sales += 1;
      rows.set(date, row);
    }
  }
}

function* rowLines(rows: ReadonlyMap<string, Row>, line: Line): Generator<string> {
  for (const { date, status, grossMinor, feesMinor, sales } of rows.values()) {
    yield line(date, status, grossMinor, feesMinor, 0, 0, sales, sales, 0, 0, 0, 0);
  }
}

function* inChunks(lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  for (const line of lines) {
    chunk.push(line);
    if (chunk.length < LINES_PER_CHUNK) continue;
    yield chunk.join('');
    chunk = [];
  }
  yield chunk.join('');
}
