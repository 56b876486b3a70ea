import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { accountsFixture } from '../../services/accounts/accounts-fixture.ts';
import { newTenant } from '../../support/harness.ts';
import { eventually, type Saga } from './saga.ts';

export const NOTICE_SAGA: Saga = {
  name: 'the mail to an invited person',
  steps: ['before ListInvitations', 'after ListInvitations', 'before EndStarts'],
  async prepare({ harness, inbox }) {
    const tenant = newTenant();
    const email = `invited-${randomUUID()}@shop.example`;
    return {
      merchantId: tenant.merchantId,
      email,
      start: () => accountsFixture(harness.transports.inProcess).invite(tenant, email),
      waitUntilDone: () => eventually(async () => expect(inbox.mailTo(email)).not.toEqual([])),
    };
  },
};
