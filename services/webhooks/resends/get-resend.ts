import type {
  GetResendRequest,
  GetResendResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import { resendMessage } from './resend.message.ts';
import { selectResend } from './resend.queries.ts';
import { resendNotFound } from './resend-store.ts';

/** One resend with its progress. */
export async function getResend(
  database: Database,
  link: WorkflowLink,
  request: GetResendRequest,
): Promise<GetResendResponse> {
  const row = await database.readOne(selectResend({ ...tenantOf(request), id: request.resendId }));
  if (!row) throw resendNotFound();
  return { $typeName: 'payments.webhooks.v1.GetResendResponse', resend: resendMessage(row, link) };
}
