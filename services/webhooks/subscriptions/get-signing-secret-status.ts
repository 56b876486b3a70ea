import type {
  GetSigningSecretStatusRequest,
  GetSigningSecretStatusResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectSigningSecrets } from './signing-secret.queries.ts';
import { subscriptionNotFound } from './subscription-store.ts';

/** The status of the secrets that sign for a subscription, which always include a current one. */
export async function getSigningSecretStatus(
  database: Database,
  request: GetSigningSecretStatusRequest,
): Promise<GetSigningSecretStatusResponse> {
  const { subscriptionId } = request;
  const rows = await database.read(selectSigningSecrets({ ...tenantOf(request), subscriptionId }));
  if (rows.length === 0) throw subscriptionNotFound();
  return {
    $typeName: 'payments.webhooks.v1.GetSigningSecretStatusResponse',
    secrets: rows.map(({ created_at, revealed_at, expires_at }) => ({
      $typeName: 'payments.webhooks.v1.SigningSecretStatus',
      createdAt: created_at,
      revealedAt: revealed_at ?? undefined,
      signsUntil: expires_at ?? undefined,
    })),
  };
}
