import type { Dispute } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { View } from '../shell/view.ts';

export type Disputes = ReadonlyMap<string, Dispute>;

/** Reads the disputes among up to a hundred ids, of which some may be those of other records. */
export async function findDisputes(view: View, ids: readonly (string | undefined)[]): Promise<Disputes> {
  const disputeIds = [...new Set(ids.filter((id) => id !== undefined))];
  if (disputeIds.length === 0) return new Map();
  const request = { disputeIds, pageSize: disputeIds.length };
  const { disputes } = await view.clients.refundCases.listDisputes(request);
  return new Map(disputes.map((dispute) => [dispute.id, dispute]));
}
