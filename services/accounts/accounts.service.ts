import type { ServiceImpl } from '@connectrpc/connect';
import type { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { listAuditEntries } from './audit/list-audit-entries.ts';
import { getMerchantContact } from './contacts/get-merchant-contact.ts';
import { setMerchantContact } from './contacts/set-merchant-contact.ts';
import { getMailPreferences } from './mail/get-mail-preferences.ts';
import { listMailRecipients } from './mail/list-mail-recipients.ts';
import { setMailPreferences } from './mail/set-mail-preferences.ts';
import { acceptInvitation } from './members/accept-invitation.ts';
import { changeMemberRole } from './members/change-member-role.ts';
import { inviteMember } from './members/invite-member.ts';
import { listAccountInvitations } from './members/list-account-invitations.ts';
import { listInvitations } from './members/list-invitations.ts';
import { listMembers } from './members/list-members.ts';
import { removeMember } from './members/remove-member.ts';
import { revokeInvitation } from './members/revoke-invitation.ts';
import { getMerchantName } from './merchants/get-merchant-name.ts';
import { setMerchantName } from './merchants/set-merchant-name.ts';
import { authenticateSession } from './sessions/authenticate-session.ts';
import { endAllSessions } from './sessions/end-all-sessions.ts';
import { endSession } from './sessions/end-session.ts';
import { LastSeen } from './sessions/last-seen.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { startSession } from './sessions/start-session.ts';

export function accountService({
  config,
  database,
  logger,
  pagination,
  writes,
}: AreaDependencies): ServiceImpl<typeof AccountService> {
  const limits = {
    idleMs: config.DASHBOARD_SESSION_IDLE,
    lifetimeMs: config.DASHBOARD_SESSION_LIFETIME,
    maxSignIns: config.SIGN_IN_LIMIT_ACCOUNT,
  };
  const lastSeen = new LastSeen(database, logger, limits.idleMs);
  return {
    startSession: (request, context) => startSession(database, limits, request, context),
    authenticateSession: (request) => authenticateSession(database, limits, lastSeen, request),
    endSession: (request, context) => endSession(database, request, context),
    endAllSessions: (request, context) => endAllSessions(database, limits, request, context),
    listSessions: (request) => listSessions(pagination, limits, request),
    listAccountInvitations: (request) => listAccountInvitations(database, request),
    inviteMember: (request, context) => inviteMember(writes, request, context),
    revokeInvitation: (request, context) => revokeInvitation(writes, request, context),
    acceptInvitation: (request, context) => acceptInvitation(writes, request, context),
    listInvitations: (request) => listInvitations(pagination, request),
    listMembers: (request) => listMembers(pagination, request),
    changeMemberRole: (request, context) => changeMemberRole(writes, request, context),
    removeMember: (request, context) => removeMember(writes, request, context),
    getMerchantContact: (request) => getMerchantContact(database, request),
    setMerchantContact: (request, context) => setMerchantContact(writes, request, context),
    getMailPreferences: (request) => getMailPreferences(database, request),
    setMailPreferences: (request, context) => setMailPreferences(database, request, context),
    listMailRecipients: (request) => listMailRecipients(database, request),
    getMerchantName: (request) => getMerchantName(database, request),
    setMerchantName: (request, context) => setMerchantName(writes, request, context),
    listAuditEntries: (request) => listAuditEntries(pagination, request),
  };
}
