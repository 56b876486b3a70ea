import { expect, it, vi } from 'vitest';
import { startProgram } from '../../journeys/child-program.ts';
import { loopbackSettings } from '../../support/loopback-settings.ts';
import { startTemporal, TEMPORAL_START_MS } from '../../support/temporal.ts';
import { testWorkflowBundles } from '../../support/temporal-namespace.ts';
import {
  FailingMerchant,
  mailTo,
  noticeHandle,
  startEndpoints,
  startNoticeHarness,
} from './notice-fixture.ts';
import { startSmtpInbox } from './smtp-inbox.ts';

/** Temporal retries the activity of a killed worker after its start-to-close timeout of a minute. */
const RETRY_DEADLINE_MS = 90_000;

it(
  'sends a mail again with the same Message-ID when the worker is killed before the mail server confirms it',
  async () => {
    await using temporal = await startTemporal();
    await using inbox = await startSmtpInbox();
    const endpoints = await startEndpoints();
    const harness = await startNoticeHarness(inbox);
    const settings = {
      ...loopbackSettings(),
      SERVICES_URL: harness.baseUrl,
      SERVICE_TOKEN: harness.token,
      TEMPORAL_ADDRESS: temporal.address,
      LOG_LEVEL: 'error',
      HOST: '127.0.0.1',
      OPS_PORT: '0',
      ...testWorkflowBundles(),
      SMTP_URL: inbox.url,
    };
    const merchant = new FailingMerchant(harness, endpoints);
    inbox.silentFor.add(merchant.email);
    await using first = startProgram('workflows/main.ts', settings);
    try {
      await merchant.subscribe();
      await merchant.fail();
      await mailTo(inbox, merchant.email);
      await first.kill();
      inbox.silentFor.delete(merchant.email);
      await using _second = startProgram('workflows/main.ts', settings);
      const mails = () => inbox.mailTo(merchant.email).map(({ mail }) => mail.messageId);
      await vi.waitFor(() => expect(mails()).toHaveLength(2), { timeout: RETRY_DEADLINE_MS });
      expect(new Set(mails()).size).toBe(1);
      const handle = noticeHandle(temporal, 'WEBHOOK_ERROR', merchant.subscriptionId);
      expect((await handle.describe()).status.name).toBe('RUNNING');
    } finally {
      await endpoints.receiver[Symbol.asyncDispose]();
      await harness.close();
    }
  },
  TEMPORAL_START_MS,
);
