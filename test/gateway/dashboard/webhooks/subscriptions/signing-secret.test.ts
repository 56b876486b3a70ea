import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { Webhook } from 'standardwebhooks';
import { afterAll, describe, expect, test } from 'vitest';
import { AccountService } from '../../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { deliverWaiting } from '../../../../services/platform/egress/deliver-waiting.ts';
import { newUrl } from '../../../../services/webhooks/webhooks-fixture.ts';
import { createLoopbackGuard } from '../../../../support/loopback-guard.ts';
import { tablesWith } from '../../../../support/sql.ts';
import { startReceiver } from '../../../../support/tls-receiver.ts';
import type { SeenPage } from '../../dashboard-fixture.ts';
import {
  actionsOf,
  type MerchantFixture,
  SECRET,
  startSubscriptionsFixture,
  wordsOf,
} from './subscriptions-fixture.ts';

const fixture = await startSubscriptionsFixture();
afterAll(() => fixture.close());

const secretOf = (page: SeenPage) => {
  const found = SECRET.exec(page.text)?.[0];
  if (!found) throw new Error(`no secret on ${wordsOf(page)}`);
  return found;
};

const formOf = ({ developer, at }: MerchantFixture) => developer.get(at('/webhooks/new'));
const create = ({ developer }: MerchantFixture, form: SeenPage, url: string) =>
  developer.submit(form, '/webhooks/new', { url, event_types: ['payment.succeeded.v1'] });

const idOf = async ({ tenant }: MerchantFixture) =>
  (await fixture.webhooks.subscriptions.listWebhookSubscriptions({ ...tenant })).subscriptions[0]!.id;

/** Every page on which a secret might be looked for. */
const PLACES = ['', '/reveal', '/rotate', '/deliveries'];

async function expectNowhere({ at, developer, viewer }: MerchantFixture, id: string, secret: string) {
  const paths = [...PLACES.map((place) => `/webhooks/${id}${place}`), '/webhooks', '/webhooks/new', ''];
  for (const visitor of [developer, viewer]) {
    for (const path of paths) {
      const page = await visitor.get(at(path));
      expect(page.text).not.toContain(secret);
      expect(page.text).not.toMatch(SECRET);
    }
  }
}

describe('the secret of a new subscription', () => {
  test('is in the response that creates it, which is not cached, and is the one that signs', async () => {
    await using receiver = await startReceiver();
    await using guard = createLoopbackGuard();
    const merchant = await fixture.newMerchant();
    const page = await create(merchant, await formOf(merchant), newUrl());
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.path).toBe(merchant.at('/webhooks/new'));
    expect(page.text.match(new RegExp(SECRET, 'g'))).toHaveLength(1);
    expect(page.document.querySelector('[data-once] code')!.text).toBe(secretOf(page));
    expect(page.document.querySelector('main')!.hasAttribute('data-stream')).toBe(false);
    for (const [name, value] of page.headers) expect(`${name}: ${value}`).not.toMatch(SECRET);
    const id = await idOf(merchant);
    await fixture.webhooks.sql('update webhooks.subscription set url = $2 where id = $1', [
      id,
      `https://localhost:${receiver.port}/`,
    ]);
    await deliverWaiting(fixture.harness, { live: guard, test: guard });
    const [ping] = receiver.requests;
    new Webhook(secretOf(page)).verify(ping!.body, ping!.headers as Record<string, string>);
    await expectNowhere(merchant, id, secretOf(page));
  });

  test('is not in the response to a form that is sent again, which offers rotation', async () => {
    const merchant = await fixture.newMerchant();
    const form = await formOf(merchant);
    const url = newUrl();
    const secret = secretOf(await create(merchant, form, url));
    for (let times = 0; times < 2; times += 1) {
      const again = await create(merchant, form, url);
      expect(again.status).toBe(200);
      expect(again.text).not.toMatch(SECRET);
      expect(wordsOf(again)).toMatch(/was created.*already been shown.*rotate it/);
      const rotate = merchant.at(`/webhooks/${await idOf(merchant)}/rotate`);
      expect(again.document.querySelector(`a[href="${rotate}"]`)).not.toBeNull();
    }
    await expectNowhere(merchant, await idOf(merchant), secret);
  });

  test('is in at most one response when the form is sent many times concurrently', async () => {
    const merchant = await fixture.newMerchant();
    const form = await formOf(merchant);
    const url = newUrl();
    const pages = await Promise.all(Array.from({ length: 8 }, () => create(merchant, form, url)));
    expect(pages.filter(({ text }) => SECRET.test(text)).length).toBeLessThanOrEqual(1);
    expect(await idOf(merchant)).toBeTruthy();
  });
});

