import type {
  ListSessionsRequest,
  ListSessionsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { sessionMessage } from './session.message.ts';
import { selectOpenSessions, sessionOrder } from './session.queries.ts';
import { openBounds, type SessionLimits } from './session.ts';

/** Lists an account's open sessions, newest first by (created_at, id). */
export async function listSessions(
  pagination: Pagination,
  limits: SessionLimits,
  request: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const accountId = request.accountId.toLowerCase();
  const bounds = openBounds(new Date(), limits);
  const scope = { list: 'sessions', filters: { accountId }, order: sessionOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectOpenSessions({ accountId, ...bounds, ...range }),
  );
  return {
    $typeName: 'payments.accounts.v1.ListSessionsResponse',
    sessions: page.rows.map(sessionMessage),
    nextPageToken: page.nextPageToken,
  };
}
