import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { AccountService, Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { DeliveryStatus, ResendState } from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { TestTenant } from '../../../../support/harness.ts';
import { fieldsOf, type SeenPage, type Visitor } from '../../dashboard-fixture.ts';
import { startDeliveriesFixture } from './deliveries-fixture.ts';

const fixture = await startDeliveriesFixture();
afterAll(() => fixture.close());

const stateOf = async (tenant: TestTenant, deliveryId: string) =>
  (await fixture.webhooks.deliveries.getDelivery({ ...tenant, deliveryId })).delivery!;
const noticeOf = ({ document }: SeenPage) => document.querySelector('.notice')?.text;
const actionsOf = ({ document }: SeenPage) =>
  document.querySelectorAll('main form').map((form) => form.getAttribute('action')!.split('/').at(-1));
/** What may be resent, and which of it is preselected. */
const scopesOf = ({ document }: SeenPage) =>
  document
    .querySelectorAll('main input[name="scope"]')
    .map((input) => `${input.getAttribute('value')}${input.hasAttribute('checked') ? ' checked' : ''}`);
/** Follows the first GET form with this action, with fields changed. */
function next(
  visitor: Visitor,
  { document }: SeenPage,
  action: string,
  changed: Record<string, string> = {},
) {
  const form = document
    .querySelectorAll('form[method="get"]')
    .find((one) => one.getAttribute('action')!.endsWith(action))!;
  const fields = Object.entries(fieldsOf(form)).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const query = new URLSearchParams({ ...Object.fromEntries(fields), ...changed });
  return visitor.get(`${form.getAttribute('action')}?${query}`);
}
const secondsAgo = (seconds: number) => Date.now() - seconds * 1_000;
/** The audit entries of people at a merchant. */
const auditOf = async (tenant: TestTenant) => {
  const { entries } = await createClient(AccountService, fixture.transport).listAuditEntries({
    ...tenant,
    peopleOnly: true,
  });
  return entries.map(({ action }) => action.split('.').at(-1));
};

describe('a delivery that waits for its next attempt', () => {
  it('is retried at once on a developer’s request', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const [id] = await fixture.attempted(tenant, { httpStatus: 503 });
    const page = await developer.submit(`${base}/deliveries/${id}`, '/retry');
    expect(noticeOf(page)).toBe(
      'The next attempt is happening now. If one was already in progress, it continues.',
    );
    const { nextAttemptAt } = await stateOf(tenant, id!);
    expect(Number(nextAttemptAt!.seconds)).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(await auditOf(tenant)).toContain('RetryDelivery');
  });

  it('ends when a developer cancels it, and can then be resent', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const [id] = await fixture.attempted(tenant, { httpStatus: 503 });
    const stale = await developer.get(`${base}/deliveries/${id}`);
    expect(actionsOf(stale)).toEqual(['retry', 'cancel']);
    const page = await developer.submit(stale, '/cancel');
    expect(noticeOf(page)).toBe('Delivery canceled.');
    expect((await stateOf(tenant, id!)).status).toBe(DeliveryStatus.CANCELED);
    expect(actionsOf(page)).toEqual(['resend']);
    const late = await developer.submit(stale, '/retry');
    expect([
      late.status,
      late.text.includes('The delivery has already ended. Resend the event instead.'),
    ]).toEqual([409, true]);
    expect(await auditOf(tenant)).toEqual(['CancelDelivery']);
  });
});

