import type { ApiHost } from './api-host.ts';
import type { JsonObject } from './named-schemas.ts';

/** The request id in all examples. */
export const EXAMPLE_REQUEST_ID = '0f8c2b1e-5d34-4a7b-9c61-2e7d90ab43f5';

/** The documented response headers, by name. */
const HEADERS = {
  'Request-Id': {
    description: 'Identifies the request; quote it to support. Equals the `requestId` of an error.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_REQUEST_ID,
  },
  'RateLimit-Policy': {
    description:
      'The rate limit that applies: its name, the number of requests (`q`) and the window in seconds (`w`).',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'The remaining quota: requests (`r`) and seconds until it resets (`t`).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying.',
    required: true,
    schema: { type: 'integer', minimum: 1, format: 'int64' },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme.',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer',
  },
  Location: {
    description:
      'Path of the new subscription. Append `/disable` to disable it; the path itself has no operation.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: '/v1/webhook-subscriptions/01a1fda3-4967-7115-8904-c76380c6a16e',
  },
  'Idempotency-Replayed': {
    description: 'Present if this is the response of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
} as const satisfies Readonly<Record<string, JsonObject>>;

/** The documented headers with examples for one host. */
export function headersOn({ keyLimit }: ApiHost): JsonObject {
  return {
    ...HEADERS,
    'RateLimit-Policy': { ...HEADERS['RateLimit-Policy'], example: `"key";q=${keyLimit};w=1` },
    RateLimit: { ...HEADERS.RateLimit, example: `"key";r=${keyLimit - 1};t=1` },
  };
}

export type HeaderName = keyof typeof HEADERS;

/** References to documented headers, for a response object. */
export function headerReferences(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
