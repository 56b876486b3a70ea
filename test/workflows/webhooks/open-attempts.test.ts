import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { afterAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { AttemptSendSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  closeGuards,
  createEnvironmentGuards,
} from '../../../services/platform/egress/environment-guards.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { OpenAttempts } from '../../../workflows/webhooks/open-attempts.ts';
import { testConfig } from '../../support/harness.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';

const guards = createEnvironmentGuards(testConfig(loopbackSettings()));
afterAll(() => closeGuards(guards));

const openAttempts = () =>
  new OpenAttempts({ guards, logger: createLogger('silent'), limit: 3, attemptTimeoutMs: 5_000 });

const order = (receiver: Receiver, overrides: { attemptNumber?: number; environment?: Environment } = {}) =>
  create(AttemptSendSchema, {
    ...{ attemptNumber: 1, generation: 1n, subscriptionId: randomUUID(), eventId: randomUUID() },
    ...{ environment: Environment.TEST, url: `https://localhost:${receiver.port}/`, body: Buffer.from('{}') },
    signingSecrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
    ...overrides,
  });

describe('open attempts', () => {
  it('join an attempt that is asked for again, and send the next one', async () => {
    await using receiver = await startReceiver();
    const attempts = openAttempts();
    const first = attempts.start('delivery', order(receiver));
    expect(attempts.start('delivery', order(receiver))).toBe(first);
    await first.ended;
    expect(attempts.start('delivery', order(receiver))).toBe(first);
    attempts.close(first);
    const second = attempts.start('delivery', order(receiver, { attemptNumber: 2 }));
    expect(await second.ended).toMatchObject({ httpStatus: 204 });
    expect(receiver.requests).toHaveLength(2);
  });

  it('count what is under way or not yet reported against the limit', async () => {
    await using receiver = await startReceiver();
    const attempts = openAttempts();
    const started = ['a', 'b', 'c'].map((id) => attempts.start(id, order(receiver)));
    await Promise.all(started.map(({ ended }) => ended));
    expect(attempts.capacity).toBe(0);
    for (const attempt of started) attempts.close(attempt);
    expect(attempts.capacity).toBe(3);
  });

  it('reserve capacity for what is about to start', () => {
    const attempts = openAttempts();
    const [one, two] = [attempts.reserve(1), attempts.reserve(2)];
    expect(attempts.capacity).toBe(0);
    one();
    expect(attempts.capacity).toBe(1);
    two();
    expect(attempts.capacity).toBe(3);
  });

  it('end as aborted when the process gives up', async () => {
    await using receiver = await startReceiver(() => undefined);
    const attempts = openAttempts();
    const { ended } = attempts.start('delivery', order(receiver));
    setTimeout(() => attempts.abort(), 100);
    expect(await ended).toMatchObject({ failureKind: 'ABORTED' });
  });

  it('never reach a private address for the live environment', async () => {
    await using receiver = await startReceiver();
    const { ended } = openAttempts().start('delivery', order(receiver, { environment: Environment.LIVE }));
    expect(await ended).toMatchObject({ failureKind: 'EGRESS_DENIED' });
    expect(receiver.requests).toEqual([]);
  });

  it('record a secret that cannot sign as a failed attempt, and say so in the log', async () => {
    await using receiver = await startReceiver();
    const faulty = create(AttemptSendSchema, { ...order(receiver), signingSecrets: ['nonsense'] });
    const { ended } = openAttempts().start('delivery', faulty);
    expect(await ended).toMatchObject({ failureKind: 'PROTOCOL' });
  });
});
