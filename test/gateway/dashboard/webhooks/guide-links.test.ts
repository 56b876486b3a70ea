import { afterAll, expect, test } from 'vitest';
import { headingFragment } from '../../../../gateway/docs/guide-headings.ts';
import { type DashboardFixture, dashboardOn, type SeenPage, Visitor } from '../dashboard-fixture.ts';
import { startSubscriptionsFixture } from './subscriptions/subscriptions-fixture.ts';

const fixture = await startSubscriptionsFixture();
afterAll(() => fixture.close());

const guidesOn = ({ document }: SeenPage) =>
  document.querySelectorAll('main a[rel=noreferrer]').map((link) => link.getAttribute('href'));

test('the pages of webhooks link the guides on their subject, in the language of their reader', async () => {
  const { tenant, at, developer } = await fixture.newMerchant();
  const { id } = await fixture.webhooks.subscribe(tenant);
  await developer.submit(at(`/webhooks/${id}`), '/test');
  const list = await developer.get(at(`/webhooks/${id}/deliveries`));
  const delivery = list.document.querySelector('tbody a[href*="/deliveries/"]')!.getAttribute('href')!;
  const pages = [
    [at('/webhooks'), 'webhook-deliveries'],
    [at('/webhooks/new'), 'webhook-deliveries'],
    [at(`/webhooks/${id}`), 'states-of-a-subscription'],
    [at(`/webhooks/${id}/resends`), 'duplicates-and-order'],
    [delivery, 'retries'],
  ] as const;
  for (const [path, heading] of pages) {
    expect(guidesOn(await developer.get(path))).toEqual([
      `https://api.pay.example/docs/${headingFragment(heading, 'en')}`,
    ]);
    expect(guidesOn(await developer.reading('pt-BR').get(path))).toEqual([
      `https://api.pay.example/docs/pt-br/${headingFragment(heading, 'pt-BR')}`,
    ]);
  }
});

test('the form of a new endpoint and its page show where deliveries come from, if that is configured', async () => {
  const { tenant, at, developer } = await fixture.newMerchant();
  const { id } = await fixture.webhooks.subscribe(tenant);
  const addresses = ['203.0.113.0/28', '2001:db8::/64'];
  const config = { ...fixture.harness.config, WEBHOOK_EGRESS_ADDRESSES: addresses };
  const configured: DashboardFixture = await dashboardOn({ ...fixture.harness, config });
  const reader = new Visitor(configured.baseUrl, developer.token, developer.accountId);
  try {
    for (const path of [at('/webhooks/new'), at(`/webhooks/${id}`)]) {
      const page = await reader.get(path);
      const listed = page.document.querySelectorAll('ul[aria-labelledby=egress] code');
      expect(listed.map(({ text }) => text)).toEqual(addresses);
      expect(guidesOn(page)).toContain('https://api.pay.example/docs/#description/addresses');
      expect((await reader.reading('pt-BR').get(path)).text).toContain('Para listas de permissão');
      expect((await developer.get(path)).document.querySelector('#egress')).toBeNull();
    }
  } finally {
    await configured.close();
  }
});
