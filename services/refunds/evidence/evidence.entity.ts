import { defineEntity, p } from '@mikro-orm/postgresql';
import { tenantColumns, timestampColumn } from '../../platform/database/tenant-columns.ts';
import type { EvidenceType } from './evidence-file.ts';

export const EvidenceEntity = defineEntity({
  name: 'Evidence',
  tableName: 'evidence',
  schema: 'refunds',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    refundCaseId: p.uuid().strictNullable(),
    disputeId: p.uuid().strictNullable(),
    fileName: p.text(),
    contentType: p.string().$type<EvidenceType>(),
    sizeBytes: p.integer(),
    sha256: p.blob(),
    addedAt: timestampColumn(),
  },
});
