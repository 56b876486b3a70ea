import type {
  ListAccountInvitationsRequest,
  ListAccountInvitationsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { normalizedEmail } from '../email-address.ts';
import { invitationMessage } from './invitation.message.ts';
import { selectInvitationsTo, selectVerifiedEmail } from './invitation.queries.ts';

const MAX_INVITATIONS = 100;

/** Lists the invitations that an account may accept, newest first. None without a verified address. */
export async function listAccountInvitations(
  database: Database,
  { accountId }: ListAccountInvitationsRequest,
): Promise<ListAccountInvitationsResponse> {
  const account = await database.readOne(selectVerifiedEmail({ accountId }));
  const rows = account
    ? await database.read(
        selectInvitationsTo({
          email: normalizedEmail(account.email),
          now: new Date(),
          limit: MAX_INVITATIONS,
        }),
      )
    : [];
  return {
    $typeName: 'payments.accounts.v1.ListAccountInvitationsResponse',
    invitations: rows.map(invitationMessage),
  };
}
