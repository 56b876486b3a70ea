import type { ChannelSettings } from './channel.ts';
import { CommandFailure } from './command-failure.ts';

/** The sandbox of `npm start`. */
const DEFAULT_BASE_URL = 'http://127.0.0.1:8081';
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

interface Given {
  readonly 'api-key'?: string | undefined;
  readonly 'base-url'?: string | undefined;
}

/** The settings of a command: its options, else environment variables. Errors say what to change. */
export function readSettings(given: Given, environment: NodeJS.ProcessEnv): ChannelSettings {
  const apiKey = given['api-key'] ?? environment.MERCHANT_PAYMENTS_API_KEY ?? '';
  if (apiKey === '') {
    throw new CommandFailure(
      'Set MERCHANT_PAYMENTS_API_KEY, or --api-key, to a sandbox key with the scope webhooks:manage. The dashboard issues them under API keys.',
    );
  }
  if (apiKey.startsWith('mpk_live_')) {
    throw new CommandFailure(
      'This is a live key. The command works only with the sandbox: use a key that starts with mpk_test_.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new CommandFailure('The API key contains characters that are not valid in a key.');
  const text = given['base-url'] ?? environment.MERCHANT_PAYMENTS_BASE_URL ?? DEFAULT_BASE_URL;
  return { apiKey, baseUrl: baseUrlOf(text) };
}

/** The key must not cross a network in the clear. */
function baseUrlOf(text: string): URL {
  const url = parseUrl(text);
  // The text itself is not in the message: it may contain a password.
  if (!url || url.username || url.password || url.search || url.hash) {
    throw new CommandFailure(
      "The base URL must be the sandbox's http or https address, such as https://sandbox.payments.example.",
    );
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw new CommandFailure(`The base URL must use https, except on this machine: ${url.origin}`);
  }
  return url;
}

/** The event types of --events, each once; none for all. */
export function eventTypesOf(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const types = text.split(',').map((type) => type.trim());
  const named = new Set(types.filter((type) => type !== ''));
  if (named.size === 0)
    throw new CommandFailure(
      'Set --events to event types, such as --events refund.requested.v1,payment.failed.v1.',
    );
  return [...named];
}

/** Where deliveries are forwarded to. */
export function forwardUrlOf(text: string | undefined): URL {
  const url = parseUrl(text ?? '');
  const hasMore = url && (url.username !== '' || url.password !== '' || url.hash !== '');
  if (!url || hasMore) {
    throw new CommandFailure(
      'Set --forward-to to the http or https URL of your local server, such as http://localhost:3000/hooks.',
    );
  }
  return url;
}

function parseUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}
