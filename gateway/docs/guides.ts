import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { ENVIRONMENTS, type EnvironmentName } from '../../services/platform/tenant.ts';
import type { Listener } from '../openapi/listener.ts';
import type { RoutedOperation } from '../openapi/operations.ts';
import { PROBLEM_TYPES } from '../problems/problem-types.ts';

/** The guides in reading order; each is a file in this folder with one first-level heading. */
const GUIDES = [
  'getting-started',
  'authentication',
  'errors',
  'pagination',
  'idempotency',
  'rate-limits',
  'lifecycles',
  'sandbox',
  'webhooks',
  'versions',
] as const;

const LANGUAGES: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.mjs': 'javascript',
  '.py': 'python',
  '.go': 'go',
  '.java': 'java',
  '.php': 'php',
};

const INCLUDED_FILE = /^<!-- file: (\S+) -->$/gm;
const FACT = /\{\{(.+?)\}\}/g;

const HOSTS: Readonly<Record<EnvironmentName, string>> = { live: 'live', test: 'sandbox' };

/**
 * The guides for merchants' developers as one CommonMark text, for the description of the OpenAPI document. Code samples
 * come from the files that the tests run, error codes from their table, and `{{…}}` is replaced by a value of the
 * listener that serves the guides.
 */
export function readGuides(listener: Listener, operations: readonly RoutedOperation[]): string {
  const facts = factsOf(listener, operations);
  return GUIDES.map((name) => fileHere(`${name}.md`))
    .join('\n')
    .replaceAll(FACT, (_, name: string) => {
      const fact = facts[name];
      if (fact === undefined) throw new TypeError(`guides have no value for {{${name}}}`);
      return fact;
    })
    .replaceAll(INCLUDED_FILE, (_, path: string) => codeBlock(path));
}

function factsOf(
  listener: Listener,
  operations: readonly RoutedOperation[],
): Readonly<Record<string, string>> {
  const { environment, baseUrl, otherUrl, dashboardUrl, keyLimit, addressLimit, requestTimeoutMs } = listener;
  return {
    api: baseUrl,
    sandbox: (environment === 'test' ? baseUrl : otherUrl) ?? 'https://<the sandbox>',
    environment,
    dashboard: dashboardUrl === undefined ? 'dashboard' : `[dashboard](${dashboardUrl})`,
    'egress addresses': egressAddresses(listener),
    'key limit': String(keyLimit),
    'key limit less 7': String(Math.max(keyLimit - 7, 0)),
    'address limit': String(addressLimit),
    'request timeout': `${requestTimeoutMs / 1_000} seconds`,
    environments: environmentsTable(listener),
    'error codes': errorCodes(),
    deprecations: deprecations(operations),
  };
}

function environmentsTable({ environment, baseUrl, otherUrl }: Listener): string {
  const addressOf = (name: EnvironmentName) => {
    if (name === environment) return `${baseUrl} (this host)`;
    return otherUrl ?? 'a separate host';
  };
  const rows = ENVIRONMENTS.map(
    (name) => `| ${HOSTS[name]} | ${addressOf(name)} | \`mpk_${name}_\` | \`"${name}"\` |`,
  );
  return [
    '| Environment | Address | Keys start with | `environment` in JSON |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function egressAddresses({ egressAddresses: addresses }: Listener): string {
  if (addresses.length === 0) {
    return 'Deliveries have no fixed source addresses: tell them from others by their signature.';
  }
  const listed = addresses.map((block) => `\`${block}\``).join(', ');
  return `For allow-lists: deliveries come from ${listed}. Verify their signatures all the same.`;
}

function deprecations(operations: readonly RoutedOperation[]): string {
  const rows = operations.flatMap(({ method, url, schema: { deprecation } }) => {
    if (deprecation === undefined) return [];
    const { since, sunset, link } = deprecation;
    return [`| \`${method} ${url}\` | ${since} | ${sunset} | [details](${link}) |`];
  });
  if (rows.length === 0) return 'No operation is deprecated.';
  return ['| Operation | Deprecated since | Sunset | Replacement |', '|---|---|---|---|', ...rows].join('\n');
}

function codeBlock(path: string): string {
  return `\`\`\`${LANGUAGES[extname(path)]}\n${fileHere(path).trimEnd()}\n\`\`\``;
}

function errorCodes(): string {
  const rows = Object.entries(PROBLEM_TYPES).map(
    ([code, { status, meaning }]) => `| ${status} | [\`${code}\`](/docs/errors#${code}) | ${meaning} |`,
  );
  return ['| Status | Code | Meaning |', '|---|---|---|', ...rows].join('\n');
}

function fileHere(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
