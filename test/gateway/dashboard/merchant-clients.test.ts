import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { Code, createRouterTransport, type HandlerContext } from '@connectrpc/connect';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createMerchantClients, type MerchantClients } from '../../../gateway/dashboard/merchant-clients.ts';
import { streamed } from '../../../gateway/dashboard/shell/downloads.ts';
import { FundsService, GetSaleRequestSchema } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type AddEvidenceRequest,
  type GetEvidenceRequest,
  RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { remoteTransport } from '../../../services/platform/rpc/remote-transport.ts';
import { portOf } from '../../support/port-of.ts';

const TENANT = { merchantId: randomUUID(), environment: Environment.TEST };
const OTHER = { merchantId: randomUUID(), environment: Environment.LIVE };

let received: { readonly merchantId: string; readonly environment: Environment }[];
let contexts: HandlerContext[];
let clients: MerchantClients;
beforeEach(() => {
  received = [];
  contexts = [];
  const record = (request: (typeof received)[number], context: HandlerContext) => {
    received.push(request);
    contexts.push(context);
    return {};
  };
  const transport = createRouterTransport(({ service }) => {
    service(FundsService, { getSale: record });
    service(RefundCaseService, {
      async addEvidence(requests: AsyncIterable<AddEvidenceRequest>, context) {
        for await (const request of requests) record(request, context);
        return {};
      },
      async *getEvidence(request: GetEvidenceRequest, context) {
        record(request, context);
        for (;;) yield { chunk: new Uint8Array(1) };
      },
    });
  });
  clients = createMerchantClients(transport, TENANT, { headers: { 'request-id': 'one' }, timeoutMs: 5_000 });
});

test('a request is about the merchant and environment of the page, even if it names others', async () => {
  await clients.funds.getSale({ saleId: '1' });
  // @ts-expect-error a page cannot name a merchant,
  await clients.funds.getSale({ saleId: '1', ...OTHER });
  // @ts-expect-error not even in a whole message.
  await clients.funds.getSale(create(GetSaleRequestSchema, { saleId: '1', ...OTHER }));
  for (const request of received) expect(request).toMatchObject({ ...TENANT, saleId: '1' });
  expect(received).toHaveLength(3);
});

test('the first message of an upload names the merchant, and the others carry only the file', async () => {
  async function* messages() {
    yield { fileName: 'a.pdf', ...OTHER };
    yield { chunk: new Uint8Array(1) };
  }
  // @ts-expect-error a page cannot name a merchant.
  await clients.refundCases.addEvidence(messages());
  expect(received).toMatchObject([{ ...TENANT, fileName: 'a.pdf' }, { merchantId: '' }]);
});

test('RPCs across merchants are not among those of a page', () => {
  // @ts-expect-error
  clients.accounts.listAccountInvitations;
  // @ts-expect-error
  clients.accounts.authenticateSession;
  // @ts-expect-error
  clients.apiKeys.authenticateApiKey;
  expect(clients.accounts.listInvitations).toBeDefined();
});

test('calls carry the headers and the deadline of the page, but a download has no deadline', async () => {
  await clients.funds.getSale({ saleId: '1' });
  for await (const _ of clients.refundCases.getEvidence({ evidenceId: '1' })) break;
  expect(contexts.map(({ requestHeader }) => requestHeader.get('request-id'))).toEqual(['one', 'one']);
  expect(contexts[0]!.timeoutMs()).toBeGreaterThan(0);
  expect(contexts[1]!.timeoutMs()).toBeUndefined();
});

test('a download that the reader stops is canceled', async () => {
  const chunks = streamed(
    (options) => clients.refundCases.getEvidence({ evidenceId: '1' }, options),
    ({ chunk }) => chunk,
  );
  for await (const _ of chunks) break;
  await expect.poll(() => contexts[0]!.signal.aborted).toBe(true);
});

test('a download that does not begin within the deadline fails, and its call ends', async () => {
  // A frozen process: its kernel accepts connections, and nothing answers.
  const frozen = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void frozen.close());
  const port = await portOf(frozen);
  const connected = once(frozen, 'connection');
  const remote = remoteTransport(`http://127.0.0.1:${port}`, 'mps_token');
  const { refundCases } = createMerchantClients(remote, TENANT, { timeoutMs: 200 });
  const download = streamed(
    (options) => refundCases.getEvidence({ evidenceId: '1' }, options),
    ({ chunk }) => chunk,
  );
  const first = download.next().catch((error: unknown) => error);
  const [socket] = await connected;
  const ended = once(socket.resume(), 'close');
  expect(await first).toMatchObject({ code: Code.DeadlineExceeded });
  await ended;
});
