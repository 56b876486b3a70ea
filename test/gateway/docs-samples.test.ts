import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../gateway/docs/verify-webhook/verify-webhook.ts';
import { signWebhook } from '../../services/webhooks/attempts/sign.ts';

/** The samples of the documentation, each run by its own language against what the worker really signs. */

const SAMPLES = new URL('../../gateway/docs/verify-webhook/', import.meta.url).pathname;
const DRIVERS = new URL('docs-samples/', import.meta.url).pathname;

interface Delivery {
  readonly what: string;
  readonly verdict: 'verified' | 'refused';
  readonly secret: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Buffer;
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const [current, former, stranger] = [newSecret(), newSecret(), newSecret()];
const now = Math.floor(Date.now() / 1000);
const id = '0197c9f2-8f3a-7d10-9b1e-0d5f3f1c2a01';
const body = Buffer.from(`{"id": "${id}",\n "data": {"reason": "Produto não chegou 🎁"} }\n`);

/** A delivery that we signed, with what went wrong after that. */
function delivery(
  what: string,
  verdict: Delivery['verdict'],
  wrong: Partial<Delivery> & { signedBy?: readonly string[]; signedAt?: number } = {},
): Delivery {
  const { signedBy = [current], signedAt = now, ...changes } = wrong;
  const signature = signWebhook({ id, timestamp: signedAt, body }, signedBy);
  return { what, verdict, secret: current, id, timestamp: `${signedAt}`, signature, body, ...changes };
}

const good = delivery('', 'verified').signature;
const signedWith = (key: Buffer, timestamp: string) =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
const byEmptyKey = signedWith(Buffer.alloc(0), `${now}`);
const currentKey = Buffer.from(current.slice('whsec_'.length), 'base64');

const DELIVERIES: readonly Delivery[] = [
  delivery('as it was sent', 'verified'),
  delivery('four minutes old', 'verified', { signedAt: now - 240 }),
  delivery('signed with the new and the old secret, verified with the new', 'verified', {
    signedBy: [current, former],
  }),
  delivery('signed with the new and the old secret, verified with the old', 'verified', {
    signedBy: [current, former],
    secret: former,
  }),
  delivery('beside a signature of a later version', 'verified', { signature: `v2,AAAA ${good}` }),
  delivery('signed with the new and the old secret, verified with neither', 'refused', {
    signedBy: [current, former],
    secret: stranger,
  }),
  delivery('signed with another secret', 'refused', { signedBy: [stranger] }),
  delivery('with another body', 'refused', {
    body: Buffer.from(body.toString().replace('chegou', 'Chegou')),
  }),
  delivery('with the body written anew', 'refused', {
    body: Buffer.from(JSON.stringify(JSON.parse(body.toString()))),
  }),
  delivery('with another id', 'refused', { id: id.replace('0', '1') }),
  delivery('with a later timestamp than was signed', 'refused', { timestamp: `${now + 1}` }),
  delivery('six minutes old', 'refused', { signedAt: now - 360 }),
  delivery('six minutes ahead', 'refused', { signedAt: now + 360 }),
  delivery('with no number for a timestamp', 'refused', { timestamp: 'now' }),
  ...[`+${now}`, ` ${now}`, `${now}.0`].map((timestamp) =>
    delivery(`with "${timestamp}" for a timestamp, although signed`, 'refused', {
      timestamp,
      signature: signedWith(currentKey, timestamp),
    }),
  ),
  delivery('without an id', 'refused', { id: '' }),
  delivery('without a timestamp', 'refused', { timestamp: '' }),
  delivery('without a signature', 'refused', { signature: '' }),
  delivery('with an empty signature', 'refused', { signature: 'v1,' }),
  delivery('with the signature under another version', 'refused', { signature: good.replace('v1,', 'v2,') }),
  delivery('with half a signature', 'refused', { signature: good.slice(0, 24) }),
  delivery('signed with nothing, for a receiver without a secret', 'refused', {
    secret: '',
    signature: byEmptyKey,
  }),
  delivery('signed with nothing, for a receiver with half a secret', 'refused', {
    secret: 'whsec_',
    signature: byEmptyKey,
  }),
];

/** Whether there is no such program here, so that its sample cannot be run. */
const lacks = (program: string, versionFlag: string) => spawnSync(program, [versionFlag]).status !== 0;
const isCi = process.env.CI !== undefined;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verify-webhook-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Copies a sample and its driver into a folder of their own. */
function copied(sample: string, driver: string, sampleFolder = ''): string {
  const own = mkdtempSync(join(folder, 'sample-'));
  mkdirSync(join(own, sampleFolder), { recursive: true });
  copyFileSync(join(SAMPLES, sample), join(own, sampleFolder, sample));
  copyFileSync(join(DRIVERS, driver), join(own, driver));
  return own;
}

/** Has a driver judge all deliveries, and expects of each what it deserves. */
function expectVerdicts(cwd: string, program: string, ...args: string[]): void {
  const input = DELIVERIES.map(({ secret, id, timestamp, signature, body }) =>
    [secret, id, timestamp, signature, body.toString('base64')].join('\t'),
  );
  const output = execFileSync(program, args, { cwd, input: `${input.join('\n')}\n`, encoding: 'utf8' });
  const verdicts = output.trimEnd().split('\n');
  expect(verdicts.map((verdict, index) => ({ what: DELIVERIES[index]?.what, verdict }))).toEqual(
    DELIVERIES.map(({ what, verdict }) => ({ what, verdict })),
  );
}

describe('the TypeScript sample', () => {
  it.each(DELIVERIES)('judges a delivery $what: $verdict', ({ verdict, secret, body, ...sent }) => {
    const headers = {
      ...(sent.id && { 'webhook-id': sent.id }),
      ...(sent.timestamp && { 'webhook-timestamp': sent.timestamp }),
      ...(sent.signature && { 'webhook-signature': sent.signature }),
    };
    const verify = () => verifyWebhook(body, headers, secret);
    if (verdict === 'refused') expect(verify).toThrow();
    else expect(verify()).toEqual(JSON.parse(body.toString()));
  });
});

describe('the sample in', () => {
  it.skipIf(!isCi && lacks('python3', '--version'))('Python judges every delivery correctly', () => {
    expectVerdicts(copied('verify_webhook.py', 'driver.py'), 'python3', 'driver.py');
  });

  it.skipIf(lacks('go', 'version'))('Go judges every delivery rightly', { timeout: 120_000 }, () => {
    const own = copied('verify_webhook.go', 'main.go', 'webhook');
    writeFileSync(join(own, 'go.mod'), 'module driver\n\ngo 1.21\n');
    expectVerdicts(own, 'go', 'run', '.');
  });

  it.skipIf(lacks('javac', '-version'))('Java judges every delivery rightly', () => {
    const own = copied('WebhookVerifier.java', 'Driver.java');
    execFileSync('javac', ['WebhookVerifier.java', 'Driver.java'], { cwd: own });
    expectVerdicts(own, 'java', '-cp', '.', 'Driver');
  });

  it.skipIf(lacks('php', '--version'))('PHP judges every delivery correctly', () => {
    expectVerdicts(copied('verify_webhook.php', 'driver.php'), 'php', 'driver.php');
  });
});
