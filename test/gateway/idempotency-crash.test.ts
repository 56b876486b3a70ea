import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import { newKeyRings } from '../../local/generated-secrets.ts';
import { findFreePort } from '../../local/ports.ts';
import { ApiKeyScope, ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { REPLAYED_HEADER } from '../../services/platform/rpc/call-context.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { minutesAgo } from '../support/ago.ts';
import { createTestDatabase, newTenant, newWrite, testConfig } from '../support/harness.ts';
import { type LossyProxy, startLossyProxy } from '../support/lossy-proxy.ts';
import { type Program, startProgram } from '../support/program.ts';
import { newServiceToken } from '../support/secrets.ts';
import { lockWaits, openSession } from '../support/sql.ts';
import { type Answer, call, expectProblem } from './http-call.ts';
import { listenOnFreePort } from './listen.ts';

const PATH = '/v1/webhook-subscriptions';
const CRASH_TEST_MS = 180_000;

/** Sessions that wait for a lock, except those that delete expired records, which may start at any time. */
const WRITES_THAT_WAIT = `
select 1 from pg_stat_activity
 where datname = current_database() and wait_event_type = 'Lock'
   and query not like '%delete from platform.idempotency_record%'`;

const stack = new AsyncDisposableStack();
let crashable: Crashable;
beforeAll(async () => {
  crashable = await startCrashable();
}, CRASH_TEST_MS);
afterAll(() => stack.disposeAsync());
beforeEach(() => crashable.startServices(), CRASH_TEST_MS);

/** Services as a process that can be killed, behind a gateway; proxies stand before both the services and PostgreSQL. */
async function startCrashable() {
  const databaseUrl = await createTestDatabase();
  const database = stack.use(await openSession(databaseUrl));
  const toDatabase = stack.use(await startLossyProxy(Number(new URL(databaseUrl).port)));
  const servicesPort = await findFreePort();
  const toServices = stack.use(await startLossyProxy(servicesPort));
  const { token, entry } = newServiceToken('test');
  const settings = {
    DATABASE_URL: withPort(databaseUrl, toDatabase.port),
    GRPC_PORT: `${servicesPort}`,
    OPS_PORT: '0',
    ...newKeyRings(),
    SERVICE_TOKENS: entry,
  };
  let services: Program | undefined;
  const kill = async () => {
    await services?.kill();
    services = undefined;
  };
  /** Unless they are running. */
  const startServices = async () => {
    if (services) return;
    services = startProgram('services/main.ts', settings);
    await expect.poll(services.logged, { timeout: 40_000 }).toContain('services are listening');
  };
  stack.defer(kill);
  const transport = remoteTransport(`http://127.0.0.1:${toServices.port}`, token);
  const logger = createLogger('silent');
  const app = createGateway({ environment: 'live', config: testConfig(), transport, logger });
  stack.defer(() => app.close());
  const port = await listenOnFreePort(app);
  return { databaseUrl, database, toDatabase, toServices, startServices, kill, transport, port };
}

type Crashable = Awaited<ReturnType<typeof startCrashable>>;

function withPort(url: string, port: number): string {
  const other = new URL(url);
  other.port = String(port);
  return other.href;
}

/** One write of each world, the same at every call: a merchant's creation, and an opening over RPC. */
async function twoWrites({ database, transport, port }: Crashable) {
  const tenant = newTenant();
  const { key } = await createClient(ApiKeyService, transport).issueApiKey({
    ...newWrite(tenant),
    name: 'Shop',
    scopes: [ApiKeyScope.WEBHOOKS_MANAGE],
  });
  const body = { url: `https://93.184.215.14/${randomUUID()}`, eventTypes: ['refund.requested.v1'] };
  const opening = {
    ...tenant,
    idempotencyKey: randomUUID(),
    paymentIntentId: randomUUID(),
    amountMinor: 100n,
    initiator: RefundInitiator.CUSTOMER,
    reason: 'broken',
    paidAmountMinor: 100n,

    paidAt: minutesAgo(1),
    window: { case: 'refundWindowDays', value: 30 } as const,
  };
  const refunds = createClient(RefundCaseService, transport);
  const count = async (table: string) =>
    (await database.query(`select 1 from ${table} where merchant_id = $1`, [tenant.merchantId])).rowCount;
  return {
    merchantId: tenant.merchantId,
    /** Makes the gateway cache the key, so that only the creation itself is in progress. */
    warmUp: () => call(port, PATH, { key }),
    create: () => call(port, PATH, { key, body, headers: { 'idempotency-key': 'the-same' } }),
    async open() {
      let replayed: string | null = null;
      const onHeader = (headers: Headers) => {
        replayed = headers.get(REPLAYED_HEADER);
      };
      const { refundCase } = await refunds.openRefundCase(opening, { onHeader });
      return { refundCase: refundCase!, replayed: replayed as string | null };
    },
    made: async () => [await count('webhooks.subscription'), await count('refunds.refund_case')],
  };
}

const replayedOf = ({ headers }: Answer) => headers['idempotency-replayed'];

test.each<[moment: string, lose: (crashable: Crashable) => LossyProxy]>([
  [
    'had committed and did not know it yet',
    ({ toDatabase }) => {
      toDatabase.loseAnswersTo(/insert into platform\.idempotency_record[\s\S]*commit/i);
      return toDatabase;
    },
  ],
  [
    'had answered and the answer was on its way',
    ({ toServices }) => {
      toServices.loseAnswersTo(/CreateWebhookSubscription|OpenRefundCase/);
      return toServices;
    },
  ],
])(
  'writes of services that were killed when they %s are replayed',
  async (_moment, lose) => {
    const { merchantId, warmUp, create, open, made } = await twoWrites(crashable);
    await warmUp();
    const proxy = lose(crashable);
    const lost = Promise.allSettled([create(), open()]);
    await expect.poll(() => proxy.losses, { timeout: 40_000 }).toBe(2);
    await expect.poll(made).toEqual([1, 1]);
    await crashable.kill();
    const [unanswered, unopened] = await lost;
    expectProblem((unanswered as PromiseFulfilledResult<Answer>).value, 'SERVICE_UNAVAILABLE');
    expect(unopened.status).toBe('rejected');

    proxy.heal();
    await crashable.startServices();
    const [first, again] = [await create(), await create()];
    expect([first.status, replayedOf(first)]).toEqual([201, 'true']);
    expect(again.text).toBe(first.text);
    const opened = await open();
    expect(opened.replayed).toBe('true');
    const { rows } = await crashable.database.query(
      `select (select id from webhooks.subscription where merchant_id = $1),
              (select id from refunds.refund_case where merchant_id = $1) as case_id`,
      [merchantId],
    );
    expect([first.json.id, opened.refundCase.id]).toEqual([rows[0].id, rows[0].case_id]);
    expect(await made()).toEqual([1, 1]);
  },
  CRASH_TEST_MS,
);

test(
  'writes of services that were killed before the commit happen once when repeated',
  async () => {
    const { warmUp, create, open, made } = await twoWrites(crashable);
    await warmUp();
    await using lock = await openSession(crashable.databaseUrl);
    await lock.query('begin');
    await lock.query('lock table platform.idempotency_record in exclusive mode');
    const lost = Promise.allSettled([create(), open()]);
    const waiting = () => lockWaits(crashable);
    const waitingWrites = async () => (await crashable.database.query(WRITES_THAT_WAIT)).rowCount;
    const endedEarly = lost.then((ends) => {
      throw new Error(`the writes ended before they could be killed: ${inspect(ends)}`);
    });
    await Promise.race([expect.poll(waitingWrites).toBe(2), endedEarly]);
    await crashable.kill();
    await lost;

    // The lock is still held, and PostgreSQL aborts transactions whose clients are gone.
    await expect.poll(waiting, { timeout: 40_000 }).toEqual([]);
    await crashable.startServices();
    await lock.query('rollback');
    expect(await made()).toEqual([0, 0]);
    const first = await create();
    expect([first.status, replayedOf(first)]).toEqual([201, undefined]);
    expect((await open()).replayed).toBeNull();
    expect((await create()).text).toBe(first.text);
    expect(await made()).toEqual([1, 1]);
  },
  CRASH_TEST_MS,
);
