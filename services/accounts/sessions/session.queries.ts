import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { AccountColumns } from '../account.message.ts';
import { db } from '../accounts.tables.ts';
import type { RoleName } from '../members/role.ts';

/** A session as reads answer it. */
export interface SessionReadRow {
  id: string;
  created_at: Timestamp;
  last_seen_at: Timestamp;
  expires_at: Timestamp;
  ended_at: Timestamp | null;
  ip_address: string;
  user_agent: string;
}

/** A session that was shown, with whose it is and where that person may go. */
export interface ShownSessionRow extends SessionReadRow, AccountColumns {
  /** Ordered by merchant. */
  memberships: readonly { merchant_id: string; role: RoleName }[];
}

/** The session of a token, whosever it is. */
export const selectShownSession = prepareRead<{ tokenSha256: Uint8Array }, ShownSessionRow>((parameters) =>
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
        .whereRef('m.account_id', '=', 's.account_id')
        .select(
          sql`coalesce(json_agg(json_build_object('merchant_id', m.merchant_id, 'role', m.role)
                order by m.merchant_id), '[]')`.as('memberships'),
        )
        .as('memberships'),
    )
    .$castTo<ShownSessionRow>()
    .compile(),
);

/** Sessions are listed newest first. */
export const sessionOrder: ListOrder<SessionReadRow> = { columns: ['created_at', 'id'], direction: 'desc' };

interface OpenSessions extends PageRange {
  readonly accountId: string;
  readonly now: Date;
  readonly seenAfter: Date;
}

/** A page of an account's open sessions in their order. */
export const selectOpenSessions = prepareRead<OpenSessions, SessionReadRow>((parameters) => {
  const query = db
    .selectFrom('accounts.session')
    .where('account_id', '=', parameters('accountId'))
    .where('ended_at', 'is', null)
    .where('expires_at', '>', parameters('now'))
    .where('last_seen_at', '>', parameters('seenAfter'))
    .select(['id', 'created_at', 'last_seen_at', 'expires_at', 'ended_at', 'ip_address', 'user_agent']);
  return inOrder(query, sessionOrder, parameters).$castTo<SessionReadRow>().compile();
});
