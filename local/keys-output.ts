import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ApiKey } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { apiKeyScopeName } from '../services/platform/api-key-scopes.ts';
import { errorInfoOf } from '../services/platform/rpc/connect-errors.ts';
import { environmentName } from '../services/platform/tenant.ts';
import { textTable } from './text-table.ts';

/** A key as `npm run keys` prints it. */
export type KeyRecord = ReturnType<typeof recordOf>;

/** What a command returns. `key`: the new key in plain text, known only now. */
export type KeysOutput = KeyRecord[] | (KeyRecord & { key?: string; rotated?: KeyRecord });

export function recordOf(key: ApiKey) {
  const time = (timestamp?: Timestamp) => timestamp && timestampDate(timestamp).toISOString();
  return {
    id: key.id,
    merchantId: key.merchantId,
    environment: environmentName(key.environment),
    name: key.name,
    hint: key.hint,
    scopes: key.scopes.map(apiKeyScopeName),
    createdAt: time(key.createdAt),
    expiresAt: time(key.expiresAt),
    revokedAt: time(key.revokedAt),
    lastUsedAt: time(key.lastUsedAt),
  };
}

/** Formats a result for people: the new key, then a table of records without it. */
export function formatOutput(output: KeysOutput): string {
  if (Array.isArray(output)) return output.length > 0 ? recordTable(output) : 'no keys';
  const { key, rotated, ...record } = output;
  const secret = key ? `${key}\n\nThis key is shown only once.\n\n` : '';
  return secret + recordTable(rotated ? [record, rotated] : [record]);
}

function recordTable(records: readonly KeyRecord[]): string {
  const header = ['id', 'name', 'key', 'scopes', 'created', 'expires', 'revoked', 'last used'];
  const rows = records.map((record) => [
    record.id,
    record.name,
    `${record.hint}…`,
    record.scopes.join(' '),
    record.createdAt ?? '-',
    record.expiresAt ?? '-',
    record.revokedAt ?? '-',
    record.lastUsedAt ?? '-',
  ]);
  return textTable([header, ...rows]);
}

/** One line that says why a call failed. */
export function describeError(error: unknown): string {
  if (!(error instanceof ConnectError)) return (error as Error).message;
  const reason = errorInfoOf(error)?.reason;
  if (reason) return `${reason}: ${error.rawMessage}`;
  if (error.code === Code.Unavailable) return `cannot reach the services: ${error.rawMessage}`;
  return error.message;
}
