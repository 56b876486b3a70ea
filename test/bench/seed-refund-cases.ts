import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { readConfig } from '../../services/platform/process/config.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { createServices } from '../../services/server.ts';

/** Opens refund cases of one merchant through the services, and returns a key to read them. */
export async function seedRefundCases(
  settings: Record<string, string>,
  merchantId: string,
  count: number,
): Promise<string> {
  const config = readConfig({ ...settings, REFUND_FREQUENCY_LIMIT_24H: '1000000' });
  const services = await createServices({
    config,
    databaseUrl: settings.DATABASE_URL!,
    logger: createLogger('fatal'),
  });
  const transport = services.transportFor({ name: 'bench', grants: new Set(['refunds:write', 'keys']) });
  const write = () => ({ merchantId, environment: Environment.LIVE, idempotencyKey: randomUUID() });
  const refunds = createClient(RefundCaseService, transport);
  for (let n = 0; n < count; n += 1) {
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
