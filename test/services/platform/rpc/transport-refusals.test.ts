import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { endStreamFromJson, errorFromJsonBytes } from '@connectrpc/connect/protocol-connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { trailerParse } from '@connectrpc/connect/protocol-grpc-web';
import { afterAll, describe, expect, it } from 'vitest';
import { ListProductsRequestSchema } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { exchange } from '../../../gateway/http-call.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { framed, overHttp1, overHttp2, type Received, type Sent } from './raw-calls.ts';

const harness = await startHarness({ SERVICES: 'catalog,webhooks' });
afterAll(() => harness.close());

const LIST = '/payments.catalog.v1.ProductService/ListProducts';
const CREATE = '/payments.catalog.v1.ProductService/CreateProduct';
const FEED = '/payments.webhooks.v1.EventService/GetEventFeed';
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const TOO_LONG = Buffer.alloc(1024 * 1024 + 1);

/** How a protocol is transported: its content type, HTTP version and framing. */
interface Way {
  readonly type: string;
  readonly http: 1 | 2;
  readonly isFramed: boolean;
  readonly encodingHeader: string;
  readonly timeout: (ms: number) => Readonly<Record<string, string>>;
}

const grpcTimeout = (ms: number) => ({ 'grpc-timeout': `${ms}m` });
const connectTimeout = (ms: number) => ({ 'connect-timeout-ms': String(ms) });
const frames = { isFramed: true, encodingHeader: 'grpc-encoding', timeout: grpcTimeout } as const;
const plain = { isFramed: false, encodingHeader: 'content-encoding', timeout: connectTimeout } as const;
const WAYS = {
  gRPC: { type: 'application/grpc', http: 2, ...frames },
  'gRPC with JSON': { type: 'application/grpc+json', http: 2, ...frames },
  'gRPC-Web': { type: 'application/grpc-web+proto', http: 1, ...frames },
  'Connect with JSON': { type: 'application/json', http: 1, ...plain },
  'Connect with protobuf': { type: 'application/proto', http: 1, ...plain },
  'Connect over HTTP/2': { type: 'application/proto', http: 2, ...plain },
} satisfies Record<string, Way>;

function send(way: Way, sent: Partial<Sent>): Promise<Received> {
  const headers = { 'content-type': way.type, authorization: `Bearer ${harness.token}`, ...sent.headers };
  const call = { path: LIST, body: bodyOf(way, {}), ...sent, headers };
  return (way.http === 2 ? overHttp2 : overHttp1)(harness.baseUrl, call);
}

/** The body of a call with this message, compressed or not. */
function bodyOf(
  way: Way,
  { message = validMessage(way), flag = 0 }: { message?: Uint8Array; flag?: number },
) {
  return way.isFramed ? framed(message, { flag }) : message;
}

function validMessage({ type }: Way): Uint8Array {
  const tenant = newTenant();
  if (type.endsWith('json'))
    return Buffer.from(JSON.stringify({ ...tenant, environment: 'ENVIRONMENT_LIVE' }));
  return toBinary(ListProductsRequestSchema, create(ListProductsRequestSchema, tenant));
}

/** The code and the reason of a refusal, as a client of its protocol reads them. */
function refusalOf({ fields, body }: Received): [code: string | undefined, reason: string | undefined] {
  const type = String(fields['content-type']);
  const error = type.startsWith('application/grpc')
    ? findTrailerError(
        type.startsWith('application/grpc-web') && body.length > 0
          ? trailerParse(body.subarray(5))
          : new Headers(
              Object.entries(fields).flatMap(([name, value]) =>
                name[0] === ':' ? [] : [[name, String(value)]],
              ),
            ),
      )
    : type.startsWith('application/connect+')
      ? endStreamFromJson(body.subarray(5)).error
      : errorFromJsonBytes(body, undefined, new ConnectError('no error'));
  const info = errorInfoOf(error);
  expect(info?.domain, error?.message).toBe('payments');
  return [error && Code[error.code], info?.reason];
}

type Fault = readonly [sent: (way: Way) => Partial<Sent>, code: keyof typeof Code, reason: string];

const withBody =
  (message: Uint8Array, headers = {}) =>
  (way: Way) => ({
    body: bodyOf(way, { message }),
    headers,
  });
const compressed = (message: Uint8Array) => (way: Way) => ({
  body: bodyOf(way, { message, flag: 1 }),
  headers: { [way.encodingHeader]: 'gzip' },
});

