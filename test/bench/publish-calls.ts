import { type ClientHttp2Session, connect } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Pool } from 'undici';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  EventToPublishSchema,
  PublishEventRequestSchema,
  PublishEventsRequestSchema,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { EVENT_DATA, EVENT_TYPE } from './event-data.ts';
import type { Load } from './event-publisher.ts';

/** Publishes with a new key and new objects, and checks the status of the response. */
export interface PublishCaller {
  publish(merchantId: string): Promise<void>;
  close(): Promise<void>;
}

const path = (rpc: string) => `/payments.webhooks.v1.EventService/${rpc}`;

/** Encode and decode as little as possible, because the callers share the cores with what is measured. */
export const CALLERS = {
  grpc: (url: string, token: string): PublishCaller => {
    const session = connect(url);
    const data = grpcMessage(PublishEventRequestSchema, { data: EVENT_DATA });
    return {
      publish(merchantId) {
        const about = { objectId: crypto.randomUUID(), type: EVENT_TYPE };
        const request = grpcMessage(PublishEventRequestSchema, { ...writeOf(merchantId), ...about });
        return callGrpc(session, path('PublishEvent'), token, Buffer.concat([request, data]));
      },
      close: () => new Promise<void>((resolve) => session.close(resolve)),
    };
  },
  'Connect JSON': (url: string, token: string): PublishCaller => {
    const pool = new Pool(url, { connections: 64 });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const rest = { environment: 'ENVIRONMENT_TEST', type: EVENT_TYPE, data: EVENT_DATA };
    const restOfBody = JSON.stringify(rest).slice(1);
    return {
      async publish(merchantId) {
        const ids = `"merchantId":"${merchantId}","idempotencyKey":"${crypto.randomUUID()}"`;
        const body = `{${ids},"objectId":"${crypto.randomUUID()}",${restOfBody}`;
        const response = await pool.request({ method: 'POST', path: path('PublishEvent'), headers, body });
        const answer = await response.body.text();
        if (response.statusCode !== 200) throw new Error(`PublishEvent answered ${answer}`);
      },
      close: () => pool.close(),
    };
  },
} as const;

/** Publishes this many events with each call of PublishEvents, over gRPC. */
export function batchCaller(url: string, token: string, eventsPerCall: number): PublishCaller {
  const session = connect(url);
  const data = grpcMessage(EventToPublishSchema, { data: EVENT_DATA });
  const encodeEvent = () => {
    const event = grpcMessage(EventToPublishSchema, { type: EVENT_TYPE, objectId: crypto.randomUUID() });
    return [Buffer.from([(4 << 3) | 2]), varint(event.length + data.length), event, data];
  };
  return {
    publish(merchantId) {
      const events = Array.from({ length: eventsPerCall }, encodeEvent).flat();
      const request = grpcMessage(PublishEventsRequestSchema, writeOf(merchantId));
      return callGrpc(session, path('PublishEvents'), token, Buffer.concat([request, ...events]));
    },
    close: () => new Promise<void>((resolve) => session.close(resolve)),
  };
}

const writeOf = (merchantId: string) => ({
  merchantId,
  environment: Environment.TEST,
  idempotencyKey: crypto.randomUUID(),
});

/** A message of a gRPC call. */
export const grpcMessage = <Schema extends DescMessage>(
  schema: Schema,
  message: MessageInitShape<Schema>,
): Buffer => Buffer.from(toBinary(schema, create(schema, message)));

/** A length below 16384, as protobuf encodes it. */
const varint = (length: number) => Buffer.from(length < 128 ? [length] : [(length & 127) | 128, length >> 7]);

/** Makes one gRPC call, and reads only the status of the response. */
export function callGrpc(
  session: ClientHttp2Session,
  rpcPath: string,
  token: string,
  message: Buffer,
): Promise<void> {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': rpcPath,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${token}`,
    });
    let status: unknown;
    const readStatus = (headers: object) => {
      status ??= (headers as Record<string, unknown>)['grpc-status'];
    };
    stream.on('response', readStatus).on('trailers', readStatus).on('error', reject);
    stream.on('close', () =>
      status === '0' ? resolve() : reject(new Error(`${rpcPath}: status ${status}`)),
    );
    stream.resume().end(Buffer.concat([head, message]));
  });
}

/** Makes this many calls; throws at the first refusal. */
export async function makeCalls(count: number, load: Load, call: () => Promise<void>): Promise<void> {
  if ('atATime' in load) {
    let begun = 0;
    const caller = async () => {
      while (begun < count) {
        begun += 1;
        await call();
      }
    };
    await Promise.all(Array.from({ length: load.atATime }, caller));
    return;
  }
  const startedAt = performance.now();
  const calls: Promise<void>[] = [];
  while (calls.length < count) {
    const due = Math.ceil(((performance.now() - startedAt) / 1_000) * load.perSecond);
    while (calls.length < Math.min(due, count)) calls.push(call());
    await delay(1);
  }
  await Promise.all(calls);
}
