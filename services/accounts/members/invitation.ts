import { DAY_MS } from '../../platform/durations.ts';
import { failedPrecondition } from '../../platform/errors.ts';

/** How long an invitation can be accepted. The list of open ones reads only those created within this time. */
export const INVITATION_LIFETIME_MS = 7 * DAY_MS;

export type InvitationState = 'OPEN' | 'ACCEPTED' | 'REVOKED' | 'EXPIRED';

/** The state of an invitation at `:now`, as a SQL expression. It is expired at `expires_at` itself. */
export const INVITATION_STATE = `case when accepted_at is not null then 'ACCEPTED'
  when revoked_at is not null then 'REVOKED' when expires_at <= :now then 'EXPIRED' else 'OPEN' end`;

/** FAILED_PRECONDITION (INVITATION_STATE). */
export const wrongInvitationState = (state: InvitationState) =>
  failedPrecondition('INVITATION_STATE', `the invitation is ${state}`, { state });
