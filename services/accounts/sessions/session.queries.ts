import { sql } from 'kysely';
import type { RoleName } from '../../platform/people/role.ts';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { AccountColumns } from '../account.message.ts';
import { type AccountTables, db, isAfter } from '../accounts.tables.ts';

/** A session as hot reads return it. */
export type SessionReadRow = Omit<AccountTables['accounts.session'], 'account_id' | 'token_sha256'>;

export interface AuthenticationRow extends SessionReadRow, AccountColumns {
  /** Ordered by merchant. */
  memberships: readonly { merchant_id: string; role: RoleName; name: string | null }[];
}

/** The session of a token, of any account. */
export const selectSessionByToken = prepareRead<{ tokenSha256: Uint8Array }, AuthenticationRow>(
  (parameters) =>
    db
      .selectFrom('accounts.session as s')
      .innerJoin('accounts.account as a', 'a.id', 's.account_id')
      .where('s.token_sha256', '=', parameters('tokenSha256'))
      .select(['s.id', 's.created_at', 's.last_seen_at', 's.expires_at', 's.ended_at'])
      .select(['s.ip_address', 's.user_agent', 's.account_id'])
      .select(['a.email', 'a.email_verified', 'a.name', 'a.created_at as account_created_at'])
      .select((select) =>
        select
          .selectFrom('accounts.member as m')
          .leftJoin('accounts.merchant as merchant', 'merchant.merchant_id', 'm.merchant_id')
          .whereRef('m.account_id', '=', 's.account_id')
          .select(
            sql<
              AuthenticationRow['memberships']
            >`coalesce(json_agg(json_build_object('merchant_id', m.merchant_id, 'role', m.role, 'name', merchant.name)
                order by m.merchant_id), '[]')`.as('memberships'),
          )
          .as('memberships'),
      )
      .compile(),
);

/** Sessions are listed newest first. */
export const sessionOrder: ListOrder<SessionReadRow> = { columns: ['created_at', 'id'], direction: 'desc' };

interface OpenSessions extends PageRange {
  readonly accountId: string;
  readonly now: Date;
  readonly seenAfter: Date;
}

/** A page of an account's open sessions in list order. */
export const selectOpenSessions = prepareRead<OpenSessions, SessionReadRow>((parameters) => {
  const query = db
    .selectFrom('accounts.session')
    .where('account_id', '=', parameters('accountId'))
    .where('ended_at', 'is', null)
    .where(isAfter('expires_at', parameters('now')))
    .where(isAfter('last_seen_at', parameters('seenAfter')))
    .select(['id', 'created_at', 'last_seen_at', 'expires_at', 'ended_at', 'ip_address', 'user_agent']);
  return inOrder(query, sessionOrder, parameters).compile();
});
