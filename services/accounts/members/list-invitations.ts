import type {
  ListInvitationsRequest,
  ListInvitationsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { invitationMessage } from './invitation.message.ts';
import { invitationOrder, selectOpenInvitations } from './invitation.queries.ts';

/** Lists a merchant's open invitations, or also expired ones, newest first by (created_at, id): the same in both environments. */
export async function listInvitations(
  pagination: Pagination,
  request: ListInvitationsRequest,
): Promise<ListInvitationsResponse> {
  const tenant = tenantOf(request);
  const { merchantId } = tenant;
  const { includeExpired } = request;
  const now = includeExpired ? undefined : new Date();
  const scope = { tenant, list: 'invitations', filters: { includeExpired }, order: invitationOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectOpenInvitations({ merchantId, now, ...range }),
  );
  return {
    $typeName: 'payments.accounts.v1.ListInvitationsResponse',
    invitations: page.rows.map(invitationMessage),
    nextPageToken: page.nextPageToken,
  };
}
