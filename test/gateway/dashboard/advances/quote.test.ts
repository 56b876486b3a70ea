import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { advancesTexts } from '../../../../gateway/dashboard/advances/advances.texts.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { addDays, civilDateAt } from '../../../../services/platform/civil-date.ts';
import { fundsCaller } from '../../../services/funds/funds-caller.ts';
import { newTenant } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';
import { type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';

const fixture = await sharedDashboard();

/** A person who may request advances, whose merchant sold for 144.00 today in three installments. */
async function seller({ sells = true } = {}) {
  const funds = fundsCaller(fixture.transport, newTenant());
  if (sells) await funds.sell({ gross: 14_400n, installments: 3 });
  const visitor = await fixture.signIn({ [funds.tenant.merchantId]: Role.DEVELOPER });
  const advances = createClient(AdvanceService, fixture.transport);
  const home = `/live/${funds.tenant.merchantId}/advances`;
  const requests = async () => (await advances.listAdvanceRequests(funds.tenant)).advanceRequests;
  const quote = (bounds: Record<string, string> = {}) =>
    visitor.submit(`${home}/new`, '/advances/new', bounds);
  return { funds, visitor, home, requests, quote };
}

const take = '/advances/request';
/** Asked for again, as no amount was entered. */
const EVERYTHING = { confirmed: '144.00' };

describe('a quote', () => {
  it('is requested within limits, shown with its cost, and accepted', async () => {
    const { visitor, home, requests, quote } = await seller();
    const asked = await visitor.get(`${home}/new`);
    expect(textOf(asked.document.querySelector('dl'))).toContain(
      'Available to advance R$144.00 3 installments',
    );
    expect(textOf(asked.document.querySelector('main'))).toContain('blocked or reserved by another request');
    const shown = await quote({ amount: '100.00' });
    expect(shown.status).toBe(200);
    expect(textOf(shown.document.querySelector('.notice'))).toContain('The quote covers R$96.00');
    expect(shown.document.querySelectorAll('tbody tr')).toHaveLength(2);
    const done = await visitor.submit(shown, take);
    const [request, ...others] = await requests();
    expect(others).toEqual([]);
    expect(done.path).toBe(`${home}/${request!.id}?notice=requested`);
    expect(textOf(done.document.querySelector('.notice'))).toMatch(/^Advance requested/);
    expect(request!.amountMinor).toBe(9_600n);
    // Sent again, as by a double click.
    expect((await visitor.submit(shown, take)).path).toBe(done.path);
    const said = `R$${(Number(request!.netAmountMinor) / 100).toFixed(2)}`;
    expect(textOf(shown.document.querySelector('.figure'))).toBe(said);
    expect(textOf(shown.document.querySelector('.quote button'))).toBe('Request advance');
    expect(textOf(shown.document.querySelector('.quote dl'))).toMatch(
      /CET\) 2\.\d\d% a month · 3\d\.\d\d% a year/,
    );
  });

  it('covers everything without a limit, and installments due by a date with one', async () => {
    const { quote } = await seller();
    expect((await quote()).document.querySelectorAll('tbody tr')).toHaveLength(3);
    const until = addDays(civilDateAt(new Date()), 40);
    expect((await quote({ until })).document.querySelectorAll('tbody tr')).toHaveLength(1);
  });

  it('is the same when its form is sent again, and another when its values change', async () => {
    const { visitor, home } = await seller();
    const asked = await visitor.get(`${home}/new`);
    const idOf = async (amount: string) => {
      const { document } = await visitor.submit(asked, '/advances/new', { amount });
      return document.querySelector('input[name=quoteId]')?.getAttribute('value');
    };
    const [first, again, other] = [await idOf('100'), await idOf('100'), await idOf('50')];
    expect(again).toBe(first);
    expect(other).toMatch(/^[0-9a-f-]{36}$/);
    expect(other).not.toBe(first);
  });

  it('has a page of its own, which says when it can no longer be requested and offers another', async () => {
    const { funds, visitor, home, quote } = await seller();
    const shown = await quote({ amount: '100.00' });
    expect(shown.path).toMatch(new RegExp(`^${home}/quotes/[0-9a-f-]{36}\\?amount=100.00&until=$`));
    const seen = async () => {
      const { status, document } = await visitor.get(shown.path);
      const other = document.querySelector('.quote > p > a[href*="/advances/new"]')!.getAttribute('href');
      expect([status, other]).toEqual([200, `${home}/new?amount=100.00&until=`]);
      const hasForm = document.querySelectorAll('main form').length > 0;
      return [textOf(document.querySelector('.figure')), hasForm, textOf(document.querySelector('.notice'))];
    };
    const figure = textOf(shown.document.querySelector('.figure'));
    const open = [figure, true, expect.stringContaining('The quote covers R$96.00')];
    expect([await seen(), await seen()]).toEqual([open, open]);
    const set = (change: string) =>
      sqlOf(fixture.harness, `update advances.quote set ${change} where merchant_id = $1`, [
        funds.tenant.merchantId,
      ]);
    await set('expires_at = now()');
    expect(await seen()).toEqual([figure, false, 'The quote has expired.']);
    await set("expires_at = now() + interval '1 minute'");
    await visitor.submit(shown, take);
    expect(await seen()).toEqual([figure, false, 'This quote has already been requested. View the request']);
    const stranger = await seller();
    const theirs = shown.path.replace(home, stranger.home);
    expect((await stranger.visitor.get(theirs)).status).toBe(404);
  });

  it('that covers an amount that nobody entered asks for the amount before it is requested', async () => {
    const { visitor, home, requests, quote } = await seller();
    const shown = await quote();
    expect(textOf(shown.document.getElementById('confirmed-hint'))).toContain('The quote advances R$144.00');
    const less = await visitor.get(shown.path.replace('amount=', 'amount=1'));
    expect(less.document.getElementById('confirmed')).not.toBeNull();
    for (const confirmed of ['', '14.40', 'all of it']) {
      const asked = await visitor.submit(shown, take, { confirmed });
      expect(asked.status).toBe(422);
      expect(textOf(asked.document.getElementById('confirmed-fault'))).toContain('Enter R$144.00');
      const other = asked.document.querySelector(`main a[href="${home}/new?amount=&until="]`);
      expect(textOf(other)).toBe('Get another quote');
    }
    expect(await requests()).toEqual([]);
    const done = await visitor.submit(
      await visitor.submit(shown, take, { confirmed: '1' }),
      take,
      EVERYTHING,
    );
    expect(done.path).toMatch(/notice=requested$/);
    expect(await requests()).toHaveLength(1);
  });

  it('that someone else has requested redirects to the request', async () => {
    const { visitor, requests, quote } = await seller();
    const shown = await quote();
    await visitor.submit(shown, take, EVERYTHING);
    const late = await visitor.submit(shown, take, { ...EVERYTHING, _key: randomUUID() });
    const [request] = await requests();
    expect(late.path).toMatch(new RegExp(`${request!.id}\\?notice=already$`));
    expect(textOf(late.document.querySelector('.notice'))).toContain('has already been requested');
  });

  it('that someone else is requesting says so, as there is no request to show yet', async () => {
    const { funds, visitor, requests, quote } = await seller();
    const shown = await quote();
    // As between the claim of the quote by another call and its request.
    await sqlOf(
      fixture.harness,
      `update advances.quote set requested_by = 'another' where merchant_id = $1`,
      [funds.tenant.merchantId],
    );
    const late = await visitor.submit(shown, take, EVERYTHING);
    expect(late.status).toBe(409);
    expect(textOf(late.document.querySelector('main'))).toContain('This operation is already in progress');
    expect(await requests()).toEqual([]);
  });

  it('that expired, changed or does not exist gets a clear message, and keeps the submitted values', async () => {
    const { funds, visitor, home, requests, quote } = await seller();
    const says = (page: SeenPage) => textOf(page.document.querySelector('.notice.bad'));
    const expired = await quote({ amount: '100.00' });
    await sqlOf(fixture.harness, 'update advances.quote set expires_at = now() where merchant_id = $1', [
      funds.tenant.merchantId,
    ]);
    const late = await visitor.submit(expired, take);
    expect(says(late)).toMatch(/^The quote has expired/);
    expect(late.document.querySelector('#amount')?.getAttribute('value')).toBe('100.00');
    const stale = await quote();
    await funds.deduct(100n);
    expect(says(await visitor.submit(stale, take, EVERYTHING))).toMatch(/^One of the quoted installments/);
    const returned = await visitor.get(stale.path);
    expect(textOf(returned.document.querySelector('.notice'))).toContain('can no longer be requested');
    const other = await seller();
    const theirs = (await other.quote()).document
      .querySelector('input[name=quoteId]')!
      .getAttribute('value')!;
    const fresh = await quote();
    expect(says(await visitor.submit(fresh, take, { confirmed: '143.00', quoteId: theirs }))).toMatch(
      /^Quote not found/,
    );
    expect((await visitor.submit(fresh, take, { quoteId: 'x' })).status).toBe(400);
    expect(await requests()).toEqual([]);
    expect(
      (await visitor.get(`${home}/new?refused=constructor`)).document.querySelector('.notice'),
    ).toBeNull();
  });
});

