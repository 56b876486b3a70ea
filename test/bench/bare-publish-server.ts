import { createServer as createHttp1Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { JsonObject } from '@bufbuild/protobuf';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import pg from 'pg';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { announcePort, answerCpuUsage } from './bench-process.ts';

/**
 * The baseline of PublishEvent: a Connect handler with one prepared statement in its own transaction. No token, no
 * validation, no idempotency, no audit.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });

const handler = connectNodeAdapter({
  routes: (router) => {
    router.service(EventService, {
      async publishEvent({ merchantId, environment, type, objectId, data }) {
        const row = { merchant_id: merchantId, environment: 'test', type, object_id: objectId };
        const id = await publish({ ...row, request_id: objectId, occurred_at: new Date(), data: data! });
        return { event: { id, merchantId, environment, type, objectId, data } };
      },
    });
  },
});

async function publish(event: Record<string, string | Date | JsonObject>): Promise<string> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'publish',
    text: 'select id from webhooks.publish($1)',
    values: [JSON.stringify([event])],
  });
  return rows[0]!.id;
}

const server = process.env.HTTP_VERSION === '2' ? createHttp2Server(handler) : createHttp1Server(handler);
answerCpuUsage();
await announcePort({
  server,
  listen: ({ host, port }) => new Promise<void>((resolve) => server.listen(port, host, resolve)),
});
