import { failedPrecondition } from '../../platform/errors.ts';

/** How long an invitation can be accepted. */
export const INVITATION_LIFETIME_MS = 7 * 86_400_000;

export type InvitationState = 'OPEN' | 'ACCEPTED' | 'REVOKED' | 'EXPIRED';

/** The state of an invitation, in SQL that compares with `:now`; it has expired from that very millisecond on. */
export const INVITATION_STATE = `case when accepted_at is not null then 'ACCEPTED'
  when revoked_at is not null then 'REVOKED' when expires_at <= :now then 'EXPIRED' else 'OPEN' end`;

/** FAILED_PRECONDITION (INVITATION_STATE). */
export const invitationState = (state: InvitationState) =>
  failedPrecondition('INVITATION_STATE', `the invitation is ${state}`, { state });
