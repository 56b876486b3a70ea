import {
  type AuthenticateSessionRequest,
  type AuthenticateSessionResponse,
  Role,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { unauthenticated } from '../../platform/errors.ts';
import { accountMessage } from '../account.message.ts';
import type { LastSeen } from './last-seen.ts';
import { sessionMessage } from './session.message.ts';
import { type AuthenticationRow, selectSessionByToken } from './session.queries.ts';
import { type SessionLimits, stateOf } from './session.ts';

/** The account and memberships of a session token, in one hot read. SESSION_INVALID, SESSION_EXPIRED. */
export async function authenticateSession(
  database: Database,
  limits: SessionLimits,
  lastSeen: LastSeen,
  { tokenSha256, unattended }: AuthenticateSessionRequest,
): Promise<AuthenticateSessionResponse> {
  const [row] = await database.read(selectSessionByToken({ tokenSha256 }));
  if (!row) throw invalidSession();
  const now = new Date();
  requireOpen(row, now, limits);
  if (!unattended) lastSeen.record(row, now);
  return {
    $typeName: 'payments.accounts.v1.AuthenticateSessionResponse',
    account: accountMessage(row),
    session: sessionMessage(row),
    memberships: row.memberships.map(({ merchant_id, role }) => ({
      $typeName: 'payments.accounts.v1.Membership',
      merchantId: merchant_id,
      role: Role[role],
    })),
  };
}

function requireOpen(row: AuthenticationRow, now: Date, limits: SessionLimits): void {
  const state = stateOf(row, now, limits);
  switch (state) {
    case 'OPEN':
      return;
    case 'EXPIRED':
      throw unauthenticated('SESSION_EXPIRED', 'the session has expired');
    case 'ENDED':
      throw invalidSession();
    default:
      state satisfies never;
  }
}

const invalidSession = () => unauthenticated('SESSION_INVALID', 'the session is invalid');
