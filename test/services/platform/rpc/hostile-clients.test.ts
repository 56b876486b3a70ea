import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { bindService } from '../../../../services/platform/rpc/service-binding.ts';
import { AMBIGUOUS_BODIES } from '../../../support/ambiguous-bodies.ts';
import { openPort } from './open-port.ts';

const LIST = `/${ProductService.typeName}/ListProducts`;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const FRAME = { headers: 1, settings: 4, ping: 6, continuation: 9 } as const;

const MOST_CALLS = 50;

let calls = 0;
/** Until when calls run, if not until they are made. */
let held: Promise<void> | undefined;
const listProducts = async () => {
  calls += 1;
  await held;
  return {};
};
const { server, port, url } = await openPort({
  bindings: [bindService(ProductService, { listProducts } as never)],
  maxConcurrentCalls: MOST_CALLS,
  timeouts: { headersTimeoutMs: 400, bodyTimeoutMs: 300, idleTimeoutMs: 500, shutdownMs: 5_000 },
});
afterAll(() => server.close());

const head = (type: string, length: number) =>
  [
    `POST ${LIST} HTTP/1.1`,
    ...['host: localhost', 'authorization: Bearer t', `content-type: ${type}`, `content-length: ${length}`],
    ...['', ''],
  ].join('\r\n');

/** A connection, and all that it receives until it is closed. */
function open(): { socket: Socket; received: Promise<Buffer> } {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const chunks: Buffer[] = [];
  const received = new Promise<Buffer>((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined).on('close', () => resolve(Buffer.concat(chunks)));
  });
  return { socket, received };
}

function http2Frame(type: number, { flags = 0, stream = 0, payload = Buffer.alloc(0) } = {}): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

const callHeaders = (more: OutgoingHttpHeaders = {}): OutgoingHttpHeaders => ({
  ':method': 'POST',
  ':path': LIST,
  te: 'trailers',
  'content-type': 'application/grpc',
  authorization: 'Bearer t',
  ...more,
});

async function withSession<T>(act: (session: ClientHttp2Session) => Promise<T>): Promise<T> {
  const session = connectHttp2(url);
  session.on('error', () => undefined);
  try {
    return await act(session);
  } finally {
    session.destroy();
  }
}

/** Unlike `once`, also after an error. */
const closed = (emitter: ClientHttp2Session | ClientHttp2Stream) =>
  new Promise<void>((resolve) => void emitter.once('close', resolve));

/** The end of a call: its status, or how its stream was reset. */
async function outcomeOf(
  stream: ClientHttp2Stream,
): Promise<{ status?: unknown; reason?: string; reset?: number }> {
  const fields: Record<string, string> = {};
  const keep = (all: object) => {
    for (const [name, value] of Object.entries(all)) if (name[0] !== ':') fields[name] = String(value);
  };
  stream
    .on('response', keep)
    .on('trailers', keep)
    .on('error', () => undefined)
    .resume();
  await closed(stream);
  const reason = errorInfoOf(findTrailerError(new Headers(fields)))?.reason;
  return { status: fields['grpc-status'], ...(reason && { reason }), reset: stream.rstCode };
}

async function expectServed(): Promise<void> {
  const answer = await withSession((session) =>
    outcomeOf(session.request(callHeaders()).end(Buffer.alloc(5))),
  );
  expect(answer.status).toBe('0');
}

