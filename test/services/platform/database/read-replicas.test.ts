import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Transport } from '@connectrpc/connect';
import { CompiledQuery } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { GATEWAY_CALLER } from '../../../../gateway/clients.ts';
import { newKeyRings } from '../../../../local/generated-secrets.ts';
import { declaredServices } from '../../../../local/grants-table.ts';
import { type EmbeddedPostgres, startPostgres } from '../../../../local/postgres/postgres-server.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { ProductService, ProductType } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { Database } from '../../../../services/platform/database/database.ts';
import { migrate } from '../../../../services/platform/database/migrate.ts';
import { overTransport } from '../../../architecture/over-transport.ts';
import { SCENARIOS } from '../../../architecture/rpc-scenarios.ts';
import { DASHBOARD_SETTINGS, dashboardOn, Visitor } from '../../../gateway/dashboard/dashboard-fixture.ts';
import { call } from '../../../gateway/http-call.ts';
import { startListener } from '../../../gateway/listen.ts';
import { temporaryDataFolder } from '../../../local/temporary-data-folder.ts';
import { postgresVictim } from '../../../reconciliation/victims.ts';
import { startStandby } from '../../../support/base-backup.ts';
import { newKey, newTenant, newWrite, startHarness, type TestHarness } from '../../../support/harness.ts';
import { type Scraped, scrape } from '../../../support/scrape.ts';
import { query } from '../../../support/sql.ts';
import { newUrl } from '../../webhooks/webhooks-fixture.ts';

const MAX_LAG_MS = 2_000;
/** Of a request to the public API. */
const DEADLINE_MS = 10_000;
/** Longer than between two checks of a replica. */
const CHECK_INTERVAL_MS = 1_100;
const SOON = { timeout: 30_000, interval: 100 };
const LISTS = /^(List|Scan|Search)/;
const COURSE = { name: 'Course', productType: ProductType.ONE_TIME, refundWindowDays: 7 };
const raw = <Row>(sql: string) => CompiledQuery.raw(sql) as CompiledQuery<Row>;
const FROM = raw<{ from: string }>(
  `select case when pg_is_in_recovery() then 'replica' else 'primary' end as "from"`,
);

const warnings: string[] = [];
const stack = new AsyncDisposableStack();
const processes = stack.use(new AsyncDisposableStack());
const tenant = newTenant();
const primaryFolder = stack.use(temporaryDataFolder()).folder;
let primary: EmbeddedPostgres;
let replica: EmbeddedPostgres;
/** Two services processes of one database; people and programs write in one and list in the other. */
let harness: TestHarness;
let other: TestHarness;

beforeAll(async () => {
  primary = await startPostgres({ folder: primaryFolder, log: () => undefined, throwaway: true });
  stack.defer(() => primary.stop());
  // Test servers acknowledge commits before they flush them.
  await query(primary.url, 'alter role payments set synchronous_commit = on');
  await migrate(primary.url);
  replica = await startStandby(primary, primaryFolder, stack.use(temporaryDataFolder()).folder);
  stack.defer(() => replica.stop());
  const settings = {
    ...DASHBOARD_SETTINGS,
    API_KEY_PEPPERS: newKeyRings().API_KEY_PEPPERS,
    DATABASE_REPLICA_URLS: replica.url,
    DATABASE_REPLICA_MAX_LAG: `${MAX_LAG_MS}ms`,
  };
  const start = () => startHarness(settings, undefined, primary.url);
  harness = processes.adopt(await start(), close);
  other = processes.adopt(await start(), close);
}, 120_000);
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  await vi.waitFor(async () => expect((await listed()).from).toBe('replica'), SOON);
}, SOON.timeout);

const close = (each: TestHarness) => each.close();
const productsOf = ({ transports }: TestHarness) => createClient(ProductService, transports.grpc);

async function newProduct(): Promise<string> {
  const { product } = await productsOf(harness).createProduct({ ...newWrite(tenant), ...COURSE });
  return product!.id;
}

/** A list, and which server answered it. */
async function listed() {
  const list = () => productsOf(other).listProducts({ ...tenant, pageSize: 100 });
  const { answer, from } = await observed(list);
  return { ids: answer.products.map(({ id }) => id), from };
}

/** An answer, and which server answered the lists for it. */
async function observed<Answer>(ask: () => Promise<Answer>) {
  const before = await scrape();
  const answer = await ask();
  return { answer, from: outcomesBetween(before, await scrape()).join(' ') };
}

const outcomesBetween = (before: Scraped, after: Scraped) =>
  ['replica', 'unused', 'behind', 'failed'].filter((outcome) => {
    const sample = `payments_database_list_reads_total{outcome="${outcome}"}`;
    return after(sample) !== before(sample);
  });

/** The value of the metric; undefined if no replica is configured. */
async function isUsed(): Promise<boolean | undefined> {
  const used = (await scrape())(`payments_database_replica_used{replica="127.0.0.1:${replica.port}"}`);
  return used === undefined ? undefined : used === 1;
}

