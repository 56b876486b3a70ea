import { timestampFromDate, timestampNow } from '@bufbuild/protobuf/wkt';
import { afterAll, describe, expect, test } from 'vitest';
import { Role } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { SubscriptionError } from '../../../../../services/webhooks/subscriptions/subscription.ts';
import { exhausted, gone } from '../../../../services/webhooks/subscriptions/subscription-errors.ts';
import { newUrl } from '../../../../services/webhooks/webhooks-fixture.ts';
import { actionsOf, HOSTILE, SECRET, startSubscriptionsFixture, wordsOf } from './subscriptions-fixture.ts';

const fixture = await startSubscriptionsFixture({ WEBHOOK_SUBSCRIPTION_LIMIT: '60' });
afterAll(() => fixture.close());

const setState = (id: string, state: string, error: SubscriptionError | null = null) =>
  fixture.webhooks.sql(
    `update webhooks.subscription set state = $2, error = $3,
       error_at = case when $3::jsonb is null then null else '2026-11-20T15:04:05Z'::timestamptz end,
       disabled_at = case when $2 = 'DISABLED' then '2026-11-20T15:04:05Z'::timestamptz end,
       disabled_position = case when $2 = 'DISABLED' then 0 end
      where id = $1`,
    [id, state, error],
  );