describe('a quote that cannot be created', () => {
  const fault = (page: SeenPage, field: string) => textOf(page.document.getElementById(`${field}-fault`));

  it.each([
    ['amount', 'ten', /^Enter an amount in reais, such as 1,234.56\.$/],
    ['amount', '1.234,56', /^Enter an amount/],
    ['amount', '0', /greater than zero/],
    ['amount', '90071992547409.92', /^The maximum is R\$90,071,992,547,409\.91/],
    ['amount', '10.00', /^Only whole installments are advanced, and the earliest one, on .*, is R\$48\.00\./],
    ['until', '2026-02-30', /a valid date/],
    ['until', '2020-01-01', /a date after today/],
  ])('shows the form again with the error: %s %s', async (field, value, says) => {
    const { quote } = await seller();
    const page = await quote({ [field]: value });
    expect(page.status).toBe(422);
    expect(fault(page, field)).toMatch(says);
    const input = page.document.getElementById(field)!;
    expect(input.getAttribute('value')).toBe(value);
    expect(input.getAttribute('aria-invalid')).toBe('true');
    expect(input.getAttribute('aria-describedby')).toContain(`${field}-fault`);
  });

  it('says that nothing is due by a date', async () => {
    const { quote } = await seller();
    const page = await quote({ until: addDays(civilDateAt(new Date()), 5) });
    expect([page.status, fault(page, 'until')]).toEqual([
      422,
      'There is nothing to advance up to this date.',
    ]);
  });

  it('says that the fee would consume the amount, of some installments or of all', async () => {
    const { funds, visitor, home, quote } = await seller({ sells: false });
    await funds.sell({ gross: 990_000n, installments: 99 });
    const hint = textOf((await visitor.get(`${home}/new`)).document.querySelector('form ~ .hint'));
    expect(hint).toContain('A quote leaves out installments whose cost would consume their amount.');
    const advances = createClient(AdvanceService, fixture.transport);
    await advances.setAdvanceRate({ ...funds.write(), monthlyRateBps: 10_000 });
    const page = await quote();
    expect(page.status).toBe(422);
    expect(fault(page, 'amount')).toMatch(/^At your rate, the cost would consume the amount/);
  });

  it('has no form for a merchant with nothing to advance', async () => {
    const { visitor, home } = await seller({ sells: false });
    const { status, document } = await visitor.get(`${home}/new`);
    expect(status).toBe(200);
    expect(textOf(document.querySelector('.empty'))).toMatch(/^There is nothing to advance at the moment\./);
    expect(document.querySelectorAll('main form')).toHaveLength(0);
  });
});

it('a quote with very many dates is a small page with totals', async () => {
  const { funds, quote } = await seller({ sells: false });
  await funds.sell({ gross: 750_000n, installments: 75 });
  const { document, text } = await quote();
  expect(document.querySelectorAll('tbody tr')).toHaveLength(32);
  expect(textOf(document.querySelectorAll('tbody tr')[31]!)).toMatch(/^and 8 more dates R\$800\.00/);
  expect(Buffer.byteLength(text)).toBeLessThan(100_000);
});

it('uses the singular for one installment', () => {
  const { 'pt-BR': portuguese, en } = advancesTexts;
  const day = '21 de nov. de 2026';
  expect(portuguese.form.span('1', day, day)).toBe('1 parcela, de 21 de nov. de 2026');
  expect([portuguese.quote.daysText('1'), portuguese.quote.others('1')]).toEqual([
    '1 dia',
    'e mais uma data',
  ]);
  expect([en.quote.daysText('1'), en.quote.others('1')]).toEqual(['1 day', 'and one more date']);
  expect(en.form.span('1', 'Nov 21', 'Nov 21')).toBe('1 installment, due Nov 21');
});
