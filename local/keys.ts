import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { type ApiKeyScope, ApiKeyService } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../services/platform/api-key-scopes.ts';
import { KEY_RINGS, readConfig } from '../services/platform/process/config.ts';
import { duration } from '../services/platform/process/setting-parsers.ts';
import { remoteTransport } from '../services/platform/rpc/remote-transport.ts';
import { environmentEnum } from '../services/platform/tenant.ts';
import { describeError, formatOutput, type KeyRecord, type KeysOutput, recordOf } from './keys-output.ts';

const SCOPE_NAMES = Object.keys(API_KEY_SCOPES).join(', ');

const USAGE = `Manage merchants' API keys.

  npm run keys -- issue  --merchant <id> --env live|test --name <name> --scope <scope>… [--expires-in 90d]
  npm run keys -- rotate --merchant <id> --env live|test --id <key id> [--overlap 24h] [--expires-in 90d]
  npm run keys -- revoke --merchant <id> --env live|test --id <key id>
  npm run keys -- list   --merchant <id> --env live|test

  --scope       one of ${SCOPE_NAMES}; may be repeated
  --expires-in  how long until the new key expires; without it, the key does not expire
  --overlap     how long the rotated key still works; default 24h, 0s revokes it immediately
  --json        print JSON

Calls the services at SERVICES_URL with SERVICE_TOKEN, else those that npm start runs on DATA_DIR.`;

/** A wrong command line; its message is printed above the usage. */
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

const COMMANDS: Record<Command, (client: ApiKeys, values: Values) => Promise<KeysOutput>> = {
  async issue(client, values) {
    const { apiKey, key } = await client.issueApiKey({
      ...writeFields(values),
      name: required(values, 'name'),
      scopes: (values.scope ?? []).map(scopeOf),
      expiresAt: expiryOf(values),
    });
    return { ...recordOf(apiKey!), key };
  },
  async rotate(client, values) {
    const { apiKey, key, rotated } = await client.rotateApiKey({
      ...writeFields(values),
      apiKeyId: required(values, 'id'),
      overlapSeconds: Math.ceil(durationOf(values, 'overlap', '24h') / 1_000),
      expiresAt: expiryOf(values),
    });
    return { ...recordOf(apiKey!), key, rotated: recordOf(rotated!) };
  },
  async revoke(client, values) {
    const { apiKey } = await client.revokeApiKey({
      ...writeFields(values),
      apiKeyId: required(values, 'id'),
    });
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

/** What a command line prints, and its exit code: 0, 1 for a failed call, 2 for a wrong command line. */
export interface KeysResult {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run keys`: runs one command line. Never rejects. */
export async function runKeys(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<KeysResult> {
  try {
    return { exitCode: 0, stdout: `${await runCommand(args, environment)}\n`, stderr: '' };
  } catch (error) {
    if (error instanceof UsageError) {
      return { exitCode: 2, stdout: '', stderr: `${error.message}\n\n${USAGE}\n` };
    }
    return { exitCode: 1, stdout: '', stderr: `${describeError(error)}\n` };
  }
}

async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const [command, ...rest] = args;
  if (command === '--help' || command === '-h') return USAGE;
  if (!command || !Object.hasOwn(COMMANDS, command)) {
    throw new UsageError(command ? `unknown command ${command}` : 'a command is missing');
  }
  const values = valuesOf(command as Command, rest);
  const client = createClient(ApiKeyService, await connect(environment));
  const output = await COMMANDS[command as Command](client, values);
  return values.json ? JSON.stringify(output, null, 2) : formatOutput(output);
}

function valuesOf(command: Command, args: readonly string[]): Values {
  try {
    return parseArgs({ args: [...args], options: OPTIONS[command] as ParseArgsOptionsConfig })
      .values as Values;
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
  if (environment !== 'live' && environment !== 'test') throw new UsageError('--env must be live or test');
  return { merchantId: required(values, 'merchant'), environment: environmentEnum(environment) };
}

const writeFields = (values: Values) => ({ ...tenantOf(values), idempotencyKey: randomUUID() });

function scopeOf(name: string): ApiKeyScope {
  if (!Object.hasOwn(API_KEY_SCOPES, name)) throw new UsageError(`--scope must be one of ${SCOPE_NAMES}`);
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

async function connect(environment: NodeJS.ProcessEnv): Promise<Transport> {
  const { SERVICES_URL, SERVICE_TOKEN, DATA_DIR } = readConfig(environment, { unused: KEY_RINGS });
  if (SERVICES_URL) return remoteTransport(SERVICES_URL, SERVICE_TOKEN ?? '');
  const path = join(DATA_DIR, 'demo.json');
  const demo = await readFile(path, 'utf8').catch(() => {
    throw new Error(`cannot read ${path}: run npm start first, or set SERVICES_URL and SERVICE_TOKEN`);
  });
  const { grpc } = JSON.parse(demo) as { grpc: { baseUrl: string; token: string } };
  return remoteTransport(grpc.baseUrl, grpc.token);
}

if (import.meta.main) {
  const { exitCode, stdout, stderr } = await runKeys(process.argv.slice(2), process.env);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
}
