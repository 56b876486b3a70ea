import type { JsonObject } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type RawBuilder, sql } from 'kysely';
import type { MailTopic } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { EnumName } from '../platform/enum-name.ts';
import type { RoleName } from '../platform/people/role.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { EnvironmentName } from '../platform/tenant.ts';

/** The columns that hot reads of accounts use, with the types that they return. No entities: rows are written in SQL. */
export interface AccountTables {
  'accounts.account': {
    id: string;
    issuer: string;
    subject: string;
    email: string;
    email_verified: boolean;
    name: string;
    created_at: Timestamp;
  };
  'accounts.session': {
    account_id: string;
    id: string;
    token_sha256: Uint8Array;
    created_at: Timestamp;
    last_seen_at: Timestamp;
    expires_at: Timestamp;
    ended_at: Timestamp | null;
    ip_address: string;
    user_agent: string;
  };
  'accounts.member': { merchant_id: string; account_id: string; role: RoleName; created_at: Timestamp };
  'accounts.invitation': {
    merchant_id: string;
    id: string;
    email: string;
    role: RoleName;
    created_at: Timestamp;
    expires_at: Timestamp;
    accepted_at: Timestamp | null;
    revoked_at: Timestamp | null;
  };
  'accounts.unwanted_mail': { account_id: string; topic: EnumName<typeof MailTopic> };
  'accounts.merchant': { merchant_id: string; name: string };
  'accounts.merchant_contact': {
    merchant_id: string;
    environment: EnvironmentName;
    email: string;
    language: 'PT_BR' | 'EN';
  };
  'platform.audit_entry': {
    merchant_id: string;
    environment: EnvironmentName;
    id: string;
    caller: string;
    account_id: string | null;
    started_by: string | null;
    action: string;
    request: JsonObject | null;
    ip_address: string;
    request_id: string;
    occurred_at: Timestamp;
  };
}

/** Compiles the hot reads of accounts. */
export const db = queryBuilder<AccountTables>();

/** Compares a timestamp column with a parameter. The types differ: reads return Timestamps, parameters are Dates. */
export const isAfter = (column: string, time: RawBuilder<Date>) => sql<boolean>`${sql.ref(column)} > ${time}`;
