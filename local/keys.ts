import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Timestamp, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { type ApiKey, type ApiKeyScope, ApiKeyService } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import {
  API_KEY_SCOPES,
  type ApiKeyScopeName,
  apiKeyScopeName,
} from '../services/platform/api-key-scopes.ts';
import { KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { duration } from '../services/platform/process/setting-parsers.ts';
import { errorInfoOf } from '../services/platform/rpc/connect-errors.ts';
import { remoteTransport } from '../services/platform/rpc/remote-transport.ts';
import { environmentEnum, environmentName } from '../services/platform/tenant.ts';
import { textTable } from './text-table.ts';

const SCOPE_NAMES = Object.keys(API_KEY_SCOPES).join(', ');

const USAGE = `API keys of merchants.

  npm run keys -- issue  --merchant <id> --env live|test --name <name> --scope <scope>… [--expires-in 90d]
  npm run keys -- rotate --merchant <id> --env live|test --id <key id> [--overlap 24h] [--expires-in 90d]
  npm run keys -- revoke --merchant <id> --env live|test --id <key id>
  npm run keys -- list   --merchant <id> --env live|test

  --scope       one of ${SCOPE_NAMES}; may be repeated
  --expires-in  when the new key expires, from now on; never when absent
  --overlap     how long a rotated key lives on; 24h when absent, and 0s ends it at once
  --json        answers JSON

The services asked are those of SERVICES_URL with SERVICE_TOKEN, else those that npm start runs on DATA_DIR.`;

/** A wrong command line: what is wrong with it goes to the user with the usage. */
class UsageError extends Error {}

const TEXT = { type: 'string' } as const;
const TENANT = { merchant: TEXT, env: TEXT, json: { type: 'boolean' } } as const;
const OPTIONS = {
  issue: { ...TENANT, name: TEXT, scope: { type: 'string', multiple: true }, 'expires-in': TEXT },
  rotate: { ...TENANT, id: TEXT, overlap: TEXT, 'expires-in': TEXT },
  revoke: { ...TENANT, id: TEXT },
  list: TENANT,
} as const;
type Command = keyof typeof OPTIONS;
type Text = 'merchant' | 'env' | 'name' | 'id' | 'overlap' | 'expires-in';
type Values = { [Name in Text]?: string } & { scope?: string[]; json?: boolean };
type ApiKeys = Client<typeof ApiKeyService>;

/** A key's record, as the answer shows it. */
type KeyRecord = ReturnType<typeof recordOf>;
type Answer = KeyRecord[] | (KeyRecord & { key?: string; rotated?: KeyRecord });

const COMMANDS: Record<Command, (client: ApiKeys, values: Values) => Promise<Answer>> = {
  async issue(client, values) {
    const { apiKey, key } = await client.issueApiKey({
      ...writeOf(values),
      name: required(values, 'name'),
      scopes: (values.scope ?? []).map(scopeOf),
      expiresAt: expiryOf(values),
    });
    return { ...recordOf(apiKey!), key };
  },
  async rotate(client, values) {
    const { apiKey, key, rotated } = await client.rotateApiKey({
      ...writeOf(values),
      apiKeyId: required(values, 'id'),
      overlapSeconds: Math.ceil(durationOf(values, 'overlap', '24h') / 1_000),
      expiresAt: expiryOf(values),
    });
    return { ...recordOf(apiKey!), key, rotated: recordOf(rotated!) };
  },
  async revoke(client, values) {
    const { apiKey } = await client.revokeApiKey({ ...writeOf(values), apiKeyId: required(values, 'id') });
    return recordOf(apiKey!);
  },
  async list(client, values) {
    const records: KeyRecord[] = [];
    let pageToken = '';
    do {
      const page = await client.listApiKeys({ ...tenantOf(values), pageSize: 100, pageToken });
      records.push(...page.apiKeys.map(recordOf));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return records;
  },
};

async function main(args: string[]): Promise<void> {
  const [command, ...rest] = args;
  if (command === '--help' || command === '-h') return console.log(USAGE);
  if (!command || !Object.hasOwn(COMMANDS, command)) {
    throw new UsageError(command ? `there is no command ${command}` : 'a command is missing');
  }
  const values = valuesOf(command as Command, rest);
  const client = createClient(ApiKeyService, await transport());
  const answer = await COMMANDS[command as Command](client, values);
  console.log(values.json ? JSON.stringify(answer, null, 2) : rendered(answer));
}

function valuesOf(command: Command, args: string[]): Values {
  try {
    return parseArgs({ args, options: OPTIONS[command] as ParseArgsOptionsConfig }).values as Values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function required(values: Values, name: Text): string {
  const value = values[name];
  if (!value) throw new UsageError(`--${name} is missing`);
  return value;
}

function tenantOf(values: Values) {
  const environment = required(values, 'env');
  if (environment !== 'live' && environment !== 'test') throw new UsageError('--env is live or test');
  return { merchantId: required(values, 'merchant'), environment: environmentEnum(environment) };
}

const writeOf = (values: Values) => ({ ...tenantOf(values), idempotencyKey: randomUUID() });

function scopeOf(name: string): ApiKeyScope {
  if (!Object.hasOwn(API_KEY_SCOPES, name)) throw new UsageError(`--scope is one of ${SCOPE_NAMES}`);
  return API_KEY_SCOPES[name as ApiKeyScopeName];
}

function durationOf(values: Values, name: Text, fallback: string): number {
  try {
    return duration(values[name] ?? fallback);
  } catch (error) {
    throw new UsageError(`--${name} ${(error as Error).message}`);
  }
}

function expiryOf(values: Values): Timestamp | undefined {
  if (values['expires-in'] === undefined) return undefined;
  return timestampFromMs(Date.now() + durationOf(values, 'expires-in', ''));
}

async function transport() {
  const { SERVICES_URL, SERVICE_TOKEN, DATA_DIR } = readConfig(process.env, { unused: KEY_RINGS });
  if (SERVICES_URL) return remoteTransport(SERVICES_URL, SERVICE_TOKEN ?? '');
  const path = join(DATA_DIR, 'demo.json');
  const demo = await readFile(path, 'utf8').catch(() => {
    throw new Error(`${path} cannot be read: run npm start first, or set SERVICES_URL and SERVICE_TOKEN`);
  });
  const { grpc } = JSON.parse(demo) as { grpc: { baseUrl: string; token: string } };
  return remoteTransport(grpc.baseUrl, grpc.token);
}

function recordOf(key: ApiKey) {
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

function rendered(answer: Answer): string {
  if (Array.isArray(answer)) return answer.length > 0 ? recordTable(answer) : 'no keys';
  const { key, rotated, ...record } = answer;
  const shown = key ? `${key}\n\nThis is the only time that the key is shown.\n\n` : '';
  return shown + recordTable(rotated ? [record, rotated] : [record]);
}

function recordTable(records: readonly KeyRecord[]): string {
  const header = ['id', 'name', 'key', 'scopes', 'created', 'expires', 'revoked', 'last used'];
  const rows = records.map((record) => [
    ...[record.id, record.name, `${record.hint}…`, record.scopes.join(' ')],
    ...[record.createdAt, record.expiresAt, record.revokedAt, record.lastUsedAt].map((time) => time ?? '-'),
  ]);
  return textTable([header, ...rows]);
}

function failureOf(error: unknown): string {
  if (!(error instanceof ConnectError)) return (error as Error).message;
  const reason = errorInfoOf(error)?.reason;
  if (reason) return `${reason}: ${error.rawMessage}`;
  if (error.code === Code.Unavailable) return `the services cannot be reached: ${error.rawMessage}`;
  return error.message;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const usage = error instanceof UsageError;
  console.error(usage ? `${error.message}\n\n${USAGE}` : failureOf(error));
  process.exitCode = usage ? 2 : 1;
}
