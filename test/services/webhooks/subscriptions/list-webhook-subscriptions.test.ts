import { testList } from '../../../support/list-suite.ts';
import { subscriptionList } from './subscription-list.ts';

testList('ListWebhookSubscriptions', 'webhooks', subscriptionList, [
  ['', 'subscription_newest'],
  ['state', 'subscription_state'],
]);
