import { afterAll, describe, expect, test } from 'vitest';
import { WebhookSubscriptionState } from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { errorInfoOf } from '../../../../../services/platform/rpc/connect-errors.ts';
import { EVENT_CATALOG } from '../../../../../services/webhooks/events/event-types/event-catalog.ts';
import { newUrl } from '../../../../services/webhooks/webhooks-fixture.ts';
import { newWrite } from '../../../../support/harness.ts';
import type { SeenPage } from '../../dashboard-fixture.ts';
import { type MerchantFixture, SECRET, startSubscriptionsFixture, wordsOf } from './subscriptions-fixture.ts';

const LIMIT = 3;
const TYPES = ['refund.requested.v1', 'payment.succeeded.v1'];

const fixture = await startSubscriptionsFixture({ WEBHOOK_SUBSCRIPTION_LIMIT: String(LIMIT) });
afterAll(() => fixture.close());

const create = (
  { developer, at }: MerchantFixture,
  fields: Record<string, string | string[]>,
  page?: SeenPage,
) => developer.submit(page ?? at('/webhooks/new'), '/webhooks/new', fields);

const listOf = async ({ tenant }: MerchantFixture) =>
  (await fixture.webhooks.subscriptions.listWebhookSubscriptions({ ...tenant })).subscriptions;

const keyOf = ({ document }: SeenPage) =>
  document.querySelector('main input[name=_key]')!.getAttribute('value')!;
const faultsOf = ({ document }: SeenPage) => document.querySelectorAll('.fault').map(({ text }) => text);
const checkedOf = ({ document }: SeenPage) =>
  document.querySelectorAll('input[name=event_types][checked]').map((input) => input.getAttribute('value'));

test('every event type can be chosen, with its description, in groups', async () => {
  const { at, developer } = await fixture.newMerchant();
  const page = await developer.get(at('/webhooks/new'));
  const groups = page.document.querySelectorAll('#event-types > fieldset');
  expect(groups.map((group) => group.querySelector('legend')!.text)).toEqual([
    'Payments',
    'Refunds',
    'Disputes',
    'Products',
    'Receivables',
    'Advances',
  ]);
  for (const { name, description } of EVENT_CATALOG) {
    const box = page.document.querySelector(`input[name=event_types][value="${name}"]`)!;
    expect(box.closest('label')!.textContent).toContain(description);
  }
});

test('creates a subscription to the chosen types', async () => {
  const merchant = await fixture.newMerchant();
  const url = newUrl();
  const page = await create(merchant, { url: ` ${url} `, event_types: TYPES });
  expect(page.status).toBe(200);
  expect(wordsOf(page)).toContain('Endpoint created');
  expect(await listOf(merchant)).toMatchObject([
    { url, eventTypes: TYPES, state: WebhookSubscriptionState.PENDING, ordered: false },
  ]);
  const docs = page.document.querySelector('a[rel=noreferrer]')!.getAttribute('href');
  expect(docs).toBe('https://api.pay.example/docs/#description/verifying');
});

test('creates one for all types', async () => {
  const merchant = await fixture.newMerchant();
  await create(merchant, { url: newUrl(), every: 'on' });
  const [created] = await listOf(merchant);
  expect(created!.eventTypes).toEqual(EVENT_CATALOG.map(({ name }) => name));
});

describe('rejects a URL like the API, with its code, and keeps the entered values:', () => {
  test.each([
    'http://93.184.215.14/hook',
    'https://user:pass@93.184.215.14/hook',
    'https://93.184.215.14/hook#part',
    'https://93.184.215.14:22/hook',
    'hook',
    'https://10.0.0.7/hook',
    'https://localhost/hook',
    `https://93.184.215.14/${'a'.repeat(2048)}`,
    `https://93.184.215.14/${'ü'.repeat(1000)}`,
    'https://93.184.215.14/\u0000',
  ])('%j', async (url) => {
    const merchant = await fixture.newMerchant();
    const refusal = await fixture.webhooks.subscriptions
      .createWebhookSubscription({ ...newWrite(merchant.tenant), url, eventTypes: TYPES })
      .catch((error) => errorInfoOf(error)!);
    const { reason } = refusal as { reason: string };
    const blank = await merchant.developer.get(merchant.at('/webhooks/new'));
    const page = await create(merchant, { url, event_types: TYPES }, blank);
    expect(page.status).toBe(422);
    const input = page.document.querySelector('input[name=url]')!;
    expect(input.getAttribute('value')).toBe(url);
    expect(input.getAttribute('aria-invalid')).toBe('true');
    const fault = page.document.querySelector(`#${input.getAttribute('aria-describedby')!.split(' ')[1]}`)!;
    // As the API names what the services call so.
    expect(fault.text).toContain(`(${reason === 'INVALID_ARGUMENT' ? 'INVALID_REQUEST' : reason}`);
    expect(checkedOf(page).sort()).toEqual([...TYPES].sort());
    expect(keyOf(page)).not.toBe(keyOf(blank));
    expect(page.text).not.toMatch(SECRET);
    expect(await listOf(merchant)).toEqual([]);
  });
});

