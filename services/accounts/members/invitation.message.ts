import { type Invitation, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { InvitationReadRow } from './invitation.queries.ts';

export function invitationMessage(row: InvitationReadRow): Invitation {
  return {
    $typeName: 'payments.accounts.v1.Invitation',
    id: row.id,
    merchantId: row.merchant_id,
    email: row.email,
    role: Role[row.role],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    merchantName: row.merchant_name ?? '',
  };
}