describe('the secret of a subscription created over the API', () => {
  test('is shown once, by a button', async () => {
    const merchant = await fixture.newMerchant();
    const { tenant, at, developer } = merchant;
    const { id } = await fixture.webhooks.subscribe(tenant);
    const detail = await developer.get(at(`/webhooks/${id}`));
    const shown = await developer.submit(detail, '/reveal');
    expect(shown.status).toBe(200);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const secret = secretOf(shown);
    const again = await developer.submit(detail, '/reveal');
    expect(again.text).not.toMatch(SECRET);
    expect(wordsOf(again)).toContain('already been shown');
    await expectNowhere(merchant, id, secret);
    expect(actionsOf(await developer.get(at(`/webhooks/${id}`)))).not.toContain(at(`/webhooks/${id}/reveal`));
    expect(actionsOf(await developer.get(at(`/webhooks/${id}/reveal`)))).toEqual([]);
  });

  test('is announced before, at the same URL, and not shown by opening the page', async () => {
    const { tenant, at, developer } = await fixture.newMerchant();
    const { id } = await fixture.webhooks.subscribe(tenant);
    const before = await developer.get(at(`/webhooks/${id}/reveal`));
    expect(wordsOf(before)).toContain('The current secret has not been shown yet');
    expect(before.text).not.toMatch(SECRET);
    const response = await developer.fetch(at(`/webhooks/${id}/reveal`), {
      headers: {
        accept: 'text/event-stream',
        cookie: `__Host-session=${developer.token}`,
      },
    });
    expect(response.status).toBe(404);
    expect((await developer.submit(before, '/reveal')).text).toMatch(SECRET);
  });
});

describe('rotation', () => {
  async function newShown() {
    const merchant = await fixture.newMerchant();
    const first = secretOf(await create(merchant, await formOf(merchant), newUrl()));
    const id = await idOf(merchant);
    const rotate = (seconds: string, form?: SeenPage) =>
      merchant.developer.submit(form ?? merchant.at(`/webhooks/${id}/rotate`), '/rotate', {
        overlap_seconds: seconds,
      });
    const status = async () =>
      (
        await fixture.webhooks.subscriptions.getSigningSecretStatus({
          ...merchant.tenant,
          subscriptionId: id,
        })
      ).secrets;
    return { merchant, first, id, rotate, status };
  }

  test('shows the new secret once, and until when the previous one signs', async () => {
    const { merchant, first, id, rotate, status } = await newShown();
    const form = await merchant.developer.get(merchant.at(`/webhooks/${id}/rotate`));
    const page = await rotate('3600', form);
    const second = secretOf(page);
    expect(second).not.toBe(first);
    const [, earlier] = await status();
    const end = timestampDate(earlier!.signsUntil!);
    expect(Math.abs(end.getTime() - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect(page.document.querySelector(`time[datetime="${end.toISOString()}"]`)).not.toBeNull();
    const again = await rotate('3600', form);
    expect(again.text).not.toMatch(SECRET);
    expect(wordsOf(again)).toMatch(/was rotated.*already been shown/);
    expect(await status()).toHaveLength(2);
    const detail = await merchant.viewer.get(merchant.at(`/webhooks/${id}`));
    expect(detail.document.querySelector(`time[datetime="${end.toISOString()}"]`)).not.toBeNull();
    await expectNowhere(merchant, id, second);
  });

  test('without overlap ends the previous one', async () => {
    const { rotate, status } = await newShown();
    const page = await rotate('0');
    expect(wordsOf(page)).toContain('From now on, only the new secret signs');
    expect(await status()).toHaveLength(1);
  });

  test('says that the limit of secrets is reached, and then rotates without overlap', async () => {
    const { rotate, status } = await newShown();
    await rotate('3600');
    await rotate('86400');
    const refused = await rotate('86400');
    expect(refused.status).toBe(409);
    expect(wordsOf(refused)).toMatch(/Three secrets are already active.*expires on [A-Z][a-z]+ \d/);
    expect(refused.text).not.toMatch(SECRET);
    expect((await rotate('0', refused)).text).toMatch(SECRET);
    expect(await status()).toHaveLength(1);
  });

  test('accepts the offered overlaps only, and the same form with one choice only', async () => {
    const { merchant, id, rotate, status } = await newShown();
    const form = await merchant.developer.get(merchant.at(`/webhooks/${id}/rotate`));
    for (const seconds of ['-1', '1', '2592001', 'x', ''])
      expect((await rotate(seconds, form)).status).toBe(400);
    await rotate('0', form);
    const other = await rotate('3600', form);
    expect(other.status).toBe(409);
    expect(wordsOf(other)).toContain('already been submitted with another option');
    expect(await status()).toHaveLength(1);
  });
});

test('no secret is stored in plain text: not in the audit trail, nor anywhere in the database', async () => {
  const merchant = await fixture.newMerchant();
  const { tenant, developer } = merchant;
  const first = secretOf(await create(merchant, await formOf(merchant), newUrl()));
  const id = await idOf(merchant);
  const second = secretOf(await developer.submit(merchant.at(`/webhooks/${id}/rotate`), '/rotate'));
  const accounts = createClient(AccountService, fixture.transport);
  const { entries } = await accounts.listAuditEntries({ ...tenant, peopleOnly: true });
  expect(entries.map(({ action }) => action.split('.').at(-1))).toEqual([
    'RevealSigningSecret',
    'RotateSigningSecret',
    'RevealSigningSecret',
    'CreateWebhookSubscription',
  ]);
  expect(entries.every(({ accountId }) => accountId === developer.accountId)).toBe(true);
  const secrets = [first, second].map((secret) => secret.slice('whsec_'.length));
  expect(await tablesWith(fixture.harness, secrets)).toEqual([]);
});
