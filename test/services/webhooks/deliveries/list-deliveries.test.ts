import { describeList, describePlans, sharedListHarness } from '../../../support/list-suite.ts';
import { deliveryList } from './delivery-list.ts';

const { harness, statements } = sharedListHarness('webhooks');

describeList('ListDeliveries by what they go to', () => deliveryList(harness(), 'goal'));
describeList('ListDeliveries by what caused them', () => deliveryList(harness(), 'cause'));
describeList('ListDeliveries by what they are about', () => deliveryList(harness(), 'object'));

const ended = (columns: string) =>
  String.raw`ended_delivery_live_\d+_merchant_id_environment_${columns}_idx\d*`;

describePlans(
  () => deliveryList(harness(), 'goal'),
  statements,
  [
    ['', 'open_delivery_newest'],
    ['', ended('id')],
    ['subscriptionId', 'open_delivery_subscription'],
    ['subscriptionId', ended('subscr')],
  ],
  'webhooks.open_delivery',
);

describePlans(() => deliveryList(harness(), 'cause'), statements, [
  ['eventType', ended('event')],
  ['resendId', 'open_delivery_resend'],
  ['resendId', ended('resend')],
  ['createdFrom', ended('id')],
]);
