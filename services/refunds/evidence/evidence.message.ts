import type { Evidence } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { environmentEnum } from '../../platform/tenant.ts';
import type { EvidenceReadRow } from './evidence.queries.ts';

export function evidenceMessage(row: EvidenceReadRow): Evidence {
  return {
    $typeName: 'payments.refunds.v1.Evidence',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    refundCaseId: row.refund_case_id ?? undefined,
    disputeId: row.dispute_id ?? undefined,
    fileName: row.file_name,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    sha256: new Uint8Array(row.sha256),
    addedAt: row.added_at,
  };
}