async function pauseReplay(): Promise<void> {
  await query(replica.url, 'select pg_wal_replay_pause()');
  const paused = async () =>
    (await query(replica.url, 'select pg_get_wal_replay_pause_state() as state'))[0].state === 'paused';
  await expect.poll(paused, SOON).toBe(true);
}

it('the replica answers lists, which include every write that any process has acknowledged', async () => {
  for (let round = 0; round < 10; round += 1) {
    const ids = await Promise.all(Array.from({ length: 5 }, newProduct));
    const list = await listed();
    expect(list.ids).toEqual(expect.arrayContaining(ids));
    expect(list.from).toBe('replica');
  }
});

/**
 * Left to the primary: reads that decide about a quote, a mail or a workflow, and the event feed, whose order only
 * the primary knows.
 */
const FROM_PRIMARY = [
  'ListAccountInvitations',
  'ListAdvanceableInstallments',
  'ListDeliveryRecords',
  'ListEventFeed',
  'ListEventTypes',
  'ListMailRecipients',
];

it('the replica answers every list, search and scan that is not left to the primary', async () => {
  const { inProcess } = harness.transports;
  const answered = new Map<string, string[]>();
  const recorded: Transport = {
    ...inProcess,
    async unary(method, ...call) {
      if (!LISTS.test(method.name)) return inProcess.unary(method, ...call);
      const before = await scrape();
      const answer = await inProcess.unary(method, ...call);
      const outcomes = outcomesBetween(before, await scrape());
      answered.set(method.name, [...(answered.get(method.name) ?? []), ...outcomes]);
      return answer;
    },
  };
  for (const play of Object.values(SCENARIOS)) await play(overTransport(harness, recorded));
  const lists = (await declaredServices()).flatMap(({ methods }) => methods).map(({ name }) => name);
  for (const name of lists.filter((each) => LISTS.test(each) && !FROM_PRIMARY.includes(each))) {
    expect(answered.get(name), name).toContain('replica');
    expect(answered.get(name), name).not.toContain('failed');
  }
  for (const name of FROM_PRIMARY) expect(answered.get(name) ?? [], name).toEqual([]);
});

it('the primary answers lists until a lagging replica has caught up', async () => {
  await pauseReplay();
  try {
    const id = await newProduct();
    const late = await listed();
    expect(late.ids).toContain(id);
    expect(['behind', 'unused']).toContain(late.from);
    // The next one does not wait.
    expect(await listed()).toEqual({ ids: late.ids, from: 'unused' });
    await expect.poll(isUsed, SOON).toBe(false);
  } finally {
    await query(replica.url, 'select pg_wal_replay_resume()');
  }
  await expect.poll(async () => (await listed()).from, SOON).toBe('replica');
});

/** The dashboard and the public API of a process, over HTTP. */
async function openHttp(each: TestHarness) {
  const { config, services } = each;
  const { port } = await startListener({ config, transport: services.transportFor(GATEWAY_CALLER) });
  const dashboard = await dashboardOn(each);
  onTestFinished(() => dashboard.close());
  return { dashboard, apiPort: port };
}

it.for(['follows', 'is paused'])(
  'over HTTP, a program and a person list what they have just written while the replica %s',
  async (state) => {
    const [here, there] = [await openHttp(harness), await openHttp(other)];
    const shop = newTenant();
    const { key } = await createClient(ApiKeyService, harness.transports.inProcess).issueApiKey({
      ...newWrite(shop),
      name: 'Shop',
      scopes: [ApiKeyScope.WEBHOOKS_MANAGE],
    });
    const developer = await here.dashboard.signIn({ [shop.merchantId]: Role.DEVELOPER });
    const developerThere = new Visitor(there.dashboard.baseUrl, developer.token, developer.accountId);
    const [apiPath, page] = ['/v1/webhook-subscriptions', `/live/${shop.merchantId}/webhooks`];
    const [ofProgram, ofPerson] = [newUrl(), newUrl()];
    if (state === 'is paused') await pauseReplay();
    try {
      const created = await call(here.apiPort, apiPath, {
        key,
        headers: { 'idempotency-key': newKey() },
        body: { url: ofProgram, eventTypes: ['payment.succeeded.v1'] },
      });
      expect(created.status).toBe(201);
      const list = await observed(() => call(there.apiPort, apiPath, { key }));
      expect(list.answer.json.data).toMatchObject([{ url: ofProgram }]);
      await developer.submit(`${page}/new`, '/webhooks/new', {
        url: ofPerson,
        event_types: 'payment.succeeded.v1',
      });
      const shown = await observed(() => developerThere.get(page));
      expect(shown.answer.text).toContain(ofPerson);
      for (const { from } of [list, shown]) {
        if (state === 'follows') expect(from).toBe('replica');
        else expect(from).not.toContain('replica');
      }
    } finally {
      await query(replica.url, 'select pg_wal_replay_resume()');
    }
  },
);

