import { randomBytes } from 'node:crypto';
import { GATEWAY_CALLER } from '../gateway/clients.ts';
import { DASHBOARD_CALLER } from '../gateway/dashboard/dashboard-caller.ts';
import type { Caller } from '../services/platform/rpc/call-context.ts';
import { AREA_GRANTS } from '../services/platform/rpc/grants.ts';
import { WORKER_CALLER } from '../workflows/worker-caller.ts';
import { newKeyRings, newServiceToken, serviceTokenEntry } from './generated-secrets.ts';

/** For calls from outside the containers: npm run keys, npm run tokens, grpcurl. */
const OPERATOR_CALLER: Caller = {
  name: 'operator',
  grants: new Set(['keys', 'tokens', 'operations', 'subscriptions', ...AREA_GRANTS]),
};

/** Passwords of the database's owner and its other roles. */
const PASSWORDS = [
  'POSTGRES_PASSWORD',
  'WEBHOOK_LANES_PASSWORD',
  'RATE_LIMITS_PASSWORD',
  'TEMPORAL_PASSWORD',
];

/** The content of the .env that docker-compose.yml needs, with new secrets on every call. */
export function composeEnv(): string {
  const callers = [GATEWAY_CALLER, DASHBOARD_CALLER, WORKER_CALLER, OPERATOR_CALLER];
  const tokens = callers.map(({ name }): [string, string] => [name, newServiceToken()]);
  const variables = {
    ...Object.fromEntries(PASSWORDS.map((name) => [name, randomBytes(24).toString('base64url')])),
    ...newKeyRings(),
    SERVICE_TOKENS: `'${callers.map((caller, index) => serviceTokenEntry(caller, tokens[index]![1])).join(';')}'`,
    RPC_TLS_CALLERS: `'${callers.map(tlsCallerEntry).join(';')}'`,
    ...Object.fromEntries(tokens.map(([name, token]) => [`${name.toUpperCase()}_TOKEN`, token])),
  };
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** One entry of RPC_TLS_CALLERS, with the URI of docs/operations/certificates.md. */
const tlsCallerEntry = ({ name, grants }: Caller): string =>
  `${name}|spiffe://payments.example/${name}|${[...grants].join(' ')}`;

if (import.meta.main) process.stdout.write(composeEnv());
