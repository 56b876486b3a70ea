import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuides } from '../../gateway/docs/guides.ts';
import { PROBLEM_TYPES } from '../../gateway/problem-types.ts';
import { API_KEY_SCOPES } from '../../services/platform/api-key-scopes.ts';
import { KEY_RINGS, readConfig } from '../../services/platform/config.ts';
import { type GatewayHouse, newMerchant, startGateways } from './gateway-house.ts';

/** What the guides say, held against what the code does. */

const guides = readGuides();
const defaults = readConfig({}, { unused: KEY_RINGS });

const UNITS = { s: 1_000, min: 60_000, h: 3_600_000 } as const;

describe('the guides', () => {
  it('hold the samples that the tests run, and nothing is left to fill in', () => {
    for (const file of [
      'verify-webhook.ts',
      'verify_webhook.py',
      'verify_webhook.go',
      'WebhookVerifier.java',
      'verify_webhook.php',
    ]) {
      const sample = new URL(`../../gateway/docs/verify-webhook/${file}`, import.meta.url);
      expect(guides).toContain(readFileSync(sample, 'utf8').trimEnd());
    }
    expect(guides).not.toContain('<!--');
  });

  it('list every error with its status', () => {
    for (const [code, { status }] of Object.entries(PROBLEM_TYPES)) {
      expect(guides).toContain(`| ${status} | [\`${code}\`](/docs/errors#${code}) | `);
    }
  });

  it('list every scope', () => {
    const [, table = ''] = guides.split('## Scopes');
    const listed = table.split('## ')[0]!.match(/(?<=^\| `)[a-z:]+(?=`)/gm);
    expect(listed).toEqual(Object.keys(API_KEY_SCOPES));
  });

  it.each([
    ['live', defaults.WEBHOOK_SCHEDULE_LIVE],
    ['sandbox', defaults.WEBHOOK_SCHEDULE_SANDBOX],
  ])('say when a %s delivery is tried again', (environment, [first, ...waits]) => {
    const [, said = ''] = guides.match(new RegExp(`^\\| ${environment} \\| ([0-9].*) \\|$`, 'm')) ?? [];
    const saidMs = said.split(', ').map((wait) => {
      const [count, unit] = wait.split(' ') as [string, keyof typeof UNITS];
      return Number(count) * UNITS[unit];
    });
    expect(first).toBe(0);
    expect(saidMs).toEqual(waits);
  });

  it('say how many requests are allowed', () => {
    const { RATE_LIMIT_LIVE, RATE_LIMIT_SANDBOX, RATE_LIMIT_ADDRESS, RATE_LIMIT_STORE } = defaults;
    expect(guides).toContain(`${RATE_LIMIT_LIVE} in live and ${RATE_LIMIT_SANDBOX} in the sandbox`);
    expect(guides).toContain(`limited by address: ${RATE_LIMIT_ADDRESS} a second`);
    expect(RATE_LIMIT_STORE).toBe('memory');
  });
});

describe.skipIf(spawnSync('curl', ['--version']).status !== 0)('getting started', () => {
  let gateways: GatewayHouse;
  beforeAll(async () => {
    gateways = await startGateways();
  });
  afterAll(() => gateways.close());

  it('has commands that work as they stand', async () => {
    const { keys } = await newMerchant(gateways);
    const [, section = ''] = guides.split('# Getting started');
    const [, setting = '', ...commands] = section.split('# Authentication')[0]!.split('```sh\n');
    expect(setting).toMatch(/^API=.*\nKEY=mpk_test_/);
    const env = { ...process.env, API: `http://127.0.0.1:${gateways.ports.test}`, KEY: keys.test };
    const answers: unknown[] = [];
    for (const command of commands) {
      const { stdout } = await promisify(execFile)('sh', ['-euc', command.split('```')[0]!], { env });
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject([
      { data: [], hasMore: false, nextCursor: null },
      { state: 'PENDING', environment: 'test' },
    ]);
  });
});
