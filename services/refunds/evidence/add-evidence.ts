import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import type {
  AddEvidenceRequest,
  AddEvidenceResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { resourceExhausted } from '../../platform/errors.ts';
import type { Slots } from '../../platform/process/slots.ts';
import { readRowOf } from '../../platform/reads/read-table.ts';
import { parseAll } from '../../platform/request-faults.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { requireAwaitingResponse } from '../disputes/dispute.ts';
import { lockDispute, lockRefundCase } from '../refund-case-store.ts';
import { EvidenceEntity } from './evidence.entity.ts';
import { evidenceMessage } from './evidence.message.ts';
import { countEvidence, type EvidenceSubject, requireBelowLimit, subjectOf } from './evidence.ts';
import { recognizeFile } from './evidence-file.ts';
import { firstMessage, receiveUpload, withDeadline } from './receive-upload.ts';
import { requireSandboxStorage } from './sandbox-storage.ts';

/** The longest deadline that callers can set, and how long an upload may pause. */
const UPLOAD_LIMITS = { totalMs: 60_000, idleMs: 10_000 };

interface Dependencies {
  readonly writes: Writes;
  readonly slots: Slots;
}

/**
 * Adds a file to a refund case or a dispute. The transaction begins once the whole file has arrived.
 * REFUND_CASE_NOT_FOUND, REFUND_CASE_STATE, DISPUTE_NOT_FOUND, DISPUTE_CLOSED, DISPUTE_RESPONDED,
 * DISPUTE_RESPONSE_OVERDUE, EVIDENCE_LIMIT_REACHED, EVIDENCE_STORAGE_FULL, TOO_MANY_UPLOADS, UPLOAD_TOO_SLOW,
 * INVALID_ARGUMENT, EVIDENCE_TOO_LARGE, EVIDENCE_HASH_MISMATCH, EVIDENCE_EMPTY, EVIDENCE_TYPE_NOT_SUPPORTED,
 * EVIDENCE_INCOMPLETE.
 */
export async function addEvidence(
  { writes, slots }: Dependencies,
  requests: AsyncIterable<AddEvidenceRequest>,
  context: HandlerContext,
) {
  const messages = withDeadline(requests, context.signal, UPLOAD_LIMITS);
  try {
    const first = await firstMessage(messages);
    const tenant = tenantOf(first);
    // Checked before a slot is taken, so that only the merchant's own people can occupy its slots.
    await writes.checkPerson(tenant, context);
    const release = slots.acquire(tenant.environment, tenant.merchantId);
    if (typeof release === 'string') throw tooManyUploads();
    try {
      const { request, content } = await receiveUpload(first, messages);
      return await store(writes, request, content, context);
    } finally {
      release();
    }
  } finally {
    await messages.return(undefined);
  }
}

const tooManyUploads = () => resourceExhausted('TOO_MANY_UPLOADS', 'too many uploads at once; try again');

function store(writes: Writes, request: AddEvidenceRequest, content: Buffer, context: HandlerContext) {
  const [subject, at, file] = parseAll(
    () => subjectOf(request),
    () => occurredAtOf(request, context),
    () => recognizeFile(content, request.fileName),
  );
  return writes.run<typeof AddEvidenceResponseSchema>(request, context, async (tx) => {
    await requireSandboxStorage(tx, content.length);
    await admitEvidence(tx, subject, at);
    requireBelowLimit((await tx.find(EvidenceEntity, subject)).length);
    const row = tx.create(EvidenceEntity, {
      ...subject,
      ...file,
      id: uuidv7(),
      sizeBytes: content.length,
      sha256: Buffer.from(request.contentSha256!),
      addedAt: at,
    });
    await tx.flush();
    await tx.execute(
      `insert into refunds.evidence_content (merchant_id, environment, evidence_id, content)
       values (:merchantId, :environment, :id, :content)`,
      { id: row.id, content },
    );
    return { evidence: evidenceMessage(readRowOf(row)) };
  });
}

/** Locks the case or dispute, so that concurrent uploads respect the limit, and counts the file. */
async function admitEvidence(tx: TenantTransaction, subject: EvidenceSubject, at: Date): Promise<void> {
  if (subject.refundCaseId !== null) {
    const refundCase = await lockRefundCase(tx, subject.refundCaseId);
    Object.assign(refundCase, countEvidence(refundCase, at));
    return;
  }
  const dispute = await lockDispute(tx, subject.disputeId);
  requireAwaitingResponse(dispute, at);
  dispute.evidenceCount += 1;
}