const FAULTS: Readonly<Record<string, Fault>> = {
  'a message that is too large': [withBody(TOO_LONG), 'ResourceExhausted', 'PAYLOAD_TOO_LARGE'],
  'a message that is too large once decompressed': [
    compressed(gzipSync(TOO_LONG)),
    'ResourceExhausted',
    'PAYLOAD_TOO_LARGE',
  ],
  'a message that cannot be decoded': [
    withBody(Buffer.from([0x0a, 0xff, 0xff])),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'a message that cannot be decompressed': [
    compressed(Buffer.from('no gzip')),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'a message whose compressed form ends too early': [
    compressed(gzipSync(Buffer.alloc(1_000, 'abc')).subarray(0, 15)),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'an unknown encoding': [
    (way) => ({ headers: { [way.encodingHeader]: 'zstd' } }),
    'Unimplemented',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  'an invalid timeout': [
    (way) => ({ headers: Object.fromEntries(Object.keys(way.timeout(1)).map((name) => [name, 'soon'])) }),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'a timeout that is too long': [
    (way) => ({ headers: way.timeout(61_001) }),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'an unknown RPC': [
    () => ({ path: '/payments.catalog.v1.ProductService/Nothing' }),
    'Unimplemented',
    'ROUTE_NOT_FOUND',
  ],
  'an unknown service': [() => ({ path: '/nothing.v1.Nothing/Get' }), 'Unimplemented', 'ROUTE_NOT_FOUND'],
  'an invalid path': [() => ({ path: '/%zz//' }), 'Unimplemented', 'ROUTE_NOT_FOUND'],
  'an HTTP method of other calls': [
    () => ({ path: CREATE, method: 'PUT' }),
    'Unimplemented',
    'METHOD_NOT_ALLOWED',
  ],
  'another content type': [
    () => ({ headers: { 'content-type': 'text/plain' } }),
    'Unimplemented',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  'no token': [() => ({ headers: { authorization: '' } }), 'Unauthenticated', 'SERVICE_TOKEN_MISSING'],
};

/** Faults that only protocols with frames can have. */
const FAULTS_OF_FRAMES: Readonly<Record<string, Fault>> = {
  'a compressed message without an encoding': [
    (way) => ({ body: bodyOf(way, { flag: 1 }) }),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'a frame that ends too early': [
    (way) => ({ body: bodyOf(way, {}).subarray(0, 12) }),
    'InvalidArgument',
    'INVALID_REQUEST',
  ],
  'a frame without its length': [() => ({ body: Buffer.from([0, 0]) }), 'InvalidArgument', 'INVALID_REQUEST'],
  'no message': [() => ({ body: Buffer.alloc(0) }), 'Unimplemented', 'INVALID_REQUEST'],
  'two messages': [
    (way) => ({ body: Buffer.concat([bodyOf(way, {}), bodyOf(way, {})]) }),
    'Unimplemented',
    'INVALID_REQUEST',
  ],
  'an unknown codec': [
    (way) => ({ headers: { 'content-type': `${way.type.split('+')[0]}+thrift` } }),
    'Unimplemented',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
};

describe.each(Object.entries<Way>(WAYS))('over %s, the port explains its refusal of', (_name, way) => {
  it.each(Object.entries({ ...FAULTS, ...(way.isFramed && FAULTS_OF_FRAMES) }))(
    '%s',
    async (_fault, [sent, code, reason]) => {
      const received = await send(way, sent(way));
      expect(refusalOf(received)).toEqual([code, reason]);
      expect(received.status).not.toBe(500);
    },
  );
});

describe.each(['gRPC with JSON', 'Connect with JSON', 'Connect with compressed JSON'])(
  'over %s, the port refuses',
  (name) => {
    const isCompressed = name === 'Connect with compressed JSON';
    const way = WAYS[isCompressed ? 'Connect with JSON' : (name as keyof typeof WAYS)];

    it.each<[fault: string, fields: object]>([
      ['an unknown field, such as a misspelled filter', { pageSizes: 1 }],
      ['an unknown name of an enum, such as one without its prefix', { status: 'ACTIVE' }],
    ])('%s', async (_fault, fields) => {
      const tenant = { ...newTenant(), environment: 'ENVIRONMENT_LIVE' };
      const message = Buffer.from(JSON.stringify({ ...tenant, ...fields }));
      const sent = (isCompressed ? compressed(gzipSync(message)) : withBody(message))(way);
      expect(refusalOf(await send(way, sent))).toEqual(['InvalidArgument', 'INVALID_REQUEST']);
    });
  },
);

describe.each<[name: string, way: Way]>([
  ['gRPC', WAYS.gRPC],
  ['gRPC-Web', WAYS['gRPC-Web']],
  [
    'Connect',
    {
      type: 'application/connect+proto',
      http: 1,
      ...frames,
      encodingHeader: 'connect-content-encoding',
      timeout: connectTimeout,
    },
  ],
])('over %s, the port explains why it refuses or ends a stream', (_name, way) => {
  it.each(
    Object.entries({
      'a message that is too large': FAULTS['a message that is too large']!,
      'a message that cannot be decoded': FAULTS['a message that cannot be decoded']!,
      'an unknown encoding': FAULTS['an unknown encoding']!,
      'no token': FAULTS['no token']!,
      ...FAULTS_OF_FRAMES,
    }),
  )('%s', async (_fault, [sent, code, reason]) => {
    const received = await send(way, { path: FEED, ...sent(way) });
    expect(refusalOf(received)).toEqual([code, reason]);
    expect(received.status).not.toBe(500);
  });
});

describe('a connection stays usable after a large body was refused', () => {
  const LARGE = 4 * 1024 * 1024;
  const refused = [
    ['application/proto', 429],
    ['application/proto;a=b', 415],
    ['application/grpc-web+proto', 200],
  ] as const;

  it.each(refused)('over HTTP/1.1, as %s', async (type, status) => {
    const head = `POST ${LIST} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${harness.token}\r\n`;
    const first = `${head}content-type: ${type}\r\ncontent-length: ${LARGE}\r\n\r\n`;
    const next = `${head}content-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`;
    const bytes = Buffer.concat([Buffer.from(first), Buffer.alloc(LARGE, 0xff), Buffer.from(next)]);
    const answers = await exchange(Number(new URL(harness.baseUrl).port), bytes);
    expect(answers.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual([String(status), '400']);
  });

  it.each(['application/grpc', 'application/grpc+json', 'text/plain'])('over HTTP/2, as %s', async (type) => {
    const session = connectHttp2(harness.baseUrl, { maxSessionMemory: 100 });
    const headers = { 'content-type': type, authorization: `Bearer ${harness.token}` };
    // More than the connection's window holds, if the rest of each body stays in it.
    for (let count = 0; count < 4; count += 1) {
      const large = session.request({ ':method': 'POST', ':path': LIST, ...headers });
      large.on('error', () => undefined).resume();
      large.end(Buffer.alloc(LARGE, 0xff));
      await once(large, 'response');
    }
    const next = session.request({
      ':method': 'POST',
      ':path': LIST,
      ...headers,
      'content-type': 'application/json',
    });
    next.end('{}');
    const [answer] = await once(next, 'response');
    expect(answer[':status']).toBe(400);
    session.destroy();
  });
});

it("the port takes a deadline of a minute, also as gRPC's C core rounds it up", async () => {
  const received = await send(WAYS.gRPC, { headers: grpcTimeout(60_100) });
  expect(received.fields['grpc-status']).toBe('0');
});

it.each(Object.entries<Way>(WAYS))(
  'over %s, the port explains that a deadline has passed',
  async (_name, way) => {
    await using holder = await openSession(harness.databaseUrl);
    await holder.query('begin; lock table catalog.product');
    const received = await send(way, { headers: way.timeout(300) });
    expect(refusalOf(received)).toEqual(['DeadlineExceeded', 'DEADLINE_EXCEEDED']);
  },
);

describe('the port explains', () => {
  it('a call by GET that it cannot decode', async () => {
    for (const [query, reason] of [
      ['encoding=json&message=%7B', 'INVALID_REQUEST'],
      ['encoding=proto&base64=1&message=__8', 'INVALID_REQUEST'],
      ['encoding=proto&base64=1&message=a', 'INVALID_REQUEST'],
      ['encoding=xml&message=a', 'UNSUPPORTED_MEDIA_TYPE'],
      ['encoding=json&message=%7B%7D&compression=zstd', 'UNSUPPORTED_MEDIA_TYPE'],
    ] as const) {
      const received = await overHttp1(harness.baseUrl, {
        method: 'GET',
        path: `${LIST}?${query}`,
        headers: { authorization: `Bearer ${harness.token}` },
      });
      expect(refusalOf(received)[1], query).toBe(reason);
      expect(received.status, query).not.toBe(500);
    }
  });

  it('that a stream both ways requires HTTP/2', async () => {
    const received = await send(WAYS['gRPC-Web'], { path: REFLECTION });
    expect(refusalOf(received)).toEqual(['Unimplemented', 'HTTP_VERSION_NOT_SUPPORTED']);
  });

  it('a request without a host', async () => {
    const { port } = new URL(harness.baseUrl);
    const head = `POST ${LIST} HTTP/1.0\r\ncontent-type: application/grpc-web+proto\r\n`;
    const answer = await exchange(Number(port), `${head}content-length: 0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/grpc-status: 3\r\n/);
  });
});
