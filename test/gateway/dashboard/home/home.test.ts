import { randomUUID } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { runMerchants } from '../../../../local/merchants.ts';
import { AccountService, Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { newKey, newWrite } from '../../../support/harness.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

const accounts = () => createClient(AccountService, fixture.transport);
const live = (merchantId: string) => ({ merchantId, environment: Environment.LIVE });
const invite = async (merchantId: string, email: string, role = Role.DEVELOPER) => {
  const request = { ...newWrite(live(merchantId)), email, role };
  return (await accounts().inviteMember(request)).invitation!.id;
};
const membersOf = async (merchantId: string) => (await accounts().listMembers(live(merchantId))).members;

test('a person without a merchant gets an explanation with the address to be invited at', async () => {
  const visitor = await fixture.signIn({}, 'new@people.example');
  const page = await visitor.get('/');
  expect(page.status).toBe(200);
  expect(page.document.querySelector('.empty')?.text).toContain('new@people.example');
});

test('each merchant links to live and sandbox, and other merchants are not listed', async () => {
  const [one, two, other] = [randomUUID(), randomUUID(), randomUUID()];
  await fixture.signIn({ [other]: Role.ADMIN });
  const visitor = await fixture.signIn({ [one]: Role.VIEWER, [two]: Role.ADMIN });
  const { document, text } = await visitor.get('/');
  const links = document.querySelectorAll('main .card a').map((link) => link.getAttribute('href'));
  expect(links.sort()).toEqual([`/live/${one}`, `/live/${two}`, `/sandbox/${one}`, `/sandbox/${two}`].sort());
  expect(text).not.toContain(other);
});

test('a merchant has the name that an internal team sets, on every page and in invitations', async () => {
  const [merchant, email] = [randomUUID(), `${randomUUID()}@people.example`];
  const visitor = await fixture.signIn({ [merchant]: Role.ADMIN });
  const invited = await fixture.signIn({}, email);
  await invite(merchant, email);
  const { baseUrl, token } = fixture.harness;
  const merchants = (...args: string[]) =>
    runMerchants([...args, '--merchant', merchant], { SERVICES_URL: baseUrl, SERVICE_TOKEN: token });
  const switcherOf = async (path: string) => {
    const { document } = await visitor.get(path);
    return [document.querySelector('.merchant a')!.text, document.querySelector('title')!.text];
  };
  expect(await merchants('name', '--name', ' Loja <Aurora> ')).toMatchObject({
    exitCode: 0,
    stdout: `${merchant}  Loja <Aurora>\n`,
  });
  for (const [path, environment] of [
    ['live', 'Live'],
    ['sandbox', 'Sandbox'],
  ] as const) {
    expect(await switcherOf(`/${path}/${merchant}/refunds`)).toEqual([
      'Loja <Aurora>',
      `Refunds · Loja <Aurora> · ${environment} · Payments`,
    ]);
  }
  const card = (await visitor.get('/')).document.querySelector('main .card')!;
  expect([card.querySelector('h2')!.text, card.text]).toEqual([
    'Loja <Aurora>',
    expect.stringContaining(merchant),
  ]);
  expect((await invited.get('/')).text).toContain('Loja &lt;Aurora&gt;');
  const { entries } = await accounts().listAuditEntries({ ...live(merchant) });
  expect(entries[0]).toMatchObject({ request: { name: ' Loja <Aurora> ' }, caller: expect.any(String) });
  expect((await merchants('name', '--name', 'two\nlines')).exitCode).toBe(1);
  expect((await merchants('unname')).stdout).toBe(`${merchant}  (no name)\n`);
  expect((await switcherOf(`/live/${merchant}/refunds`))[0]).toBe(merchant.slice(0, 8));
});

test('an invitation can be accepted once, and leads to the merchant', async () => {
  const merchant = randomUUID();
  const email = `${randomUUID()}@people.example`;
  const visitor = await fixture.signIn({}, email);
  const invitation = await invite(merchant, email);
  const home = await visitor.get('/');
  const action = `/invitations/${merchant}/${invitation}/accept`;
  const accepted = await visitor.submit(home, action);
  expect(accepted.path).toBe(`/live/${merchant}`);
  expect(await membersOf(merchant)).toMatchObject([{ account: { email }, role: Role.DEVELOPER }]);
  expect((await visitor.submit(home, action)).path).toBe(`/live/${merchant}`);
  expect((await visitor.get('/')).document.querySelector('form[action$="/accept"]')).toBeNull();
  const { entries } = await accounts().listAuditEntries({ ...live(merchant), peopleOnly: true });
  expect(entries).toMatchObject([
    {
      accountId: visitor.accountId,
      action: 'payments.accounts.v1.AccountService.AcceptInvitation',
      ipAddress: '127.0.0.1',
    },
  ]);
});

test('an invitation of another person, or a revoked one, is refused with an explanation', async () => {
  const merchant = randomUUID();
  const email = `${randomUUID()}@people.example`;
  const visitor = await fixture.signIn({}, email);
  const form = visitor.proof();
  const others = await invite(merchant, 'somebody@else.example');
  const refused = await visitor.post(`/invitations/${merchant}/${others}/accept`, form);
  expect(refused.status).toBe(404);
  expect(refused.text).toContain('This invitation does not exist');
  const own = await invite(merchant, email);
  const home = await visitor.get('/');
  const idempotencyKey = newKey();
  await accounts().revokeInvitation({ ...live(merchant), idempotencyKey, invitationId: own });
  const late = await visitor.submit(home, `${own}/accept`);
  expect(late.status).toBe(409);
  expect(late.text).toContain('no longer valid');
  expect(await membersOf(merchant)).toEqual([]);
});

test('members can leave a merchant, except its last administrator', async () => {
  const merchant = randomUUID();
  const admin = await fixture.signIn({ [merchant]: Role.ADMIN });
  const viewer = await fixture.signIn({ [merchant]: Role.VIEWER });
  const left = await viewer.submit('/', '/leave');
  expect(left.path).toBe('/?notice=left');
  expect(left.document.querySelector('[role="status"]')?.text).toContain(
    'no longer a member of this merchant',
  );
  expect((await viewer.get(`/live/${merchant}`)).status).toBe(404);
  const refused = await admin.submit('/', '/leave');
  expect(refused.status).toBe(409);
  const alert = refused.document.querySelector('[role=alert]')!;
  expect(alert.text).toContain('only administrator');
  expect(alert.querySelector('a')!.getAttribute('href')).toBe(`/live/${merchant}/members`);
  expect(await membersOf(merchant)).toMatchObject([{ account: { id: admin.accountId } }]);
  // A reload asks for the address of the form.
  const reloaded = await admin.get(refused.path);
  expect([reloaded.status, reloaded.path]).toEqual([200, '/']);
});

test('many merchants are paginated', async () => {
  const merchants = Array.from({ length: 31 }, () => randomUUID()).sort();
  const visitor = await fixture.signIn(Object.fromEntries(merchants.map((id) => [id, Role.VIEWER])));
  const first = await visitor.get('/');
  expect(first.document.querySelectorAll('main .card')).toHaveLength(30);
  const next = first.document.querySelector('a[rel="next"]')!.getAttribute('href')!;
  const second = await visitor.get(next);
  expect(second.document.querySelectorAll('main .card')).toHaveLength(1);
  expect(second.text).toContain(merchants[30]);
});
