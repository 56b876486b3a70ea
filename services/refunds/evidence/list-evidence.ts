import type {
  ListEvidenceRequest,
  ListEvidenceResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { evidenceMessage } from './evidence.message.ts';
import { selectEvidenceOfCase, selectEvidenceOfDispute } from './evidence.queries.ts';
import { subjectOf } from './evidence.ts';

/** The evidence of a refund case or a dispute, oldest first, without the content. */
export async function listEvidence(
  database: Database,
  request: ListEvidenceRequest,
): Promise<ListEvidenceResponse> {
  const tenant = tenantOf(request);
  const { refundCaseId, disputeId } = subjectOf(request);
  const rows = await database.readList(
    refundCaseId === null
      ? selectEvidenceOfDispute({ ...tenant, subjectId: disputeId })
      : selectEvidenceOfCase({ ...tenant, subjectId: refundCaseId }),
  );
  return {
    $typeName: 'payments.refunds.v1.ListEvidenceResponse',
    evidence: rows.map(evidenceMessage),
  };
}
