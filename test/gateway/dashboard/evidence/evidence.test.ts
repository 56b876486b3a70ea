import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { aPdf, fileMessages } from '../../../services/refunds/evidence/evidence-files.ts';
import { refundsOf } from '../../../services/refunds/refund-case-fixture.ts';
import { newKey, newTenant } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { multipartOf, type SeenPage, sharedDashboard } from '../dashboard-fixture.ts';

const MAX_BYTES = 5 * 1024 * 1024;

const fixture = await sharedDashboard();

/** A case that awaits the merchant's decision, and a developer of the merchant. */
async function aCase(role = Role.DEVELOPER) {
  const refunds = refundsOf(fixture.harness, 'inProcess', newTenant());
  const { merchantId } = refunds.tenant;
  const refundCase = await refunds.open();
  const visitor = await fixture.signIn({ [merchantId]: role });
  const audited = async () => {
    const accounts = createClient(AccountService, fixture.transport);
    const { entries } = await accounts.listAuditEntries({ merchantId, environment: Environment.LIVE });
    return entries.filter(({ action }) => action.endsWith('Evidence'));
  };
  return { ...refunds, refundCase, visitor, audited, page: `/live/${merchantId}/refunds/${refundCase.id}` };
}

const links = ({ document }: SeenPage) =>
  document.querySelectorAll('a[download]').map((link) => [link.text, link.getAttribute('href')!] as const);
const fault = ({ document, status }: SeenPage) => [status, document.querySelector('#file-fault')?.text];

it('attaches a file, lists it, and offers it as a download only, with both audited', async () => {
  const { visitor, page, audited, refunds, tenant, refundCase } = await aCase();
  const content = aPdf(MAX_BYTES);
  const attached = await visitor.attach(page, '/evidence', '../Recibo “nº 1”.html', content);
  expect([attached.status, attached.text.includes('File attached.')]).toEqual([200, true]);
  const [[name, href] = ['', '']] = links(attached);
  expect([name, attached.text.includes('5 MB')]).toEqual(['Recibo “nº 1”.pdf', true]);
  const answer = await visitor.fetch(href);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': String(MAX_BYTES),
    'content-disposition': expect.stringMatching(/^attachment; filename=".*"; filename\*=UTF-8''Recibo/),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  expect(content.equals(await answer.bytes())).toBe(true);
  const { accountId } = visitor;
  const actions = (await audited()).map((entry) => [entry.action.split('.').at(-1), entry.accountId]);
  expect(actions).toEqual([
    ['GetEvidence', accountId],
    ['AddEvidence', accountId],
  ]);
  const read = await refunds.getRefundCase({ ...tenant, refundCaseId: refundCase.id });
  expect(read.refundCase!.evidenceCount).toBe(1);
});

it('says at the field why a file is refused, in the language of the reader', async () => {
  const { visitor, page } = await aCase();
  const form = await visitor.get(page);
  const refused = (content: Buffer) => visitor.attach(form, '/evidence', 'photo.jpg', content);
  expect(fault(await refused(aPdf(MAX_BYTES + 1)))).toEqual([422, 'The file is larger than 5 MB.']);
  expect(fault(await refused(aPdf(3 * MAX_BYTES)))).toEqual([422, 'The file is larger than 5 MB.']);
  const script = Buffer.from('<script>alert(1)</script>');
  expect(fault(await refused(script))).toEqual([422, 'The file is not a PDF, JPEG or PNG.']);
  expect(fault(await refused(Buffer.from('%PDF-1.7')))[1]).toContain('incomplete');
  const portuguese = await visitor.reading('pt-BR').attach(form, '/evidence', 'foto.jpg', Buffer.alloc(0));
  expect(fault(portuguese)).toEqual([422, 'O arquivo está vazio.']);
  const none = await visitor.attach(form, '/evidence', '', Buffer.alloc(0));
  expect(fault(none)).toEqual([422, 'Choose a file.']);
  expect(links(await visitor.get(page))).toEqual([]);
});

it('takes no upload slot for a browser that disconnected while its session was checked', async () => {
  const { visitor, page } = await aCase();
  const { app, harness, baseUrl } = fixture;
  await using lock = await openSession(harness.databaseUrl);
  await lock.query('begin; lock table accounts.session in access exclusive mode');
  // As many as one person may send at once.
  for (let n = 0; n < 4; n += 1) {
    const arrived = once(app.server, 'request');
    const headers = {
      cookie: `__Host-session=${visitor.token}`,
      'content-type': 'multipart/form-data; boundary=x',
    };
    const sent = request(`${baseUrl}${page}/evidence`, { method: 'POST', headers });
    sent.on('error', () => undefined).flushHeaders();
    const [, response] = (await arrived) as [unknown, ServerResponse];
    const left = once(response, 'close');
    sent.destroy();
    await left;
  }
  await lock.query('rollback');
  const attached = await visitor.attach(page, '/evidence', 'a.pdf', aPdf());
  expect([attached.status, links(attached).length]).toEqual([200, 1]);
});

