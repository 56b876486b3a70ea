const ID = '([0-9a-f]{8}-[0-9a-f-]{27})';

/** What workflows are about, by the beginning of their ids. */
const SUBJECTS: readonly (readonly [field: string, id: RegExp])[] = [
  ['deliveryId', new RegExp(`^delivery-${ID}`)],
  [
    'refundCaseId',
    new RegExp(`^(?:refund|refund-hold|refund-hold-end|refund-reversal|merchant-review)-${ID}`),
  ],
  ['refundCaseId', new RegExp(`^notice-REFUND_(?:UNFUNDED|FAILED|REVIEWED)-${ID}`)],
  ['disputeId', new RegExp(`^(?:dispute-(?:hold|hold-end|reversal)|notice-DISPUTE_(?:DUE|ENDED))-${ID}`)],
  [
    'advanceRequestId',
    new RegExp(`^(?:advance-(?:request|release|refusal|payout)|notice-ADVANCE_(?:REFUSED|UNPAID))-${ID}`),
  ],
];

/** The record that a workflow is about, as services log it, so that a search for the record also finds the worker's lines. */
export function subjectOf(workflowId: unknown): Readonly<Record<string, string>> {
  if (typeof workflowId !== 'string') return {};
  for (const [field, pattern] of SUBJECTS) {
    const [, id] = pattern.exec(workflowId) ?? [];
    if (id) return { [field]: id };
  }
  return {};
}
