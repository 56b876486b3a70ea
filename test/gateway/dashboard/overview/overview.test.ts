import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDashboard } from '../../../../gateway/dashboard/dashboard.ts';
import { DASHBOARD_CALLER } from '../../../../gateway/dashboard/dashboard-caller.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { RefundBlocker, RefundInitiator } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { exhausted, gone } from '../../../services/webhooks/subscriptions/subscription-errors.ts';
import { newWrite } from '../../../support/harness.ts';
import { type SeenPage, Visitor } from '../dashboard-fixture.ts';
import { startOverviewFixture } from './overview-fixture.ts';

const fixture = await startOverviewFixture();
afterAll(() => fixture.close());

const plain = (text: string | undefined) => text?.replaceAll(/\s+/g, ' ').trim();
const cardOf = ({ document }: SeenPage, name: string) =>
  document.querySelector(`section[aria-labelledby=${name}-title]`)!;
const wordsOf = (page: SeenPage, name: string) => plain(cardOf(page, name).text);
const bannerOf = ({ document }: SeenPage) => document.querySelector('[data-live=trouble]')!;
const linksIn = (element: ReturnType<typeof bannerOf>) =>
  element.querySelectorAll('a').map((link) => link.getAttribute('href'));

const FAILED = exhausted(10, { httpStatus: 503 });
const GONE = gone();

describe('the banner', () => {
  it('lists each subscription that is in ERROR or was disabled by a 410, with date, reason and link', async () => {
    const merchant = await fixture.newMerchant();
    const failing = await merchant.subscription('ERROR', { error: FAILED });
    const gone = await merchant.subscription('DISABLED', { error: GONE, goneDays: 1 });
    await merchant.subscription('ACTIVE');
    const pages = await Promise.all(['', '/webhooks'].map((path) => merchant.person.get(merchant.at(path))));
    for (const page of pages) {
      const banner = bannerOf(page);
      expect(banner.querySelector('[role=alert] strong')!.text).toBe('2 webhooks need attention');
      const items = banner.querySelectorAll('li').map(({ text }) => plain(text));
      expect(items).toEqual([
        expect.stringMatching(/HTTP 410.* Since \w{3} \d+, \d{4}, .*\.$/),
        expect.stringMatching(/10 attempts.*503.* Since \w{3} \d+, \d{4}, .*\.$/),
      ]);
      expect(items[1]).toContain(failing.url);
      expect(linksIn(banner)).toEqual([gone, failing].map(({ id }) => merchant.at(`/webhooks/${id}`)));
    }
  });

  it('leaves out the subscription whose page it is on, which shows its own error', async () => {
    const merchant = await fixture.newMerchant();
    const failing = await merchant.subscription('ERROR', { error: FAILED });
    const well = await merchant.subscription('ACTIVE');
    const own = await merchant.person.get(merchant.at(`/webhooks/${failing.id}`));
    expect(bannerOf(own).text.trim()).toBe('');
    const other = await merchant.person.get(merchant.at(`/webhooks/${well.id}`));
    expect(linksIn(bannerOf(other))).toEqual([merchant.at(`/webhooks/${failing.id}`)]);
  });

  it('is absent if all is well, and for subscriptions disabled by a person or long ago by a 410', async () => {
    const merchant = await fixture.newMerchant();
    await merchant.subscription('ACTIVE');
    await merchant.subscription('DISABLED', { error: GONE, goneDays: 8 });
    const failed = await merchant.subscription('ERROR', { error: FAILED });
    await fixture.webhooks.subscriptions.disableWebhookSubscription({
      ...newWrite(merchant.tenant),
      subscriptionId: failed.id,
    });
    for (const path of ['', '/webhooks']) {
      expect(bannerOf(await merchant.person.get(merchant.at(path))).text.trim()).toBe('');
    }
  });

  it('lists five subscriptions, and counts the rest', async () => {
    const merchant = await fixture.newMerchant();
    for (let n = 0; n < 7; n += 1) await merchant.subscription('ERROR', { error: FAILED });
    const banner = bannerOf(await merchant.person.get(merchant.at()));
    expect(banner.querySelector('strong')!.text).toBe('7 webhooks need attention');
    expect(banner.querySelectorAll('li')).toHaveLength(5);
    expect(plain(banner.querySelectorAll('p').at(-1)!.text)).toBe('and 2 more');
  });
});

