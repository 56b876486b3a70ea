import type { Listener } from './listener.ts';
import type { JsonObject } from './named-schemas.ts';

/** The request id of all examples. */
export const EXAMPLE_REQUEST_ID = '0f8c2b1e-5d34-4a7b-9c61-2e7d90ab43f5';

/** The response headers that the document describes, by name. */
const HEADERS = {
  'Request-Id': {
    description: 'Identifies the request; quote it to support. Equals `requestId` of an error.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_REQUEST_ID,
  },
  'RateLimit-Policy': {
    description: 'The limit that was applied: its name, requests (`q`) and seconds (`w`).',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'What is left of the limit: requests (`r`) and seconds until it is whole again (`t`).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer', minimum: 1, format: 'int64' },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'The scheme to authenticate with.',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer',
  },
  Location: {
    description: 'Path of the new resource.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: '/v1/webhook-subscriptions/01a1fda3-4967-7115-8904-c76380c6a16e',
  },
  'Idempotency-Replayed': {
    description: 'Present when the answer is that of an earlier request with this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
} as const satisfies Readonly<Record<string, JsonObject>>;

/** The same with examples as the listener answers them. */
export function headersOn({ keyLimit }: Listener): JsonObject {
  return {
    ...HEADERS,
    'RateLimit-Policy': { ...HEADERS['RateLimit-Policy'], example: `"key";q=${keyLimit};w=1` },
    RateLimit: { ...HEADERS.RateLimit, example: `"key";r=${keyLimit - 1};t=1` },
  };
}

/** A response header that the document describes. */
export type HeaderName = keyof typeof HEADERS;

/** References to headers, for a response that carries them. */
export function headerReferences(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
