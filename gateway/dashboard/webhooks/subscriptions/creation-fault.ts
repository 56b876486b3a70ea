import { ConnectError } from '@connectrpc/connect';
import { checkWebhookUrl, type WebhookUrlRules } from '../../../../services/platform/egress/webhook-url.ts';
import { errorInfoOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { type Html, html } from '../../shell/html.ts';
import { pathTo, textsFor, type View } from '../../shell/view.ts';
import { newSubscriptionTexts } from './new-subscription.texts.ts';

/** Why a subscription was not created or changed: the message by place on the form, and the HTTP status. */
export interface CreationFault {
  readonly status: number;
  readonly url?: string;
  readonly description?: string;
  readonly eventTypes?: string;
  readonly general?: Html | string;
}

/** The API's limit. */
const MAX_URL_LENGTH = 2048;

const INVALID = 422;
const REFUSED = 409;
const BUSY = 503;

/** The services decide which ports and hosts are allowed. */
const ANY_HOST: WebhookUrlRules = {
  addresses: { classify: () => 'PUBLIC', hasExemptions: true },
  allowedPorts: [{ from: 0, to: 65_535 }],
};

/**
 * The missing fields of a form and the faults in its URL's syntax, so that the person corrects all of them at once;
 * undefined for a complete form.
 */
export function incompleteFault(
  view: View,
  typed: string,
  eventTypes: readonly string[],
): CreationFault | undefined {
  const t = textsFor(view, newSubscriptionTexts);
  if (typed !== '' && eventTypes.length > 0) return undefined;
  const url = typed === '' ? t.urlMissing : writtenUrlFault(view, typed);
  const types = eventTypes.length === 0 && { eventTypes: t.eventTypesMissing };
  return { status: INVALID, ...(url && { url }), ...types };
}

function writtenUrlFault(view: View, typed: string): string | undefined {
  const check = checkWebhookUrl(typed, ANY_HOST);
  if (check.ok) return undefined;
  const reason = check.reason === 'TOO_LONG' ? 'INVALID_REQUEST' : 'INVALID_WEBHOOK_URL';
  return `${textsFor(view, newSubscriptionTexts).urlFaults[check.reason]} (${reason})`;
}

/** The faults of a refused creation or change that the person can correct; undefined for other errors. */
export function creationFault(view: View, error: unknown, typed: string): CreationFault | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const t = textsFor(view, newSubscriptionTexts);
  const { reason, metadata = {} } = errorInfoOf(error) ?? {};
  switch (reason) {
    case 'INVALID_WEBHOOK_URL':
      return { status: INVALID, url: urlFault(view, error, reason, typed) };
    case 'INVALID_EVENT_TYPE':
      return { status: INVALID, eventTypes: t.eventTypesRefused };
    case 'INVALID_ARGUMENT':
      return invalidField(view, error, metadata.field ?? '', typed);
    case 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS': {
      const href = pathTo(view, `/webhooks/${metadata.subscription_id ?? ''}`);
      return {
        status: REFUSED,
        url: t.exists,
        general: html`${t.exists} <a href="${href}">${t.existing}</a>`,
      };
    }
    case 'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED':
      return { status: REFUSED, general: t.limit(metadata.limit ?? '') };
    case 'WEBHOOK_SUBSCRIPTIONS_BUSY':
      return { status: BUSY, general: t.busy };
    case 'IDEMPOTENCY_KEY_REUSED':
      return { status: REFUSED, general: t.reused };
    default:
      return undefined;
  }
}

function invalidField(
  view: View,
  error: ConnectError,
  field: string,
  typed: string,
): CreationFault | undefined {
  const t = textsFor(view, newSubscriptionTexts);
  if (field === 'url') return { status: INVALID, url: urlFault(view, error, 'INVALID_REQUEST', typed) };
  if (field === 'description') return { status: INVALID, description: t.descriptionTooLong };
  if (field.startsWith('event_types')) return { status: INVALID, eventTypes: t.eventTypesMissing };
  return undefined;
}

/** Explains what is wrong with a URL, followed by the API's code; by its message too where there is no explanation. */
function urlFault(view: View, error: ConnectError, reason: string, typed: string): string {
  const t = textsFor(view, newSubscriptionTexts);
  // A value that is too long is rejected before it is parsed as a URL.
  const tooLong = [...typed].length > MAX_URL_LENGTH ? 'TOO_LONG' : '';
  const message = t.urlFaults[errorInfoOf(error)?.metadata.cause ?? tooLong];
  if (message !== undefined) return `${message} (${reason})`;
  return `${t.urlRefused} (${reason}: ${error.rawMessage.replace(/^url: /, '')})`;
}
