import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startDemoConnector } from '../../local/demo/connector/demo-connector.ts';
import { findFreePort } from '../../local/ports.ts';
import { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  RefundCaseService,
  RefundInitiator,
  RefundCaseStatus as Status,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { bearer } from '../../services/platform/rpc/remote-transport.ts';
import { makeFolder } from '../local/temporary-data-folder.ts';
import { fundsCaller } from '../services/funds/funds-caller.ts';
import { createTestDatabase, newWrite, startHarness } from '../support/harness.ts';
import { startProgram } from '../support/program.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace, testWorkflowBundles } from '../support/temporal-namespace.ts';

/** With a demo.json, `npm start` writes no demo data, which takes longer than everything else. */
const EMPTY_DEMO_FILE = JSON.stringify({ live: {}, sandbox: {}, other: {}, dashboard: { email: '' } });
const WAIT_MS = 180_000;
const START_ATTEMPTS = 3;
const READY = '\nready: Ctrl-C stops everything\n';

const tenant = { merchantId: randomUUID(), environment: Environment.TEST };
let temporal: TestNamespace;
let folder: ReturnType<typeof makeFolder>;
let databaseUrl: string;
let start: ChildProcess;
/** To the services of `npm start`, or those that run after it. */
let transport: Transport;

beforeAll(async () => {
  temporal = await createTestNamespace();
  databaseUrl = await createTestDatabase();
  folder = makeFolder();
  writeFileSync(join(folder.path, 'demo.json'), EMPTY_DEMO_FILE);
  await npmStart();
}, TEMPORAL_START_MS);
afterAll(async () => {
  const isRunning = start?.exitCode === null && start.signalCode === null;
  if (isRunning && start.kill('SIGTERM')) await once(start, 'exit');
  folder?.remove();
  await temporal?.[Symbol.asyncDispose]();
});

/** Starts the real process; again when a port that was free has been taken since. */
async function npmStart(): Promise<void> {
  let output = '';
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
    output = await startOnce();
    if (output.includes(READY)) {
      const { grpc } = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'));
      transport = createGrpcTransport({ baseUrl: grpc.baseUrl, interceptors: [bearer(grpc.token)] });
      return;
    }
  }
  throw new Error(`npm start ended before it was ready: ${output}`);
}

