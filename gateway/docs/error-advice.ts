import type { ProblemCode } from '../problems/problem-types.ts';

/** Whether the same request can succeed when it is sent again. */
type Retry = 'NO' | 'SOON' | 'AFTER_RETRY_AFTER' | 'BACKING_OFF' | 'A_FEW_TIMES';

interface ErrorAdvice {
  readonly action: string;
  readonly retry: Retry;
}

/** Whether to retry, as text for the documentation. */
export const RETRY_TEXTS: Readonly<Record<Retry, string>> = {
  NO: 'No. The same request would fail again.',
  SOON: 'Yes, in a moment, with the same idempotency key.',
  AFTER_RETRY_AFTER: 'Yes, after the number of seconds in the Retry-After header.',
  BACKING_OFF:
    'Yes: after one second, then doubling the wait each time, with some jitter. To create something, use the same idempotency key.',
  A_FEW_TIMES:
    'A limited number of times, with increasing waits. To create something, use the same idempotency key. Contact support if it persists.',
};

/** What a merchant's developer does about each error. */
export const ERROR_ADVICE: Readonly<Record<ProblemCode, ErrorAdvice>> = {
  INVALID_REQUEST: { action: 'Correct what the detail points out.', retry: 'NO' },
  INVALID_CURSOR: {
    action: 'Send nextCursor exactly as you received it, with the same filters, or start over without after.',
    retry: 'NO',
  },
  INVALID_WEBHOOK_URL: {
    action:
      'Use an https URL that is reachable from the internet, without credentials or fragment. For your own machine, run npx merchant-payments listen.',
    retry: 'NO',
  },
  INVALID_EVENT_TYPE: {
    action: 'Use the event types listed in the reference. You cannot subscribe to webhook.ping.v1.',
    retry: 'NO',
  },
  IDEMPOTENCY_KEY_MISSING: {
    action: 'Send an Idempotency-Key header with a new value for each thing you want to create.',
    retry: 'NO',
  },
  API_KEY_MISSING: {
    action: 'Send an Authorization header with the scheme Bearer, a space and the API key.',
    retry: 'NO',
  },
  API_KEY_INVALID: {
    action: 'Check that you copied the whole key. If it was revoked, issue a new one.',
    retry: 'NO',
  },
  API_KEY_EXPIRED: {
    action: 'Use the key that replaced it, or issue a new one.',
    retry: 'NO',
  },
  API_KEY_ENVIRONMENT_MISMATCH: {
    action: 'Send the key to the host of its environment, or use a key for this one.',
    retry: 'NO',
  },
  INSUFFICIENT_SCOPE: {
    action: 'Use a key that has the scope, or issue one.',
    retry: 'NO',
  },
  PRODUCT_NOT_FOUND: {
    action: 'Check the id, and that it belongs to the environment of this host.',
    retry: 'NO',
  },
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: {
    action: 'Use an id from the list of subscriptions of this environment.',
    retry: 'NO',
  },
  ROUTE_NOT_FOUND: {
    action: 'Compare the path with the reference, including trailing slashes.',
    retry: 'NO',
  },
  METHOD_NOT_ALLOWED: { action: 'Use a method listed in the Allow header.', retry: 'NO' },
  REQUEST_TIMEOUT: {
    action: 'Send the whole request without pauses. On a slow connection, send smaller requests.',
    retry: 'A_FEW_TIMES',
  },
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: {
    action: 'Find it in the list of subscriptions. A disabled one can be reactivated in the dashboard.',
    retry: 'NO',
  },
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: {
    action: 'Disable subscriptions that you no longer need; disabled ones do not count.',
    retry: 'NO',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    action: 'Wait for the first request to finish. If you then repeat it, you get its response.',
    retry: 'SOON',
  },
  PAYLOAD_TOO_LARGE: { action: 'Send a smaller body.', retry: 'NO' },
  URI_TOO_LONG: { action: 'Shorten the path and the query.', retry: 'NO' },
  UNSUPPORTED_MEDIA_TYPE: {
    action: 'Send Content-Type: application/json, the body in UTF-8, and no Content-Encoding.',
    retry: 'NO',
  },
  IDEMPOTENCY_KEY_REUSED: {
    action: 'Use a new key for a new request, or send the same body as before.',
    retry: 'NO',
  },
  RATE_LIMITED: {
    action: 'Spread your requests more evenly. The RateLimit header says how many are left.',
    retry: 'AFTER_RETRY_AFTER',
  },
  HEADERS_TOO_LARGE: { action: 'Send fewer or shorter headers.', retry: 'NO' },
  INTERNAL_ERROR: { action: 'Contact support with the requestId.', retry: 'A_FEW_TIMES' },
  SERVICE_UNAVAILABLE: { action: 'Wait: nothing is wrong with the request.', retry: 'BACKING_OFF' },
  DEADLINE_EXCEEDED: {
    action:
      'Wait. To find out whether something was created, repeat the request with the same idempotency key.',
    retry: 'BACKING_OFF',
  },
};
