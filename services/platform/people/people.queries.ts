import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { prepareRead } from '../reads/prepared-read.ts';
import { queryBuilder } from '../reads/query-builder.ts';
import type { RoleName } from './role.ts';

interface PeopleTables {
  'platform.session': {
    token_sha256: Uint8Array;
    account_id: string;
    last_seen_at: Timestamp;
    expires_at: Timestamp;
  };
  'platform.membership': { merchant_id: string; account_id: string; role: RoleName };
}

/** A session, with the person's role at a merchant. */
export interface PersonReadRow {
  account_id: string;
  last_seen_at: Timestamp;
  expires_at: Timestamp;
  /** Null when they are not a member. */
  role: RoleName | null;
}

/** The session of a token and the role of its person at a merchant. */
export const selectPerson = prepareRead<{ tokenSha256: Uint8Array; merchantId: string }, PersonReadRow>(
  (parameters) =>
    queryBuilder<PeopleTables>()
      .selectFrom('platform.session as s')
      .leftJoin('platform.membership as m', (join) =>
        join.onRef('m.account_id', '=', 's.account_id').on('m.merchant_id', '=', parameters('merchantId')),
      )
      .where('s.token_sha256', '=', parameters('tokenSha256'))
      .select(['s.account_id', 's.last_seen_at', 's.expires_at', 'm.role'])
      .compile(),
);