describe('whatever the size of its segments, a connection reaches', () => {
  it('HTTP/1.1 if its first bytes are those of a POST', async () => {
    const { socket, received } = open();
    for (const part of ['P', 'O', `${head('application/json', 2).slice(2)}{`, '}']) {
      socket.write(part);
      await delay(20);
    }
    socket.end();
    expect(String(await received)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('HTTP/2 if they are its preface', async () => {
    const { socket, received } = open();
    for (const byte of PREFACE.subarray(0, 14)) {
      socket.write(Buffer.from([byte]));
      await delay(5);
    }
    socket.write(Buffer.concat([PREFACE.subarray(14), http2Frame(FRAME.settings)]));
    await delay(50);
    socket.end();
    expect((await received)[3]).toBe(FRAME.settings);
  });
});

describe('a client that is too slow is disconnected', () => {
  it.each([
    ['no byte', ''],
    ['the first byte', 'P'],
    ['half a preface', 'PRI * HT'],
    ['only a preface', String(PREFACE)],
  ])('after %s', async (_name, bytes) => {
    const { socket, received } = open();
    socket.write(bytes);
    await received;
  });

  it('while it sends headers byte by byte', async () => {
    const { socket, received } = open();
    socket.write(`${head('application/json', 2).slice(0, -2)}x: `);
    const trickle = setInterval(() => socket.write('a'), 20);
    expect(String(await received)).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(trickle);
  });

  it('while it sends a header block over HTTP/2 byte by byte', async () => {
    const { socket, received } = open();
    const block = http2Frame(FRAME.headers, { stream: 1, payload: Buffer.alloc(10_000) });
    socket.write(Buffer.concat([PREFACE, http2Frame(FRAME.settings), block.subarray(0, 9)]));
    const trickle = setInterval(() => socket.write(Buffer.alloc(1)), 20);
    await received;
    clearInterval(trickle);
  });

  it('when it has made no call over HTTP/2 for long', async () => {
    await withSession(async (session) => {
      await outcomeOf(session.request(callHeaders()).end(Buffer.alloc(5)));
      await closed(session);
    });
  });
});

it.each(AMBIGUOUS_BODIES)(
  '%s ends an HTTP/1.1 connection before a call is made',
  async (_what, headers, body = '0\r\n\r\n') => {
    const before = calls;
    const start = head('application/json', 0).replace('content-length: 0', headers);
    const { socket, received } = open();
    const smuggled = head('application/json', 2).replace('host:', 'connection: close\r\nhost:');
    socket.end(`${start}${body}${smuggled}{}`);
    const statuses = (await received).toString().match(/HTTP\/1\.1 \d+/g);
    expect([statuses, calls - before]).toEqual([['HTTP/1.1 400'], 0]);
  },
);

describe('a message that does not arrive in time is refused', () => {
  it.each(['application/grpc', 'application/grpc+json'])('as %s', async (type) => {
    await withSession(async (session) => {
      const stream = session.request(callHeaders({ 'content-type': type }));
      stream.write(Buffer.from([0, 0]));
      const refused = await outcomeOf(stream);
      expect(refused).toMatchObject({ status: '4', reason: 'REQUEST_TIMEOUT' });
      const next = await outcomeOf(session.request(callHeaders()).end(Buffer.alloc(5)));
      expect(next.status).toBe('0');
    });
  });

  it.each(['application/json', 'application/json; charset=utf-8'])('as %s', async (type) => {
    const { socket } = open();
    socket.write(`${head(type, 2)}{`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 504 /);
    socket.destroy();
  });
});

describe('floods end their own connection only', () => {
  it('of headers over HTTP/1.1', async () => {
    const { socket, received } = open();
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`);
    expect(String(await received)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('of headers over HTTP/2: in one list, and in frames without an end', async () => {
    const before = calls;
    await withSession(async (session) => {
      await once(session, 'remoteSettings');
      expect(session.remoteSettings).toMatchObject({
        maxConcurrentStreams: 1_000,
        maxHeaderListSize: 16_384,
      });
      const large = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, 'a'.repeat(1_000)]));
      const many = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`x-${at}`, 'a']));
      for (const headers of [large, many]) {
        const { reset } = await outcomeOf(session.request(callHeaders(headers)).end(Buffer.alloc(5)));
        expect(reset).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      }
    });
    const { socket, received } = open();
    socket.write(
      Buffer.concat([PREFACE, http2Frame(FRAME.settings), http2Frame(FRAME.headers, { stream: 1 })]),
    );
    // A header without a name in the table of names, again and again.
    const payload = Buffer.concat([
      Buffer.from([0x00, 0x01]),
      Buffer.from('a'),
      Buffer.from([0x01]),
      Buffer.from('b'),
    ]);
    const frame = http2Frame(FRAME.continuation, { stream: 1, payload });
    const flood = setInterval(() => socket.write(frame), 1);
    await received;
    clearInterval(flood);
    expect(calls).toBe(before);
    await expectServed();
  });

  it('of calls that are canceled at once', async () => {
    const before = calls;
    await withSession(async (session) => {
      let goaway: number | undefined;
      session.on('goaway', (code) => (goaway = code));
      const ended = closed(session);
      for (let sent = 0; sent < 100 && !session.closed; sent += 1) {
        for (let at = 0; at < 50 && !session.closed && !session.destroyed; at += 1) {
          const stream = session.request(callHeaders());
          stream.on('error', () => undefined);
          stream.close(constants.NGHTTP2_CANCEL);
        }
        await delay(1);
      }
      await ended;
      // As nghttp2 has it.
      expect(goaway).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    });
    expect(calls - before).toBeLessThan(2_000);
    await expectServed();
  });

  it('of pings whose answers are not read', async () => {
    const { socket, received } = open();
    socket.pause();
    socket.write(Buffer.concat([PREFACE, http2Frame(FRAME.settings)]));
    const pings = Buffer.concat(
      Array<Buffer>(4_000).fill(http2Frame(FRAME.ping, { payload: Buffer.alloc(8) })),
    );
    const flood = setInterval(() => socket.write(pings), 1);
    await received;
    clearInterval(flood);
    await expectServed();
  });
});

describe('more calls than run at once', () => {
  it('are refused at once, over each protocol, until one has ended', async () => {
    const release = Promise.withResolvers<void>();
    const earlier = calls;
    held = release.promise;
    await withSession(async (session) => {
      const call = () => outcomeOf(session.request(callHeaders()).end(Buffer.alloc(5)));
      const running = Array.from({ length: MOST_CALLS }, call);
      await vi.waitFor(() => expect(calls - earlier).toBe(MOST_CALLS));
      expect(await call()).toMatchObject({ status: '14', reason: 'OVERLOADED' });
      // Connect's own handlers serve the second and the third.
      for (const type of ['application/json', 'application/json; charset=utf-8']) {
        const { socket } = open();
        socket.write(`${head(type, 2)}{}`);
        const [answer] = await once(socket, 'data');
        expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
        socket.destroy();
      }
      const json = callHeaders({ 'content-type': 'application/grpc+json' });
      const asJson = outcomeOf(session.request(json).end(Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d])));
      expect(await asJson).toMatchObject({ status: '14', reason: 'OVERLOADED' });
      expect(calls - earlier).toBe(MOST_CALLS);
      release.resolve();
      for (const { status } of await Promise.all(running)) expect(status).toBe('0');
      held = undefined;
      expect((await call()).status).toBe('0');
    });
  });
});
