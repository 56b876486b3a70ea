import { request as requestHttp1 } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { buffer } from 'node:stream/consumers';

/** A call to the internal port as its bytes. */
export interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface Received {
  readonly status: number;
  /** Headers and trailers. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export function overHttp1(
  baseUrl: string,
  { path, method = 'POST', headers, body }: Sent,
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const call = requestHttp1(`${baseUrl}${path}`, { method, headers: { ...headers } });
  call.on('error', reject).on('response', async (response) => {
    const received = await buffer(response);
    const fields = { ...response.headers, ...response.trailers };
    resolve({ status: response.statusCode!, fields, body: received });
  });
  call.end(body);
  return promise;
}

export async function overHttp2(
  baseUrl: string,
  { path, method = 'POST', headers, body }: Sent,
): Promise<Received> {
  const session = connectHttp2(baseUrl);
  const stream = session.request({ ':method': method, ':path': path, te: 'trailers', ...headers });
  const fields: Record<string, unknown> = {};
  const keep = (all: object) => Object.assign(fields, all);
  stream.on('response', keep).on('trailers', keep);
  stream.end(body);
  const received = await buffer(stream);
  session.close();
  return { status: Number(fields[':status']), fields, body: received };
}

/** One message as gRPC frames it. */
export function framed(message: Uint8Array, { flag = 0, length = message.length } = {}): Buffer {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