/** With a demo connector as its providers. @returns what it wrote until it was ready or ended. */
async function startOnce(): Promise<string> {
  const ports = { LIVE_PORT: '0', SANDBOX_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', DASHBOARD_PORT: '0' };
  const env = {
    ...process.env,
    ...ports,
    ...testWorkflowBundles(),
    DEMO_RECEIVER_PORT: '0',
    OIDC_PORT: String(await findFreePort()),
    DATA_DIR: folder.path,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    REFUND_EXECUTION: 'manual',
  };
  const program = startProgram('local/start.ts', env);
  start = program.child;
  await vi.waitFor(() => {
    if (program.child.exitCode === null) expect(program.logged()).toContain(READY);
  }, WAIT_MS);
  return program.logged() + program.errors();
}

const refundsClient = () => createClient(RefundCaseService, transport);
const advancesClient = () => createClient(AdvanceService, transport);
const write = () => newWrite(tenant);

/** A refund of this amount whose execution is started. */
async function refund(amountMinor: bigint): Promise<string> {
  const initiator = RefundInitiator.MERCHANT;
  const opening = { paymentIntentId: randomUUID(), reason: 'does not fit', initiator };
  const amounts = { amountMinor, paidAmountMinor: amountMinor };
  const { refundCase } = await refundsClient().openRefundCase({ ...write(), ...opening, ...amounts });
  await refundsClient().startRefund({ ...write(), refundCaseId: refundCase!.id });
  return refundCase!.id;
}

const caseOf = async (refundCaseId: string) =>
  (await refundsClient().getRefundCase({ ...tenant, refundCaseId })).refundCase!;

const becomes = (id: string, status: Status, submissionStatus: string) =>
  vi.waitFor(async () => expect(await caseOf(id)).toMatchObject({ status, provider: { submissionStatus } }), {
    timeout: WAIT_MS,
    interval: 200,
  });

it(
  'reports the outcome that belongs to a refund’s amount',
  async () => {
    await fundsCaller(transport, tenant).sell({ gross: 100_000n, instant: true });
    const succeeds = await refund(1_000n);
    const fails = await refund(1_001n);
    const timesOut = await refund(1_003n);
    const staysSilent = await refund(1_004n);
    const refused = await refund(1_005n);
    await becomes(succeeds, Status.SUCCEEDED, 'settled');
    await becomes(fails, Status.FAILED, 'rejected');
    await becomes(refused, Status.FAILED, 'the account is closed');
    await becomes(timesOut, Status.SUCCEEDED, 'settled');
    await becomes(staysSilent, Status.PROCESSING, 'accepted');
    const { provider } = await caseOf(staysSilent);
    expect(provider).toMatchObject({ refundId: expect.any(String), submittedAt: expect.anything() });
    expect((await caseOf(succeeds)).provider!.refundId).not.toBe(provider!.refundId);
  },
  2 * WAIT_MS,
);

it(
  'accepts payouts at once, after some refusals or never, by their amount',
  async () => {
    const { sell } = fundsCaller(transport, tenant);
    await advancesClient().setAdvanceRate({ ...write(), monthlyRateBps: 0 });
    const ids: string[] = [];
    for (const gross of [2_000n, 2_001n, 2_002n]) {
      await sell({ gross });
      const { quote } = await advancesClient().quoteAdvance(write());
      const { advanceRequest } = await advancesClient().requestAdvance({ ...write(), quoteId: quote!.id });
      const { id: advanceRequestId } = advanceRequest!;
      await advancesClient().approveAdvance({ ...write(), advanceRequestId });
      await advancesClient().releaseAdvance({ ...write(), advanceRequestId });
      ids.push(advanceRequestId);
    }
    const payoutOf = async (advanceRequestId: string) =>
      (await advancesClient().getAdvanceRequest({ ...tenant, advanceRequestId })).advanceRequest!.payout;
    const [atOnce, later, never] = ids as [string, string, string];
    await vi.waitFor(
      async () => {
        expect(await payoutOf(atOnce)).toMatchObject({ attempts: 1, acceptedAt: expect.anything() });
        expect(await payoutOf(later)).toMatchObject({ attempts: 4, acceptedAt: expect.anything() });
        const { items } = await advancesClient().listProviderQueue({ ...tenant, stuckOnly: true });
        expect(items.map(({ advanceRequest }) => advanceRequest!.id)).toEqual([never]);
      },
      { timeout: WAIT_MS, interval: 500 },
    );
    expect(await payoutOf(never)).toMatchObject({ lastReason: 'the bank account is not confirmed' });
  },
  2 * WAIT_MS,
);

it(
  'reports an outcome that falls due after it was killed',
  async () => {
    await using stack = new AsyncDisposableStack();
    await fundsCaller(transport, tenant).sell({ gross: 100_000n, instant: true });
    const failsLate = await refund(1_002n);
    await becomes(failsLate, Status.SUCCEEDED, 'settled');
    start.kill('SIGKILL');
    await once(start, 'exit');
    // What `npm start` starts of it, without all the rest.
    const harness = await startHarness({}, undefined, databaseUrl);
    stack.defer(() => harness.close());
    const file = join(folder.path, 'demo-connector.db');
    const connector = await startDemoConnector(file, createLogger('fatal'));
    stack.defer(() => connector.stop());
    connector.reportTo(harness.baseUrl, harness.token);
    transport = harness.transports.grpc;
    await becomes(failsLate, Status.FAILED, 'returned');
  },
  2 * WAIT_MS,
);
