import {
  type ListResendsRequest,
  type ListResendsResponse,
  ResendState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { DeliveryDependencies } from '../deliveries/delivery-dependencies.ts';
import { resendMessage } from './resend.message.ts';
import { resendOrder, selectResends } from './resend.queries.ts';

/** A page of resends, newest first. */
export async function listResends(
  { pagination, link }: DeliveryDependencies,
  request: ListResendsRequest,
): Promise<ListResendsResponse> {
  const tenant = tenantOf(request);
  const filters = { state: enumName(ResendState, request.state) };
  const scope = { tenant, list: 'resends', filters, order: resendOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectResends({ ...tenant, ...filters, ...range }),
  );
  return {
    $typeName: 'payments.webhooks.v1.ListResendsResponse',
    resends: page.rows.map((row) => resendMessage(row, link)),
    nextPageToken: page.nextPageToken,
  };
}
