/** The fixed part of one kind of error. */
export interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** The detail, if it is always the same. */
  readonly detail?: string;
  /** For the documentation: what the error means and what the caller can do. */
  readonly meaning: string;
}

/** Every error of the public API. The documentation and the OpenAPI document are generated from this table. */
export const PROBLEM_TYPES = {
  INVALID_REQUEST: {
    status: 400,
    title: 'Invalid request',
    meaning: 'A parameter, a header or the body is invalid. The detail names it and says what is allowed.',
  },
  INVALID_CURSOR: {
    status: 400,
    title: 'Invalid cursor',
    detail: "Query parameter 'after' must be a nextCursor of this list with the same filters.",
    meaning:
      'The cursor was not issued for this list with these filters. Send nextCursor exactly as you received it, with the same filters, or start over without a cursor.',
  },
  INVALID_WEBHOOK_URL: {
    status: 400,
    title: 'Invalid webhook URL',
    meaning:
      'The URL is not public HTTPS: private addresses, credentials, fragments and other schemes are rejected.',
  },
  INVALID_EVENT_TYPE: {
    status: 400,
    title: 'Invalid event type',
    meaning: 'An entry of eventTypes is not an event type that you can subscribe to.',
  },
  IDEMPOTENCY_KEY_MISSING: {
    status: 400,
    title: 'Idempotency key missing',
    detail: 'Send an Idempotency-Key header: 1 to 255 printable ASCII characters.',
    meaning:
      'This operation requires an Idempotency-Key header. Use a new value for each thing you want to create, and the same value when you retry.',
  },
  API_KEY_MISSING: {
    status: 401,
    title: 'API key missing',
    detail: 'Send the API key as Authorization: Bearer <API key>.',
    meaning: 'The request has no API key. Send it in the Authorization header, after Bearer and a space.',
  },
  API_KEY_INVALID: {
    status: 401,
    title: 'API key invalid',
    detail: 'The API key is not valid.',
    meaning: 'The API key is mistyped, unknown or revoked.',
  },
  API_KEY_EXPIRED: {
    status: 401,
    title: 'API key expired',
    detail: 'The API key has expired.',
    meaning: 'The API key has expired. Use a newer one.',
  },
  API_KEY_ENVIRONMENT_MISMATCH: {
    status: 401,
    title: 'API key of the other environment',
    meaning: 'Live keys (mpk_live_) work on the live host, test keys (mpk_test_) on the sandbox host.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    title: 'Insufficient scope',
    meaning: 'The API key is valid but lacks the scope that the detail names.',
  },
  PRODUCT_NOT_FOUND: {
    status: 404,
    title: 'Product not found',
    detail: 'There is no product with this id.',
    meaning: 'No product of this merchant and environment has this id.',
  },
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: {
    status: 404,
    title: 'Webhook subscription not found',
    detail: 'There is no webhook subscription with this id.',
    meaning: 'No webhook subscription of this merchant and environment has this id.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    title: 'Route not found',
    detail: 'There is no operation at this path.',
    meaning: 'There is no operation at this path. Paths have no trailing slash.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'Method not allowed',
    meaning:
      'The path exists, but does not support this method. The Allow header lists the supported methods.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request timeout',
    meaning: 'The request did not arrive completely in time.',
  },
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: {
    status: 409,
    title: 'Webhook subscription already exists',
    detail: 'A webhook subscription for this /url already exists.',
    meaning:
      'There is already a subscription for this URL. If it is disabled, you can reactivate it in the dashboard.',
  },
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: {
    status: 409,
    title: 'Webhook subscription limit reached',
    meaning: 'The merchant has reached the maximum number of subscriptions. Disable one first.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'Idempotency key in use',
    detail: 'A request with this Idempotency-Key is still running.',
    meaning: 'A request with this idempotency key is still running. Try again in a moment.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'Payload too large',
    meaning: 'The body is larger than 64 KiB.',
  },
  URI_TOO_LONG: {
    status: 414,
    title: 'URI too long',
    detail: 'The request target must be at most 8000 characters.',
    meaning: 'The request target is longer than 8000 characters.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body has to be application/json in UTF-8, without content encoding.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key was used with a different body.',
    meaning: 'This idempotency key was used with a different body within the last 24 hours. Use a new one.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Rate limited',
    meaning: 'Too many requests. Wait for the number of seconds in Retry-After.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'Headers too large',
    detail: 'Request line and headers together must be at most 16 KiB.',
    meaning: 'The request line and the headers together are larger than 16 KiB.',
  },
  INTERNAL_ERROR: {
    status: 500,
    title: 'Internal error',
    detail: 'Something failed on our side; quote the requestId to support.',
    meaning: 'Something failed on our side. It has been logged under the requestId.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    title: 'Service unavailable',
    detail: 'The service is temporarily unavailable; try again.',
    meaning: 'Part of the service is unavailable. Retry; to create something, use the same idempotency key.',
  },
  DEADLINE_EXCEEDED: {
    status: 504,
    title: 'Deadline exceeded',
    detail: 'The request took too long; try again.',
    meaning: 'The response took too long. Retry; to create something, use the same idempotency key.',
  },
} as const satisfies Record<string, ProblemType>;

/** The machine-readable name of an error. */
export type ProblemCode = keyof typeof PROBLEM_TYPES;

/** The code of an error whose detail is always the same. */
export type StaticProblemCode = {
  [Code in ProblemCode]: (typeof PROBLEM_TYPES)[Code] extends { readonly detail: string } ? Code : never;
}[ProblemCode];

/** Every code, in the order of the table. */
export const PROBLEM_CODES = Object.keys(PROBLEM_TYPES) as ProblemCode[];
