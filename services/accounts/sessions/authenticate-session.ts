import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type AuthenticateSessionRequest,
  type AuthenticateSessionResponse,
  Role,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { requireUnexpired, sessionInvalid } from '../../platform/people/session-expiry.ts';
import { accountMessage } from '../account.message.ts';
import type { LastSeen } from './last-seen.ts';
import { sessionMessage } from './session.message.ts';
import { selectSessionByToken } from './session.queries.ts';
import type { SessionLimits } from './session.ts';

/** The account and memberships of a session token, in one hot read. SESSION_INVALID, SESSION_EXPIRED. */
export async function authenticateSession(
  database: Database,
  limits: SessionLimits,
  lastSeen: LastSeen,
  { tokenSha256, unattended }: AuthenticateSessionRequest,
): Promise<AuthenticateSessionResponse> {
  const row = await database.readOne(selectSessionByToken({ tokenSha256 }));
  if (!row || row.ended_at) throw sessionInvalid();
  const now = new Date();
  const times = { lastSeenAt: timestampDate(row.last_seen_at), expiresAt: timestampDate(row.expires_at) };
  requireUnexpired(times, limits.idleMs, now);
  if (!unattended) lastSeen.record(row, now);
  return {
    $typeName: 'payments.accounts.v1.AuthenticateSessionResponse',
    account: accountMessage(row),
    session: sessionMessage(row),
    memberships: row.memberships.map(({ merchant_id, role, name }) => ({
      $typeName: 'payments.accounts.v1.Membership',
      merchantId: merchant_id,
      role: Role[role],
      merchantName: name ?? '',
    })),
  };
}
