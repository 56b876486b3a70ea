import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { tenantColumns, timestampColumn } from '../platform/database/tenant-columns.ts';
import type { ScopeName } from './api-key.ts';

export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  schema: 'api_keys',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    name: p.string(),
    hint: p.string(),
    scopes: p.array<ScopeName>(),
    keyHash: p.blob(),
    pepperVersion: p.smallint(),
    createdAt: timestampColumn(),
    expiresAt: timestampColumn().nullable(),
    revokedAt: timestampColumn().nullable(),
    lastUsedAt: timestampColumn().nullable(),
  },
});

export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;
