import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttemptFailure } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { SeenPage } from '../dashboard-desk.ts';
import { type DeliveriesDesk, startDeliveriesDesk } from './deliveries-desk.ts';

let desk: DeliveriesDesk;
beforeAll(async () => {
  desk = await startDeliveriesDesk();
});
afterAll(() => desk.close());

/** The texts of the cells of each row. */
const rowsOf = ({ document }: SeenPage) =>
  document
    .querySelectorAll('[data-live="deliveries"] tbody tr')
    .map((row) => row.querySelectorAll('td').map((cell) => cell.text.trim().replaceAll(/\s+/g, ' ')));

describe('the list of deliveries', () => {
  it('shows each delivery with its last attempt, newest first', async () => {
    const { tenant, base, developer } = await desk.shop();
    const subscription = await desk.subscribed(tenant);
    await desk.attempted(tenant, { httpStatus: 503, latencyMs: 1_234 }, 'object 1');
    await desk.attempted(tenant, { failure: AttemptFailure.TLS, latencyMs: 7 }, 'object 2');
    await desk.webhooks.publish(tenant, 'object 3');
    await desk.webhooks.claimKeys();
    const page = await developer.get(`${base}/deliveries`);
    expect(page.status).toBe(200);
    const rows = rowsOf(page);
    const { host } = new URL(subscription.url);
    const ofPayment = expect.stringMatching(`payment.succeeded.v1 ${host}/hooks/`);
    expect(rows.map((cells) => cells.slice(0, 5))).toEqual([
      [ofPayment, 'object 3', 'Queued', '0', '—'],
      [ofPayment, 'object 2', 'Retrying', '1', 'TLS failed: check the certificate 7 ms'],
      [ofPayment, 'object 1', 'Retrying', '1', 'HTTP 503 1,234 ms'],
      [expect.stringContaining('webhook.ping.v1'), expect.any(String), 'Delivered', '1', 'HTTP 200 12 ms'],
    ]);
    expect(rows[1]![5]).toMatch(/^\d.+\(.+\)$/);
    expect(rows[3]![5]).toBe('—');
  });
});
