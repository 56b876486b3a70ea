import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead } from '../platform/reads/prepared-read.ts';
import type { Tenant } from '../platform/tenant.ts';
import type { DeductionEntity } from './funds.entity.ts';

/** A deduction that is a debt in part; amounts in centavos. */
export interface DebtReadRow {
  source_id: string;
  sale_id: string | null;
  amount_minor: bigint;
  open_debt_minor: bigint;
  occurred_at: Timestamp;
}

const db = queryBuilder<{ 'funds.deduction': InferKyselyTable<typeof DeductionEntity> }>();

/** Debts are listed as they are taken: oldest first. */
export const debtOrder: ListOrder<DebtReadRow> = { columns: ['occurred_at', 'source_id'], direction: 'asc' };

/** A page of open debts in their order. */
export const selectDebts = prepareRead<Tenant & PageRange, DebtReadRow>((parameters) => {
  const open = db
    .selectFrom('funds.deduction')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('open_debt_minor', '>', sql<bigint>`0`)
    .select(['source_id', 'sale_id', 'amount_minor', 'open_debt_minor', 'occurred_at']);
  return inOrder(open, debtOrder, parameters).$castTo<DebtReadRow>().compile();
});
