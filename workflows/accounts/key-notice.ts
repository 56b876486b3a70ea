import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type ApiKey,
  type ApiKeyService,
  ApiKeyState,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import {
  EXPIRY_NOTICE_DAYS,
  expiresSoon,
  expiryNoticeAt,
  isStillUsed,
  replacedKeyOf,
  replacedNoticeAt,
} from '../../services/platform/api-key-expiry.ts';
import { pagesOf } from '../../services/platform/rpc/pages-of.ts';
import type { TenantFields } from '../../services/platform/tenant.ts';

/** An API key that expires soon; if it was replaced (`rotatedAt`), one that is still used. */
export interface ExpiringKeySubject {
  readonly kind: 'API_KEY_EXPIRING';
  readonly apiKey: ApiKey;
  readonly expiresAt: Date;
  /** When the notice became due; identifies the occasion. */
  readonly happenedAt: Date;
}

/** How far the clock of this process may be from that of the database, by which notices become due. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;
const { early, last } = EXPIRY_NOTICE_DAYS;

/** A key that is active and expires soon, and is still used if it was replaced; undefined otherwise. */
export async function findExpiringKey(
  apiKeys: Client<typeof ApiKeyService>,
  tenant: TenantFields,
  apiKeyId: string,
): Promise<ExpiringKeySubject | undefined> {
  const apiKey = await findActiveKey(apiKeys, tenant, apiKeyId);
  if (!apiKey?.expiresAt) return undefined;
  const expiresAt = timestampDate(apiKey.expiresAt);
  const nowMs = Date.now();
  const [earliestNow, latestNow] = [
    new Date(nowMs - CLOCK_TOLERANCE_MS),
    new Date(nowMs + CLOCK_TOLERANCE_MS),
  ];
  const replaced = replacedKeyOf(apiKey);
  if (replaced) {
    const happenedAt = replacedNoticeAt(replaced);
    if (happenedAt > latestNow || !isStillUsed(replaced, earliestNow)) return undefined;
    return { kind: 'API_KEY_EXPIRING', apiKey, expiresAt, happenedAt };
  }
  if (!expiresSoon(expiresAt, latestNow)) return undefined;
  const lastAt = expiryNoticeAt(expiresAt, last);
  const happenedAt = lastAt <= latestNow ? lastAt : expiryNoticeAt(expiresAt, early);
  return { kind: 'API_KEY_EXPIRING', apiKey, expiresAt, happenedAt };
}

async function findActiveKey(
  apiKeys: Client<typeof ApiKeyService>,
  tenant: TenantFields,
  id: string,
): Promise<ApiKey | undefined> {
  const active = { ...tenant, state: ApiKeyState.ACTIVE };
  for await (const page of pagesOf((range) => apiKeys.listApiKeys({ ...active, ...range }))) {
    const found = page.apiKeys.find((apiKey) => apiKey.id === id);
    if (found) return found;
  }
  return undefined;
}
