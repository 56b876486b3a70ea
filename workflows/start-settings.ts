import * as notifyContact from '../services/contracts/accounts/notify-contact.contract.ts';
import * as recordDeliveries from '../services/contracts/webhooks/record-deliveries.contract.ts';
import * as retryDelivery from '../services/contracts/webhooks/retry-delivery.contract.ts';
import type { StartSettingsByType } from './relay/command-relay.ts';
import { searchAttributesOf } from './temporal/search-attributes.ts';

/** The workflow types that outbox commands start differently from the defaults. */
export const START_SETTINGS: StartSettingsByType = {
  [retryDelivery.workflowType]: {
    describe: ([retry]) => describeRetry(retry as retryDelivery.RetryDeliveryInput),
  },
  [recordDeliveries.workflowType]: {
    describe: ([input]) => describeRecords(input as recordDeliveries.RecordDeliveriesInput),
  },
  // It checks for new notices before it completes, so a start while it runs is not lost.
  [notifyContact.workflowType]: { signalWithStart: true },
};

const describeRetry = (retry: retryDelivery.RetryDeliveryInput) => ({
  staticSummary: `${retry.eventType} to subscription ${retry.subscriptionId}`,
  typedSearchAttributes: searchAttributesOf({
    environment: retry.environment,
    eventType: retry.eventType,
    merchantIds: [retry.merchantId],
    subscriptionIds: [retry.subscriptionId],
    requestIds: [retry.requestId],
  }),
});

/** The workflow adds its deliveries once it runs. */
const describeRecords = ({ environment }: recordDeliveries.RecordDeliveriesInput) => ({
  staticSummary: 'deliveries that succeeded',
  typedSearchAttributes: searchAttributesOf({ environment }),
});
