import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../gateway/docs/verify-webhook/verify-webhook.ts';
import { GO_ENVIRONMENT } from '../support/go-environment.ts';
import { headersOf, signDeliveries } from './docs-samples/deliveries.ts';

/** Runs the documentation's samples, each in its own language, on deliveries that are really signed. */

const SAMPLES = new URL('../../gateway/docs/verify-webhook/', import.meta.url).pathname;
const DRIVERS = new URL('docs-samples/', import.meta.url).pathname;

/** Whether there is no such program here, so that its sample cannot be run. */
const lacks = (program: string, versionFlag: string) => spawnSync(program, [versionFlag]).status !== 0;
const isCi = process.env.CI !== undefined;

const folder = mkdtempSync(join(tmpdir(), 'verify-webhook-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Copies a sample and its driver into their own folder. */
function copied(sample: string, driver: string, sampleFolder = ''): string {
  const own = mkdtempSync(join(folder, 'sample-'));
  mkdirSync(join(own, sampleFolder), { recursive: true });
  copyFileSync(join(SAMPLES, sample), join(own, sampleFolder, sample));
  copyFileSync(join(DRIVERS, driver), join(own, driver));
  return own;
}

/** Makes a driver verify all deliveries, and expects the right result for each. */
function expectOutcomes(cwd: string, program: string, ...args: string[]): void {
  const deliveries = signDeliveries();
  const input = deliveries.map(({ secret, id, timestamp, signature, body }) =>
    [secret, id, timestamp, signature, body.toString('base64')].join('\t'),
  );
  const output = execFileSync(program, args, { cwd, input: `${input.join('\n')}\n`, encoding: 'utf8' });
  const outcomes = output.trimEnd().split('\n');
  expect(outcomes.map((outcome, index) => ({ what: deliveries[index]?.what, outcome }))).toEqual(
    deliveries.map(({ what, outcome }) => ({ what, outcome })),
  );
}

describe('the TypeScript sample', () => {
  it.each(signDeliveries())('treats a delivery $what as $outcome', ({ outcome, secret, body, ...sent }) => {
    const verify = () => verifyWebhook(body, headersOf(sent), secret);
    if (outcome === 'refused') expect(verify).toThrow();
    else expect(verify()).toEqual(JSON.parse(body.toString()));
  });
});

describe('the sample in', () => {
  it.skipIf(!isCi && lacks('python3', '--version'))('Python verifies every delivery correctly', () => {
    expectOutcomes(copied('verify_webhook.py', 'driver.py'), 'python3', 'driver.py');
  });

  it.skipIf(lacks('go', 'version'))('Go verifies every delivery correctly', { timeout: 120_000 }, () => {
    const own = copied('verify_webhook.go', 'main.go', 'webhook');
    writeFileSync(join(own, 'go.mod'), 'module driver\n\ngo 1.21\n');
    execFileSync('go', ['build', '-o', 'driver', '.'], { cwd: own, env: GO_ENVIRONMENT });
    expectOutcomes(own, './driver');
  });

  it.skipIf(lacks('javac', '-version'))('Java verifies every delivery correctly', () => {
    const own = copied('WebhookVerifier.java', 'Driver.java');
    execFileSync('javac', ['WebhookVerifier.java', 'Driver.java'], { cwd: own });
    expectOutcomes(own, 'java', '-cp', '.', 'Driver');
  });

  it.skipIf(lacks('php', '--version'))('PHP verifies every delivery correctly', () => {
    expectOutcomes(copied('verify_webhook.php', 'driver.php'), 'php', 'driver.php');
  });
});