test.each([
  [
    'http://93.184.215.14/',
    'A URL precisa usar https. Para receber webhooks do ambiente de testes na sua máquina, use npx merchant-payments listen. (INVALID_WEBHOOK_URL)',
  ],
  ['https://93.184.215.14:22/', 'Esta porta não é permitida. (INVALID_WEBHOOK_URL)'],
  ['https://93.184.215.14/\u0000', 'Esta URL não é aceita. (INVALID_REQUEST: must be text without NUL)'],
])('explains in Portuguese too why %j is rejected', async (url, said) => {
  const { developer, at } = await fixture.newMerchant();
  const fields = { url, every: 'on' };
  const refused = await developer.reading('pt-BR').submit(at('/webhooks/new'), '/webhooks/new', fields);
  expect([refused.status, faultsOf(refused)]).toEqual([422, [said]]);
});

test('says at each place of an empty form what it takes, also when a subscription is edited', async () => {
  const merchant = await fixture.newMerchant();
  const { id } = await fixture.webhooks.subscribe(merchant.tenant);
  const said = ['Informe a URL.', 'Selecione ao menos um tipo de evento.'];
  const developer = merchant.developer.reading('pt-BR');
  for (const path of ['/webhooks/new', `/webhooks/${id}/edit`]) {
    const refused = await developer.submit(merchant.at(path), path, { url: ' ', event_types: [] });
    expect([path, refused.status, faultsOf(refused)]).toEqual([path, 422, said]);
  }
});

test('says what is wrong with a URL also when the event types are missing', async () => {
  const { developer, at } = await fixture.newMerchant();
  const fields = { url: 'http://93.184.215.14/', event_types: [] };
  const refused = await developer.submit(at('/webhooks/new'), '/webhooks/new', fields);
  expect(faultsOf(refused)).toEqual([
    expect.stringContaining('must use https'),
    'Select at least one event type.',
  ]);
});

test('a rejected form can be corrected on the same page', async () => {
  const merchant = await fixture.newMerchant();
  const refused = await create(merchant, { url: 'http://93.184.215.14/', event_types: TYPES });
  const url = newUrl();
  const page = await create(merchant, { url, event_types: TYPES }, refused);
  expect(page.text).toMatch(SECRET);
  expect(await listOf(merchant)).toMatchObject([{ url }]);
});

test('requires an event type, and rejects unknown ones', async () => {
  const merchant = await fixture.newMerchant();
  const url = newUrl();
  const none = await create(merchant, { url });
  expect([none.status, none.document.querySelector('.event-types .fault')?.text]).toEqual([
    422,
    'Select at least one event type.',
  ]);
  const unknown = await create(merchant, { url, event_types: ['webhook.ping.v1'] });
  expect([unknown.status, unknown.document.querySelector('.event-types .fault')?.text]).toEqual([
    422,
    'One of the selected types no longer exists. Check your selection.',
  ]);
  expect(await listOf(merchant)).toEqual([]);
});

test('links to the subscription that already has the URL', async () => {
  const merchant = await fixture.newMerchant();
  const existing = await fixture.webhooks.subscribe(merchant.tenant);
  const page = await create(merchant, { url: existing.url, event_types: TYPES });
  expect(page.status).toBe(409);
  const link = page.document.querySelector('.notice a')!.getAttribute('href')!;
  expect(link).toBe(merchant.at(`/webhooks/${existing.id}`));
  expect(page.text).not.toMatch(SECRET);
});

test('says that the limit is reached', async () => {
  const merchant = await fixture.newMerchant();
  for (let index = 0; index < LIMIT; index += 1) await fixture.webhooks.subscribe(merchant.tenant);
  const page = await create(merchant, { url: newUrl(), event_types: TYPES });
  expect(page.status).toBe(409);
  expect(wordsOf(page)).toContain(`You already have ${LIMIT} enabled endpoints`);
});

test('the same form with other content is shown again as a new one', async () => {
  const merchant = await fixture.newMerchant();
  const blank = await merchant.developer.get(merchant.at('/webhooks/new'));
  await create(merchant, { url: newUrl(), event_types: TYPES }, blank);
  const again = await create(merchant, { url: newUrl(), event_types: TYPES }, blank);
  expect(again.status).toBe(409);
  expect(wordsOf(again)).toContain('already been submitted with other content');
  expect((await create(merchant, {}, again)).text).toMatch(SECRET);
});
