import type { HandlerContext } from '@connectrpc/connect';
import type {
  EndSessionRequest,
  EndSessionResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { recordSessionAudit } from '../audit/record-session-audit.ts';

/**
 * Ends the open sessions that match a condition at `:now`, and deletes their mirrors, which waits for the writes that are
 * made with them. Locks them in the order of their ids, as every statement that ends several does. Returns their ids. Lowers
 * expires_at too, because expired sessions are deleted by it.
 */
export const endSessions = (condition: string) => `
with ending as (
  select account_id, id from accounts.session where ${condition} and ended_at is null order by id for update
), ended as (
  update accounts.session as s set ended_at = :now, expires_at = least(s.expires_at, :now)
    from ending where s.account_id = ending.account_id and s.id = ending.id returning s.id, s.token_sha256
), unmirrored as (
  delete from platform.session where token_sha256 in (select token_sha256 from ended)
)
select id from ended`;

/** Ends a session of an account. Has no effect when it has ended or does not exist. */
export async function endSession(
  database: Database,
  request: EndSessionRequest,
  context: HandlerContext,
): Promise<EndSessionResponse> {
  const { accountId, sessionId } = request;
  await database.transaction(async (em) => {
    const ended = await executeNamed(em, endSessions('account_id = :accountId and id = :sessionId'), {
      now: new Date(),
      accountId,
      sessionId,
    });
    if (ended.length > 0) await recordSessionAudit(em, { accountId, request, context });
  });
  return { $typeName: 'payments.accounts.v1.EndSessionResponse' };
}
