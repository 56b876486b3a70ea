import type {
  EndAllSessionsRequest,
  EndAllSessionsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { openBounds, type SessionLimits } from './session.ts';

/**
 * Ends all sessions of an account, including expired ones, because raised limits must not reopen them. Counts the
 * sessions that were open.
 */
export async function endAllSessions(
  database: Database,
  limits: SessionLimits,
  { accountId }: EndAllSessionsRequest,
): Promise<EndAllSessionsResponse> {
  const { now, seenAfter } = openBounds(new Date(), limits);
  const [row] = await database.transaction((em) =>
    executeNamed<{ open: string }>(
      em,
      `with ending as (
         select id, expires_at > :now and last_seen_at > :seenAfter as open from accounts.session
          where account_id = :accountId and ended_at is null order by id for update
       ), ended as (
         update accounts.session as s set ended_at = :now, expires_at = least(s.expires_at, :now)
           from ending where s.account_id = :accountId and s.id = ending.id
       )
       select count(*) filter (where open) as open from ending`,
      { now, seenAfter, accountId },
    ),
  );
  return { $typeName: 'payments.accounts.v1.EndAllSessionsResponse', endedCount: Number(row!.open) };
}
