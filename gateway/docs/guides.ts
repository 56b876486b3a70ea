import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { PROBLEM_TYPES } from '../problem-types.ts';

/** The guides in the order in which they are read, each a file here with one first-level heading. */
const GUIDES = [
  'getting-started',
  'authentication',
  'errors',
  'pagination',
  'idempotency',
  'rate-limits',
  'webhooks',
  'versions',
] as const;

const LANGUAGES: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.py': 'python',
  '.go': 'go',
  '.java': 'java',
  '.php': 'php',
};

const INCLUDED_FILE = /^<!-- file: (\S+) -->$/gm;
const ERROR_CODES = '<!-- error codes -->';

/**
 * The guides for merchants' developers as one CommonMark text, for the description of the OpenAPI document. Code is
 * taken from the files that the tests run, and error codes from their table, so neither is written twice.
 */
export function readGuides(): string {
  return GUIDES.map((name) => fileHere(`${name}.md`))
    .join('\n')
    .replaceAll(INCLUDED_FILE, (_, path: string) => codeBlock(path))
    .replace(ERROR_CODES, errorCodes);
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
