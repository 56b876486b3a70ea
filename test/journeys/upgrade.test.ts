import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ProductService, ProductType } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';
import { call } from '../gateway/http-call.ts';
import { createTestDatabase, newWrite } from '../support/harness.ts';
import { openSession, query } from '../support/sql.ts';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import type { Receiver } from '../support/tls-receiver.ts';
import type { SandboxMerchant } from './sandbox-merchant.ts';
import type { ImageFiles } from './separate-processes/image-files.ts';
import { apiReads, Load } from './separate-processes/load.ts';
import { type Role, SeparateSystem } from './separate-processes/separate-system.ts';
import { openShop, type RetriedReceiver, startRetriedReceiver } from './separate-processes/shop.ts';
import { firstRelease } from './upgrade/first-release.ts';
import { nextRelease, releaseAfterNext } from './upgrade/next-releases.ts';

/** In the order in which their processes are replaced. */
const ROLES: readonly Role[] = ['services', 'webhook-lanes', 'worker', 'gateway'];
/** Gateways of 1.0.0 report for a moment that they are not ready when services stop. */
const KNOWN_OF_FIRST = 'no process is ready';
/** Grants that keep services of 1.0.0 from starting. */
const UNKNOWN_TO_FIRST = ['keys:read'];
const DELIVERED_MS = 60_000;
/** How long a report holds a lock on a table that is migrated. Writes must not wait that long. */
const REPORT_MS = 8_000;
const STAGE_MS = 180_000;

let system: SeparateSystem;
let next: ImageFiles;
let afterNext: ImageFiles;
let receiver: Receiver;
let merchant: SandboxMerchant;
let load: Load;
let key: string;
let deliveredAt: RetriedReceiver['deliveredAt'];
let slowestWriteMs = 0;
/** The names of products that were created and renamed under load, by id. */
const names = new Map<string, string>();

beforeAll(async () => {
  ({ receiver, deliveredAt } = await startRetriedReceiver());
  const { image, env } = await firstRelease();
  const grants = ALL_GRANTS.filter((grant) => !UNKNOWN_TO_FIRST.includes(grant));
  system = await SeparateSystem.open(env, { image, grants });
  const tables = await tablesOf(await createTestDatabase());
  [next, afterNext] = await Promise.all([nextRelease(tables), releaseAfterNext(tables)]);
  await Promise.all(ROLES.map((role) => system.start(role)));
  ({ merchant, key } = await openShop(system, receiver));
  const publish = async () => {
    const startedAt = performance.now();
    await writeProduct();
    slowestWriteMs = Math.max(slowestWriteMs, performance.now() - startedAt);
    return merchant.publish();
  };
  load = new Load({
    gateways: system.gateways,
    reads: apiReads(
      key,
      ...['/v1/refund-cases', '/v1/funds/releases', '/v1/advance/requests', '/v1/webhook-subscriptions'],
    ),
    publish,
  });
}, TEMPORAL_START_MS);
afterAll(async () => {
  await load?.stop().catch(() => undefined);
  await system?.[Symbol.asyncDispose]();
  await next?.[Symbol.asyncDispose]();
  await afterNext?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

/** Creates a product and renames it, each through whichever release the load balancer chooses. */
async function writeProduct(): Promise<void> {
  const products = createClient(ProductService, system.transport);
  const call = () => newWrite(merchant.tenant);
  const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
  const first = `Course ${names.size}`;
  const { product } = await products.createProduct({ ...call(), ...kind, name: first });
  expect(product!.name).toBe(first);
  const name = `${first}, second edition`;
  await products.updateProduct({ ...call(), productId: product!.id, updateMask: { paths: ['name'] }, name });
  names.set(product!.id, name);
}

/** All tables, without partitions, which have the columns of their table. */
async function tablesOf(databaseUrl: string): Promise<string[]> {
  const rows = await query(
    databaseUrl,
    `select c.oid::regclass::text as name from pg_class c
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace::regnamespace::text
            in ('platform', 'catalog', 'refunds', 'funds', 'advances', 'webhooks', 'api_keys', 'accounts')
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Replaces the processes of a release, role by role. The new ones of a role run beside the old ones for some events. */
async function replace(old: ImageFiles, by: ImageFiles, roles: readonly Role[]): Promise<void> {
  for (const role of roles) {
    await load.sparsely(() => system.start(role, by));
    await load.moreEvents(10);
    const replaced = [...system.running].filter((process) => process.image === old && process.role === role);
    for (const process of replaced) expect(await system.stop(process)).toEqual({ exitCode: 0, stderr: '' });
  }
}

/**
 * No request has failed since the last call, every event arrives, and each running gateway knows each product by its last name.
 * @param known a failure that is accepted.
 */
async function expectNothingLost(known?: string): Promise<void> {
  await load.moreEvents(15);
  const failures = new Set(load.failures.splice(0).map(({ what }) => what.slice(0, 120)));
  expect([...failures].filter((what) => !known || !what.includes(known))).toEqual([]);
  const published = [...load.published.keys()];
  await vi.waitFor(() => expect(published.filter((id) => !deliveredAt.has(id))).toEqual([]), {
    timeout: DELIVERED_MS,
    interval: 50,
  });
  const gateways = [...system.running].filter(({ role }) => role === 'gateway');
  for (const [id, name] of [...names].slice(-20)) {
    for (const { backend } of gateways) {
      const { status, json } = await call(backend.port, `/v1/products/${id}`, { key });
      expect([status, json.name]).toEqual([200, name]);
    }
  }
}

it(
  '1.0.0 keeps serving while the database is migrated, even while a report holds a table lock',
  async () => {
    await load.moreEvents(10);
    slowestWriteMs = 0;
    await using report = await openSession(system.databaseUrl);
    await report.query('begin; select from catalog.product limit 1');
    const migrated = system.migrate(next);
    await delay(REPORT_MS);
    await report.end();
    await migrated;
    await expectNothingLost();
    expect(slowestWriteMs).toBeLessThan(REPORT_MS * 0.75);
  },
  STAGE_MS,
);

it(
  'the next release replaces it, role by role',
  async () => {
    await replace(system.image, next, ROLES);
    await expectNothingLost(KNOWN_OF_FIRST);
  },
  STAGE_MS,
);

it(
  'goes back to 1.0.0',
  async () => {
    await replace(next, system.image, ROLES.toReversed());
    await expectNothingLost(KNOWN_OF_FIRST);
  },
  STAGE_MS,
);

it(
  'goes forward again, and the release after the next removes what is no longer needed',
  async () => {
    await replace(system.image, next, ROLES);
    await expectNothingLost(KNOWN_OF_FIRST);
    await system.migrate(afterNext);
    await expectNothingLost();
  },
  STAGE_MS,
);