it.for(['killed', 'silent'])(
  'no list fails while the replica is %s, and it is used again after',
  { timeout: 60_000 },
  async (how) => {
    const id = await newProduct();
    const victim = postgresVictim(replica);
    const stop = new AbortController();
    const list = async () => {
      for (let lists = 1; ; lists += 1) {
        const startedAt = performance.now();
        const { products } = await productsOf(other).listProducts({ ...tenant, pageSize: 100 });
        expect(products.map((product) => product.id)).toContain(id);
        expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS);
        if (stop.signal.aborted) return lists;
      }
    };
    const listing = Promise.all([list(), list(), list(), list()]);
    try {
      if (how === 'killed') await victim.kill();
      else victim.signal('SIGSTOP');
      await expect.poll(isUsed, { ...SOON, interval: 20 }).toBe(false);
      expect(await other.services.ping()).toBe('up');
    } finally {
      victim.signal('SIGCONT');
      await victim.start();
    }
    await expect.poll(isUsed, SOON).toBe(true);
    stop.abort();
    for (const lists of await listing) expect(lists).toBeGreaterThan(1);
  },
);

async function openDatabase(url: string, replicaUrl: string): Promise<Database> {
  const replicas = {
    urls: [replicaUrl],
    maxLagMs: MAX_LAG_MS,
    logger: pino({}, { write: (line) => void warnings.push(line) }),
  };
  const options = { poolSize: 2, preparedStatements: true, entities: [], replicas };
  return stack.adopt(await Database.open({ ...options, url }), (database) => database.close());
}

it('the primary answers a read that the replica cancels, and the replica stays in use', async () => {
  const database = await openDatabase(primary.url, replica.url);
  const from = async () => (await database.readList(FROM))[0]!.from;
  await expect.poll(from, SOON).toBe('replica');
  const slow = raw<{ from: string }>(
    `select case when pg_is_in_recovery() then pg_sleep(3)::text else 'primary' end as "from"`,
  );
  const reading = database.readList(slow);
  const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where query like '%pg_sleep(3)%' and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await query(replica.url, cancel)).length, SOON).toBe(1);
  expect(await reading).toEqual([{ from: 'primary' }]);
  expect(await from()).toBe('replica');
});

it('a replica restored from an older backup answers lists once it has caught up', async () => {
  const [folder, backup] = [stack.use(temporaryDataFolder()).folder, stack.use(temporaryDataFolder()).folder];
  const fromBackup = await startStandby(primary, primaryFolder, backup, { recovery_min_apply_delay: '1h' });
  await fromBackup.stop();
  const standby = await startStandby(primary, primaryFolder, folder);
  await query(primary.url, 'create table news ()');
  const database = await openDatabase(primary.url, standby.url);
  const news = raw<{ from: string; news: number }>(
    `select (${FROM.sql}), (select count(*)::int from pg_class where relname = 'news') as news`,
  );
  await expect.poll(() => database.readList(news), SOON).toEqual([{ from: 'replica', news: 1 }]);
  await standby.stop();
  backup.write('postgres.json', folder.read('postgres.json')!);
  const restored = await startPostgres({ folder: backup, log: () => undefined, throwaway: true });
  stack.defer(() => restored.stop());
  expect(restored.url).toBe(standby.url);
  expect(await query(restored.url, news.sql)).toEqual([{ from: 'replica', news: 0 }]);
  for (let checks = 0; checks < 3; checks += 1) {
    expect(await database.readList(news)).toEqual([{ from: 'primary', news: 1 }]);
    await delay(CHECK_INTERVAL_MS);
  }
  await query(restored.url, 'alter system set recovery_min_apply_delay = 0', 'select pg_reload_conf()');
  await expect.poll(() => database.readList(news), SOON).toEqual([{ from: 'replica', news: 1 }]);
}, 120_000);

// The last one: it ends the primary.
it('a replica that holds what a failover has lost is not used', async () => {
  const { folder } = stack.use(temporaryDataFolder());
  const successor = await startStandby(primary, primaryFolder, folder);
  const rowsOf = ({ url }: EmbeddedPostgres) => query(url, 'select from lost').catch(() => undefined);
  await query(primary.url, 'create table lost ()');
  await expect.poll(() => rowsOf(successor), SOON).toEqual([]);
  await successor.stop();
  const insert = 'insert into lost default values';
  await query(primary.url, insert, 'select pg_switch_wal()', insert);
  await expect.poll(async () => (await rowsOf(replica))?.length, SOON).toBe(2);
  await processes.disposeAsync();
  await primary.stop();
  const promoted = await startPostgres({ folder, log: () => undefined, throwaway: true });
  stack.defer(() => promoted.stop());
  await query(promoted.url, 'select pg_promote()');
  const [{ lsn }] = await query(promoted.url, 'select pg_current_wal_flush_lsn() as lsn');
  const isAhead = `select pg_last_wal_replay_lsn() > '${lsn}'::pg_lsn as "isAhead"`;
  expect(await query(replica.url, isAhead)).toEqual([{ isAhead: true }]);
  const database = await openDatabase(promoted.url, replica.url);
  await expect.poll(() => warnings.join(''), SOON).toContain('has not followed a failover');
  const count = raw<{ lost: number }>('select count(*)::int as lost from lost');
  expect(await database.readList(count)).toEqual([{ lost: 0 }]);
  expect(await isUsed()).toBe(false);
}, 120_000);
