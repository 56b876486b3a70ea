import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { type AccountTables, db, isAfter } from '../accounts.tables.ts';

/** An invitation as hot reads return it. */
export interface InvitationReadRow
  extends Omit<AccountTables['accounts.invitation'], 'accepted_at' | 'revoked_at'> {
  /** Null when none is set. */
  merchant_name: string | null;
}

/** Invitations are listed newest first. */
export const invitationOrder: ListOrder<InvitationReadRow> = {
  columns: ['created_at', 'id'],
  direction: 'desc',
};

const pendingInvitations = () =>
  db
    .selectFrom('accounts.invitation as i')
    .leftJoin('accounts.merchant as merchant', 'merchant.merchant_id', 'i.merchant_id')
    .where('i.accepted_at', 'is', null)
    .where('i.revoked_at', 'is', null)
    .select(['i.merchant_id', 'i.id', 'i.email', 'i.role', 'i.created_at', 'i.expires_at'])
    .select('merchant.name as merchant_name');

interface PendingInvitations extends PageRange {
  readonly merchantId: string;
  /** Leaves out those that have expired; when undefined, they are included. */
  readonly now: Date | undefined;
  /** With `now`: when the oldest that has not expired was created, at the earliest. */
  readonly createdAfter: Date | undefined;
}

/** A page of a merchant's open invitations in list order, or also of expired ones. */
export const selectPendingInvitations = prepareRead<PendingInvitations, InvitationReadRow>((parameters) => {
  let query = pendingInvitations().where('i.merchant_id', '=', parameters('merchantId'));
  if (parameters.has('now')) {
    // The index has only the time of creation: without it, a page would read all that have expired.
    query = query
      .where(isAfter('i.created_at', parameters('createdAfter')))
      .where(isAfter('i.expires_at', parameters('now')));
  }
  return inOrder(query, invitationOrder, parameters, 'i').compile();
});

/** The newest open invitations to an address, of all merchants. */
export const selectInvitationsTo = prepareRead<
  { email: string; now: Date; limit: number },
  InvitationReadRow
>((parameters) =>
  pendingInvitations()
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