describe('the list', () => {
  test('shows each subscription with its state, its error and since when, in both languages', async () => {
    const { tenant, at, viewer, write } = await fixture.newMerchant();
    const failing = await fixture.webhooks.subscribe(tenant, ['payment.succeeded.v1', 'payment.failed.v1']);
    await setState(failing.id, 'ERROR', exhausted(12, { failure: 'CONNECTION_REFUSED' }));
    const paused = await fixture.webhooks.subscribe(tenant);
    await fixture.webhooks.subscriptions.pauseWebhookSubscription(write(paused.id));
    const disabled = await fixture.webhooks.subscribe(tenant);
    await setState(disabled.id, 'DISABLED', gone());
    const page = await viewer.get(at('/webhooks'));
    const rows = page.document
      .querySelectorAll('tbody tr')
      .map((row) => row.textContent.replaceAll(/\s+/g, ' '));
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain(disabled.url);
    expect(rows[0]).toMatch(/Disabled.*The server responded with HTTP 410.*Since Nov 20, 2026, 12:04:05/);
    expect(rows[1]).toMatch(/Pending.*Paused/);
    expect(rows[2]).toMatch(/Failing.*failed in all of its 12 attempts.*refused.*Since/);
    expect(page.document.querySelectorAll('tbody tr')[2]!.querySelector('td.number')!.text).toBe('2');
    const { text: portuguese } = await viewer.reading('pt-BR').get(at('/webhooks'));
    expect(portuguese).toMatch(/Com falhas[\s\S]*falhou em todas as 12 tentativas[\s\S]*recusada/);
    expect(portuguese).toMatch(/Pausado/);
  });

  test('shows a failing endpoint at once: there, on its page and on the overview, in both languages', async () => {
    const { tenant, at, viewer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    await fixture.attempts.recordPending(tenant.merchantId, { httpStatus: 204 });
    await fixture.webhooks.publish(tenant);
    await fixture.attempts.recordPending(tenant.merchantId, { httpStatus: 500, latencyMs: 90 });
    const failing =
      /Active Failing.*Failing since \w{3} \d.*: HTTP 500\. 1 of 2 attempts delivered in the last hour\./;
    const page = wordsOf(await viewer.get(at(`/webhooks/${id}`)));
    expect(page).toMatch(failing);
    expect(page).toMatch(/Active Failing Your server is not accepting deliveries\./);
    expect(page).toMatch(
      /Success rate ?50\.00% \(1 of 2.*Last delivery ?\w{3} \d.*Response time ?95% within 100 ms/,
    );
    expect(wordsOf(await viewer.get(at('/webhooks')))).toMatch(failing);
    expect(wordsOf(await viewer.get(at('')))).toMatch(
      /A webhook needs attention.*Failing since .*1 of 2 attempts/,
    );
    const portuguese = wordsOf(await viewer.reading('pt-BR').get(at(`/webhooks/${id}`)));
    expect(portuguese).toMatch(
      /Com falhas desde .*: HTTP 500\. 1 de 2 tentativas bem-sucedidas na última hora\./,
    );
    await fixture.webhooks.publish(tenant);
    await fixture.attempts.recordPending(tenant.merchantId, { httpStatus: 204 });
    expect(wordsOf(await viewer.reading('en').get(at('/webhooks')))).not.toContain('Failing');
  });

  test('is paginated, newest first, and limited to its merchant and environment', async () => {
    const { tenant, at, viewer } = await fixture.newMerchant();
    const created: string[] = [];
    for (let index = 0; index < 27; index += 1)
      created.unshift((await fixture.webhooks.subscribe(tenant)).id);
    await fixture.webhooks.subscribe({ ...tenant, environment: Environment.TEST });
    const linksOf = (page: Awaited<ReturnType<typeof viewer.get>>) =>
      page.document.querySelectorAll('tbody a').map((link) => link.getAttribute('href')!);
    const first = await viewer.get(at('/webhooks'));
    const next = first.document.querySelector('a[rel=next]')!.getAttribute('href')!;
    const second = await viewer.get(next.replaceAll('&amp;', '&'));
    expect([...linksOf(first), ...linksOf(second)]).toEqual(created.map((id) => at(`/webhooks/${id}`)));
    expect(second.document.querySelector('a[rel=next]')).toBeNull();
    expect(second.document.querySelector('a[rel=first]')).not.toBeNull();
    expect(linksOf(await viewer.get(`/sandbox/${tenant.merchantId}/webhooks`))).toHaveLength(1);
  });

  test('of a merchant without subscriptions says so', async () => {
    const { at, viewer, developer } = await fixture.newMerchant();
    expect(wordsOf(await viewer.get(at('/webhooks')))).toContain('No endpoints yet');
    expect((await viewer.get(at('/webhooks'))).text).not.toContain(at('/webhooks/new'));
    expect((await developer.get(at('/webhooks'))).text).toContain(at('/webhooks/new'));
  });
});

describe('a subscription', () => {
  test('is shown with its types, limits and secrets, without actions for viewers', async () => {
    const { tenant, at, viewer, developer, write } = await fixture.newMerchant();
    const { id, url } = await fixture.webhooks.subscribe(tenant);
    await fixture.webhooks.subscriptions.setDeliveryLimits({
      ...write(id),
      maxConcurrentAttempts: 7,
      maxAttemptsPerSecond: 90,
    });
    const page = await viewer.get(at(`/webhooks/${id}`));
    expect(page.status).toBe(200);
    const words = wordsOf(page);
    for (const part of [
      url,
      'payment.succeeded.v1',
      id,
      'up to 7 concurrent attempts',
      'up to 90 attempts per second',
    ]) {
      expect(words).toContain(part);
    }
    expect(words).toContain('not shown yet');
    expect(actionsOf(page)).toEqual([]);
    expect(page.text).not.toContain('/rotate');
    expect(actionsOf(await developer.get(at(`/webhooks/${id}`)))).toEqual(
      ['test', 'reveal', 'disable', 'delete'].map((verb) => at(`/webhooks/${id}/${verb}`)),
    );
  });

  test('shows live that it has become active', async () => {
    const { tenant, at, viewer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    const stream = await viewer.fetch(at(`/webhooks/${id}`), { headers: streamHeaders(viewer.token) });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const hear = async (pattern: RegExp) => {
      while (!pattern.test(heard)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream has ended before ${pattern}: ${heard}`);
        heard += value;
      }
    };
    await hear(/Pending/);
    await fixture.attempts.recordPending(tenant.merchantId, { httpStatus: 204 });
    await hear(/Active/);
    await reader.cancel();
    expect(heard).not.toMatch(SECRET);
  });
});

const streamHeaders = (token: string) => ({
  accept: 'text/event-stream',
  cookie: `__Host-session=${token}; language=en`,
});

describe('the actions', () => {
  test('a test event goes to this subscription only, and its outcome is shown', async () => {
    const { tenant, at, developer, viewer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    await fixture.webhooks.subscribe(tenant);
    await fixture.attempts.recordPending(tenant.merchantId, { httpStatus: 204 });
    const sent = await developer.submit(at(`/webhooks/${id}`), '/test');
    expect(sent.path).toMatch(new RegExp(`^${at(`/webhooks/${id}`)}\\?test=[0-9a-f-]{36}#test$`));
    expect(wordsOf(sent)).toContain('On its way');
    await fixture.attempts.recordPending(tenant.merchantId, { httpStatus: 204 });
    const after = await viewer.get(sent.path);
    expect(wordsOf(after)).toMatch(/Delivered Attempt 1: HTTP 204 12 ms/);
    const eventId = /test=([0-9a-f-]+)/.exec(sent.path)![1]!;
    const { deliveries } = await fixture.webhooks.deliveries.listDeliveries({ ...tenant, eventId });
    expect(deliveries).toMatchObject([
      { subscriptionId: id, eventType: 'webhook.ping.v1', status: DeliveryStatus.SUCCEEDED },
    ]);
  });

  test('disabling stops it; reactivating offers to resend exactly what it missed', async () => {
    const { tenant, at, developer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    const disabled = await developer.submit(at(`/webhooks/${id}`), '/disable');
    expect(wordsOf(disabled)).toMatch(/Endpoint disabled.*Disabled No events are sent\. Since/);
    const get = async () =>
      (await fixture.webhooks.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId: id }))
        .subscription!;
    expect(disabled.document.querySelector('#test')).toBeNull();
    const resendForm = at(`/webhooks/${id}/resends`);
    expect(disabled.document.querySelector(`a[href="${resendForm}"]`)).toBeNull();
    const { disabledAt } = await get();
    const since = new Date(Number(disabledAt!.seconds) * 1_000 + disabledAt!.nanos / 1e6).toISOString();
    expect(actionsOf(disabled)).toEqual(
      ['reveal', 'reactivate', 'delete'].map((verb) => at(`/webhooks/${id}/${verb}`)),
    );
    const missed = await fixture.webhooks.publish(tenant);

    const back = await developer.submit(disabled, '/reactivate');
    expect((await get()).state).toBe(WebhookSubscriptionState.PENDING);
    expect(wordsOf(back)).toContain('Events were not sent from');
    expect(back.document.querySelector(`a[href="${resendForm}"]`)).not.toBeNull();
    expect(back.document.querySelector(`section.missed time[datetime="${since}"]`)).not.toBeNull();
    await fixture.webhooks.publish(tenant);

    const preview = back.document.querySelector('section.missed a')!.getAttribute('href')!;
    const confirmed = await developer.get(`${preview}&scope=undelivered`);
    expect(wordsOf(confirmed)).toContain('Resend 1 event to ');
    const resent = await developer.submit(confirmed, `/webhooks/${id}/resends`);
    expect(resent.status).toBe(200);
    expect(wordsOf(resent)).toContain('Missed while the endpoint was disabled');
    const { resends } = await fixture.webhooks.deliveries.listResends({ ...tenant });
    expect(resends).toMatchObject([{ subscriptionId: id, onlyFailed: true }]);
    const [{ id: resendId } = { id: '' }] = resends;
    await fixture.webhooks.dispatch.continueResend({ resendId, maxDeliveries: 10 });
    const { deliveries } = await fixture.webhooks.deliveries.listDeliveries({ ...tenant, resendId });
    expect(deliveries.map(({ eventId }) => eventId)).toEqual([missed.id]);
  });

  test('its URL, description and types are edited, with what is at fault explained', async () => {
    const { tenant, at, developer } = await fixture.newMerchant();
    const { id, url } = await fixture.webhooks.subscribe(tenant);
    const other = await fixture.webhooks.subscribe(tenant);
    const edit = (fields: Record<string, string | string[]>) =>
      developer.submit(at(`/webhooks/${id}/edit`), '/edit', fields);
    const blank = await developer.get(at(`/webhooks/${id}/edit`));
    expect(blank.document.querySelector('input[name=url]')!.getAttribute('value')).toBe(url);
    expect(blank.document.querySelectorAll('input[name=event_types][checked]')).toHaveLength(1);
    expect(wordsOf(blank)).toContain('Deliveries in progress continue');

    const types = ['refund.requested.v1', 'payment.failed.v1'];
    const moved = newUrl();
    const faults = [
      [{ url: 'https://10.0.0.7/hook', event_types: types }, 422, 'not on the public internet'],
      [{ url: other.url, event_types: types }, 409, 'An endpoint with this URL already exists'],
      [{ url, event_types: [] }, 422, 'Select at least one event type'],
      [{ url, event_types: types, description: 'x'.repeat(201) }, 422, 'longer than 200 characters'],
    ] as const;
    for (const [fields, status, text] of faults) {
      const refused = await edit({ ...fields, event_types: [...fields.event_types] });
      expect([refused.status, wordsOf(refused)]).toEqual([status, expect.stringContaining(text)]);
    }
    const saved = await edit({ url: moved, event_types: types, description: HOSTILE });
    expect(wordsOf(saved)).toMatch(/Endpoint updated.*Pending/);
    expect(saved.text).not.toContain('<img');
    const answer = await fixture.webhooks.subscriptions.getWebhookSubscription({
      ...tenant,
      subscriptionId: id,
    });
    expect(answer.subscription).toMatchObject({ url: moved, description: HOSTILE });
    expect(answer.subscription!.eventTypes.toSorted()).toEqual(types.toSorted());
  });

  test('its page opens without what it missed if the times of the address are none', async () => {
    const { tenant, at, developer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    for (const from of ['2016-12-31T23:59:60Z', '2026-02-29T00:00:00Z', 'yesterday', '']) {
      const query = new URLSearchParams({
        missed: '1-9',
        missed_from: from,
        missed_to: '2026-11-20T12:00:00Z',
      });
      const page = await developer.get(at(`/webhooks/${id}?${query}`));
      expect([from, page.status, page.document.querySelectorAll('.missed').length]).toEqual([from, 200, 0]);
    }
  });

  test('an edit that is sent twice is saved once, also if it moves the endpoint to another URL', async () => {
    const { tenant, at, developer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    const opened = await developer.get(at(`/webhooks/${id}/edit`));
    const fields = { url: newUrl(), event_types: ['refund.requested.v1'] };
    for (const response of [
      await developer.submit(opened, '/edit', fields),
      await developer.submit(opened, '/edit', fields),
    ]) {
      expect([response.status, wordsOf(response)]).toEqual([
        200,
        expect.stringContaining('Endpoint updated'),
      ]);
    }
  });

  test("when two people edit one, the second sees the first one's changes before saving", async () => {
    const { tenant, at, developer } = await fixture.newMerchant();
    const colleague = await fixture.signIn({ [tenant.merchantId]: Role.DEVELOPER });
    const { id, url } = await fixture.webhooks.subscribe(tenant);
    const path = at(`/webhooks/${id}/edit`);
    const [opened, others] = [await developer.get(path), await colleague.get(path)];
    await colleague.submit(others, '/edit', { description: 'Orders', event_types: ['payment.failed.v1'] });
    const mine = { description: 'Refunds', event_types: ['refund.requested.v1'] };
    const faulty = await developer.submit(opened, '/edit', { ...mine, url: 'https://10.0.0.7/hook' });
    expect(faulty.status).toBe(422);
    const refused = await developer.submit(faulty, '/edit', { ...mine, url });
    expect(refused.status).toBe(409);
    expect(wordsOf(refused)).toMatch(
      /Someone else changed.*Nothing was saved.*Current values.*Orders.*payment\.failed\.v1 URL/,
    );
    expect(refused.document.querySelector('input[name=description]')!.getAttribute('value')).toBe('Refunds');
    const read = async () =>
      (await fixture.webhooks.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId: id }))
        .subscription!;
    expect(await read()).toMatchObject({ url, description: 'Orders', eventTypes: ['payment.failed.v1'] });
    expect(wordsOf(await developer.submit(refused, '/edit', mine))).toContain('Endpoint updated');
    expect(await read()).toMatchObject({ url, description: 'Refunds', eventTypes: ['refund.requested.v1'] });
  });

  test('a deleted one leaves the list; its page shows its deliveries and no actions, in both languages', async () => {
    const { tenant, at, developer, write } = await fixture.newMerchant();
    const { id, url } = await fixture.webhooks.subscribe(tenant);
    const period = { from: timestampFromDate(new Date(0)), to: timestampNow() };
    await fixture.webhooks.deliveries.resendDeliveries({
      ...write(id),
      selection: { case: 'period', value: period },
    });
    const deleted = await developer.submit(at(`/webhooks/${id}`), '/delete');
    expect(wordsOf(deleted)).toMatch(/Endpoint deleted.*Deleted No events are sent.*webhook\.ping\.v1/);
    expect(actionsOf(deleted)).toEqual([]);
    expect(deleted.text).not.toContain('/edit');
    const portuguese = await developer.reading('pt-BR').get(at(`/webhooks/${id}`));
    expect(wordsOf(portuguese)).toMatch(/Excluído Nenhum evento é enviado/);
    expect(wordsOf(await developer.reading('en').get(at('/webhooks')))).not.toContain(url);
    for (const path of ['/deliveries', `/webhooks/${id}/deliveries`, '/resends']) {
      expect(wordsOf(await developer.get(at(path)))).toContain(url.replace('https://', '').slice(0, 40));
    }
  });

  test('an action that the state does not allow is refused with an explanation', async () => {
    const { tenant, at, developer, write } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    const page = await developer.get(at(`/webhooks/${id}`));
    await fixture.webhooks.subscriptions.disableWebhookSubscription(write(id));
    const refused = await developer.submit(page, '/test');
    expect(refused.status).toBe(409);
    expect(wordsOf(refused)).toContain('status of the endpoint has changed');
  });

  test('reactivation beyond the limit is refused with an explanation', async () => {
    const { tenant, at, developer, write } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    await fixture.webhooks.subscriptions.disableWebhookSubscription(write(id));
    for (let index = 0; index < 60; index += 1) await fixture.webhooks.subscribe(tenant);
    const refused = await developer.submit(at(`/webhooks/${id}`), '/reactivate');
    expect(refused.status).toBe(409);
    expect(wordsOf(refused)).toContain('maximum number of enabled endpoints');
  });
});
