import { defineEntity, p } from '@mikro-orm/postgresql';
import { tenantColumns, timestampColumn } from '../../platform/database/tenant-columns.ts';
import type { InvariantName } from './difference.sql.ts';
import type { VerificationFailure } from './verification-metrics.ts';

export const FailingAccountEntity = defineEntity({
  name: 'FailingAccount',
  tableName: 'failing_account',
  schema: 'funds',
  properties: {
    ...tenantColumns,
    id: p.uuid(),
    failingSince: timestampColumn(),
    verifiedAt: timestampColumn(),
    cause: p.string().$type<VerificationFailure>().strictNullable(),
    differences: p.integer(),
    invariants: p.array().$type<readonly InvariantName[]>(),
  },
});
