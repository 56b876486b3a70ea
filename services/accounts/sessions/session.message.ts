import type { Session } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { SessionReadRow } from './session.queries.ts';

export function sessionMessage(row: SessionReadRow): Session {
  return {
    $typeName: 'payments.accounts.v1.Session',
    id: row.id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
  };
}