describe('the overview', () => {
  it('counts webhooks by state, as failing those whose last attempt failed, and paused ones on their own', async () => {
    const merchant = await fixture.newMerchant();
    for (const state of ['ACTIVE', 'ACTIVE', 'PENDING', 'DISABLED'] as const)
      await merchant.subscription(state);
    await merchant.subscription('ERROR', { error: FAILED });
    const { id } = await merchant.subscription('ACTIVE');
    await fixture.webhooks.sql(
      `insert into webhooks.endpoint_health
         (merchant_id, environment, subscription_id, generation, failing_since, http_status)
       select merchant_id, environment, id, generation, now(), 503 from webhooks.subscription where id = $1`,
      [id],
    );
    const paused = await merchant.subscription('ACTIVE');
    await fixture.webhooks.subscriptions.pauseWebhookSubscription({
      ...newWrite(merchant.tenant),
      subscriptionId: paused.id,
    });
    const page = await merchant.person.get(merchant.at());
    const counts = cardOf(page, 'webhooks')
      .querySelectorAll('li')
      .map(({ text }) => plain(text));
    expect(counts).toEqual(['2 Failing', '1 Pending', '2 Active', '1 Active Paused', '1 Disabled']);
    expect(linksIn(cardOf(page, 'webhooks'))).toEqual([
      merchant.at('/webhooks'),
      merchant.at('/webhooks/new'),
    ]);
  });

  it('offers the creation of a webhook only to those who may create one', async () => {
    const merchant = await fixture.newMerchant(Role.VIEWER);
    const page = await merchant.person.get(merchant.at());
    expect(wordsOf(page, 'webhooks')).toContain('No endpoint receives your events yet.');
    expect(linksIn(cardOf(page, 'webhooks'))).toEqual([merchant.at('/webhooks')]);
  });

  it('shows up to five refund cases awaiting the merchant’s decision, soonest deadline first', async () => {
    const merchant = await fixture.newMerchant();
    const opened: { id: string; amountMinor: bigint }[] = [];
    for (let n = 1; n <= 6; n += 1)
      opened.push(await merchant.refunds.open({ amountMinor: BigInt(n * 100) }));
    const soon = opened[3]!;
    await fixture.webhooks.sql(
      `update refunds.refund_case set merchant_review_deadline_at = now() + interval '90 minutes' where id = $1`,
      [soon.id],
    );
    const page = await merchant.person.get(merchant.at());
    const lines = cardOf(page, 'refunds').querySelectorAll('li');
    expect(lines).toHaveLength(5);
    expect(lines[0]!.querySelector('a')!.getAttribute('href')).toBe(merchant.at(`/refunds/${soon.id}`));
    expect(plain(lines[0]!.text)).toMatch(/^R\$4\.00 due in 1 hour /);
    expect(linksIn(cardOf(page, 'refunds')).at(-1)).toBe(merchant.at('/refunds'));
  });

  it('shows approved refunds that are blocked, if there are any, and leads to all of them', async () => {
    const merchant = await fixture.newMerchant(Role.VIEWER);
    const { open, refunds, write } = merchant.refunds;
    expect(cardOf(await merchant.person.get(merchant.at()), 'blocked-refunds')).toBeNull();
    const approved = { initiator: RefundInitiator.MERCHANT };
    const { id: refundCaseId } = await open({ ...approved, amountMinor: 700n });
    await open(approved);
    const undecided = await open();
    for (const id of [refundCaseId, undecided.id]) {
      const blocker = RefundBlocker.KYC_NOT_APPROVED;
      await refunds.addBlocker({ ...write(), refundCaseId: id, blocker });
    }
    const card = cardOf(await merchant.person.get(merchant.at()), 'blocked-refunds');
    const lines = card.querySelectorAll('li').map(({ text }) => plain(text));
    expect(lines).toEqual(['R$7.00 Verification not approved']);
    const list = await merchant.person.get(linksIn(card).at(-1)!);
    const listed = list.document.querySelectorAll('tbody a').map((each) => each.getAttribute('href'));
    expect(listed).toEqual([merchant.at(`/refunds/${refundCaseId}`)]);
    const file = await merchant.person.get(list.document.querySelector('a[download]')!.getAttribute('href')!);
    expect(file.text.match(/;APPROVED_FOR_EXECUTION;/g)).toHaveLength(1);
  });

  it('shows the balance and the next release dates', async () => {
    const merchant = await fixture.newMerchant();
    await merchant.funds.sell({ gross: 123_456n, instant: true });
    await merchant.funds.sell({ gross: 60_000n, installments: 2 });
    const [balance, first] = await Promise.all([
      fixture.fundsClient.getBalance(merchant.tenant),
      fixture.fundsClient.listFundsReleases({ ...merchant.tenant, pageSize: 1 }),
    ]);
    const page = await merchant.person.get(merchant.at());
    const reais = (minor: bigint) =>
      new Intl.NumberFormat('en', { style: 'currency', currency: 'BRL' }).format(Number(minor) / 100);
    expect(wordsOf(page, 'balance')).toContain(`Available${reais(balance.availableAmountMinor)}`);
    expect(wordsOf(page, 'balance')).toContain(`Scheduled${reais(balance.scheduledAmountMinor)}`);
    expect(wordsOf(page, 'balance')).not.toContain('Blocked');
    expect(first.releases.length).toBe(1);
    const lines = cardOf(page, 'releases').querySelectorAll('li');
    expect(lines.length).toBeGreaterThan(0);
    const dates = lines.map((line) => line.querySelector('a')!.getAttribute('href')!.slice(-10));
    expect(dates).toEqual([...dates].sort());
    expect(dates.every((date) => date >= new Date(Date.now() - DAY_MS).toISOString().slice(0, 10))).toBe(
      true,
    );
  });

  it('leads from the chart of recent refunds to the refunds that it counts', async () => {
    const merchant = await fixture.newMerchant();
    const openDaysAgo = (days: number) => {
      const at = Date.now() - days * DAY_MS;
      return merchant.refunds.open({
        occurredAt: timestampFromMs(at),
        paidAt: timestampFromMs(at - DAY_MS),
      });
    };
    const recent = await openDaysAgo(2);
    await openDaysAgo(40);
    const page = await merchant.person.get(merchant.at());
    const list = await merchant.person.get(linksIn(cardOf(page, 'refund-states')).at(-1)!);
    const cases = list.document.querySelectorAll('tbody a').map((link) => link.getAttribute('href'));
    expect(cases).toEqual([merchant.at(`/refunds/${recent.id}`)]);
  });

  it('shows how deliveries ended by hour, also as a table, in both languages', async () => {
    const merchant = await fixture.newMerchant();
    const { id } = await merchant.subscription('ACTIVE');
    await merchant.attempts(id, { hoursAgo: 5, succeeded: 1_200, failed: 0 });
    await merchant.attempts(id, { hoursAgo: 5, succeeded: 34, failed: 1 });
    await merchant.attempts(id, { hoursAgo: 23, succeeded: 0, failed: 7 });
    const [english, portuguese] = [
      await merchant.person.get(merchant.at()),
      await merchant.person.reading('pt-BR').get(merchant.at()),
    ];
    const chart = cardOf(english, 'delivery-hours');
    expect(plain(chart.querySelector('desc')!.text)).toBe('Delivered: 1,234. Failed attempts: 8.');
    expect(chart.querySelectorAll('rect')).toHaveLength(3);
    const rows = chart
      .querySelectorAll('tbody tr')
      .map((row) => row.querySelectorAll('th, td').map(({ text }) => text));
    expect(rows).toHaveLength(24);
    expect(new Set(rows.map(([hour]) => hour)).size).toBe(24);
    expect([rows[0]!.slice(1), rows[18]!.slice(1)]).toEqual([
      ['0', '7'],
      ['1,234', '1'],
    ]);
    expect(wordsOf(portuguese, 'delivery-hours')).toContain('Entregues: 1.234');
    const finance = await fixture.signIn({ [merchant.tenant.merchantId]: Role.FINANCE });
    expect(cardOf(await finance.get(merchant.at()), 'delivery-hours')).toBeNull();
  });

  it('says so if there is nothing to show', async () => {
    const merchant = await fixture.newMerchant();
    const page = await merchant.person.get(merchant.at());
    expect(page.status).toBe(200);
    expect(wordsOf(page, 'refunds')).toContain('No refunds awaiting your decision.');
    expect(wordsOf(page, 'disputes')).toContain('No disputes awaiting your response.');
    expect(wordsOf(page, 'releases')).toContain('Nothing is scheduled for release this month or next month.');
    expect(wordsOf(page, 'balance')).toContain('R$0.00');
    expect(wordsOf(page, 'delivery-hours')).toContain('No deliveries in the last 24 hours.');
  });
});

