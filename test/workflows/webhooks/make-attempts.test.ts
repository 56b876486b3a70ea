import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type AttemptReport,
  DeliveryStatus,
  DispatchService,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  closeGuards,
  createEnvironmentGuards,
} from '../../../services/platform/egress/environment-guards.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { AttemptReporter } from '../../../workflows/webhooks/attempt-reporter.ts';
import { EagerAttempts } from '../../../workflows/webhooks/eager-attempts.ts';
import { makeAttempts } from '../../../workflows/webhooks/make-attempts.ts';
import { OpenAttempts } from '../../../workflows/webhooks/open-attempts.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { startReceiver } from '../../support/tls-receiver.ts';
import { SECRET } from './memory-dispatch.ts';

const guards = createEnvironmentGuards(testConfig(loopbackSettings()));
afterAll(() => closeGuards(guards));

const LIMIT = 10;
const SLOW_MS = 400;

/** A worker's parts over a service that takes what `take` takes; every delivery is sent to the port, by its id. */
function worker(port: number, take: (reports: readonly AttemptReport[]) => void) {
  const transport = createRouterTransport(({ service }) =>
    service(DispatchService, {
      getAttempt: ({ attempts }) => ({
        answers: attempts.map(({ deliveryId }) => ({
          deliveryId,
          answer: {
            case: 'send' as const,
            value: {
              ...{ attemptNumber: 1, generation: 1n, subscriptionId: randomUUID(), eventId: randomUUID() },
              ...{ environment: Environment.TEST, url: `https://localhost:${port}/${deliveryId}` },
              ...{ body: Buffer.from('{}'), signingSecrets: [SECRET] },
            },
          },
        })),
      }),
      reportAttempts: ({ reports }) => {
        take(reports);
        const outcomes = reports.map(({ deliveryId }) => ({ deliveryId, status: DeliveryStatus.SUCCEEDED }));
        return { outcomes };
      },
    }),
  );
  const dispatch = createClient(DispatchService, transport);
  const logger = createLogger('silent');
  const attempts = new OpenAttempts({ guards, logger, limit: LIMIT, attemptTimeoutMs: 5_000 });
  const reporter = new AttemptReporter({ dispatch, attempts, logger });
  return { dispatch, attempts, reporter, handOverAfterMs: 2_000 };
}

const startSlowAndQuick = () =>
  startReceiver(async (request, response) => {
    if (request.url === '/slow') await delay(SLOW_MS);
    response.writeHead(204).end();
  });

describe('the attempts of a batch', () => {
  it('are reported as they end: a slow one keeps no other from being known as delivered', async () => {
    const quickIsReported = Promise.withResolvers<void>();
    await using receiver = await startReceiver(async (request, response) => {
      if (request.url === '/slow') await quickIsReported.promise;
      response.writeHead(204).end();
    });
    const taken: string[][] = [];
    const deps = worker(receiver.port, (reports) => {
      taken.push(reports.map(({ deliveryId }) => deliveryId));
      quickIsReported.resolve();
    });
    const outcomes = await makeAttempts(deps, [{ deliveryId: 'slow' }, { deliveryId: 'quick' }]);
    expect(taken).toEqual([['quick'], ['slow']]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      DeliveryStatus.SUCCEEDED,
      DeliveryStatus.SUCCEEDED,
    ]);
    expect(deps.attempts.capacity).toBe(LIMIT);
  });

  it('are all reported in the end, and release their capacity, when the first report is refused', async () => {
    await using receiver = await startSlowAndQuick();
    const taken = new Set<string>();
    let calls = 0;
    const deps = worker(receiver.port, (reports) => {
      calls += 1;
      if (calls === 1) throw new ConnectError('not leased', Code.FailedPrecondition);
      for (const { deliveryId } of reports) taken.add(deliveryId);
    });
    const made = makeAttempts(deps, [{ deliveryId: 'slow' }, { deliveryId: 'quick' }]);
    await expect(made).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await vi.waitFor(() => expect(taken).toEqual(new Set(['slow', 'quick'])), 40_000);
    await vi.waitFor(() => expect(deps.attempts.capacity).toBe(LIMIT), 40_000);
  });
});

describe('the first attempts of a batch', () => {
  it('that have started are joined once; others, and those asked for again, are made', async () => {
    await using receiver = await startSlowAndQuick();
    const attempts = new EagerAttempts(worker(receiver.port, () => undefined));
    attempts.start('batch', ['slow']);
    attempts.start('batch', ['quick-1']);
    const outcomes = await attempts.join('batch', ['slow', 'quick-1', 'quick-2']);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(3).fill(DeliveryStatus.SUCCEEDED));
    expect(receiver.requests.map(({ path }) => path).sort()).toEqual(['/quick-1', '/quick-2', '/slow']);
    await attempts.join('batch', ['quick-1']);
    expect(receiver.requests).toHaveLength(4);
  });
});
