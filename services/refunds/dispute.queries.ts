import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { DisputeOutcome } from './dispute.ts';
import type { DisputeEntity } from './refund-case.entity.ts';

interface DisputeTables {
  'refunds.dispute': InferKyselyTable<typeof DisputeEntity>;
}

/** A dispute as it is read. */
export interface DisputeReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  payment_intent_id: string;
  sale_id: string | null;
  opened_at: Timestamp;
  closed_at: Timestamp | null;
  outcome: DisputeOutcome | null;
}

function disputes(parameters: ReadParameters<Tenant>) {
  return queryBuilder<DisputeTables>()
    .selectFrom('refunds.dispute')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

/** One dispute by its id. */
export const selectDispute = prepareRead<Tenant & { readonly id: string }, DisputeReadRow>((parameters) =>
  disputes(parameters).where('id', '=', parameters('id')).$castTo<DisputeReadRow>().compile(),
);

/** Which page of a merchant's disputes; what is undefined does not narrow it. */
interface DisputePage extends Tenant, PageRange {
  readonly paymentIntentId: string | undefined;
}

/** Disputes are listed newest first. */
export const disputeOrder: ListOrder<DisputeReadRow> = { columns: ['opened_at', 'id'], direction: 'desc' };

/** A page of disputes in their order. */
export const selectDisputes = prepareRead<DisputePage, DisputeReadRow>((parameters) => {
  let query = disputes(parameters);
  if (parameters.has('paymentIntentId')) {
    query = query.where('payment_intent_id', '=', parameters('paymentIntentId'));
  }
  return inOrder(query, disputeOrder, parameters).$castTo<DisputeReadRow>().compile();
});
