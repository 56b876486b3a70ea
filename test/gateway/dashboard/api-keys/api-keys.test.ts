import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { expect, onTestFinished, test, vi } from 'vitest';
import { expiryAt } from '../../../../gateway/dashboard/api-keys/key-form.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { ApiKeyScope, ApiKeyService } from '../../../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { addDays, civilDateAt } from '../../../../services/platform/civil-date.ts';
import { newWrite } from '../../../support/harness.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

const HOSTILE = '"><img src=x onerror=alert(1)></script>';
const KEY = /mpk_(live|test)_[A-Za-z0-9_-]{20,}/;

async function newMerchant() {
  const merchant = randomUUID();
  const developer = await fixture.signIn({ [merchant]: Role.DEVELOPER });
  const client = createClient(ApiKeyService, fixture.transport);
  const keys = async (environment = Environment.LIVE) =>
    (await client.listApiKeys({ merchantId: merchant, environment })).apiKeys;
  const path = `/live/${merchant}/api-keys`;
  const issue = (name = 'till', from: string | SeenPage = path) =>
    developer.submit(from, '/issue', { name, scopes: ['funds:read', 'refunds:read'] });
  return { merchant, developer, client, keys, path, issue };
}

const shownKey = ({ document }: SeenPage) => document.querySelector('.secret code')?.text;

test('a key is issued and shown once, only in that response', async () => {
  const { merchant, developer, client, keys, path, issue } = await newMerchant();
  const answer = await issue();
  const key = shownKey(answer)!;
  expect(key).toMatch(/^mpk_live_/);
  expect(answer.path).toBe(`${path}/issue`);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const known = await client.authenticateApiKey({ key, environment: Environment.LIVE });
  expect(known.merchantId).toBe(merchant);
  expect(await keys()).toMatchObject([
    { name: 'till', scopes: [ApiKeyScope.REFUNDS_READ, ApiKeyScope.FUNDS_READ] },
  ]);
  for (const page of [path, `/sandbox/${merchant}/api-keys`, `/live/${merchant}`, '/']) {
    expect((await developer.get(page)).text).not.toMatch(KEY);
  }
});

test('the pages of keys and the simulation link the guides of their environment and language', async () => {
  const { merchant, developer, path, issue } = await newMerchant();
  const linked = ({ document }: SeenPage) =>
    document.querySelector('a[href*="/docs/"]')?.getAttribute('href');
  const links = [
    linked(await developer.get(path)),
    linked(await issue()),
    linked(await developer.get(`/sandbox/${merchant}/simulate`)),
  ];
  expect(links).toEqual([
    'https://api.pay.example/docs/#description/authentication',
    'https://api.pay.example/docs/#description/getting-started',
    'https://sandbox.pay.example/docs/#description/sandbox',
  ]);
  // A heading that does not exist fails the page, as the test of the guides' languages shows.
  const portuguese = linked(await developer.reading('pt-BR').get(path));
  expect(portuguese).toBe('https://api.pay.example/docs/pt-br/#description/autenticacao');
});

test('a form that is sent again issues nothing and shows no key, but explains how to continue', async () => {
  const { developer, keys, path, issue } = await newMerchant();
  const form = await developer.get(path);
  await issue('till', form);
  const again = await issue('till', form);
  expect(again.status).toBe(200);
  expect(again.text).not.toMatch(KEY);
  expect(again.text).toContain('shown once');
  expect(again.document.querySelector(`a[href="${path}#issue"]`)).not.toBeNull();
  expect(await keys()).toHaveLength(1);
  const revoked = await developer.submit(again, '/revoke');
  expect(revoked.path).toBe(`${path}?notice=revoked`);
  expect((await keys())[0]!.revokedAt).toBeDefined();
});

test('a key may have a last day, and is valid until the end of that day in Brazil', async () => {
  const { developer, keys, path } = await newMerchant();
  const today = civilDateAt(new Date());
  const expires = addDays(today, 30);
  const answer = await developer.submit(path, '/issue', { name: 'till', scopes: 'funds:read', expires });
  expect(shownKey(answer)).toMatch(KEY);
  const [key] = await keys();
  expect(timestampDate(key!.expiresAt!).toISOString()).toBe(`${addDays(expires, 1)}T02:59:59.000Z`);
  const wrong = [addDays(today, -1), '2026-02-30', '0001-01-01', 'tomorrow', '99999-1-1'];
  for (const day of wrong) {
    const page = await developer.submit(path, '/issue', { name: 'till', scopes: 'funds:read', expires: day });
    expect(page.status, day).toBe(422);
    expect(page.document.querySelector('#expires-fault')?.text, day).toContain('today or a later date');
  }
  // Browsers accept years of six digits.
  for (const day of ['3000-01-01', '12026-01-01', '275760-09-13']) {
    const page = await developer.submit(path, '/issue', { name: 'till', scopes: 'funds:read', expires: day });
    expect(page.document.querySelector('#expires-fault')?.text, day).toContain('before the year 3000');
  }
  expect(await keys()).toHaveLength(1);
});

