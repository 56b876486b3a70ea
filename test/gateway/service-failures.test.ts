import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ProblemCode } from '../../gateway/problems/problem-types.ts';
import { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { DomainError, type ErrorKind } from '../../services/platform/errors.ts';
import { toConnectError } from '../../services/platform/rpc/connect-errors.ts';
import { remoteTransport } from '../../services/platform/rpc/remote-transport.ts';
import { scrape } from '../support/scrape.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call, expectProblem } from './http-call.ts';
import { startListener } from './listen.ts';

let failure: () => unknown;
const gateways = await startGateways({ RATE_LIMIT_LIVE: '100000', SERVICES: 'api-keys' }, (router) => {
  router.service(ProductService, {
    getProduct: async () => {
      throw failure();
    },
  });
});
const key = (await newMerchant(gateways)).keys.live;
afterAll(() => gateways.close());

const ask = (thrown: () => unknown) => {
  failure = thrown;
  return call(gateways.ports.live, `/v1/products/${randomUUID()}`, { key });
};

const refusal = (kind: ErrorKind, reason: string, metadata: Record<string, string> = {}) =>
  toConnectError(new DomainError(kind, reason, 'sesame', metadata));

describe('the failure of a service', () => {
  it.each<[what: string, code: ProblemCode, thrown: () => unknown]>([
    ['unavailable', 'SERVICE_UNAVAILABLE', () => new ConnectError('sesame', Code.Unavailable)],
    ['without its database', 'SERVICE_UNAVAILABLE', () => refusal('UNAVAILABLE', 'DATABASE_UNAVAILABLE')],
    ['overloaded', 'SERVICE_UNAVAILABLE', () => new ConnectError('sesame', Code.ResourceExhausted)],
    ['too slow', 'DEADLINE_EXCEEDED', () => new ConnectError('sesame', Code.DeadlineExceeded)],
    ['internal', 'INTERNAL_ERROR', () => new ConnectError('sesame', Code.Internal)],
    ['not implemented', 'INTERNAL_ERROR', () => new ConnectError('sesame', Code.Unimplemented)],
    [
      'a rejection of our own token',
      'INTERNAL_ERROR',
      () => refusal('UNAUTHENTICATED', 'SERVICE_TOKEN_INVALID'),
    ],
    ['a missing grant', 'INTERNAL_ERROR', () => refusal('PERMISSION_DENIED', 'GRANT_MISSING')],
    ['an unknown reason', 'INTERNAL_ERROR', () => refusal('FAILED_PRECONDITION', 'PRODUCT_STATE')],
  ])('%s is %s and reveals nothing about its cause', async (_what, code, thrown) => {
    const answer = await ask(thrown);
    expectProblem(answer, code);
    expect(answer.text).not.toContain('sesame');
  });
});

it('requests beyond API_MAX_CONCURRENT_REQUESTS are refused at once, until others have ended', async () => {
  let release = Promise.withResolvers<void>();
  let running = 0;
  const busy = await startGateways(
    { SERVICES: 'api-keys', API_MAX_CONCURRENT_REQUESTS: '2', RATE_LIMIT_LIVE: '100000' },
    (router) => {
      router.service(ProductService, {
        async getProduct() {
          running += 1;
          await release.promise;
          throw refusal('NOT_FOUND', 'PRODUCT_NOT_FOUND');
        },
      });
    },
  );
  onTestFinished(() => busy.close());
  const { keys } = await newMerchant(busy);
  const path = `/v1/products/${randomUUID()}`;
  const sendRequest = () => call(busy.ports.live, path, { key: keys.live });
  const refusals = async () => (await scrape())('payments_overload_refusals_total{api="public"}') ?? 0;
  const refusedBefore = await refusals();
  // Twice, to show that both answered and aborted requests are no longer counted.
  for (let round = 0; round < 2; round += 1) {
    release = Promise.withResolvers<void>();
    running = 0;
    const [answered, abandoned] = [sendRequest(), startAbortableRequest(busy.ports.live, path, keys.live)];
    await expect.poll(() => running).toBe(2);
    const refusedAnswer = await sendRequest();
    expectProblem(refusedAnswer, 'SERVICE_UNAVAILABLE');
    expect(Number(refusedAnswer.headers['retry-after'])).toBeGreaterThan(0);
    abandoned.abort();
    release.resolve();
    expectProblem(await answered, 'PRODUCT_NOT_FOUND');
  }
  expect((await refusals()) - refusedBefore).toBe(2);
});

/** @returns a controller that aborts the request. */
function startAbortableRequest(port: number, path: string, bearerKey: string): AbortController {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${bearerKey}` };
  fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: controller.signal }).catch(() => undefined);
  return controller;
}

it('a response without a required member is an error, not a partial response', async () => {
  const other = await startGateways({ SERVICES: 'api-keys' }, (router) => {
    router.service(ProductService, { getProduct: () => ({ product: { name: 'no id, no dates' } }) });
  });
  onTestFinished(() => other.close());
  const { keys } = await newMerchant(other);
  const answer = await call(other.ports.live, `/v1/products/${randomUUID()}`, { key: keys.live });
  expectProblem(answer, 'INTERNAL_ERROR');
});

it.each([
  ['nobody listens', 'http://127.0.0.1:1'],
  // No connection is made to the broadcast address; Connect takes this failure for an error of the service.
  ['no network leads to', 'http://255.255.255.255:1'],
])('keys cannot be checked if %s: 503, never accepted', async (_what, servicesUrl) => {
  const { port } = await startListener({ transport: remoteTransport(servicesUrl, 'mps_token') });
  const answer = await call(port, '/v1/refund-cases', { key: newApiKey('live') });
  expectProblem(answer, 'SERVICE_UNAVAILABLE', 'try again');
});
