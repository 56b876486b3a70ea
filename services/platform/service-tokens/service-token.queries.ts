import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import type { ServiceToken } from '../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { CREDENTIAL_STATE, type CredentialState } from '../credential-lifetime.ts';
import type { Database } from '../database/database.ts';
import { notFound } from '../errors.ts';
import { inOrder, type ListOrder, type PageRange } from '../reads/list-order.ts';
import { prepareRead } from '../reads/prepared-read.ts';
import { queryBuilder } from '../reads/query-builder.ts';

/** A service token as reads return it, without its hash. No entity: rows are written in SQL. */
export interface ServiceTokenRow {
  readonly id: string;
  readonly name: string;
  readonly grants: string[];
  readonly created_at: Timestamp;
  readonly created_by: string;
  readonly expires_at: Timestamp | null;
  readonly revoked_at: Timestamp | null;
  readonly revoked_by: string | null;
}

interface Tables {
  'platform.service_token': ServiceTokenRow & { readonly token_sha256: Uint8Array };
}

const db = queryBuilder<Tables>();

const tokens = () =>
  db
    .selectFrom('platform.service_token')
    .select(['id', 'name', 'grants', 'created_at', 'created_by', 'expires_at', 'revoked_at', 'revoked_by']);

const selectToken = prepareRead<{ id: string }, ServiceTokenRow>((parameters) =>
  tokens().where('id', '=', parameters('id')).compile(),
);

/** The tokens that can still authenticate, with their hashes in hex. */
export const selectActiveTokens = prepareRead<
  object,
  ServiceTokenRow & { readonly token_sha256_hex: string }
>(() =>
  tokens()
    .select(sql<string>`encode(token_sha256, 'hex')`.as('token_sha256_hex'))
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`coalesce(expires_at, 'infinity') > now()`)
    .compile(),
);

/** Service tokens are listed newest first. */
export const serviceTokenOrder: ListOrder<ServiceTokenRow> = {
  columns: ['created_at', 'id'],
  direction: 'desc',
};

/** A page of tokens; undefined filters are ignored. */
interface ServiceTokenPage extends PageRange {
  /** The caller's name. */
  readonly name: string | undefined;
  readonly state: CredentialState | undefined;
}

export const selectServiceTokens = prepareRead<ServiceTokenPage, ServiceTokenRow>((parameters) => {
  let query = tokens();
  if (parameters.has('name')) query = query.where('name', '=', parameters('name'));
  if (parameters.has('state')) query = query.where(CREDENTIAL_STATE, '=', parameters('state'));
  return inOrder(query, serviceTokenOrder, parameters).compile();
});

/** NOT_FOUND (SERVICE_TOKEN_NOT_FOUND). */
export const serviceTokenNotFound = () =>
  notFound('SERVICE_TOKEN_NOT_FOUND', 'the service token does not exist');

export async function readServiceToken(database: Database, id: string): Promise<ServiceToken> {
  const row = await database.readOne(selectToken({ id }));
  return serviceTokenMessage(row!);
}

export function serviceTokenMessage(row: ServiceTokenRow): ServiceToken {
  return {
    $typeName: 'payments.servicetokens.v1.ServiceToken',
    id: row.id,
    name: row.name,
    grants: row.grants,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    revokedBy: row.revoked_by ?? '',
  };
}
