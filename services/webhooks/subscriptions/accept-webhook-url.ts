import type { EgressGuard } from '../../platform/egress/egress-guard.ts';
import {
  HOST_NOT_PUBLIC_DETAIL,
  type WebhookUrl,
  type WebhookUrlRefusal,
} from '../../platform/egress/webhook-url.ts';
import { type DomainError, invalidArgument } from '../../platform/errors.ts';

/**
 * Parses a webhook URL. Checks its syntax and that its host is public: by name and, waiting at most a second, by DNS.
 * INVALID_WEBHOOK_URL; INVALID_ARGUMENT if it is too long.
 */
export async function acceptWebhookUrl(guard: EgressGuard, text: string): Promise<WebhookUrl> {
  const written = guard.checkUrl(text);
  if (!written.ok) throw refused(written.reason, written.detail);
  const host = await guard.checkHost(written.url);
  if (host === 'FORBIDDEN') throw refused('HOST_NOT_PUBLIC', HOST_NOT_PUBLIC_DETAIL);
  return written.url;
}

function refused(cause: WebhookUrlRefusal, detail: string): DomainError {
  const reason = cause === 'TOO_LONG' ? 'INVALID_ARGUMENT' : 'INVALID_WEBHOOK_URL';
  return invalidArgument(reason, `url: ${detail}`, { field: 'url', cause });
}