describe('a delivery that has ended', () => {
  it('has its event resent to its endpoint only', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const [id] = await fixture.attempted(tenant, { httpStatus: 200 });
    await fixture.subscribed(tenant);
    const page = await developer.submit(`${base}/deliveries/${id}`, '/resend');
    expect(noticeOf(page)).toBe('Resend started.');
    const [resend] = (await fixture.webhooks.deliveries.listResends({ ...tenant })).resends;
    const { eventId } = await stateOf(tenant, id!);
    expect(resend).toMatchObject({ subscriptionId, eventId, onlyFailed: false, expectedCount: 1n });
    await fixture.webhooks.goOn(resend!.id);
    expect(await fixture.attempts.recordPending(tenant.merchantId, {})).toHaveLength(1);
    expect((await fixture.webhooks.goOn(resend!.id)).resend).toMatchObject({ succeededCount: 1n });
  });

  it('of a ping, or of a disabled endpoint, cannot be resent', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const [ping] = (await fixture.webhooks.deliveries.listDeliveries({ ...tenant })).deliveries;
    expect(actionsOf(await developer.get(`${base}/deliveries/${ping!.id}`))).toEqual([]);
    const [id] = await fixture.attempted(tenant, { httpStatus: 200 });
    const stale = await developer.get(`${base}/deliveries/${id}`);
    await fixture.webhooks.disable(tenant, subscriptionId);
    expect(actionsOf(await developer.get(`${base}/deliveries/${id}`))).toEqual([]);
    const late = await developer.submit(stale, '/resend');
    expect([late.status, late.text.includes('Reactivate it before resending')]).toEqual([409, true]);
  });
});