it('can be read by viewers, and added by those who decide, while the case is open', async () => {
  const { visitor, page, refunds, write, refundCase, tenant } = await aCase(Role.VIEWER);
  const refundCaseId = refundCase.id;
  const file = { ...write(), refundCaseId, fileName: 'note' };
  await refunds.addEvidence(fileMessages(file, aPdf()));
  const seen = await visitor.get(page);
  const [[name, href] = ['', '']] = links(seen);
  expect([name, seen.document.querySelectorAll('input[type=file]')]).toEqual(['note.pdf', []]);
  expect((await visitor.fetch(href)).status).toBe(200);
  const developer = await fixture.signIn({ [tenant.merchantId]: Role.DEVELOPER });
  const form = await developer.get(page);
  await refunds.cancelRefundCase({ ...write(), refundCaseId });
  const late = await developer.attach(form, '/evidence', 'late.pdf', aPdf());
  expect([late.status, late.text.includes('no longer accepts files')]).toEqual([409, true]);
  expect((await developer.get(page)).document.querySelectorAll('input[type=file]')).toEqual([]);
});

it('can be attached to a dispute until it is closed', async () => {
  const { visitor, page, refunds, write } = await aCase();
  const disputeId = randomUUID();
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID() });
  const dispute = page.replace(/refunds.*$/, `disputes/${disputeId}`);
  expect(fault(await visitor.attach(dispute, '/evidence', 'a.pdf', Buffer.from('GIF89a')))[0]).toBe(422);
  const attached = await visitor.attach(dispute, '/evidence', 'tracking.pdf', aPdf());
  const [[name, href] = ['', '']] = links(attached);
  expect([name, attached.text.includes('File attached.')]).toEqual(['tracking.pdf', true]);
  expect((await visitor.fetch(href)).headers.get('content-type')).toBe('application/pdf');
  await refunds.closeDispute({ ...write(), disputeId });
  const late = await visitor.attach(attached, '/evidence', 'late.pdf', aPdf());
  expect([late.status, late.text.includes('no longer accepts files')]).toEqual([409, true]);
  expect((await visitor.get(dispute)).document.querySelectorAll('input[type=file]')).toEqual([]);
});

it('refuses a foreign form before its file, and files of other cases and merchants', async () => {
  const { visitor, page, open, audited } = await aCase();
  const [other, stranger] = [await open(), await aCase()];
  const [, href = ''] = links(await visitor.attach(page, '/evidence', 'own.pdf', aPdf()))[0] ?? [];
  const before = await audited();
  const id = href.split('/').at(-1);
  const elsewhere = page.replace(/[^/]+$/, other.id);
  for (const path of [`${elsewhere}/evidence/${id}`, `${stranger.page}/evidence/${id}`])
    expect((await visitor.fetch(path)).status, path).toBe(404);
  expect((await stranger.visitor.fetch(href)).status).toBe(404);
  const { _csrf, _key } = visitor.proof();
  const file = new File([new Uint8Array(aPdf())], 'a.pdf');
  const late = new FormData();
  late.append('file', file);
  for (const [name, value] of Object.entries({ _csrf, _key })) late.append(name, value);
  const twice = multipartOf({ _csrf, _key }, file);
  twice.append('file', file);
  for (const [body, status] of [
    [late, 403],
    [multipartOf({ _csrf: 'x', _key }, file), 403],
    [twice, 413],
    [multipartOf({ _csrf, _key: newKey(), more: 'x'.repeat(9_000) }, file), 413],
  ] as const)
    expect((await visitor.fetch(`${page}/evidence`, { method: 'POST', body })).status).toBe(status);
  expect(await audited()).toEqual(before);
});

it('refuses a malformed form, or one that ends early, as the browser’s fault', async () => {
  const { visitor, page, audited } = await aCase();
  const field = `--x\r\nContent-Disposition: form-data; name="_csrf"\r\n\r\n${visitor.proof()._csrf}`;
  for (const [type, body] of [
    ['multipart/form-data', field],
    [`multipart/form-data; boundary=${'x'.repeat(300)}`, field],
    ['multipart/form-data; boundary=x', field],
  ] as const) {
    const answer = await visitor.fetch(`${page}/evidence`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expect(answer.status, type).toBe(400);
  }
  expect(await audited()).toEqual([]);
});
