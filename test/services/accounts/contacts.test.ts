import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import { Language, MailTopic, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../support/harness.ts';
import { accountsFixture, newPerson } from './accounts-fixture.ts';

const harness = await startHarness({ SERVICES: 'accounts' });
afterAll(() => harness.close());

const fixture = () => accountsFixture(harness.transports.connect);
const email = 'alerts@shop.example';

test('an environment has the contact that was set, until it is removed', async () => {
  const tenant = newTenant();
  const sandbox = { ...tenant, environment: Environment.TEST };
  const set = (contact: { email?: string; language: Language }) =>
    fixture().client.setMerchantContact({ ...fixture().write(tenant), ...contact });
  await set({ email: 'first@shop.example', language: Language.PT_BR });
  await set({ email, language: Language.EN });
  const contact = await fixture().client.getMerchantContact(tenant);
  expect(contact).toMatchObject({ emails: [email], language: Language.EN, isSet: true });
  const nobody = { emails: [], language: Language.PT_BR, isSet: false };
  expect(await fixture().client.getMerchantContact(sandbox)).toMatchObject(nobody);
  expect(await fixture().client.getMerchantContact(newTenant())).toMatchObject(nobody);
  await set({ language: Language.EN });
  await set({ language: Language.EN });
  expect(await fixture().client.getMerchantContact(tenant)).toMatchObject(nobody);
});

test('without a contact, mail goes to administrators and developers with a verified address who want it', async () => {
  const tenant = newTenant();
  const ana = await fixture().join(tenant, Role.ADMIN);
  const { issuer, subject, name } = await fixture().join(tenant, Role.ADMIN);
  await fixture().signIn({ issuer, subject, name, email: 'x@shop.example', emailVerified: false });
  const developer = await fixture().join(tenant, Role.DEVELOPER);
  await fixture().join(tenant, Role.FINANCE);
  const managers = { emails: [ana.email, developer.email], isSet: false };
  expect(await fixture().client.getMerchantContact(tenant)).toMatchObject(managers);
  const unwanted = [MailTopic.WEBHOOK_PROBLEMS];
  await fixture().client.setMailPreferences({ accountId: ana.accountId, unwanted });
  expect(await fixture().client.getMerchantContact(tenant)).toMatchObject({ emails: [developer.email] });
  for (let n = 0; n < 21; n += 1) await fixture().join(tenant, Role.ADMIN, newPerson());
  const { emails } = await fixture().client.getMerchantContact(tenant);
  expect(emails).toHaveLength(20);
  expect(emails[0]).toBe(developer.email);
});

test('an account that does not exist has no mail preferences to set', async () => {
  for (const unwanted of [[MailTopic.WEBHOOK_PROBLEMS], []]) {
    const set = fixture().client.setMailPreferences({ accountId: randomUUID(), unwanted });
    await expectRefusal(set, Code.NotFound, 'ACCOUNT_NOT_FOUND');
  }
});

test('one of two mail preferences that are set at the same moment applies', async () => {
  const { accountId } = await fixture().signIn();
  const choices = [[MailTopic.DEBTS], [MailTopic.ADVANCES]];
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      choices.map((unwanted) => fixture().client.setMailPreferences({ accountId, unwanted })),
    );
    expect(choices).toContainEqual((await fixture().client.getMailPreferences({ accountId })).unwanted);
  }
});