describe('while a service is unavailable', () => {
  /** The dashboard again, for the same people, with one service that does not answer. */
  async function without(rpcPrefix: string, failure: () => Promise<never>) {
    const inner = fixture.harness.services.transportFor(DASHBOARD_CALLER);
    const transport: Transport = {
      ...inner,
      unary: (method, ...rest) =>
        `${method.parent.typeName}/${method.name}`.startsWith(rpcPrefix)
          ? failure()
          : inner.unary(method, ...rest),
    };
    const app = await createDashboard({
      config: fixture.harness.config,
      transport,
      logger: createLogger('fatal'),
    });
    onTestFinished(async () => void (await app.close()));
    const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
    return ({ token, accountId }: Visitor) => new Visitor(baseUrl, token, accountId);
  }

  const unavailable = () => Promise.reject(new ConnectError('unavailable', Code.Unavailable));

  it.each([
    ['payments.webhooks.v1.WebhookSubscriptionService/List', ['webhooks']],
    ['payments.refunds.', ['refunds', 'disputes']],
    ['payments.funds.', ['balance', 'releases']],
  ])('the cards of %s say that they are unavailable, and all others are shown', async (service, names) => {
    const merchant = await fixture.newMerchant();
    const person = (await without(service, unavailable))(merchant.person);
    const page = await person.get(merchant.at());
    expect(page.status).toBe(200);
    const said = ['webhooks', 'refunds', 'disputes', 'balance', 'releases'].filter((name) =>
      wordsOf(page, name)?.includes('Currently unavailable'),
    );
    expect(said.sort()).toEqual([...names].sort());
  });
});
