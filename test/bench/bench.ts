import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { DataFolder } from '../../local/data-folder.ts';
import { startPostgres } from '../../local/postgres.ts';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { readConfig } from '../../services/platform/config.ts';
import { migrate } from '../../services/platform/migrate.ts';
import { createLogger } from '../../services/platform/telemetry.ts';
import { createServices } from '../../services/server.ts';
import { startBenchProcess } from './bench-process.ts';
import { measureReadRatio } from './read-ratio.ts';

const CASES = 200;
const LIMITS = [
  { limit: 1, least: 0.7 },
  { limit: 50, least: 0.6 },
];
const merchantId = randomUUID();

/** `npm run bench`: requests per second of the hot read as a share of a bare server's, on one database, in one run. */
async function main(stack: AsyncDisposableStack): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), 'payments-bench-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const folder = DataFolder.open(path);
  stack.defer(() => folder.close());
  const postgres = await startPostgres({ folder, log: console.error });
  stack.defer(() => postgres.stop());
  const settings = settingsOf(postgres.url);
  const apiKey = await seed(settings);
  const ours = await startBenchProcess('house-server.ts', settings);
  stack.defer(() => void ours.child.kill());
  const bare = await startBenchProcess('bare-server.ts', settings);
  stack.defer(() => void bare.child.kill());
  console.log(`GET /v1/refund-cases, ${availableParallelism()} cores, ${CASES} cases, requests per second`);
  for (const { limit, least } of LIMITS) {
    const { ratio, ...rates } = await measureReadRatio(
      { url: `${ours.url}/v1/refund-cases?limit=${limit}`, headers: { authorization: `Bearer ${apiKey}` } },
      { url: `${bare.url}/refund-cases?merchant=${merchantId}&limit=${limit}` },
    );
    const verdict = ratio >= least ? '' : `  BELOW ${least}`;
    console.log(
      `limit=${limit}: service ${rates.ours.toFixed(0)}, bare Fastify + pg ${rates.bare.toFixed(0)}, ratio ${ratio.toFixed(2)}${verdict}`,
    );
  }
}

function settingsOf(databaseUrl: string): Record<string, string> {
  const key = () => `v1:${randomBytes(32).toString('base64')}`;
  return {
    DATABASE_URL: databaseUrl,
    API_KEY_PEPPERS: key(),
    WEBHOOK_SECRET_KEYS: key(),
    CURSOR_KEYS: key(),
    RATE_LIMIT_LIVE: '1000000',
    LOG_LEVEL: 'info',
  };
}

/** Refund cases of one merchant through the services, and a key to read them. */
async function seed(settings: Record<string, string>): Promise<string> {
  await migrate(settings.DATABASE_URL!);
  const config = readConfig({ ...settings, REFUND_FREQUENCY_LIMIT_24H: '1000000' });
  const services = await createServices({
    config,
    databaseUrl: settings.DATABASE_URL!,
    logger: createLogger('fatal'),
  });
  const transport = services.transportFor({ name: 'bench', grants: new Set(['refunds:write', 'keys']) });
  const write = () => ({ merchantId, environment: Environment.LIVE, idempotencyKey: randomUUID() });
  const refunds = createClient(RefundCaseService, transport);
  for (let n = 0; n < CASES; n += 1) {
    await refunds.openRefundCase({
      ...write(),
      paymentIntentId: randomUUID(),
      orderId: randomUUID(),
      amountMinor: BigInt(n + 1),
      paidAmountMinor: 1_000_000n,
      initiator: n % 2 === 0 ? RefundInitiator.CUSTOMER : RefundInitiator.MERCHANT,
      reason: 'bench',
    });
  }
  const keys = createClient(ApiKeyService, transport);
  const { key } = await keys.issueApiKey({ ...write(), name: 'bench', scopes: [ApiKeyScope.REFUNDS_READ] });
  await services.close();
  return key;
}

await using stack = new AsyncDisposableStack();
await main(stack);
