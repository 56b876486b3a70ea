import type {
  ListMembersRequest,
  ListMembersResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { memberMessage } from './member.message.ts';
import { memberOrder, selectMembers } from './member.queries.ts';

/** Lists a merchant's members, oldest first by (created_at, account_id): the same in both environments. */
export async function listMembers(
  pagination: Pagination,
  request: ListMembersRequest,
): Promise<ListMembersResponse> {
  const tenant = tenantOf(request);
  const { merchantId } = tenant;
  const scope = { tenant, list: 'members', filters: {}, order: memberOrder };
  const page = await pagination.list(scope, request, (range) => selectMembers({ merchantId, ...range }));
  return {
    $typeName: 'payments.accounts.v1.ListMembersResponse',
    members: page.rows.map(memberMessage),
    nextPageToken: page.nextPageToken,
  };
}
