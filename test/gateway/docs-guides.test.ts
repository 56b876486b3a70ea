import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuides } from '../../gateway/docs/guides.ts';
import type { Listener } from '../../gateway/openapi/listener.ts';
import { PROBLEM_TYPES } from '../../gateway/problems/problem-types.ts';
import { advanceRequestListSchema } from '../../gateway/routes/advance-request.schema.ts';
import { fundsReleaseListSchema } from '../../gateway/routes/funds-release.schema.ts';
import { refundCaseListSchema } from '../../gateway/routes/refund-case.schema.ts';
import {
  OUTCOME_AFTER_MS,
  payoutOutcomeOf,
  RETURN_AFTER_MS,
  refundOutcomeOf,
} from '../../local/demo/connector/demo-outcomes.ts';
import { API_KEY_SCOPES } from '../../services/platform/api-key-scopes.ts';
import { KEY_RINGS, readConfig } from '../../services/platform/process/config.ts';
import { type GatewayHarness, newMerchant, startGateways } from './gateway-harness.ts';
import { objectsIn } from './openapi-reader.ts';

/** What the guides say, held against what the code does. */

const listener: Listener = {
  environment: 'live',
  baseUrl: 'https://api.payments.example',
  otherUrl: 'https://sandbox.payments.example',
  keyLimit: 42,
  addressLimit: 17,
  requestTimeoutMs: 12_000,
};
const guides = readGuides(listener, []);
const defaults = readConfig({}, { unused: KEY_RINGS });

const UNITS = { s: 1_000, min: 60_000, h: 3_600_000 } as const;

describe('the guides', () => {
  it('contain the samples that the tests run, without unfilled placeholders', () => {
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
    expect(guides).not.toContain('{{');
  });

  it('name the outcomes by amount that the simulated provider has', () => {
    const endings = (heading: string) =>
      guides
        .split(`## ${heading}`)[1]!
        .split('## ')[0]!
        .match(/(?<=^\| `)\d\d(?=`)/gm);
    const having = (isSpecial: (amount: bigint) => boolean) =>
      Array.from({ length: 100 }, (_, ending) => ending)
        .filter((ending) => isSpecial(1_000n + BigInt(ending)))
        .map((ending) => String(ending).padStart(2, '0'));
    expect(endings('Outcomes of refunds by amount')).toEqual(
      having((amount) => refundOutcomeOf(amount) !== 'SUCCEEDS'),
    );
    expect(endings('Payouts of advances by net amount')).toEqual(
      having((amount) => payoutOutcomeOf(amount) !== 'ACCEPTED'),
    );
    for (const afterMs of [OUTCOME_AFTER_MS, RETURN_AFTER_MS]) {
      expect(guides).toContain(` after ${afterMs / 1_000} s`);
    }
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
  ])('give the times at which a %s delivery is retried', (environment, [first, ...waits]) => {
    const [, said = ''] = guides.match(new RegExp(`^\\| ${environment} \\| ([0-9].*) \\|$`, 'm')) ?? [];
    const saidMs = said.split(', ').map((wait) => {
      const [count, unit] = wait.split(' ') as [string, keyof typeof UNITS];
      return Number(count) * UNITS[unit];
    });
    expect(first).toBe(0);
    expect(saidMs).toEqual(waits);
  });

  it('give the address of the listener, its limits, and the address of the other environment', () => {
    const oneLine = guides.replaceAll('\n', ' ');
    expect(guides).toContain('API=https://api.payments.example\nKEY=mpk_live_…\n');
    expect(guides).toContain('| live | https://api.payments.example (this host) | `mpk_live_` | `"live"` |');
    expect(guides).toContain('| sandbox | https://sandbox.payments.example | `mpk_test_` | `"test"` |');
    expect(oneLine).toContain('may make 42 requests a second');
    expect(guides).toContain('RateLimit-Policy: "key";q=42;w=1\nRateLimit: "key";r=35;t=1\n');
    expect(oneLine).toContain('limited by address: 17 a second');
    expect(oneLine).toContain('completely within 12 seconds');
    const sandbox = readGuides({ ...listener, environment: 'test', otherUrl: undefined }, []);
    expect(sandbox).toContain('| live | a separate host |');
    expect(sandbox).toContain('"environment": "test"');
    expect(sandbox.match(/mpk_live_…|"environment": "live"/g)).toBeNull();
  });

  it('list the transitions of each status of a refund case, an advance request and a release', () => {
    const statuses = (schema: { response: { 200: unknown } }) =>
      [...objectsIn(schema.response[200])].flatMap(([at, { enum: names }]) =>
        names && at.at(-1) === 'status' ? [names] : [],
      );
    for (const [title, schema] of [
      ['Refund cases', refundCaseListSchema],
      ['Funds releases', fundsReleaseListSchema],
      ['Advance requests', advanceRequestListSchema],
    ] as const) {
      const table = guides.split(`## ${title}\n\n`)[1]!.split('\n\n')[0]!;
      const said = [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, status]) => status);
      expect(statuses(schema)).toEqual([expect.arrayContaining(said)]);
      expect(new Set(said)).toEqual(new Set(statuses(schema)[0]));
    }
  });

  it('list what is deprecated, or say that nothing is', () => {
    const deprecation = { since: '2027-01-01', sunset: '2028-07-01', link: '/docs/#tag/catalog' };
    const schema = { ...refundCaseListSchema, deprecation };
    const said = readGuides(listener, [{ method: 'GET', url: '/v1/refund-cases', schema }]);
    expect(said).toContain(
      '| `GET /v1/refund-cases` | 2027-01-01 | 2028-07-01 | [details](/docs/#tag/catalog) |',
    );
    expect(said).not.toContain('No operation is deprecated.');
    expect(guides).toContain('No operation is deprecated.');
  });
});

describe.skipIf(spawnSync('curl', ['--version']).status !== 0)('getting started', () => {
  let gateways: GatewayHarness;
  beforeAll(async () => {
    gateways = await startGateways();
  });
  afterAll(() => gateways.close());

  it('has commands that work verbatim', async () => {
    const { keys } = await newMerchant(gateways);
    const [, section = ''] = guides.split('# Getting started');
    const [, setting = '', ...commands] = section.split('# Authentication')[0]!.split('```sh\n');
    expect(setting).toMatch(/^API=.*\nKEY=mpk_live_/);
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
