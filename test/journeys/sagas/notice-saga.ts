import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { accountsFixture } from '../../services/accounts/accounts-fixture.ts';
import { newTenant } from '../../support/harness.ts';
import { recovers, type Saga } from './saga.ts';

export const NOTICE_SAGA: Saga = {
  name: 'the mail to an invited person',
  steps: ['before ListInvitations', 'after ListInvitations', 'before EndStarts', 'after EndStarts'],
  async prepare({ harness, inbox }) {
    const tenant = newTenant();
    const email = `invited-${randomUUID()}@shop.example`;
    return {
      merchantId: tenant.merchantId,
      email,
      setOff: () => accountsFixture(harness.transports.inProcess).invite(tenant, email),
      isDone: () => recovers(async () => expect(inbox.mailTo(email)).not.toEqual([])),
    };
  },
};
