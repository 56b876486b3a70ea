import { gunzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { afterAll, describe, expect, it } from 'vitest';
import {
  CreateProductRequestSchema,
  ProductType,
} from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { ListEventTypesResponseSchema } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newTenant, newWrite, startHarness } from '../../../support/harness.ts';
import { framed, overHttp1, overHttp2, type Sent } from './raw-calls.ts';

const harness = await startHarness({ SERVICES: 'catalog,webhooks' });
afterAll(() => harness.close());

const CREATE = '/payments.catalog.v1.ProductService/CreateProduct';
const LIST_TYPES = '/payments.webhooks.v1.EventService/ListEventTypes';

const send = (over: typeof overHttp1, { path = CREATE, ...sent }: Partial<Sent>, own: Sent['headers']) => {
  const headers = { ...own, authorization: `Bearer ${harness.token}`, ...sent.headers };
  return over(harness.baseUrl, { path, ...sent, headers });
};
const sendJson = (body: string, sent: Partial<Sent> = {}) =>
  send(overHttp1, { body, ...sent }, { 'content-type': 'application/json' });
const sendGrpc = (body: Uint8Array, sent: Partial<Sent> = {}) =>
  send(overHttp2, { body, ...sent }, { 'content-type': 'application/grpc' });

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
  const cases: Readonly<Record<string, [body: string, Partial<Sent>]>> = {
    'an invalid field': [asJson({ name: '' }), {}],
    'an unknown token': [asJson({}), { headers: { authorization: 'Bearer unknown' } }],
    'a body that is not JSON': ['{"name"', {}],
    'an unknown field': [asJson({ name: '', unknown: 1 }), {}],
    'a large answer': ['{}', { path: LIST_TYPES }],
    'a large answer, compressed': ['{}', { path: LIST_TYPES, headers: { 'accept-encoding': 'br, gzip' } }],
  };
  it.each(Object.keys(cases))('%s', async (name) => {
    const [body, sent] = cases[name]!;
    const expected = await sendJson(body, { ...sent, headers: { ...sent.headers, ...viaConnect } });
    const { status, fields, body: answer } = await sendJson(body, sent);
    expect(status).toBe(expected.status);
    expect(fields['content-type']).toBe(expected.fields['content-type']);
    const compressed = fields['content-encoding'] === 'gzip';
    if (name.endsWith('compressed')) expect(compressed).toBe(true);
    else expect(answer.toString()).toBe(expected.body.toString());
    if (compressed) expect(JSON.parse(String(gunzipSync(answer)))).toHaveProperty('eventTypes');
  });

  it('a response to a repeated call', async () => {
    const body = asJson({});
    const first = await sendJson(body);
    const repeated = await sendJson(body, { headers: viaConnect });
    const again = await sendJson(body);
    expect(again.body).toEqual(first.body);
    expect({ ...again.fields, date: '' }).toEqual({ ...repeated.fields, date: '' });
    expect(again.fields['idempotency-replayed']).toBe('true');
  });
});

describe('a plain unary call is answered as Connect answers it, over gRPC', () => {
  /** Connect's own handlers read it; the message may still be uncompressed. */
  const viaConnect = { 'grpc-encoding': 'gzip' };
  const cases: Readonly<Record<string, [body: Uint8Array, Partial<Sent>]>> = {
    'an invalid field': [framed(asMessage({ name: '' })), {}],
    'a body that is not a message': [framed(Buffer.from([0xff, 0xff])), {}],
    'a large answer': [framed(Buffer.alloc(0)), { path: LIST_TYPES }],
  };
  it.each(Object.keys(cases))('%s', async (name) => {
    const [body, sent] = cases[name]!;
    const headers = { ...sent.headers, ...viaConnect, 'grpc-accept-encoding': 'identity' };
    const { fields: expected } = await sendGrpc(body, { ...sent, headers });
    const { status, fields, body: answer } = await sendGrpc(body, sent);
    expect(status).toBe(200);
    for (const name of ['content-type', 'grpc-status', 'grpc-status-details-bin'])
      expect(fields[name]).toBe(expected[name]);
    if (fields['grpc-status'] !== '0') expect(answer.length).toBe(0);
  });

  it('a large answer, compressed', async () => {
    const headers = { 'grpc-accept-encoding': 'br,gzip' };
    const { fields, body } = await sendGrpc(framed(Buffer.alloc(0)), { path: LIST_TYPES, headers });
    expect([fields['grpc-encoding'], fields['grpc-status'], body[0]]).toEqual(['gzip', '0', 1]);
    const { eventTypes } = fromBinary(ListEventTypesResponseSchema, gunzipSync(body.subarray(5)));
    expect(eventTypes.length).toBeGreaterThan(0);
  });
});
