import type {
  GetResendRequest,
  GetResendResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { tenantOf } from '../../platform/tenant.ts';
import type { DeliveryDependencies } from '../deliveries/delivery-dependencies.ts';
import { resendMessage } from './resend.message.ts';
import { selectResend } from './resend.queries.ts';
import { resendNotFound } from './resend-store.ts';

/** One resend with its progress. */
export async function getResend(
  { database, link }: DeliveryDependencies,
  request: GetResendRequest,
): Promise<GetResendResponse> {
  const row = await database.readOne(selectResend({ ...tenantOf(request), id: request.resendId }));
  if (!row) throw resendNotFound();
  return { $typeName: 'payments.webhooks.v1.GetResendResponse', resend: resendMessage(row, link) };
}
