import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../../../services/platform/database/database.ts';
import {
  OUTBOX_CHANNEL,
  OutboxSignal,
  type OutboxWork,
} from '../../../../services/platform/outbox/outbox-signal.ts';
import { createTestDatabase } from '../../../support/harness.ts';

let database: Database;
let listener: Client;
const payloads: string[] = [];
beforeAll(async () => {
  const url = await createTestDatabase();
  database = await Database.open({ url, poolSize: 2, preparedStatements: true, entities: [] });
  listener = new Client({ connectionString: url });
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => payloads.push(payload));
  await listener.query(`listen ${OUTBOX_CHANNEL}`);
});
afterAll(async () => {
  await listener.end();
  await database.close();
});

it('signals each commit at once in this process, and to others what was committed since the last notification', async () => {
  const [signal, elsewhere] = [new OutboxSignal(database), new OutboxSignal(database)];
  const received: OutboxWork[] = [];
  signal.onWork((work) => received.push(work));
  signal.committed('EVENTS');
  signal.committed('COMMANDS');
  signal.committed('EVENTS');
  expect(received).toEqual(['EVENTS', 'COMMANDS', 'EVENTS']);
  await expect.poll(() => payloads).toHaveLength(1);
  signal.committed('EVENTS');
  await expect.poll(() => payloads).toHaveLength(2);
  expect(payloads.map((payload) => elsewhere.parseNotification(payload))).toEqual(['COMMANDS', 'EVENTS']);
  expect(payloads.map((payload) => signal.parseNotification(payload))).toEqual([undefined, undefined]);
  await delay(50);
  expect(payloads).toHaveLength(2);
});
