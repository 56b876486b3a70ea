import { createClient, type Transport } from '@connectrpc/connect';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { TenantFields } from '../../services/platform/tenant.ts';
import {
  planPastAdvances,
  requestOpenAdvances,
  requestPastAdvance,
  settleDemoAdvances,
} from './data/demo-advances.ts';
import { createDemoProducts } from './data/demo-products.ts';
import { openDemoRefunds, topUpDemoRefunds } from './data/demo-refunds.ts';
import { blockAndDeduct, type DemoSale, planDemoSales, recordDemoSale } from './data/demo-sales.ts';
import { type DemoSize, DemoTenant, SMALL_SIZE } from './data/demo-tenant.ts';
import { endCompletedWorkflows } from './demo-workflows.ts';

const MERCHANT_ID = '5b0a1c9e-7c3d-4f2a-9a41-0d6c2f8e1b77';
const OTHER_MERCHANT_ID = 'c2f7d3b4-1e6a-4b58-8f0e-93a5d47e6c21';
/** The names that people see instead of ids. */
const NAMES = { [MERCHANT_ID]: 'Loja Aurora', [OTHER_MERCHANT_ID]: 'Estúdio Norte' };
const SCOPES = [
  ApiKeyScope.REFUNDS_READ,
  ApiKeyScope.CATALOG_READ,
  ApiKeyScope.FUNDS_READ,
  ApiKeyScope.ADVANCES_READ,
  ApiKeyScope.WEBHOOKS_MANAGE,
];

/** The demo merchants and their API keys. */
export interface DemoAccess {
  readonly live: { merchantId: string; apiKey: string; productId: string };
  readonly sandbox: { merchantId: string; apiKey: string; productId: string };
  readonly other: { merchantId: string; liveApiKey: string; sandboxApiKey: string };
}

/**
 * Writes the demo data through the services' RPCs: two merchants in both environments, the second one with less. The
 * transport's caller needs every grant. An interrupted run can be repeated on the same day.
 * @param firstSize how much the first one has.
 */
export async function writeDemoData(
  transport: Transport,
  now: Date,
  firstSize: DemoSize,
): Promise<DemoAccess> {
  const tenant = (merchantId: string, environment: Environment) => {
    const size = merchantId === MERCHANT_ID ? firstSize : SMALL_SIZE;
    return writeDemoTenant(transport, { merchantId, environment }, now, size);
  };
  const [live, sandbox, otherLive, otherSandbox] = await Promise.all([
    tenant(MERCHANT_ID, Environment.LIVE),
    tenant(MERCHANT_ID, Environment.TEST),
    tenant(OTHER_MERCHANT_ID, Environment.LIVE),
    tenant(OTHER_MERCHANT_ID, Environment.TEST),
  ]);
  await nameMerchants(transport);
  await endCompletedWorkflows(transport);
  return {
    live: { merchantId: MERCHANT_ID, ...live },
    sandbox: { merchantId: MERCHANT_ID, ...sandbox },
    other: {
      merchantId: OTHER_MERCHANT_ID,
      liveApiKey: otherLive.apiKey,
      sandboxApiKey: otherSandbox.apiKey,
    },
  };
}

async function nameMerchants(transport: Transport): Promise<void> {
  const accounts = createClient(AccountService, transport);
  for (const [merchantId, name] of Object.entries(NAMES)) {
    const tenant = { merchantId, environment: Environment.LIVE };
    await accounts.setMerchantName({ ...tenant, idempotencyKey: `demo-name-${merchantId}`, name });
  }
}

/** Makes sure, on later days, that refund cases exist in every state. */
export async function topUpDemoData(transport: Transport, now: Date): Promise<void> {
  for (const merchantId of [MERCHANT_ID, OTHER_MERCHANT_ID]) {
    for (const environment of [Environment.LIVE, Environment.TEST]) {
      await topUpDemoRefunds(() => new DemoTenant(transport, { merchantId, environment }, now));
    }
  }
}

/** Writes the demo data of one merchant in one environment. Returns an API key and the id of a product. */
export async function writeDemoTenant(transport: Transport, tenant: TenantFields, now: Date, size: DemoSize) {
  const demo = new DemoTenant(transport, tenant, now, size);
  const productIds = await createDemoProducts(demo);
  // The last one has no price yet.
  const sales = planDemoSales(demo, productIds.slice(0, -1));
  const released = await writeSalesAndAdvances(demo, sales);
  await releaseDueFunds(demo);
  await settleDemoAdvances(demo, released);
  await requestOpenAdvances(demo);
  await openDemoRefunds(demo, sales);
  await blockAndDeduct(demo, sales);
  const { key } = await createClient(ApiKeyService, transport).issueApiKey({
    ...demo.tenant,
    // A key is returned only once, so a repeated run issues another.
    idempotencyKey: `demo-${Date.now()}`,
    name: 'demo',
    scopes: SCOPES,
  });
  return { apiKey: key, productId: productIds[0]! };
}

/** Writes the sales and past advances in date order. Returns the ids of the advances paid out. */
async function writeSalesAndAdvances(demo: DemoTenant, sales: readonly DemoSale[]): Promise<string[]> {
  const released: string[] = [];
  const pending = [...sales];
  for (const advance of planPastAdvances(demo)) {
    while (pending[0] && pending[0].daysAgo >= advance.daysAgo) await recordDemoSale(demo, pending.shift()!);
    released.push(...(await requestPastAdvance(demo, advance)));
  }
  for (const sale of pending) await recordDemoSale(demo, sale);
  return released;
}

async function releaseDueFunds(demo: DemoTenant): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    ({ hasMore } = await demo.clients.funds.releaseDueFunds(demo.tenant));
  }
}
