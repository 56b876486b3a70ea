import { afterAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../../services/platform/durations.ts';
import { sqlOf } from '../../../../support/sql.ts';
import type { SeenPage } from '../../dashboard-fixture.ts';
import { startDeliveriesFixture } from './deliveries-fixture.ts';

const fixture = await startDeliveriesFixture();
afterAll(() => fixture.close());

/** The texts of the cells of each row. */
const rowsOf = ({ document }: SeenPage) =>
  document
    .querySelectorAll('[data-live="deliveries"] tbody tr')
    .map((row) => row.querySelectorAll('td').map((cell) => cell.text.trim().replaceAll(/\s+/g, ' ')));

describe('the list of deliveries', () => {
  it('shows each delivery with its last attempt, newest first', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const subscription = await fixture.subscribed(tenant);
    await fixture.attempted(tenant, { httpStatus: 503, latencyMs: 1_234 }, 'object 1');
    await fixture.attempted(tenant, { failure: 'TLS', latencyMs: 7 }, 'object 2');
    await fixture.webhooks.publish(tenant, 'object 3');
    const page = await developer.get(`${base}/deliveries`);
    expect(page.status).toBe(200);
    const rows = rowsOf(page);
    const { host } = new URL(subscription.url);
    const ofPayment = expect.stringMatching(`payment.succeeded.v1 ${host}/hooks/`);
    expect(rows.map((cells) => cells.slice(0, 5))).toEqual([
      [ofPayment, 'object 3', 'Queued', '0', '—'],
      [ofPayment, 'object 2', 'Retrying', '1', 'TLS handshake failed 7 ms'],
      [ofPayment, 'object 1', 'Retrying', '1', 'HTTP 503 1,234 ms'],
      [expect.stringContaining('webhook.ping.v1'), expect.any(String), 'Delivered', '1', 'HTTP 200 12 ms'],
    ]);
    expect(rows[1]![5]).toMatch(/^[A-Z][a-z]+ \d.+\(.+\)$/);
    expect(rows[3]![5]).toBe('—');
  });

  it('filters both lists', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id } = await fixture.subscribed(tenant);
    const [first] = await fixture.attempted(tenant, { httpStatus: 200 }, 'ação 1');
    await fixture.attempted(tenant, { httpStatus: 503 }, 'object 2');
    const { delivery } = await fixture.webhooks.deliveries.getDelivery({ ...tenant, deliveryId: first! });
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 16);
    const fitting: Record<string, string[]> = {
      'type=webhook.ping.v1': ['Delivered'],
      'type=payment.succeeded.v1': ['Retrying', 'Delivered'],
      'status=retrying': ['Retrying'],
      'status=exhausted': [],
      'object=a%C3%A7%C3%A3o%201&status=': ['Delivered'],
      [`request=${delivery!.requestId}`]: ['Delivered'],
      [`event=${delivery!.eventId}&object=+`]: ['Delivered'],
      [`since=${tomorrow}`]: [],
      [`before=${tomorrow}&since=2020-01-01T00:00`]: ['Retrying', 'Delivered', 'Delivered'],
    };
    for (const path of ['/deliveries', `/webhooks/${id}/deliveries`]) {
      for (const [query, statuses] of Object.entries(fitting)) {
        const rows = rowsOf(await developer.get(`${base}${path}?${query}`));
        expect(
          rows.map((cells) => cells[2]),
          query,
        ).toEqual(statuses);
      }
    }
  });

  it('says why an event was not sent to any endpoint', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.webhooks.publish(tenant, 'object 1');
    const { events } = await fixture.webhooks.events.listEvents({ ...tenant, pageSize: 1 });
    const emptyFor = async (query: string, path = '/deliveries') => {
      const { document } = await developer.get(`${base}${path}?${query}`);
      return document.querySelector('.empty')?.text;
    };
    const { id } = events[0]!;
    expect(await emptyFor(`event=${id}&status=`)).toContain(
      'no active endpoint was subscribed to payment.succeeded.v1',
    );
    expect(await emptyFor(`event=${id}&status=retrying`)).toBe('No deliveries match the filters.');
    expect(await emptyFor(`event=${tenant.merchantId}`)).toBe('No deliveries match the filters.');
    const subscription = await fixture.subscribed(tenant);
    const ofOne = `/webhooks/${subscription.id}/deliveries`;
    expect(await emptyFor(`event=${id}`, ofOne)).toBe('No deliveries match the filters.');
  });

  it.each([
    ['event', 'x', 'is a UUID'],
    ['since', '2026-02-30T10:00', 'valid date and time'],
    ['before', 'yesterday', 'valid date and time'],
    ['since', '2026-11-21T10:00&before=2026-11-21T09:00', 'must be before the end'],
    ['since', '2026-11-21T10:00&before=2026-11-21T10:00', 'must be before the end'],
    ['request', 'a%00b', 'not valid in an ID'],
    ['object', 'a%00b', 'not valid in an ID'],
  ])('reports an invalid filter by %s', async (name, value, fault) => {
    const { base, developer } = await fixture.shop();
    const page = await developer.get(`${base}/deliveries?${name}=${value}`);
    expect(page.status).toBe(422);
    expect(page.document.querySelector(`#${name}-fault`)!.text).toContain(fault);
    expect(page.document.querySelector('details.more')!.hasAttribute('open')).toBe(true);
    expect(page.document.querySelector('[data-stream]')).toBeNull();
  });

  it('keeps its filters on the next page', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id } = await fixture.subscribed(tenant);
    for (let n = 0; n < 26; n += 1) await fixture.webhooks.publish(tenant, `object ${n}`);
    const path = `${base}/webhooks/${id}/deliveries?type=payment.succeeded.v1`;
    const first = await developer.get(path);
    expect(rowsOf(first)).toHaveLength(25);
    const next = first.document
      .querySelector('a[rel="next"]')!
      .getAttribute('href')!
      .replaceAll('&amp;', '&');
    const second = await developer.get(next);
    expect(rowsOf(second).map((cells) => cells[1])).toEqual(['object 0']);
    expect(second.document.querySelector('a[rel="next"]')).toBeNull();
    expect((await developer.get(`${path}&page=x`)).status).toBe(422);
  });
});

