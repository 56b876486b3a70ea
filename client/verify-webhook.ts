import { WebhookVerificationError } from './errors.ts';
import type { components, webhooks } from './payments-api.ts';

/** An event as a webhook delivers it; `type` narrows `data`. Ignore types that you do not know. */
export type WebhookEvent = {
  [Type in keyof webhooks]: webhooks[Type]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/** The types of events that a subscription may name. */
export type EventType = components['schemas']['EventType'];

/** The headers of a request: of the Fetch API, or an object as in Node.js and its frameworks. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the time of the attempt may be from this machine's clock; 300 seconds by default. */
  readonly toleranceSeconds?: number;
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;
const PREFIX = 'whsec_';

/**
 * Returns the event of a delivery. Rejects with a {@link WebhookVerificationError} if it was not signed with one of the
 * secrets within the tolerance. Runs wherever Web Crypto does, which compares in constant time.
 * @param body the request body exactly as it came, before anything parses it.
 * @param headers the headers of the request.
 * @param secrets the signing secret of the subscription, or several during a rotation; each starts with whsec_.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = keysOf(secrets);
  const bytes = bytesOf(body);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = signaturesIn(headerOf(headers, 'webhook-signature'));
  const ageSeconds = Date.now() / 1_000 - Number(timestamp);
  if (!/^[0-9]+$/.test(timestamp) || !(Math.abs(ageSeconds) <= toleranceSeconds)) {
    throw new WebhookVerificationError(
      `the timestamp is not within ${toleranceSeconds} seconds of the current time`,
    );
  }
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const key of await Promise.all(keys.map(importKey))) {
    for (const signature of signatures) {
      if (await crypto.subtle.verify(HMAC.name, key, signature, signed)) return eventIn(bytes);
    }
  }
  throw new WebhookVerificationError('no signature matches');
}

const importKey = (key: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', key, HMAC, false, ['verify']);

/** The keys of the secrets. An empty key is refused: anybody could sign with it. */
function keysOf(secrets: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const keys = [secrets].flat().map((secret) => {
    if (typeof secret !== 'string' || !secret.startsWith(PREFIX))
      throw new TypeError(`a signing secret must start with ${PREFIX}`);
    const key = decoded(secret.slice(PREFIX.length));
    if (!key || key.length === 0) throw new TypeError(`a signing secret must have base64 after ${PREFIX}`);
    return key;
  });
  if (keys.length === 0) throw new TypeError('no signing secret was given');
  return keys;
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  // Without instanceof, which fails for objects of another realm, as test runners have.
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
  }
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]')
    return new Uint8Array(body as ArrayBuffer);
  throw new TypeError('the body must be the raw text or bytes of the request, not what was parsed from it');
}

/** The signatures of version v1. During a rotation there are several. */
function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(' ').flatMap((signature) => {
    const [version, encoded = ''] = signature.split(',');
    return (version === 'v1' && decoded(encoded)) || [];
  });
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof text !== 'string' || text === '')
    throw new WebhookVerificationError(`the header ${name} is missing`);
  return text;
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(head.length + tail.length);
  both.set(head);
  both.set(tail, head.length);
  return both;
}

/** A signed body is an event of the service. */
const eventIn = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
