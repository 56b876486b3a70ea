import { v7 as uuidv7 } from 'uuid';
import { requireFutureExpiry } from '../credential-lifetime.ts';
import type { Run, Statement } from '../database/cross-tenant-database.ts';
import { alreadyExists } from '../errors.ts';

export interface NewServiceToken {
  readonly name: string;
  readonly grants: readonly string[];
  readonly tokenSha256: Uint8Array;
  readonly expiresAt: Date | undefined;
  /** The caller that issues it. */
  readonly createdBy: string;
  /** The id of the token that it succeeds. */
  readonly rotatedFrom: string | undefined;
  readonly now: Date;
}

const ADD: Statement = {
  name: 'add_service_token',
  text: `
insert into platform.service_token
  (id, name, grants, token_sha256, created_at, created_by, expires_at, rotated_from)
values (:id, :name, :grants, :tokenSha256, :now, :createdBy, :expiresAt, :rotatedFrom)
on conflict (token_sha256) do nothing
returning id`,
};

const FIND: Statement = {
  name: 'find_service_token',
  text: `
select id from platform.service_token
 where token_sha256 = :tokenSha256 and name = :name and grants = :grants::text[]
   and expires_at is not distinct from :expiresAt::timestamptz
   and rotated_from is not distinct from :rotatedFrom::uuid`,
};

/** The id of the token with this hash and these values, if there is one. */
export async function findServiceToken(run: Run, token: NewServiceToken): Promise<string | undefined> {
  const [row] = await run<{ id: string }>(FIND, valuesOf(token));
  return row?.id;
}

/** Adds a token, unless a repeated call finds it; returns its id. EXPIRES_AT_IN_PAST, SERVICE_TOKEN_USED. */
export async function addServiceToken(run: Run, token: NewServiceToken): Promise<string> {
  requireFutureExpiry(token.expiresAt, token.now);
  const id = uuidv7();
  const { now, createdBy } = token;
  const added = await run(ADD, { id, now, createdBy, ...valuesOf(token) });
  if (added.length > 0) return id;
  const same = await findServiceToken(run, token);
  if (same !== undefined) return same;
  throw alreadyExists('SERVICE_TOKEN_USED', 'the hash belongs to another service token');
}

const valuesOf = (token: NewServiceToken) => ({
  name: token.name,
  grants: token.grants,
  tokenSha256: Buffer.from(token.tokenSha256),
  expiresAt: token.expiresAt ?? null,
  rotatedFrom: token.rotatedFrom ?? null,
});
