import { MAX_EVIDENCE_FILES } from '../../contracts/refunds/evidence-limits.ts';
import { notFound, resourceExhausted } from '../../platform/errors.ts';
import { invalidFields } from '../../platform/request-faults.ts';
import { notBefore, type RefundCase, wrongState } from '../refund-case.ts';

/** What a file is evidence for: a refund case or a dispute. */
export type EvidenceSubject =
  | { readonly refundCaseId: string; readonly disputeId: null }
  | { readonly refundCaseId: null; readonly disputeId: string };

/** The one subject that a request names, in lower case. INVALID_ARGUMENT for none or both. */
export function subjectOf({
  refundCaseId,
  disputeId,
}: {
  refundCaseId?: string;
  disputeId?: string;
}): EvidenceSubject {
  if (refundCaseId !== undefined && disputeId === undefined) {
    return { refundCaseId: refundCaseId.toLowerCase(), disputeId: null };
  }
  if (disputeId !== undefined && refundCaseId === undefined) {
    return { refundCaseId: null, disputeId: disputeId.toLowerCase() };
  }
  throw invalidFields(
    refundCaseId === undefined
      ? [{ field: 'refund_case_id', must: 'is required, or dispute_id' }]
      : [{ field: 'dispute_id', must: 'must not be given with refund_case_id' }],
  );
}

/** Counts one more piece of evidence of a case. It takes evidence until it is decided: REFUND_CASE_STATE after that. */
export function countEvidence(refundCase: RefundCase & { readonly evidenceCount: number }, at: Date) {
  const { status, evidenceCount } = refundCase;
  if (status !== 'MERCHANT_REVIEW' && status !== 'SERVICE_REVIEW') throw wrongState(refundCase);
  return { evidenceCount: evidenceCount + 1, updatedAt: notBefore(refundCase, at) };
}

/** EVIDENCE_LIMIT_REACHED: a case or dispute has as many files as it may have. */
export function requireBelowLimit(files: number): void {
  if (files < MAX_EVIDENCE_FILES) return;
  const limit = String(MAX_EVIDENCE_FILES);
  throw resourceExhausted('EVIDENCE_LIMIT_REACHED', `a case or dispute can have at most ${limit} files`, {
    limit,
  });
}

/** NOT_FOUND (EVIDENCE_NOT_FOUND): the merchant has no such file in this environment. */
export const evidenceNotFound = () => notFound('EVIDENCE_NOT_FOUND', 'the file does not exist');
