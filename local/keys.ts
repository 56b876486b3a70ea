import { randomUUID } from 'node:crypto';
import { type Client, createClient } from '@connectrpc/connect';
import { type ApiKeyScope, ApiKeyService } from '../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { API_KEY_SCOPES, type ApiKeyScopeName } from '../services/platform/api-key-scopes.ts';
import { allItems } from '../services/platform/rpc/pages-of.ts';
import { environmentEnum } from '../services/platform/tenant.ts';
import {
  type CommandResult,
  exitWith,
  expiryOf,
  overlapSecondsOf,
  type Program,
  required,
  runProgram,
  UsageError,
} from './command-line.ts';
import { formatOutput, type KeysOutput, recordOf } from './keys-output.ts';

const SCOPE_NAMES = Object.keys(API_KEY_SCOPES).join(', ');

const USAGE = `Manage merchants' API keys.

  npm run keys -- issue  --merchant <id> --env live|test --name <name> --scope <scope>… [--expires-in 90d]
  npm run keys -- rotate --merchant <id> --env live|test --id <key id> [--overlap 24h] [--expires-in 90d]
  npm run keys -- revoke --merchant <id> --env live|test --id <key id>
  npm run keys -- list   --merchant <id> --env live|test

  --scope       one of ${SCOPE_NAMES}; may be repeated
  --expires-in  how long until the new key expires; without it, the key does not expire, even if the rotated one did
  --overlap     how long the rotated key still works; default 24h, 0s revokes it immediately
  --json        print JSON

Calls the services at SERVICES_URL with SERVICE_TOKEN, else those that npm start runs on DATA_DIR.`;

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
      overlapSeconds: overlapSecondsOf(values),
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
    const keys = await allItems(
      (page) => client.listApiKeys({ ...tenantOf(values), ...page }),
      ({ apiKeys }) => apiKeys,
    );
    return keys.map(recordOf);
  },
};

const KEYS: Program<Command, Values, KeysOutput> = {
  usage: USAGE,
  options: OPTIONS,
  run: (command, values, transport) => COMMANDS[command](createClient(ApiKeyService, transport), values),
  format: formatOutput,
};

/** `npm run keys`: runs one command line. Never rejects. */
export const runKeys = (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandResult> =>
  runProgram(KEYS, args, environment);

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

if (import.meta.main) exitWith(await runKeys(process.argv.slice(2), process.env));
