import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type GatewayHarness, newMerchant, startGateways } from './gateway-harness.ts';
import { seedMerchant } from './seed-merchant.ts';

const CLIENT = fileURLToPath(new URL('../merchant-client', import.meta.url));

let gateways: GatewayHarness;
beforeAll(async () => {
  gateways = await startGateways();
});
afterAll(() => gateways.close());

/** One of the client's npm scripts, run as a merchant's developer does; answers what it printed. */
async function run(script: string, settings: Record<string, string>): Promise<string> {
  const env = { ...process.env, ...settings };
  try {
    return (await promisify(execFile)('npm', ['run', '--silent', script], { cwd: CLIENT, env })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm run ${script} fails:\n${stdout}${stderr}`);
  }
}

it('a client typed from the served document compiles, rejects misuse, and calls all eight operations', async () => {
  const { merchantId, keys } = await newMerchant(gateways);
  const seed = seedMerchant(gateways.harness.transports.inProcess, merchantId, Environment.LIVE);
  const cases: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    cases.unshift((await seed.refundCase({ initiator: RefundInitiator.CUSTOMER })).id);
  }
  await seed.refundCase();
  const productId = await seed.product(12_990n);
  await seed.sale(90_000n, 3);
  const advances = [(await seed.advance(30_000n)).id, (await seed.advance(30_000n)).id];

  const settings = {
    PAYMENTS_URL: `http://127.0.0.1:${gateways.ports.live}`,
    PAYMENTS_KEY: keys.live,
    PRODUCT_ID: productId,
    WEBHOOK_URL: 'https://shop.example/hooks',
  };
  await run('generate', settings);
  await run('types', settings);
  const found = JSON.parse(await run('start', settings));

  expect(found).toEqual({
    toReview: cases.map((id) => ({ id, deadline: expect.stringMatching(/Z$/) })),
    product: { name: 'Course', status: 'DRAFT', prices: ['12990 BRL'] },
    scheduled: expect.any(Array),
    expected: expect.any(Array),
    requested: advances.toReversed(),
    created: expect.objectContaining({ url: settings.WEBHOOK_URL, environment: 'live', state: 'PENDING' }),
    again: 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS',
    refused: 'INVALID_WEBHOOK_URL',
    disabled: { ...found.created, state: 'DISABLED' },
    timezone: 'America/Sao_Paulo',
  });
  expect(found.scheduled).toHaveLength(3);
  expect(found.expected).toContainEqual(found.scheduled[0]);
});