describe('a resend', () => {
  it('is previewed by what became of its events, confirmed with their number, and ends when it is canceled', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const [failed] = await fixture.webhooks.published(tenant, [90, 60, 30].map(secondsAgo));
    await fixture.webhooks.ended(tenant, subscriptionId, failed!, 'EXHAUSTED');
    const path = `${base}/webhooks/${subscriptionId}/deliveries`;
    const preview = await next(developer, await developer.get(path), '/preview');
    const text = (page: SeenPage) => page.document.querySelector('main')!.text.replaceAll(/\s+/g, ' ');
    expect(text(preview)).toContain('Never sent to this endpoint 2 older than the endpoint2');
    expect(text(preview)).toContain('Published from ');
    expect(scopesOf(preview)).toEqual(['failed checked', 'undelivered']);
    const narrow = await next(developer, preview, '/preview');
    expect(text(narrow)).toContain('Resend 1 event to ');
    const form = await next(developer, preview, '/preview', { scope: 'undelivered' });
    expect(form.document.querySelector('main form[method="post"] button')!.text).toBe('Resend 3 events');
    expect((await fixture.webhooks.deliveries.listResends({ ...tenant })).resends).toEqual([]);
    const begun = await developer.submit(form, '/resends');
    expect(noticeOf(begun)).toBe('Resend started.');
    expect(begun.document.querySelector('progress')!.getAttribute('max')).toBe('3');
    expect(begun.document.querySelector('progress')!.getAttribute('value')).toBe('0');
    const [resend] = (await fixture.webhooks.deliveries.listResends({ ...tenant })).resends;
    expect(resend).toMatchObject({ subscriptionId, onlyFailed: true, period: expect.anything() });
    expect((await developer.get(`${base}/resends`)).text).toContain('0 of 3 done');
    const again = await developer.submit(form, '/resends');
    expect(again.path).toBe(begun.path);
    await fixture.webhooks.goOn(resend!.id, 1);
    const canceled = await developer.submit(begun.path, '/cancel');
    expect(noticeOf(canceled)).toBe('Resend canceled.');
    expect(await fixture.webhooks.get(tenant, resend!.id)).toMatchObject({
      state: ResendState.CANCELED,
      canceledCount: 1n,
    });
    expect(actionsOf(canceled)).toEqual([]);
    const countsOf = ({ document }: SeenPage) =>
      document.querySelectorAll('.counts dt').map((name) => name.text);
    expect(countsOf(begun)).toContain('Queued');
    expect(countsOf(canceled)).toEqual(['Delivered', 'Failed', 'Canceled']);
    expect(await auditOf(tenant)).toEqual(['CancelResend', 'ResendDeliveries']);
  });

  it('of one event preselects it in any state, of a request its failures, and otherwise nothing', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const { id: eventId, requestId } = await fixture.webhooks.publish(tenant);
    await fixture.attempts.recordPending(tenant.merchantId, {});
    const path = `${base}/webhooks/${subscriptionId}/resends`;
    const previewed = (query: Record<string, string>) =>
      developer.get(`${path}/preview?${new URLSearchParams(query)}`);
    const ofEvent = await previewed({ event_id: ` ${eventId}`, request_id: '' });
    expect(scopesOf(ofEvent)).toEqual(['all checked']);
    await developer.submit(await next(developer, ofEvent, '/preview'), '/resends');
    expect(scopesOf(await previewed({ request_id: requestId }))).toEqual(['all']);
    const confirmed = await previewed({ request_id: requestId, scope: 'all' });
    await developer.submit(confirmed, '/resends');
    const { resends } = await fixture.webhooks.deliveries.listResends({ ...tenant });
    expect(
      resends.map(({ eventId: event, requestId: request, onlyFailed }) => [event, request, onlyFailed]),
    ).toEqual([
      [undefined, requestId, false],
      [eventId, undefined, false],
    ]);
    const none = await previewed({ request_id: 'none' });
    expect([none.status, noticeOf(none)]).toEqual([200, expect.stringContaining('no event to resend')]);
  });

  const FAULTS: readonly (readonly [string, Record<string, string>, string, string])[] = [
    [
      'an end before its beginning',
      { from: '2026-11-21T10:00', to: '2026-11-21T09:00' },
      'to',
      'after the start',
    ],
    ['an invalid date', { from: '2026-02-30T10:00', to: '2026-11-21T09:00' }, 'from', 'valid date and time'],
    ['half a period', { from: '2026-11-20T10:00' }, 'to', 'valid date and time'],
    ['empty fields', { event_id: '', request_id: '' }, 'event_id', 'either an event ID or a request ID'],
    [
      'an event and a request',
      { event_id: randomUUID(), request_id: 'r' },
      'event_id',
      'either an event ID or a request ID',
    ],
    ['an unknown event', { event_id: randomUUID() }, 'event_id', 'no event with this ID'],
    ['an invalid ID', { event_id: 'evt"><b>' }, 'event_id', 'is a UUID'],
    ['a request with a line break', { request_id: 'a\nb' }, 'request_id', 'not valid in an ID'],
  ];
  it.each(FAULTS)(
    'of %s is rejected at its field, and keeps the entered values',
    async (_what, fields, name, fault) => {
      const { tenant, base, developer } = await fixture.shop();
      const { id: subscriptionId } = await fixture.subscribed(tenant);
      const path = `${base}/webhooks/${subscriptionId}/resends`;
      const page = await developer.get(`${path}/preview?${new URLSearchParams(fields)}`);
      expect(page.status).toBe(422);
      expect(page.document.querySelector(`#${name}-fault`)!.text).toContain(fault);
      expect(page.document.querySelector(`#${name}`)!.getAttribute('aria-invalid')).toBe('true');
      expect(page.document.querySelector('[data-stream]')).toBeNull();
      expect(page.document.querySelector('main b')).toBeNull();
      const _csrf = page.document.querySelector('input[name="_csrf"]')!.getAttribute('value')!;
      const sent = await developer.post(path, { ...fields, _csrf, _key: randomUUID() });
      expect([sent.status, sent.document.querySelector(`#${name}-fault`)!.text]).toEqual([
        422,
        expect.stringContaining(fault),
      ]);
      expect((await fixture.webhooks.deliveries.listResends({ ...tenant })).resends).toEqual([]);
    },
  );
});

describe('a viewer', () => {
  it('sees everything, but has no actions', async () => {
    const { tenant, base, developer: viewer } = await fixture.shop(Role.VIEWER);
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const [deliveryId] = await fixture.attempted(tenant, { httpStatus: 503 });
    const { id: resendId } = await fixture.resending(tenant);
    for (const path of [
      `/webhooks/${subscriptionId}/deliveries`,
      `/deliveries/${deliveryId}`,
      `/resends/${resendId}`,
    ]) {
      const page = await viewer.get(`${base}${path}`);
      expect([page.status, page.document.querySelectorAll('main form[method="post"]').length]).toEqual([
        200, 0,
      ]);
    }
  });
});