test('a last day that ends within the second is refused at its field', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-22T02:59:58.500Z') });
  onTestFinished(() => void vi.useRealTimers());
  expect(expiryAt('2026-11-21')).toMatchObject({ seconds: 1_795_316_399n });
  vi.setSystemTime('2026-11-22T02:59:59.500Z');
  expect(expiryAt('2026-11-21')).toBe('expiry');
});

test('a key that expires within a week says so, and can be rotated', async () => {
  const { developer, path } = await newMerchant();
  const today = civilDateAt(new Date());
  for (const days of [5, 8]) {
    const key = { name: `for ${days} days`, scopes: 'funds:read', expires: addDays(today, days) };
    await developer.submit(path, '/issue', key);
  }
  const cards = (await developer.get(path)).document.querySelectorAll('.key');
  expect(cards.map((card) => card.querySelector('h2')?.text.trim())).toEqual([
    'for 8 days Active',
    'for 5 days Expires soon',
  ]);
  for (const card of cards) expect(card.querySelector('form[action$="/rotate"]')).not.toBeNull();
});

test('a key that was rotated says so, and whether a system still uses it', async () => {
  const { developer, merchant, client, path, issue } = await newMerchant();
  const created = await issue('till');
  const key = shownKey(created)!.match(KEY)![0];
  const [till] = (await client.listApiKeys({ merchantId: merchant, environment: Environment.LIVE })).apiKeys;
  const tenant = { merchantId: merchant, environment: Environment.LIVE };
  await client.rotateApiKey({ ...newWrite(tenant), apiKeyId: till!.id, overlapSeconds: 3_600 });
  const titles = async () =>
    (await developer.get(path)).document.querySelectorAll('.key h2').map((title) => title.text.trim());
  expect(await titles()).toEqual(['till Active', 'till Replaced']);
  await client.authenticateApiKey({ key, environment: Environment.LIVE });
  await expect.poll(titles).toEqual(['till Active', 'till Replaced, still in use']);
});

test('missing values are requested, and entered values are kept', async () => {
  const { developer, keys, path } = await newMerchant();
  const empty = await developer.submit(path, '/issue', { name: ' ', expires: '2020-01-01' });
  const faults = empty.document.querySelectorAll('.fault').map(({ id }) => id);
  expect(faults).toEqual(['name-fault', 'scopes-fault', 'expires-fault']);
  const unscoped = await developer.submit(path, '/issue', { name: HOSTILE });
  expect(unscoped.status).toBe(422);
  expect(unscoped.text).not.toContain('<img');
  expect(unscoped.document.querySelector('#scopes-fault')?.text).toContain('at least one');
  const focused = unscoped.document.querySelectorAll('[autofocus]');
  expect(focused.map((input) => input.getAttribute('aria-describedby'))).toEqual(['scopes-fault']);
  expect(unscoped.document.querySelector('#name')?.getAttribute('value')).toBe(HOSTILE);
  for (const name of [' ', 'x'.repeat(101), 'a\u0000b']) {
    const page = await developer.submit(path, '/issue', { name, scopes: ['webhooks:manage'] });
    expect(page.status).toBe(422);
    expect(page.document.querySelector('#name-fault')?.text).toContain('100 characters');
    expect(page.document.querySelector('input[value="webhooks:manage"]')?.hasAttribute('checked')).toBe(true);
  }
  expect((await developer.submit(path, '/issue', { name: 'x', scopes: ['all'] })).status).toBe(400);
  expect(await keys()).toEqual([]);
  const mended = await developer.submit(unscoped, '/issue', { scopes: ['funds:read'] });
  expect(shownKey(mended)).toMatch(KEY);
  const [key] = await keys();
  expect(key!.name).toBe(HOSTILE);
  expect((await developer.get(path)).document.querySelector('.key h2')?.text).toContain(HOSTILE);
});

