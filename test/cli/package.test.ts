import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newMerchant, startGateways } from '../gateway/gateway-harness.ts';
import { installPacked, run } from '../support/packed-package.ts';

test('the published command contains only compiled code, and works', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const gateways = await startGateways();
  onTestFinished(() => gateways.close());

  const files = await installPacked('cli', 'merchant-payments', folder);
  const others = files.filter((file) => !/^dist\/[a-z-]+\.js$/.test(file));
  expect(others).toEqual(['README.md', 'bin/merchant-payments.js', 'package.json']);

  const { keys } = await newMerchant(gateways);
  const command = join(folder, 'node_modules/merchant-payments/bin/merchant-payments.js');
  const env = {
    MERCHANT_PAYMENTS_API_KEY: keys.test,
    MERCHANT_PAYMENTS_BASE_URL: `http://127.0.0.1:${gateways.ports.test}`,
  };
  const args = [command, 'trigger', 'refund.requested.v1'];
  expect(await run(process.execPath, args, { cwd: folder, env })).toMatch(
    /^Published refund\.requested\.v1 as /,
  );
});
