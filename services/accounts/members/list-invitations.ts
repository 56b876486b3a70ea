import type {
  ListInvitationsRequest,
  ListInvitationsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { invitationMessage } from './invitation.message.ts';
import { invitationOrder, selectPendingInvitations } from './invitation.queries.ts';
import { INVITATION_LIFETIME_MS } from './invitation.ts';

/** Lists a merchant's open invitations, or also expired ones, newest first by (created_at, id): the same in both environments. */
export async function listInvitations(
  pagination: Pagination,
  request: ListInvitationsRequest,
): Promise<ListInvitationsResponse> {
  const tenant = tenantOf(request);
  const { merchantId } = tenant;
  const { includeExpired } = request;
  const now = includeExpired ? undefined : new Date();
  const createdAfter = now && new Date(now.getTime() - INVITATION_LIFETIME_MS);
  // Tokens of a list without it are also those of releases that do not know it.
  const filters = { includeExpired: includeExpired || undefined };
  const scope = { tenant, list: 'invitations', filters, order: invitationOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectPendingInvitations({ merchantId, now, createdAfter, ...range }),
  );
  return {
    $typeName: 'payments.accounts.v1.ListInvitationsResponse',
    invitations: page.rows.map(invitationMessage),
    nextPageToken: page.nextPageToken,
  };
}
