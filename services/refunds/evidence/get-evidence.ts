import type { HandlerContext } from '@connectrpc/connect';
import type {
  GetEvidenceRequest,
  GetEvidenceResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { readRowOf } from '../../platform/reads/read-table.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { auditRow, recordAudit } from '../../platform/writes/audit.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { EvidenceEntity } from './evidence.entity.ts';
import { evidenceMessage } from './evidence.message.ts';
import { selectChunk } from './evidence.queries.ts';
import { evidenceNotFound } from './evidence.ts';

/** A multiple of 3, so that the Base64 chunks that a JSON caller reads can be joined to one text. */
const CHUNK_BYTES = 192 * 1024;

interface Dependencies {
  readonly database: Database;
  readonly writes: Writes;
}

/**
 * Streams a file and records its download. Each chunk is one short read, so that a slow reader holds no connection.
 * EVIDENCE_NOT_FOUND.
 */
export async function* getEvidence(
  { database, writes }: Dependencies,
  request: GetEvidenceRequest,
  context: HandlerContext,
): AsyncGenerator<GetEvidenceResponse> {
  const tenant = tenantOf(request);
  const id = request.evidenceId.toLowerCase();
  const row = await writes.transaction(tenant, context, async (tx, em) => {
    const evidence = await tx.findOne(EvidenceEntity, { id });
    if (!evidence) throw evidenceNotFound();
    await recordAudit(em, [auditRow(tenant, request, context)]);
    return readRowOf(evidence);
  });
  for (let offset = 0; offset < row.size_bytes; offset += CHUNK_BYTES) {
    const [part] = await database.read(selectChunk({ ...tenant, id, from: offset + 1, bytes: CHUNK_BYTES }));
    if (!part) throw new Error('a piece of evidence has no content');
    yield {
      $typeName: 'payments.refunds.v1.GetEvidenceResponse',
      ...(offset === 0 && { evidence: evidenceMessage(row) }),
      chunk: new Uint8Array(part.chunk),
    };
  }
}
