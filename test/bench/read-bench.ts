import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createClient } from '@connectrpc/connect';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';
import { benchDatabase } from './bench-database.ts';
import { startBenchProcess } from './bench-process.ts';
import { measureReadRatio } from './read-ratio.ts';

const CASES = 200;
const LIMITS = [
  { limit: 1, least: 0.7 },
  { limit: 50, least: 0.6 },
];
const merchantId = randomUUID();

/** Requests per second of the hot read as a share of a bare server's, on one database, in one run. */
export async function benchReads(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const settings = await benchDatabase(stack);
  const apiKey = await seed(settings);
  const ours = await startBenchProcess('services-server.ts', settings);
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

/** Refund cases of one merchant through the services, and a key to read them. */
async function seed(settings: Record<string, string>): Promise<string> {
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
