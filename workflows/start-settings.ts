import * as notifyContact from '../services/contracts/accounts/notify-contact.contract.ts';
import * as retryDelivery from '../services/contracts/webhooks/retry-delivery.contract.ts';
import type { StartSettingsByType } from './relay/execute-command.ts';
import { describeRetry } from './webhooks/start-deliveries.ts';

/** The workflow types that a command of the outbox starts in another way than by the defaults. */
export const START_SETTINGS: StartSettingsByType = {
  [retryDelivery.workflowType]: {
    describe: ([retry]) => describeRetry(retry as retryDelivery.RetryDeliveryInput),
  },
  // It checks for new notices before it completes: a start while it runs is not lost.
  [notifyContact.workflowType]: { signalWithStart: true },
};
