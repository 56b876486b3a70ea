import type {
  ListAccountInvitationsRequest,
  ListAccountInvitationsResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { comparedEmail } from '../email-address.ts';
import { invitationMessage } from './invitation.message.ts';
import { selectInvitationsTo, selectVerifiedEmail } from './invitation.queries.ts';

const MOST_INVITATIONS = 100;

/** The invitations that an account may accept, newest first; none without a verified address. */
export async function listAccountInvitations(
  database: Database,
  { accountId }: ListAccountInvitationsRequest,
): Promise<ListAccountInvitationsResponse> {
  const [account] = await database.read(selectVerifiedEmail({ accountId }));
  const rows = account
    ? await database.read(
        selectInvitationsTo({
          email: comparedEmail(account.email),
          now: new Date(),
          limit: MOST_INVITATIONS,
        }),
      )
    : [];
  return {
    $typeName: 'payments.accounts.v1.ListAccountInvitationsResponse',
    invitations: rows.map(invitationMessage),
  };
}
