import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { ENVIRONMENTS, type EnvironmentName } from '../../services/platform/tenant.ts';
import type { ApiHost } from '../openapi/api-host.ts';
import type { RoutedOperation } from '../openapi/operations.ts';
import { PROBLEM_CODES, PROBLEM_TYPES } from '../problems/problem-types.ts';
import { errorMeanings } from './error-meanings.texts.ts';
import { guideFactTexts } from './guide-facts.texts.ts';
import { ERROR_PAGE_PATHS, type GuideLanguage } from './languages.ts';

/** The guides in reading order; each is a file of this name per language, with one first-level heading. */
export const GUIDES = [
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

const FOLDERS: Readonly<Record<GuideLanguage, string>> = { en: '', 'pt-BR': 'pt-br/' };

/** The languages of code samples, by file extension. */
const PROGRAMMING_LANGUAGES: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.mjs': 'javascript',
  '.py': 'python',
  '.go': 'go',
  '.java': 'java',
  '.php': 'php',
};

const INCLUDED_FILE = /^<!-- file: (\S+) -->$/gm;
const FACT = /\{\{(.+?)\}\}/g;

/**
 * The guides for merchants' developers as one CommonMark text, for the description of the OpenAPI document. Code samples
 * come from the files that the tests run, error codes from their table, and `{{…}}` is replaced by a value of the
 * host that serves the guides.
 */
export function readGuides(
  host: ApiHost,
  operations: readonly RoutedOperation[],
  language: GuideLanguage = 'en',
): string {
  const facts = factsOf(host, operations, language);
  return GUIDES.map((name) => guideSource(name, language))
    .join('\n')
    .replaceAll(FACT, (_, name: string) => {
      const fact = facts[name];
      if (fact === undefined) throw new TypeError(`guides have no value for {{${name}}}`);
      return fact;
    })
    .replaceAll(INCLUDED_FILE, (_, path: string) => codeBlock(path));
}

/** A guide as it is written, before anything is filled in. */
export function guideSource(name: (typeof GUIDES)[number], language: GuideLanguage): string {
  return fileHere(`${FOLDERS[language]}${name}.md`);
}

function factsOf(
  host: ApiHost,
  operations: readonly RoutedOperation[],
  language: GuideLanguage,
): Readonly<Record<string, string>> {
  const { environment, baseUrl, otherUrl, dashboardUrl, keyLimit, addressLimit, requestTimeoutMs } = host;
  const t = guideFactTexts[language];
  return {
    api: baseUrl,
    sandbox: (environment === 'test' ? baseUrl : otherUrl) ?? 'https://<the sandbox>',
    environment,
    dashboard: dashboardUrl === undefined ? t.dashboard : `[${t.dashboard}](${dashboardUrl})`,
    'egress addresses': egressAddresses(host, language),
    'key limit': String(keyLimit),
    'key limit less 7': String(Math.max(keyLimit - 7, 0)),
    'address limit': String(addressLimit),
    'request timeout': `${requestTimeoutMs / 1_000} ${t.seconds}`,
    environments: environmentsTable(host, language),
    'error codes': errorCodes(language),
    deprecations: deprecations(operations, language),
  };
}

function environmentsTable({ environment, baseUrl, otherUrl }: ApiHost, language: GuideLanguage): string {
  const t = guideFactTexts[language];
  const addressOf = (name: EnvironmentName) => {
    if (name === environment) return `${baseUrl} ${t.thisHost}`;
    return otherUrl ?? t.otherHost;
  };
  return table(
    t.environmentsHead,
    ENVIRONMENTS.map((name) => [t.environments[name], addressOf(name), `\`mpk_${name}_\``, `\`"${name}"\``]),
  );
}

function egressAddresses({ egressAddresses: addresses }: ApiHost, language: GuideLanguage): string {
  const t = guideFactTexts[language];
  if (addresses.length === 0) return t.noEgressAddresses;
  return t.egressAddresses(addresses.map((block) => `\`${block}\``).join(', '));
}

function deprecations(operations: readonly RoutedOperation[], language: GuideLanguage): string {
  const t = guideFactTexts[language];
  const rows = operations.flatMap(({ method, url, schema: { deprecation } }) => {
    if (deprecation === undefined) return [];
    const { since, sunset, link } = deprecation;
    return [[`\`${method} ${url}\``, since, sunset, `[${t.details}](${link})`]];
  });
  return rows.length === 0 ? t.noDeprecations : table(t.deprecationsHead, rows);
}

function codeBlock(path: string): string {
  return `\`\`\`${PROGRAMMING_LANGUAGES[extname(path)]}\n${fileHere(path).trimEnd()}\n\`\`\``;
}

function errorCodes(language: GuideLanguage): string {
  return table(
    guideFactTexts[language].errorsHead,
    PROBLEM_CODES.map((code) => [
      String(PROBLEM_TYPES[code].status),
      `[\`${code}\`](${ERROR_PAGE_PATHS[language]}#${code})`,
      errorMeanings[language][code],
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [lineOf(head), `|${'---|'.repeat(head.length)}`, ...rows.map(lineOf)].join('\n');
}

function fileHere(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
