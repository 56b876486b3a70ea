import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import type { ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { tenantColumns, timestampColumn } from '../platform/database/tenant-columns.ts';
import type { EnumName } from '../platform/enum-name.ts';

export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  schema: 'api_keys',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    name: p.string(),
    hint: p.string(),
    scopes: p.array<EnumName<typeof ApiKeyScope>>(),
    keyHash: p.blob(),
    pepperVersion: p.smallint(),
    createdAt: timestampColumn(),
    expiresAt: timestampColumn().nullable(),
    rotatedAt: timestampColumn().nullable(),
    revokedAt: timestampColumn().nullable(),
    lastUsedAt: timestampColumn().nullable(),
    expiryNoticeDays: p.smallint().nullable(),
  },
});

export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;
