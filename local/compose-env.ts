import { createHash, randomBytes } from 'node:crypto';
import { GATEWAY_CALLER } from '../gateway/clients.ts';
import { DASHBOARD_CALLER } from '../gateway/dashboard/dashboard-clients.ts';
import type { Caller } from '../services/platform/rpc/call-context.ts';
import { GRANT_AREAS } from '../services/platform/rpc/grants.ts';
import { WORKER_CALLER } from '../workflows/worker-caller.ts';
import { newKeyRings, newServiceToken } from './generated-secrets.ts';

/** Who calls from outside the containers: npm run keys, grpcurl. */
const OPERATOR_CALLER: Caller = {
  name: 'operator',
  grants: new Set([
    ...['keys', 'operations'],
    ...GRANT_AREAS.flatMap((area) => [`${area}:read`, `${area}:write`]),
  ]),
};

/** The secrets that docker-compose.yml takes from .env: new ones with every call. */
export function composeEnv(): string {
  const callers = [GATEWAY_CALLER, DASHBOARD_CALLER, WORKER_CALLER, OPERATOR_CALLER];
  const tokens = callers.map(({ name }) => newServiceToken(name));
  const variables = {
    POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
    ...newKeyRings(),
    SERVICE_TOKENS: `'${callers.map((caller, n) => granted(caller, tokens[n]![1])).join(';')}'`,
    ...Object.fromEntries(tokens.map(([name, token]) => [`${name.toUpperCase()}_TOKEN`, token])),
  };
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** A row of SERVICE_TOKENS. */
function granted({ name, grants }: Caller, token: string): string {
  const sha256 = createHash('sha256').update(token).digest('hex');
  return `${name}|${sha256}|${[...grants].join(' ')}`;
}

if (import.meta.main) process.stdout.write(composeEnv());
