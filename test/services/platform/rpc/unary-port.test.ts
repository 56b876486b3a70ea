import { request as requestHttp1 } from 'node:http';
import { connect } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { afterAll, describe, expect, it } from 'vitest';
import {
  CreateProductRequestSchema,
  ProductType,
} from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { ListEventTypesResponseSchema } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';

const harness = await startHarness({ SERVICES: 'catalog,webhooks' });
afterAll(() => harness.close());

const CREATE = '/payments.catalog.v1.ProductService/CreateProduct';
const LIST_TYPES = '/payments.webhooks.v1.EventService/ListEventTypes';
const TOO_LONG = 1024 * 1024 + 1;

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Received {
  readonly headers: Record<string, unknown>;
  readonly body: Buffer;
}

function sendJson(body: string, { path = CREATE, headers = {} }: Sent): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const own = { 'content-type': 'application/json', authorization: `Bearer ${harness.token}` };
  const call = requestHttp1(`${harness.baseUrl}${path}`, { method: 'POST', headers: { ...own, ...headers } });
  call.on('error', reject).on('response', async (response) => {
    const { date: _, connection: __, 'keep-alive': ___, ...rest } = response.headers;
    resolve({ headers: { ...rest, status: response.statusCode }, body: await buffer(response) });
  });
  call.end(body);
  return promise;
}

async function sendGrpc(body: Uint8Array, { path = CREATE, headers = {} }: Sent): Promise<Received> {
  const session = connect(harness.baseUrl);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${harness.token}`,
    ...headers,
  });
  const received: Record<string, unknown> = {};
  const keep = ({ date: _, ...fields }: Record<string, unknown>) => Object.assign(received, fields);
  stream.on('response', keep).on('trailers', keep);
  stream.end(body);
  const answer = await buffer(stream);
  session.close();
  return { headers: received, body: answer };
}

/** One message as gRPC frames it. */
function framed(message: Uint8Array, { flag = 0, length = message.length } = {}): Buffer {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

const product = () => {
  const kind = { productType: ProductType.ONE_TIME, refundWindowDays: 7 };
  return { ...newWrite(newTenant()), name: 'A course', ...kind };
};
const asJson = (fields: object) =>
  JSON.stringify({
    ...product(),
    environment: 'ENVIRONMENT_LIVE',
    productType: 'PRODUCT_TYPE_ONE_TIME',
    ...fields,
  });
const asMessage = (fields: object) =>
  toBinary(CreateProductRequestSchema, create(CreateProductRequestSchema, { ...product(), ...fields }));

describe('a plain unary call is answered as Connect answers it, over Connect', () => {
  /** Connect's own handlers read it; plain calls do not name the charset. */
  const viaConnect = { 'content-type': 'application/json; charset=utf-8' };
  const cases: Readonly<Record<string, [body: string, Sent]>> = {
    'an invalid field': [asJson({ name: '' }), {}],
    'no token': [asJson({}), { headers: { authorization: '' } }],
    'an unknown token': [asJson({}), { headers: { authorization: 'Bearer unknown' } }],
    'a body that is not JSON': ['{"name"', {}],
    'an unknown field': [asJson({ name: '', unknown: 1 }), {}],
    'a timeout that is not a number': [asJson({}), { headers: { 'connect-timeout-ms': 'soon' } }],
    'a timeout that is too long': [asJson({}), { headers: { 'connect-timeout-ms': '60001' } }],
    'a large answer': ['{}', { path: LIST_TYPES }],
    'a large answer, compressed': ['{}', { path: LIST_TYPES, headers: { 'accept-encoding': 'br, gzip' } }],
  };
  it.each(Object.keys(cases))('%s', async (name) => {
    const [body, sent] = cases[name]!;
    const expected = await sendJson(body, { ...sent, headers: { ...sent.headers, ...viaConnect } });
    const { headers, body: answer } = await sendJson(body, sent);
    expect(headers.status).toBe(expected.headers.status);
    expect(headers['content-type']).toBe(expected.headers['content-type']);
    const compressed = headers['content-encoding'] === 'gzip';
    if (name.endsWith('compressed')) expect(compressed).toBe(true);
    else expect(answer.toString()).toBe(expected.body.toString());
    if (compressed) expect(JSON.parse(String(gunzipSync(answer)))).toHaveProperty('eventTypes');
  });

  it('a response to a repeated call', async () => {
    const body = asJson({});
    const first = await sendJson(body, {});
    const repeated = await sendJson(body, { headers: viaConnect });
    const again = await sendJson(body, {});
    expect(again.body).toEqual(first.body);
    expect(again.headers).toEqual(repeated.headers);
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('a body that is too long', async () => {
    const { headers, body } = await sendJson(asJson({ name: 'x'.repeat(TOO_LONG) }), {});
    expect([headers.status, JSON.parse(String(body))]).toMatchObject([429, { code: 'resource_exhausted' }]);
  });
});

describe('a plain unary call is answered as Connect answers it, over gRPC', () => {
  /** Connect's own handlers read it; the message may still be uncompressed. */
  const viaConnect = { 'grpc-encoding': 'gzip' };
  const cases: Readonly<Record<string, [body: Uint8Array, Sent]>> = {
    'an invalid field': [framed(asMessage({ name: '' })), {}],
    'no token': [framed(asMessage({})), { headers: { authorization: '' } }],
    'a body that is not a message': [framed(Buffer.from([0xff, 0xff])), {}],
    'an invalid timeout': [framed(asMessage({})), { headers: { 'grpc-timeout': 'soon' } }],
    'a timeout that is too long': [framed(asMessage({})), { headers: { 'grpc-timeout': '61S' } }],
    'a message that ends too early': [framed(asMessage({}), { length: 1_000 }), {}],
    'no message': [Buffer.alloc(0), {}],
    'two messages': [Buffer.concat([framed(asMessage({})), framed(asMessage({}))]), {}],
    'a large answer': [framed(Buffer.alloc(0)), { path: LIST_TYPES }],
  };
  it.each(Object.keys(cases))('%s', async (name) => {
    const [body, sent] = cases[name]!;
    const { 'grpc-encoding': _, ...expected } = (
      await sendGrpc(body, {
        ...sent,
        headers: { ...sent.headers, ...viaConnect, 'grpc-accept-encoding': 'identity' },
      })
    ).headers;
    const { headers, body: answer } = await sendGrpc(body, sent);
    expect(headers[':status']).toBe(200);
    expect(headers['content-type']).toBe(expected['content-type']);
    expect(headers['grpc-status']).toBe(expected['grpc-status']);
    expect(headers['grpc-status-details-bin']).toBe(expected['grpc-status-details-bin']);
    if (headers['grpc-status'] !== '0') expect(answer.length).toBe(0);
  });

  it('a large answer, compressed', async () => {
    const accepting = { 'grpc-accept-encoding': 'br,gzip' };
    const { headers, body } = await sendGrpc(framed(Buffer.alloc(0)), {
      path: LIST_TYPES,
      headers: accepting,
    });
    expect([headers['grpc-encoding'], headers['grpc-status'], body[0]]).toEqual(['gzip', '0', 1]);
    const { eventTypes } = fromBinary(ListEventTypesResponseSchema, gunzipSync(body.subarray(5)));
    expect(eventTypes.length).toBeGreaterThan(0);
  });

  it('a message that is too long', async () => {
    const { headers } = await sendGrpc(framed(asMessage({ name: 'x'.repeat(TOO_LONG) })), {});
    expect(headers['grpc-status']).toBe('8');
  });
});
