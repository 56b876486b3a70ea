import type { ProblemCode } from '../problems/problem-types.ts';

/** Whether the same request can succeed when it is sent again. */
type Retry = 'NO' | 'SOON' | 'AFTER_RETRY_AFTER' | 'BACKING_OFF' | 'A_FEW_TIMES';

interface ErrorAdvice {
  readonly action: string;
  readonly retry: Retry;
}

/** Whether to try again, in words. */
export const RETRY_TEXTS: Readonly<Record<Retry, string>> = {
  NO: 'No. The same request would be refused again.',
  SOON: 'Yes, in a moment, with the same idempotency key.',
  AFTER_RETRY_AFTER: 'Yes, after as many seconds as the header Retry-After says.',
  BACKING_OFF:
    'Yes: after a second, then after twice as long each time, with some randomness; when creating, with the same idempotency key.',
  A_FEW_TIMES:
    'A few times, with growing waits, and when creating with the same idempotency key. Tell support if it stays.',
};

/** What a merchant's developer does about each error. */
export const ERROR_ADVICE: Readonly<Record<ProblemCode, ErrorAdvice>> = {
  INVALID_REQUEST: { action: 'Correct what the detail names.', retry: 'NO' },
  INVALID_CURSOR: {
    action: 'Send nextCursor as it was answered, with the same filters, or start again without after.',
    retry: 'NO',
  },
  INVALID_WEBHOOK_URL: {
    action: 'Subscribe an https URL that the internet can reach, without credentials and fragment.',
    retry: 'NO',
  },
  INVALID_EVENT_TYPE: {
    action: 'Take names from the event types in the reference. A ping cannot be subscribed to.',
    retry: 'NO',
  },
  IDEMPOTENCY_KEY_MISSING: {
    action: 'Send an Idempotency-Key header with a new value for each thing that you mean to create.',
    retry: 'NO',
  },
  API_KEY_MISSING: {
    action: 'Send the header Authorization with the scheme Bearer, a space and the API key.',
    retry: 'NO',
  },
  API_KEY_INVALID: {
    action: 'Look whether the whole key was copied. If it was revoked, ask for a new one.',
    retry: 'NO',
  },
  API_KEY_EXPIRED: {
    action: 'Use the key that replaced it, or ask for a new one.',
    retry: 'NO',
  },
  API_KEY_ENVIRONMENT_MISMATCH: {
    action: 'Send the key to the host of its environment, or take a key of this one.',
    retry: 'NO',
  },
  INSUFFICIENT_SCOPE: {
    action: 'Use a key that has the scope, or ask for one.',
    retry: 'NO',
  },
  PRODUCT_NOT_FOUND: {
    action: 'Check the id, and that it is of the environment of this host.',
    retry: 'NO',
  },
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: {
    action: 'Take the id from the list of subscriptions of this environment.',
    retry: 'NO',
  },
  ROUTE_NOT_FOUND: { action: 'Compare the path with the reference, to the last slash.', retry: 'NO' },
  METHOD_NOT_ALLOWED: { action: 'Use a method that the header Allow lists.', retry: 'NO' },
  REQUEST_TIMEOUT: {
    action: 'Send the whole request without pauses. On a slow connection, send less at once.',
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
    action: 'Wait for the first request. Repeating it then gives its answer.',
    retry: 'SOON',
  },
  PAYLOAD_TOO_LARGE: { action: 'Send a smaller body.', retry: 'NO' },
  URI_TOO_LONG: { action: 'Shorten the path and the query.', retry: 'NO' },
  UNSUPPORTED_MEDIA_TYPE: {
    action: 'Send Content-Type: application/json, the body in UTF-8, and no Content-Encoding.',
    retry: 'NO',
  },
  IDEMPOTENCY_KEY_REUSED: {
    action: 'Take a new key for a new request, or send the body that the key was used with.',
    retry: 'NO',
  },
  RATE_LIMITED: {
    action: 'Spread your requests more evenly; the header RateLimit says how many are left.',
    retry: 'AFTER_RETRY_AFTER',
  },
  HEADERS_TOO_LARGE: { action: 'Send fewer or shorter headers.', retry: 'NO' },
  INTERNAL_ERROR: { action: 'Quote the requestId to support.', retry: 'A_FEW_TIMES' },
  SERVICE_UNAVAILABLE: { action: 'Wait; nothing is wrong with the request.', retry: 'BACKING_OFF' },
  DEADLINE_EXCEEDED: {
    action: 'Wait; whether a creation was done is answered by repeating it with the same idempotency key.',
    retry: 'BACKING_OFF',
  },
};
