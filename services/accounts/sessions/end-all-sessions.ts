import type { HandlerContext } from '@connectrpc/connect';
import type {
  EndAllSessionsRequest,
  EndAllSessionsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { recordSessionAudit } from '../audit/record-session-audit.ts';
import { openBounds, type SessionLimits } from './session.ts';

/**
 * Ends all sessions of an account, including expired ones, because raised limits must not reopen them. Counts the
 * sessions that were open.
 */
export async function endAllSessions(
  database: Database,
  limits: SessionLimits,
  request: EndAllSessionsRequest,
  context: HandlerContext,
): Promise<EndAllSessionsResponse> {
  const { accountId } = request;
  const { now, seenAfter } = openBounds(new Date(), limits);
  const open = await database.transaction(async (em) => {
    const [row] = await executeNamed<{ open: string; ended: string }>(
      em,
      `with ending as (
         select id, expires_at > :now and last_seen_at > :seenAfter as open from accounts.session
          where account_id = :accountId and ended_at is null order by id for update
       ), ended as (
         update accounts.session as s set ended_at = :now, expires_at = least(s.expires_at, :now)
           from ending where s.account_id = :accountId and s.id = ending.id returning s.token_sha256
       ), unmirrored as (
         delete from platform.session where token_sha256 in (select token_sha256 from ended)
       )
       select count(*) filter (where open) as open, count(*) as ended from ending`,
      { now, seenAfter, accountId },
    );
    if (Number(row!.ended) > 0) await recordSessionAudit(em, { accountId, request, context });
    return Number(row!.open);
  });
  return { $typeName: 'payments.accounts.v1.EndAllSessionsResponse', endedCount: open };
}
