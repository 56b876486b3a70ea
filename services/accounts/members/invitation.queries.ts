import { inOrder, type ListOrder, type PageSpec } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { type AccountTables, db, isAfter } from '../accounts.tables.ts';

/** An invitation as hot reads return it. */
export type InvitationReadRow = Omit<AccountTables['accounts.invitation'], 'accepted_at' | 'revoked_at'>;

/** Invitations are listed newest first. */
export const invitationOrder: ListOrder<InvitationReadRow> = {
  columns: ['created_at', 'id'],
  direction: 'desc',
};

const openInvitations = () =>
  db
    .selectFrom('accounts.invitation')
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .select(['merchant_id', 'id', 'email', 'role', 'created_at', 'expires_at']);

interface OpenInvitations extends PageSpec {
  readonly merchantId: string;
  readonly now: Date;
}

/** A page of a merchant's open invitations in list order. */
export const selectOpenInvitations = prepareRead<OpenInvitations, InvitationReadRow>((parameters) => {
  const query = openInvitations()
    .where('merchant_id', '=', parameters('merchantId'))
    .where(isAfter('expires_at', parameters('now')));
  return inOrder(query, invitationOrder, parameters).compile();
});

/** The newest open invitations to an address, of all merchants. */
export const selectInvitationsTo = prepareRead<
  { email: string; now: Date; limit: number },
  InvitationReadRow
>((parameters) =>
  openInvitations()
    .where('email', '=', parameters('email'))
    .where(isAfter('expires_at', parameters('now')))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(parameters('limit'))
    .compile(),
);

/** The address of an account, if its identity provider has verified it. */
export const selectVerifiedEmail = prepareRead<{ accountId: string }, { email: string }>((parameters) =>
  db
    .selectFrom('accounts.account')
    .where('id', '=', parameters('accountId'))
    .where('email_verified', '=', true)
    .select('email')
    .compile(),
);
