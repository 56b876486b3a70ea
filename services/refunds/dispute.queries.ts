import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { queryBuilder } from '../platform/database.ts';
import { prepareRead } from '../platform/prepared-read.ts';
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

/** One dispute by its id. */
export const selectDispute = prepareRead<Tenant & { readonly id: string }, DisputeReadRow>((parameters) =>
  queryBuilder<DisputeTables>()
    .selectFrom('refunds.dispute')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('id', '=', parameters('id'))
    .$castTo<DisputeReadRow>()
    .compile(),
);
