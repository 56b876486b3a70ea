import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HTMLElement } from 'node-html-parser';
import { describe, expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { RecordPayoutAnswerRequestSchema } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { DUE_REASON } from '../../../../services/contracts/advances/due-reason.ts';
import { advancesCaller, SOLD } from '../../../services/advances/advances-caller.ts';
import { copyRequest } from '../../../services/advances/request-rows.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';
import { textOf } from '../page-text.ts';

const fixture = await sharedDashboard();

type RecordedAnswer = NonNullable<MessageInitShape<typeof RecordPayoutAnswerRequestSchema>['answer']>;

/** Requests of the past, in 2020. */
async function oldMerchant() {
  const caller = await advancesCaller(fixture.transport);
  const { merchantId } = caller.funds.tenant;
  const visitor = await fixture.signIn({ [merchantId]: Role.VIEWER });
  const request = async () => caller.request((await caller.quote({ maxAmountMinor: 5_000n })).id);
  return { ...caller, requestOne: request, merchantId, visitor, home: `/live/${merchantId}/advances` };
}

const steps = (document: HTMLElement) =>
  document
    .querySelectorAll('.timeline li')
    .map((step) => `${step.getAttribute('class')} ${textOf(step.querySelector('strong'))}`);

describe('the list of requests', () => {
  it('shows amounts, dates and statuses, newest first, in pages', async () => {
    const { client, funds, visitor, home } = await oldMerchant();
    await funds.sell({ on: SOLD, gross: 30_000n, installments: 10 });
    const { quote } = await client.quoteAdvance({ ...funds.write(SOLD), maxAmountMinor: 9_000n });
    const { advanceRequest } = await client.requestAdvance({ ...funds.write(SOLD), quoteId: quote!.id });
    await copyRequest(fixture.harness, advanceRequest!.id, 26);
    const first = await visitor.get(home);
    const rows = (document: HTMLElement) => document.querySelectorAll('tbody tr');
    expect(rows(first.document)).toHaveLength(25);
    expect(textOf(rows(first.document)[0]!)).toMatch(
      /Jun 20, 2020, .* R\$\d\S* R\$\d\S* R\$\d\S* Under review/,
    );
    const next = first.document.querySelector('a[rel=next]')!.getAttribute('href')!;
    const second = await visitor.get(next);
    expect(rows(second.document)).toHaveLength(2);
    const links = [first, second].flatMap(({ document }) =>
      rows(document).map((row) => row.querySelector('a')!.getAttribute('href')),
    );
    expect(new Set(links).size).toBe(27);
    expect((await visitor.get(`${home}?page=tampered`)).status).toBe(422);
  });

  it('shows the requests behind each total of Reconcile', async () => {
    const { approve, client, funds, requestOne, visitor, home } = await oldMerchant();
    const { id } = await requestOne();
    await approve(id);
    await funds.sell({ on: '2020-07-01', gross: 30_000n, installments: 3 });
    const { quote } = await client.quoteAdvance({ ...funds.write('2020-07-01'), maxAmountMinor: 15_000n });
    await client.requestAdvance({ ...funds.write('2020-07-01'), quoteId: quote!.id });
    const reconcile = `${home.replace('/advances', '/funds/reconcile')}?from=2020-06-01&to=2020-06-30`;
    const [total, ...others] = (await visitor.get(reconcile)).document.querySelectorAll(
      '[aria-labelledby=advances] tbody a',
    );
    expect([total!.text, others]).toEqual(['Approved', []]);
    const { document } = await visitor.get(total!.getAttribute('href')!);
    const links = document.querySelectorAll('tbody a').map((link) => link.getAttribute('href'));
    expect(links).toEqual([`${home}/${id}`]);
    const file = await visitor.get(document.querySelector('a[download]')!.getAttribute('href')!);
    expect(file.text.match(/^item;.*/gm)).toEqual([expect.stringContaining(id)]);
    const refused = await visitor.get(`${home}?status=REFUSED`);
    expect(textOf(refused.document.querySelector('.empty'))).toBe('No requests match these filters.');
  });

  it('is empty for a merchant without requests, and offers a new one to developers only', async () => {
    const { visitor, home, merchantId } = await oldMerchant();
    const seen = await visitor.get(home);
    expect(textOf(seen.document.querySelector('.empty'))).toBe('No advance requests yet.');
    expect(seen.text).not.toContain('/advances/new');
    const developer = await fixture.signIn({ [merchantId]: Role.DEVELOPER });
    expect((await developer.get(home)).text).toContain(`${home}/new`);
  });
});

describe('a request', () => {
  it('shows its progress: under review, approved, paid, settled', async () => {
    const { approve, release, settle, requestOne, visitor, home } = await oldMerchant();
    const { id, netAmountMinor } = await requestOne();
    const see = async () => (await visitor.get(`${home}/${id}`)).document;
    expect(steps(await see())).toEqual([
      'done Requested',
      'now Review',
      'waiting Payout',
      'waiting Settlement',
    ]);
    await approve(id, SOLD, 'within the policy');
    expect(steps(await see())).toEqual([
      'done Requested',
      'done Approved',
      'now Payout',
      'waiting Settlement',
    ]);
    await release(id);
    const released = await see();
    expect(steps(released)).toEqual(['done Requested', 'done Approved', 'now Payout', 'waiting Settlement']);
    expect(textOf(released.querySelector('.badge'))).toBe('Payout in progress');
    expect(textOf(released.querySelector('.timeline'))).toContain('Reason: within the policy');
    const net = `R$${(Number(netAmountMinor) / 100).toFixed(2)}`;
    expect(textOf(released.querySelector('.timeline'))).toContain(`The payout of ${net} was ordered.`);
    await settle(id);
    const settled = await see();
    expect(textOf(settled.querySelector('.timeline'))).toContain(`${net} paid out.`);
    expect(steps(settled)).toEqual(['done Requested', 'done Approved', 'done Payout', 'done Settlement']);
    expect(textOf(settled.querySelector('.badge'))).toBe('Settled');
  });

  it('counts as paid only once the provider has accepted the payout', async () => {
    const { client, funds, approve, release, settle, requestOne, visitor, home, merchantId } =
      await oldMerchant();
    const { id: advanceRequestId } = await requestOne();
    await approve(advanceRequestId);
    await release(advanceRequestId);
    const answer = (answer: RecordedAnswer) =>
      client.recordPayoutAnswer({ ...funds.write(), advanceRequestId, answer });
    await answer({ case: 'refused', value: 'closed account' });
    const see = async () => (await visitor.get(`${home}/${advanceRequestId}`)).document;
    const paying = await see();
    expect(steps(paying).slice(2)).toEqual(['now Payout', 'waiting Settlement']);
    expect(textOf(paying.querySelector('.timeline'))).toContain('has not accepted the payout of R$');
    expect(textOf(paying.querySelector('.timeline'))).not.toContain('paid out.');
    const badge = (document: HTMLElement) => textOf(document.querySelector('.badge'));
    expect(badge(paying)).toBe('Payout in progress');
    expect(badge((await visitor.get(home)).document)).toBe('Payout in progress');
    const month = 'from=2020-06-01&to=2020-06-30';
    const totals = (await visitor.get(`/live/${merchantId}/funds/reconcile?${month}`)).document;
    expect(textOf(totals.querySelector('section[aria-labelledby=advances] tbody td'))).toBe(
      'Paid, or payout pending',
    );
    const file = await visitor.get(`${home}.csv`);
    expect(file.text).toContain(';PAYING;;;\r\n');
    await settle(advanceRequestId);
    expect(steps(await see()).slice(2)).toEqual(['now Payout', 'done Settlement']);
    await answer({ case: 'accepted', value: { providerPayoutId: 'po_1' } });
    const paid = await see();
    expect(steps(paid).slice(2)).toEqual(['done Payout', 'done Settlement']);
    expect(textOf(paid.querySelector('.timeline'))).toContain('Provider’s payout ID: po_1');
    expect(badge(paid)).toBe('Settled');
    await answer({ case: 'returned', value: { providerPayoutId: 'po_1', reason: 'closed account' } });
    const returned = await see();
    expect(steps(returned).slice(2)).toEqual(['now Payout', 'done Settlement']);
    expect(textOf(returned.querySelector('.timeline'))).toMatch(
      /The bank returned the payout of R\$.*Reason: closed account Provider’s payout ID: po_1/,
    );
    expect(badge(returned)).toBe('Payout returned');
  });

  it('lists what it covers, which adds up to its amount and cost, and until when', async () => {
    const { quote, request, visitor, home, merchantId } = await oldMerchant();
    const { id } = await request((await quote()).id);
    const { document } = await visitor.get(`${home}/${id}`);
    const rows = document
      .querySelectorAll('tbody tr')
      .map((row) => row.querySelectorAll('td').map((cell) => textOf(cell)));
    expect(rows).toEqual([
      ['Jul 20, 2020', '30 days', 'R$48.00', 'R$1.20'],
      ['Aug 19, 2020', '60 days', 'R$48.00', 'R$2.40'],
      ['Sep 18, 2020', '90 days', 'R$48.00', 'R$3.60'],
    ]);
    expect(document.querySelector('tbody a')!.getAttribute('href')).toBe(
      `/live/${merchantId}/funds/days/2020-07-20/sales`,
    );
    expect(textOf(document.querySelector('dl'))).toContain('Amount advanced R$144.00 Cost R$7.20');
    expect(textOf(document.querySelector('.timeline'))).toContain('After Sep 18, 2020');
  });

  it('ends when it is refused, with the escaped reason', async () => {
    const { client, funds, requestOne, visitor, home } = await oldMerchant();
    const { id } = await requestOne();
    const reason = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>`;
    await client.refuseAdvance({ ...funds.write(SOLD), advanceRequestId: id, reason });
    const { document, text } = await visitor.get(`${home}/${id}`);
    expect(steps(document)).toEqual(['done Requested', 'failed Refused']);
    expect(textOf(document.querySelector('dl'))).toContain('You would have received R$');
    expect(text).not.toContain('<img');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });

  it('is shown in Portuguese to Portuguese readers, with the reason if it was refused automatically', async () => {
    const { client, funds, requestOne, visitor, home } = await oldMerchant();
    const { id } = await requestOne();
    const { text } = await visitor.reading('pt-BR').get(`${home}/${id}`);
    expect(text.replaceAll('\u00a0', ' ')).toContain('Antecipação de R$ 48,00');
    expect(text).toContain('Em análise');
    await client.refuseAdvance({ ...funds.write(SOLD), advanceRequestId: id, reason: DUE_REASON });
    const { document } = await visitor.reading('pt-BR').get(`${home}/${id}`);
    expect(textOf(document.querySelector('.timeline'))).toContain(
      'Motivo: A data de uma das parcelas cobertas',
    );
  });
});