it('searches some ten thousand deliveries, then older ones on the next page', async () => {
  const { tenant, base, developer } = await fixture.shop();
  const { id } = await fixture.subscribed(tenant);
  // Newer than the ping that the endpoint got when it was created.
  await sqlOf(
    fixture.harness,
    `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select $1, 'live', ('02000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, webhooks.lane_of($2),
       gen_random_uuid(), case n when 1_000 then 'sought' else 'payment.succeeded.v1' end, 'object', n, 'request', false,
       'HELD', 0, now() from generate_series(1, 10_000) n`,
    [tenant.merchantId, id],
  );
  expect(rowsOf(await developer.get(`${base}/deliveries?type=sought`))).toHaveLength(1);
  const first = await developer.get(`${base}/deliveries?type=webhook.ping.v1`);
  expect(first.document.querySelector('.empty')!.text).toContain('searches older ones');
  const next = first.document.querySelector('a[rel="next"]')!.getAttribute('href')!;
  const second = await developer.get(next.replaceAll('&amp;', '&'));
  expect(rowsOf(second).map((cells) => cells[2])).toEqual(['Delivered']);
});

describe('the newest deliveries of a subscription', () => {
  it('are up to ten of the subscription', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id } = await fixture.subscribed(tenant);
    for (let n = 0; n < 11; n += 1) await fixture.webhooks.publish(tenant, `object ${n}`);
    await fixture.subscribed(tenant);
    const { document } = await developer.get(`${base}/webhooks/${id}`);
    const objects = document
      .querySelectorAll('.wide tbody tr')
      .map((row) => row.querySelectorAll('td')[1]!.text.trim());
    expect(objects).toEqual(Array.from({ length: 10 }, (_, n) => `object ${10 - n}`));
    expect(document.querySelector(`a[href="${base}/webhooks/${id}/deliveries"]`)).not.toBeNull();
  });
});