test('a key is rotated: the new one is shown once, the old one stays valid for the overlap', async () => {
  const { developer, client, keys, path, issue } = await newMerchant();
  const old = shownKey(await issue())!;
  const form = await developer.get(path);
  const rotated = await developer.submit(form, '/rotate', { overlap: '3600' });
  const key = shownKey(rotated)!;
  expect(key).toMatch(KEY);
  expect(key).not.toBe(old);
  for (const one of [key, old]) await client.authenticateApiKey({ key: one, environment: Environment.LIVE });
  const [fresh, former] = await keys();
  expect(fresh!.expiresAt).toBeUndefined();
  const left = timestampDate(former!.expiresAt!).getTime() - Date.now();
  expect(left).toBeGreaterThan(3_000_000);
  expect(left).toBeLessThanOrEqual(3_600_000);
  const again = await developer.submit(form, '/rotate', { overlap: '3600' });
  expect(again.status).toBe(200);
  expect(again.text).not.toMatch(KEY);
  expect(await keys()).toHaveLength(2);
  expect((await developer.submit(form, '/rotate', { overlap: '5' })).status).toBe(400);
  const replaced = (await developer.get(path)).document.querySelectorAll('.key')[1]!;
  expect(
    replaced.querySelectorAll('form').map((one) => one.getAttribute('action')!.split('/').at(-1)),
  ).toEqual(['revoke']);
});

test('a rotation with a wrong last day keeps the form, with what is wrong at the field', async () => {
  const { developer, keys, path, issue } = await newMerchant();
  await issue();
  const form = await developer.get(path);
  const wrong = [
    ['2020-01-01', 'today or a later date'],
    ['2026-02-30', 'today or a later date'],
    ['3000-01-01', 'before the year 3000'],
    ['12026-01-01', 'before the year 3000'],
  ] as const;
  for (const [expires, fault] of wrong) {
    const page = await developer.submit(form, '/rotate', { overlap: '3600', expires });
    expect(page.status, expires).toBe(422);
    const input = page.document.querySelector('main input[type="date"][autofocus]')!;
    expect(input.getAttribute('value'), expires).toBe(expires);
    const [described] = input.getAttribute('aria-describedby')!.split(' ').slice(-1);
    expect(page.document.getElementById(described!)?.text, expires).toContain(fault);
    expect(page.document.querySelector('option[selected]')?.getAttribute('value')).toBe('3600');
    expect(page.document.querySelector('main code')?.text).toBe(
      form.document.querySelector('main code')?.text,
    );
  }
  expect(await keys()).toHaveLength(1);
  const mended = await developer.submit(form, '/rotate', { overlap: '3600', expires: '2999-12-31' });
  expect(shownKey(mended)).toMatch(KEY);
});

test('a revoked key is shown as revoked, without actions, and cannot be rotated', async () => {
  const { developer, keys, path, issue } = await newMerchant();
  await issue();
  const form = await developer.get(path);
  const revoked = await developer.submit(form, '/revoke');
  expect(revoked.document.querySelector('[role="status"]')?.text).toContain('Key revoked');
  expect(revoked.document.querySelector('.badge')?.text).toBe('Revoked');
  expect(revoked.document.querySelector('.key form')).toBeNull();
  expect((await developer.submit(form, '/revoke')).path).toBe(`${path}?notice=revoked`);
  const refused = await developer.submit(form, '/rotate', { overlap: '0' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('Create another one');
  expect(await keys()).toHaveLength(1);
});

test('the last use of a key is shown', async () => {
  const { developer, client, path, issue } = await newMerchant();
  const key = shownKey(await issue())!;
  const lastUse = async () =>
    (await developer.get(path)).document.querySelector('.key dl div:nth-child(3) dd')!.text;
  expect(await lastUse()).toBe('never');
  await client.authenticateApiKey({ key, environment: Environment.LIVE });
  await expect.poll(lastUse, { timeout: 40_000 }).toMatch(/\d{2}:\d{2}/);
});

test('keys of sandbox and live are listed separately, in pages', async () => {
  const { merchant, developer, client, path } = await newMerchant();
  const tenant = { merchantId: merchant, environment: Environment.LIVE };
  for (let count = 0; count < 26; count++) {
    const named = { name: `till-${count}`, scopes: [ApiKeyScope.FUNDS_READ] };
    await client.issueApiKey({ ...newWrite(tenant), ...named });
  }
  const page = await developer.get(path);
  expect(page.document.querySelectorAll('.key')).toHaveLength(25);
  const next = await developer.get(page.document.querySelector('a[rel="next"]')!.getAttribute('href')!);
  expect(next.document.querySelectorAll('.key')).toHaveLength(1);
  expect((await developer.get(`/sandbox/${merchant}/api-keys`)).document.querySelector('.key')).toBeNull();
  const other = await developer.submit(`/sandbox/${merchant}/api-keys`, '/issue', {
    name: 'till',
    scopes: ['funds:read'],
  });
  expect(shownKey(other)).toMatch(/^mpk_test_/);
});
