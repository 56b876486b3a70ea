import { createHash } from 'node:crypto';
import { type Client, createClient } from '@connectrpc/connect';
import {
  type ServiceToken,
  ServiceTokenService,
} from '../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { allItems } from '../services/platform/rpc/pages-of.ts';
import {
  type CommandResult,
  exitWith,
  expiryOf,
  isoTime,
  overlapSecondsOf,
  type Program,
  required,
  runProgram,
} from './command-line.ts';
import { newServiceToken } from './generated-secrets.ts';
import { textTable } from './text-table.ts';

const USAGE = `Manage the service tokens of internal callers.

  npm run tokens -- issue  --name <caller> --grant <grant>… [--expires-in 90d]
  npm run tokens -- rotate --id <token id> [--overlap 24h] [--expires-in 90d]
  npm run tokens -- revoke --id <token id>
  npm run tokens -- list   [--name <caller>]

  --grant       a grant of docs/internal-grants.md, such as refunds:read or funds:write:test; may be repeated
  --expires-in  how long until the new token expires; without it, the token does not expire, even if the rotated one did
  --overlap     how long the rotated token still works; default 24h, 0s ends it immediately
  --json        print JSON

Takes effect in all processes within five seconds. The services store only the SHA-256 of a token.
Calls the services at SERVICES_URL with SERVICE_TOKEN, else those that npm start runs on DATA_DIR.`;

const TEXT = { type: 'string' } as const;
const JSON_FLAG = { json: { type: 'boolean' } } as const;
const OPTIONS = {
  issue: { ...JSON_FLAG, name: TEXT, grant: { type: 'string', multiple: true }, 'expires-in': TEXT },
  rotate: { ...JSON_FLAG, id: TEXT, overlap: TEXT, 'expires-in': TEXT },
  revoke: { ...JSON_FLAG, id: TEXT },
  list: { ...JSON_FLAG, name: TEXT },
} as const;
type Command = keyof typeof OPTIONS;
type Text = 'name' | 'id' | 'overlap' | 'expires-in';
type Values = { [Name in Text]?: string } & { grant?: string[]; json?: boolean };
type Tokens = Client<typeof ServiceTokenService>;
type TokenRecord = ReturnType<typeof recordOf>;
/** What a command returns. `token`: the new token in plain text, known only now. */
type Output = TokenRecord[] | (TokenRecord & { token?: string; rotated?: TokenRecord });

const COMMANDS: Record<Command, (client: Tokens, values: Values) => Promise<Output>> = {
  async issue(client, values) {
    const name = required(values, 'name');
    const [token, tokenSha256] = newToken();
    const { serviceToken } = await client.issueServiceToken({
      name,
      grants: values.grant ?? [],
      tokenSha256,
      expiresAt: expiryOf(values),
    });
    return { ...recordOf(serviceToken!), token };
  },
  async rotate(client, values) {
    const serviceTokenId = required(values, 'id');
    const [token, tokenSha256] = newToken();
    const { serviceToken, rotated } = await client.rotateServiceToken({
      serviceTokenId,
      tokenSha256,
      overlapSeconds: overlapSecondsOf(values),
      expiresAt: expiryOf(values),
    });
    return { ...recordOf(serviceToken!), token, rotated: recordOf(rotated!) };
  },
  async revoke(client, values) {
    const { serviceToken } = await client.revokeServiceToken({ serviceTokenId: required(values, 'id') });
    return recordOf(serviceToken!);
  },
  async list(client, { name }) {
    const tokens = await allItems(
      (page) => client.listServiceTokens({ ...(name && { name }), ...page }),
      ({ serviceTokens }) => serviceTokens,
    );
    return tokens.map(recordOf);
  },
};

const TOKENS: Program<Command, Values, Output> = {
  usage: USAGE,
  options: OPTIONS,
  run: (command, values, transport) =>
    COMMANDS[command](createClient(ServiceTokenService, transport), values),
  format: formatOutput,
};

/** `npm run tokens`: runs one command line. Never rejects. */
export const runTokens = (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandResult> =>
  runProgram(TOKENS, args, environment);

/** A new token, and its SHA-256. */
function newToken(): [string, Buffer] {
  const token = newServiceToken();
  return [token, createHash('sha256').update(token).digest()];
}

function recordOf(token: ServiceToken) {
  return {
    id: token.id,
    name: token.name,
    grants: token.grants,
    createdAt: isoTime(token.createdAt),
    createdBy: token.createdBy,
    expiresAt: isoTime(token.expiresAt),
    revokedAt: isoTime(token.revokedAt),
    revokedBy: token.revokedBy || undefined,
  };
}

/** Formats a result for people: the new token, then a table of records without it. */
function formatOutput(output: Output): string {
  if (Array.isArray(output)) return output.length > 0 ? recordTable(output) : 'no tokens';
  const { token, rotated, ...record } = output;
  const secret = token ? `${token}\n\nThis token is shown only once.\n\n` : '';
  return secret + recordTable(rotated ? [record, rotated] : [record]);
}

function recordTable(records: readonly TokenRecord[]): string {
  const header = ['id', 'caller', 'created', 'expires', 'revoked', 'grants'];
  const rows = records.map((record) => [
    record.id,
    record.name,
    record.createdAt ?? '-',
    record.expiresAt ?? '-',
    record.revokedAt ?? '-',
    record.grants.join(' '),
  ]);
  return textTable([header, ...rows]);
}

if (import.meta.main) exitWith(await runTokens(process.argv.slice(2), process.env));
