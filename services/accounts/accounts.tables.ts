import { queryBuilder } from '../platform/database/database.ts';
import type { EnvironmentName } from '../platform/tenant.ts';
import type { RoleName } from './members/role.ts';

/** The columns that reads of accounts select or compare. */
interface AccountTables {
  'accounts.account': {
    id: string;
    issuer: string;
    subject: string;
    email: string;
    email_verified: boolean;
    name: string;
    created_at: Date;
  };
  'accounts.session': {
    account_id: string;
    id: string;
    token_sha256: Uint8Array;
    created_at: Date;
    last_seen_at: Date;
    expires_at: Date;
    ended_at: Date | null;
    ip_address: string;
    user_agent: string;
  };
  'accounts.member': { merchant_id: string; account_id: string; role: RoleName; created_at: Date };
  'accounts.invitation': {
    merchant_id: string;
    id: string;
    email: string;
    role: RoleName;
    created_at: Date;
    expires_at: Date;
    accepted_at: Date | null;
    revoked_at: Date | null;
  };
  'accounts.merchant_contact': {
    merchant_id: string;
    environment: EnvironmentName;
    email: string;
    language: string;
  };
  'platform.audit_entry': {
    merchant_id: string;
    environment: EnvironmentName;
    id: string;
    account_id: string;
    action: string;
    request: object | null;
    ip_address: string;
    request_id: string;
    occurred_at: Date;
  };
}

/** Compiles the reads of accounts. */
export const db = queryBuilder<AccountTables>();
