import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { parse } from 'node-html-parser';
import { afterAll, describe, expect, it } from 'vitest';
import { Environment } from '../../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  AttemptFailure,
  WebhookListenerService,
} from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite } from '../../../../support/harness.ts';
import type { SeenPage } from '../../dashboard-fixture.ts';
import { startDeliveriesFixture } from './deliveries-fixture.ts';
import { makeEveryState } from './every-state.ts';

const fixture = await startDeliveriesFixture();
const shop = await fixture.shop();
const all = await makeEveryState(fixture, shop);
afterAll(() => fixture.close());

const open = (deliveryId: string) => shop.developer.get(`${shop.base}/deliveries/${deliveryId}`);
const stateOf = ({ document }: SeenPage) => document.querySelector('[data-live="state"] p')!.text.trim();
const verbsOf = ({ document }: SeenPage) =>
  document.querySelectorAll('main form').map((form) => form.getAttribute('action')!.split('/').at(-1));

/** The text of a `pre`, which the parser leaves as it is. */
const shownIn = ({ innerHTML }: { innerHTML: string }) => parse(`<p>${innerHTML}</p>`).text;

describe('the page of a delivery', () => {
  const REASONS = {
    succeeded: ['Delivered', 'Your server acknowledged the event', ['resend']],
    retrying: ['Retrying', 'The last attempt failed', ['retry', 'cancel']],
    underWay: ['Retrying', 'An attempt is in progress', ['retry', 'cancel']],
    held: ['On hold: endpoint failing', 'failing on many deliveries at once', ['retry', 'cancel']],
    blocked: ['Waiting for an earlier event', 'an earlier event of the same object', ['cancel']],
    queued: ['Queued', 'will be sent shortly', ['cancel']],
    exhausted: ['Failed', 'there will be no more', ['resend']],
    canceled: ['Canceled', 'manually, or because the endpoint was disabled', ['resend']],
  } as const;
  it.each(Object.entries(REASONS))(
    'explains the status %s, and offers the possible actions',
    async (name, expected) => {
      const [badge, reason, verbs] = expected;
      const page = await open(all.deliveries[name]!);
      expect(stateOf(page)).toMatch(new RegExp(`^${badge}`));
      expect(stateOf(page)).toContain(reason);
      expect(verbsOf(page)).toEqual(verbs);
    },
  );

  it('names its times in UTC too, to compare them with the logs of a server', async () => {
    const page = await open(all.deliveries.retrying!);
    const time = page.document.querySelector('.attempts time')!;
    expect(time.getAttribute('title')).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC$/);
    const [second] = time.getAttribute('datetime')!.split('.');
    expect(time.getAttribute('title')).toBe(`${second!.replace('T', ' ')} UTC`);
  });

  it('says that its endpoint is paused or disabled, or that its resend was canceled', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { id: subscriptionId } = await fixture.subscribed(tenant);
    const reasonOf = async (id: string) => stateOf(await developer.get(`${base}/deliveries/${id}`));
    const [held] = await fixture.attempted(tenant, { httpStatus: 500 });
    const paused = { ...newWrite(tenant), subscriptionId };
    await fixture.webhooks.subscriptions.pauseWebhookSubscription(paused);
    await fixture.webhooks.sql(`update webhooks.open_delivery set status = 'HELD' where id = $1`, [held]);
    expect(await reasonOf(held!)).toContain('Our operations team has paused deliveries');
    await fixture.webhooks.subscriptions.resumeWebhookSubscription(newWrite(paused));
    const resend = await fixture.webhooks.again(tenant, subscriptionId);
    await fixture.webhooks.published(tenant, [Date.now() - 1_000]);
    await fixture.webhooks.goOn(resend.id);
    const [made] = await fixture.webhooks.madeOf(resend.id);
    await fixture.webhooks.cancel(tenant, resend.id);
    expect(await reasonOf(made!.id)).toContain('The resend that created it was canceled');
    await fixture.webhooks.disable(tenant, subscriptionId);
    expect(await reasonOf(held!)).toContain('The endpoint was disabled');
  });

  it('says that an overdue retry is made as soon as possible', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const [retrying] = await fixture.attempted(tenant, { httpStatus: 500 });
    const textOf = async () => {
      const page = await developer.get(`${base}/deliveries/${retrying}`);
      return page.document.querySelector('[data-live="state"]')!.text;
    };
    expect(await textOf()).toMatch(/We will retry at the time below[\s\S]*\(in /);
    await fixture.webhooks.sql(
      `update webhooks.open_delivery set next_attempt_at = now() - interval '1 hour' where id = $1`,
      [retrying],
    );
    const overdue = await textOf();
    expect(overdue).toContain('The next one is due, and will be made as soon as possible.');
    expect(overdue).toContain('(due)');
    expect(overdue).not.toMatch(/time below|now/);
  });

  it('shows what a listener on a developer’s machine received, without an endpoint to go to', async () => {
    const { tenant: live, developer } = await fixture.shop();
    const tenant = { ...live, environment: Environment.TEST };
    const left = new AbortController();
    const signingSecret = `whsec_${randomBytes(32).toString('base64')}`;
    const listener = { ...tenant, signingSecret, forwardsTo: 'http://localhost:3000/' };
    const listeners = createClient(WebhookListenerService, fixture.transport);
    const stream = listeners.openListener(listener, { signal: left.signal })[Symbol.asyncIterator]();
    await stream.next();
    const { id: eventId } = await fixture.webhooks.publish(tenant);
    await stream.next();
    const { deliveries } = await fixture.webhooks.deliveries.listDeliveries({ ...tenant, eventId });
    const base = `/sandbox/${tenant.merchantId}`;
    const pages = async () => {
      const list = await developer.get(`${base}/deliveries`);
      const page = await developer.get(`${base}/deliveries/${deliveries[0]!.id}`);
      return { list: list.document.querySelector('main')!, page: page.document.querySelector('main')! };
    };
    const { list, page } = await pages();
    expect(list.text).toContain('local listener');
    expect(page.text).toContain('merchant-payments listen');
    expect([list, page].join('')).not.toMatch(/href="[^"]*\/webhooks\/[0-9a-f]/);
    left.abort();
    await expect.poll(async () => (await pages()).page.text).toContain('Canceled');
  });

  it('shows its attempts, newest first, in plain language', async () => {
    const { document } = await open(all.deliveries.exhausted!);
    const attempts = document.querySelectorAll('.attempts li');
    expect(attempts).toHaveLength(10);
    expect(attempts[0]!.text).toMatch(/Attempt 10\s+HTTP 301\s+12 ms/);
    expect(attempts[0]!.text).toContain('We do not follow redirects');
    expect(attempts[0]!.querySelector('details')!.hasAttribute('open')).toBe(true);
    expect(attempts[1]!.querySelector('details')!.hasAttribute('open')).toBe(false);
    const failed = await open(all.deliveries.canceled!);
    expect(failed.document.querySelector('.attempts')!.text).toContain('Host not found (DNS)');
  });

  it('has a text for every attempt failure, in both languages', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const failures = Object.values(AttemptFailure).filter(
      (value) => typeof value === 'number' && value !== 0,
    );
    const [id] = await fixture.attempted(tenant, { httpStatus: 500 });
    const seen = new Set<string>();
    for (const failure of failures) {
      await fixture.webhooks.sql(
        `update webhooks.attempt set http_status = null, failure = $1 where delivery_id = $2`,
        [AttemptFailure[failure as number], id],
      );
      for (const language of ['pt-BR', 'en']) {
        const headers = { cookie: `__Host-session=${developer.token}; language=${language}` };
        const text = await (await developer.fetch(`${base}/deliveries/${id}`, { headers })).text();
        seen.add(/class="badge bad">([^<]+)</.exec(text)![1]!);
        seen.add(/<p class="hint">([^<]+\.)<\/p>/.exec(text.slice(text.indexOf('class="attempts"')))![1]!);
      }
    }
    expect(seen.size).toBe(2 * 2 * failures.length);
    expect([...seen].join()).not.toMatch(/_|undefined|Outra falha|Other failure/);
  });

  it('says where a redirect leads, and which names a certificate has', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const hintOf = async (id: string | undefined) =>
      (await developer.get(`${base}/deliveries/${id}`)).document.querySelector('.attempts .hint')!.text;
    const [redirected] = await fixture.attempted(tenant, {
      httpStatus: 302,
      detail: 'https://new.example.com/<hooks>',
    });
    expect(await hintOf(redirected)).toContain('redirected to https://new.example.com/<hooks>.');
    const [mismatched] = await fixture.attempted(tenant, {
      failure: 'CERTIFICATE_WRONG_NAME',
      detail: 'a.example.com, *.example.org',
    });
    expect(await hintOf(mismatched)).toContain('Names in the certificate: a.example.com, *.example.org.');
  });

  it('shows the request and repeats it with curl in any shell, whatever is in it', async () => {
    const { tenant, base, developer } = await fixture.shop();
    const { url } = await fixture.subscribed(tenant);
    await fixture.webhooks.publish(tenant, undefined, `it's "$(touch /tmp/x)" \`id\` \\ @ <b>`);
    const sent = {
      httpStatus: 500,
      signature: 'v1,c2lnbmVk',
      timingMs: [1, 2, 3, 4],
      responseHeaders: 'server: <nginx>\nset-cookie: [omitted]',
    };
    const [id] = await fixture.attempts.recordPending(tenant.merchantId, sent);
    const { document } = await developer.get(`${base}/deliveries/${id}`);
    const attempt = document.querySelector('.attempts li')!;
    expect(attempt.text).toContain(
      'DNS 1 ms · connecting 2 ms · TLS 3 ms · until the response 4 ms · total 12 ms',
    );
    const [request, response] = attempt.querySelectorAll('details[data-key="request-1"] > pre').map(shownIn);
    expect(request).toContain('webhook-signature: v1,c2lnbmVk');
    expect(response).toBe('server: <nginx>\nset-cookie: [omitted]');
    expect(attempt.innerHTML).not.toMatch(/<(nginx|b)>/);
    const found = await fixture.webhooks.deliveries.getDelivery({ ...tenant, deliveryId: id! });
    const script = `curl() { printf '%s\\0' "$@"; }\n${shownIn(attempt.querySelector('.copyable-block pre')!)}`;
    const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
    expect(given.slice(0, 4)).toEqual(['--globoff', '--request', 'POST', url]);
    expect(given).toContain('webhook-signature: v1,c2lnbmVk');
    expect(given.slice(-2)).toEqual(['--data-raw', found.requestBody]);
    expect(found.requestBody).toContain('$(touch /tmp/x)');
    expect(document.querySelectorAll('.remaining li')).toHaveLength(9);
  });

  it('exists after its event has been deleted', async () => {
    const { tenant, base, developer } = await fixture.shop();
    await fixture.subscribed(tenant);
    const [id] = await fixture.attempted(tenant, { httpStatus: 500 });
    await fixture.webhooks.sql(`delete from webhooks.event where merchant_id = $1`, [tenant.merchantId]);
    const page = await developer.get(`${base}/deliveries/${id}`);
    expect([page.status, page.text.includes('The event is no longer available')]).toEqual([200, true]);
  });
});
