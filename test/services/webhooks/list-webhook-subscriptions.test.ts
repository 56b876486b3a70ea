import { afterAll, beforeAll } from 'vitest';
import type { TestHarness } from '../../support/harness.ts';
import { describeList, describePlans, startListHarness } from '../../support/list-suite.ts';
import { subscriptionList } from './subscription-list.ts';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('webhooks', statements);
});
afterAll(() => harness.close());

describeList('ListWebhookSubscriptions', () => subscriptionList(harness));

describePlans(() => subscriptionList(harness), statements, [
  ['', 'subscription_newest'],
  ['state', 'subscription_newest'],
]);
