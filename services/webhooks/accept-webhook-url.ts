import type { EgressGuard } from '../platform/egress/egress-guard.ts';
import {
  HOST_NOT_PUBLIC_DETAIL,
  type WebhookUrl,
  type WebhookUrlRefusal,
} from '../platform/egress/webhook-url.ts';
import { type DomainError, invalidArgument } from '../platform/errors.ts';

/** A URL that is written as it must be; whether its host is public is another question. */
export type WrittenUrl = { readonly url: WebhookUrl | undefined };

/** All about how a URL is written. INVALID_WEBHOOK_URL; INVALID_ARGUMENT for one that is too long. */
export function requireWrittenUrl(guard: EgressGuard, text: string): WrittenUrl {
  const verdict = guard.judgeUrl(text);
  if (verdict.ok) return { url: verdict.url };
  // Judged with the addresses that the host resolves to, after the idempotency key.
  if (verdict.reason === 'HOST_NOT_PUBLIC') return { url: undefined };
  throw refused(verdict.reason, verdict.detail);
}

/** Whether a URL's host is public, by its spelling and, within a second, by DNS. INVALID_WEBHOOK_URL. */
export async function requirePublicHost(guard: EgressGuard, { url }: WrittenUrl): Promise<WebhookUrl> {
  if (url && (await guard.checkHost(url)).ok) return url;
  throw refused('HOST_NOT_PUBLIC', HOST_NOT_PUBLIC_DETAIL);
}

function refused(cause: WebhookUrlRefusal, detail: string): DomainError {
  const reason = cause === 'TOO_LONG' ? 'INVALID_ARGUMENT' : 'INVALID_WEBHOOK_URL';
  return invalidArgument(reason, `url: ${detail}`, { field: 'url', cause });
}
