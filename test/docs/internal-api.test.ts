import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { makeFolder } from '../local/temporary-data-folder.ts';
import { GO_ENVIRONMENT } from '../support/go-environment.ts';
import { newTenant, startHarness } from '../support/harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/internal-api.md'), 'utf8');
/** Go compiles gRPC for the client, when nothing is in its cache. */
const BUILD_MS = 600_000;

/** A folder that looks like the root of this repository while `npm start` is running. */
const harness = await startHarness({ SERVICES: 'refunds,catalog,webhooks' });
const folder = makeFolder();
symlinkSync(join(ROOT, 'proto'), join(folder.path, 'proto'));
mkdirSync(join(folder.path, '.data'));
const demo = { grpc: { token: harness.token }, sandbox: { merchantId: newTenant().merchantId } };
writeFileSync(join(folder.path, '.data/demo.json'), JSON.stringify(demo));
afterAll(async () => {
  folder.remove();
  await harness.close();
});

function blocksOf(title: string): { language: string; text: string }[] {
  const section = PAGE.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text: text.replaceAll('127.0.0.1:8082', new URL(harness.baseUrl).host),
  }));
}

/** Follows sections as a reader who pastes the commands into one shell and saves the programs where that shell is. */
async function follow(...titles: string[]): Promise<string> {
  const PROGRAMS: Readonly<Record<string, string>> = { go: 'main.go', python: 'main.py' };
  const steps = titles.flatMap(blocksOf).map(({ language, text }, place) => {
    if (language === 'sh') return text;
    const program = PROGRAMS[language];
    if (!program) return '';
    const saved = join(folder.path, `${place}.txt`);
    writeFileSync(saved, text);
    return `cp '${saved}' ${program}`;
  });
  // The program that npx runs, without its search for the package.
  const script = ['set -euo pipefail', 'npx() { "$@"; }', ...steps].join('\n');
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
  const options = { cwd: folder.path, env: { ...GO_ENVIRONMENT, PATH }, timeout: BUILD_MS };
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], options);
  return stdout + stderr;
}

it('the commands and programs of the page open cases and print refusals decoded', {
  timeout: BUILD_MS,
}, async () => {
  const output = await follow('Calling it', 'From Go', 'From Python');
  expect(output).toMatch(/"status": *"REFUND_CASE_STATUS_/);
  const printed = blocksOf('Calling it').find(({ language }) => language === 'text');
  expect(output).toContain(printed!.text);
  expect(output.match(/^opened [0-9a-f-]{36}$/gm)).toHaveLength(2);
  const refusals = [
    'refused INVALID_ARGUMENT',
    '- merchant_id value is empty, which is not a valid UUID',
    '- environment must be one of ENVIRONMENT_LIVE, ENVIRONMENT_TEST',
    '- refund_case_id must be a valid UUID',
  ];
  expect(output.match(/^(refused|-) .*$/gm)).toEqual([...refusals, ...refusals]);
});
