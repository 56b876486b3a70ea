import { signWebhook } from './sign.ts';

/** What the signature of a webhook depends on. */
interface UnsignedRequest {
  readonly eventId: string;
  /** The exact bytes to send. */
  readonly body: Uint8Array;
  /** `whsec_…`, at least one. */
  readonly secrets: readonly string[];
  readonly startedAt: Date;
}

/** What the headers of a webhook depend on. */
interface SignedRequest extends Pick<UnsignedRequest, 'eventId' | 'startedAt'> {
  readonly signature: string;
}

const USER_AGENT = 'Merchant-Payments-Webhooks/1.0';

/** The `webhook-timestamp` of an attempt: Unix time in seconds. */
const timestampOf = (startedAt: Date) => Math.floor(startedAt.getTime() / 1000);

/** The `webhook-signature` of an attempt. @throws TypeError for a malformed secret. */
export const signatureOf = ({ eventId: id, body, secrets, startedAt }: UnsignedRequest) =>
  signWebhook({ id, timestamp: timestampOf(startedAt), body }, secrets);

/** The headers of a webhook, without those of the connection, in the order in which they are sent. */
export const webhookHeaders = ({ eventId, startedAt, signature }: SignedRequest) => ({
  'content-type': 'application/json',
  'user-agent': USER_AGENT,
  'webhook-id': eventId,
  'webhook-timestamp': `${timestampOf(startedAt)}`,
  'webhook-signature': signature,
});

/** The headers of a webhook that is signed now. @throws TypeError for a malformed secret. */
export const signedHeaders = (request: UnsignedRequest) =>
  webhookHeaders({ ...request, signature: signatureOf(request) });
