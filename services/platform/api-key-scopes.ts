import { ApiKeyScope } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';

export const API_KEY_SCOPES = {
  'refunds:read': ApiKeyScope.REFUNDS_READ,
  'catalog:read': ApiKeyScope.CATALOG_READ,
  'funds:read': ApiKeyScope.FUNDS_READ,
  'advances:read': ApiKeyScope.ADVANCES_READ,
  'webhooks:manage': ApiKeyScope.WEBHOOKS_MANAGE,
} as const;

export type ApiKeyScopeName = keyof typeof API_KEY_SCOPES;

export function apiKeyScopeName(scope: ApiKeyScope): ApiKeyScopeName {
  const entry = Object.entries(API_KEY_SCOPES).find(([, value]) => value === scope);
  if (!entry) throw new TypeError(`${scope} is not a scope`);
  return entry[0] as ApiKeyScopeName;
}
