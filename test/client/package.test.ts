import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { signedHeaders, signingKey } from '../../services/webhooks/attempts/send-attempt.ts';
import {
  type GatewayHarness,
  newMerchant,
  newWebhookUrl,
  startGateways,
} from '../gateway/gateway-harness.ts';
import { seedMerchant } from '../gateway/seed-merchant.ts';
import { sharedChromium } from '../support/chromium.ts';
import { installPacked, run } from '../support/packed-package.ts';
import { startScriptedServer } from './scripted-server.ts';

/** The published client, used by a merchant who has installed nothing else. */

const NAME = 'merchant-payments-client';
const TYPESCRIPT = fileURLToPath(new URL('../../client/node_modules/typescript/bin/tsc', import.meta.url));

/** The variables that readers of the snippets set themselves or get from elsewhere. */
const SET_BY_READERS = `
  declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
  declare const API: string, KEY: string, SECRET: string, FORMER_SECRET: string;
  declare const request: Request, rawBody: string, secret: string, formerSecret: string;
`;

/** The snippets that use the client in its README and in the guides, as files. */
function snippets(): [name: string, code: string][] {
  return ['client/README.md', 'gateway/docs/getting-started.md', 'gateway/docs/webhooks.md'].flatMap(
    (file) => {
      const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
      if (blocks.length === 0) throw new Error(`${file} has no snippet`);
      return blocks.map((code, n): [string, string] => [`${file.replaceAll(/\W/g, '-')}-${n}.ts`, code]);
    },
  );
}

const shop = mkdtempSync(join(tmpdir(), 'shop-'));
cpSync(new URL('shop', import.meta.url), shop, { recursive: true });
writeFileSync(join(shop, 'package.json'), JSON.stringify({ type: 'module', dependencies: { [NAME]: '*' } }));
for (const [name, snippet] of snippets()) writeFileSync(join(shop, name), `${SET_BY_READERS}\n${snippet}`);
const files = await installPacked('client', NAME, shop);
// Its types are checked too; snippets compile, and what must not compile does not.
await run(process.execPath, [TYPESCRIPT, '--project', '.'], { cwd: shop });
afterAll(() => rmSync(shop, { recursive: true }));

it('contains only compiled code with types', () => {
  const others = files.filter((file) => !/^dist\/[a-z-]+(\.d\.ts|\.js)$/.test(file));
  expect(others).toEqual(['README.md', 'package.json']);
  expect(files).toContain('dist/index.js');
});

describe('calls all eight operations and verifies a webhook', () => {
  let gateways: GatewayHarness;
  beforeAll(async () => {
    gateways = await startGateways();
  });
  afterAll(() => gateways.close());

  async function newShop() {
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
    const env = {
      API_KEY: keys.live,
      BASE_URL: `http://127.0.0.1:${gateways.ports.live}`,
      PRODUCT_ID: productId,
      WEBHOOK_URL: newWebhookUrl(),
    };
    return { cases, advances, env };
  }

  const RUNTIMES = {
    'Node.js': [process.execPath],
    Deno: ['deno', 'run', '--allow-net', '--allow-env', '--node-modules-dir=manual'],
    Bun: ['bun', 'run'],
  } as const;

  describe.each(Object.entries(RUNTIMES))('%s', (_name, [program, ...args]) => {
    it.skipIf(spawnSync(program, ['--version']).status !== 0)('in this runtime', async () => {
      const { cases, advances, env } = await newShop();
      const output = await run(program, [...args, 'shop.js'], { cwd: shop, env: { ...env, ...webhook() } });
      const found = JSON.parse(output);

      expect(found).toEqual({
        toReview: cases.map((id) => ({ id, deadline: expect.stringMatching(/Z$/) })),
        product: { name: 'Course', status: 'DRAFT', amounts: [12_990] },
        scheduled: expect.any(Array),
        expected: expect.any(Array),
        requested: advances.toReversed(),
        created: expect.objectContaining({ url: env.WEBHOOK_URL, environment: 'live', state: 'PENDING' }),
        again: 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS',
        refused: 'INVALID_WEBHOOK_URL',
        disabled: { ...found.created, state: 'DISABLED' },
        timezone: 'America/Sao_Paulo',
        event: '4990 BRL',
      });
      expect(found.scheduled).toHaveLength(3);
      expect(found.expected).toContainEqual(found.scheduled[0]);
    });
  });
});

/** A webhook as the service signs it, as settings of the shop. */
function webhook() {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const body = JSON.stringify({ type: 'refund.requested.v1', data: { amount: 4_990, currency: 'BRL' } });
  const unsigned = { eventId: 'e1', startedAt: new Date(), body: Buffer.from(body) };
  const headers = signedHeaders({ ...unsigned, keys: [signingKey(secret)] });
  return { WEBHOOK_SECRET: secret, WEBHOOK: JSON.stringify({ body, headers }) };
}

describe('in a browser', () => {
  /** What a page and its worker say when they make a client with a key. */
  const ATTEMPT = `
    import { MerchantPayments } from '${NAME}';
    globalThis.attempt = (apiKey) => {
      try {
        return new MerchantPayments({ apiKey, baseUrl: location.origin }).environment;
      } catch (error) {
        return error.message;
      }
    };
    if (!globalThis.document) onmessage = ({ data }) => postMessage(attempt(data));
  `;

  async function openPage() {
    writeFileSync(join(shop, 'browser.js'), ATTEMPT);
    const bundle = await rolldown({ input: join(shop, 'browser.js'), platform: 'browser' });
    const { output } = await bundle.generate({ format: 'iife' });
    const server = await startScriptedServer((response, _turn, url) => {
      const isScript = url === '/bundle.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? output[0].code : '<script src="/bundle.js"></script>');
    });
    const context = await (await sharedChromium()).newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(server.baseUrl);
    return page;
  }

  it('refuses live keys, in pages and their workers, and accepts those of the sandbox', async () => {
    const page = await openPage();
    const inPage = (key: string) =>
      page.evaluate((apiKey) => (globalThis as unknown as Attempting).attempt(apiKey), key);
    const inWorker = (key: string) =>
      page.evaluate(
        `new Promise((resolve, reject) => {
          const worker = new Worker('/bundle.js');
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage('${key}');
        })`,
      );
    for (const attempt of [inPage, inWorker]) {
      expect(await attempt(`mpk_live_${'a'.repeat(38)}`)).toMatch(
        /^A live API key must not be used in a browser/,
      );
      expect(await attempt(`mpk_test_${'a'.repeat(38)}`)).toBe('test');
    }
  });
});

interface Attempting {
  attempt(apiKey: string): string;
}
