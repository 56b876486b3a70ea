import { counterBy } from '../../services/platform/process/telemetry.ts';

/**
 * - sent: the mail server has accepted it.
 * - rejected: the mail server will never accept it for this address.
 * - failed: it is sent again later.
 */
const RESULTS = ['sent', 'rejected', 'failed'] as const;

const mails = counterBy('result', RESULTS, {
  name: 'payments_mails_total',
  help: 'Attempts to send a mail to a person by result: sent, rejected permanently, or failed, which is retried.',
});

/** Counts one attempt to send a mail. */
export function countMail(result: (typeof RESULTS)[number]): void {
  mails.inc({ result });
}
