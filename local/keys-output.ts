import type { ApiKey } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { apiKeyScopeName } from '../services/platform/api-key-scopes.ts';
import { environmentName } from '../services/platform/tenant.ts';
import { isoTime } from './command-line.ts';
import { textTable } from './text-table.ts';

/** A key as `npm run keys` prints it. */
type KeyRecord = ReturnType<typeof recordOf>;

/** What a command returns. `key`: the new key in plain text, known only now. */
export type KeysOutput = KeyRecord[] | (KeyRecord & { key?: string; rotated?: KeyRecord });

export function recordOf(key: ApiKey) {
  return {
    id: key.id,
    merchantId: key.merchantId,
    environment: environmentName(key.environment),
    name: key.name,
    hint: key.hint,
    scopes: key.scopes.map(apiKeyScopeName),
    createdAt: isoTime(key.createdAt),
    expiresAt: isoTime(key.expiresAt),
    revokedAt: isoTime(key.revokedAt),
    lastUsedAt: isoTime(key.lastUsedAt),
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
