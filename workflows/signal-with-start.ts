import { workflowType as notifyContact } from '../services/contracts/accounts/notify-contact.contract.ts';

/** Says to a workflow that it was to be started while it ran. */
export const STARTED_AGAIN_SIGNAL = 'startedAgain';

/** Workflow types that look again for what they were started for, so that no start is lost on one about to end. */
export const SIGNAL_WITH_START: ReadonlySet<string> = new Set([notifyContact]);
