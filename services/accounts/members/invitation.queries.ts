import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { db } from '../accounts.tables.ts';
import type { RoleName } from './role.ts';

/** An invitation as reads answer it. */
export interface InvitationReadRow {
  merchant_id: string;
  id: string;
  email: string;
  role: RoleName;
  created_at: Timestamp;
  expires_at: Timestamp;
}

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

interface OpenInvitations extends PageRange {
  readonly merchantId: string;
  readonly now: Date;
}

/** A page of a merchant's open invitations in their order. */
export const selectOpenInvitations = prepareRead<OpenInvitations, InvitationReadRow>((parameters) => {
  const query = openInvitations()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('expires_at', '>', parameters('now'));
  return inOrder(query, invitationOrder, parameters).$castTo<InvitationReadRow>().compile();
});

/** The newest open invitations to an address, of whatever merchants. */
export const selectInvitationsTo = prepareRead<
  { email: string; now: Date; limit: number },
  InvitationReadRow
>((parameters) =>
  openInvitations()
    .where('email', '=', parameters('email'))
    .where('expires_at', '>', parameters('now'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(parameters('limit'))
    .$castTo<InvitationReadRow>()
    .compile(),
);

/** The address that an account's provider vouches for. */
export const selectVerifiedEmail = prepareRead<{ accountId: string }, { email: string }>((parameters) =>
  db
    .selectFrom('accounts.account')
    .where('id', '=', parameters('accountId'))
    .where('email_verified', '=', true)
    .select('email')
    .compile(),
);
