import {
  ApiKeyState,
  type ListApiKeysRequest,
  type ListApiKeysResponse,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import { enumName } from '../platform/enum-name.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { apiKeyMessage } from './api-key.message.ts';
import { apiKeyOrder, apiKeySearch, selectApiKeys } from './api-key.queries.ts';

/** Lists API keys, newest first by (created_at, id). */
export async function listApiKeys(
  pagination: Pagination,
  request: ListApiKeysRequest,
): Promise<ListApiKeysResponse> {
  const tenant = tenantOf(request);
  const state = enumName(ApiKeyState, request.state);
  const scope = { tenant, list: 'api-keys', filters: { state }, order: apiKeyOrder };
  const page = state
    ? await pagination.search(scope, request, apiKeySearch(tenant, state))
    : await pagination.list(scope, request, (range) => selectApiKeys({ ...tenant, ...range }));
  return {
    $typeName: 'payments.apikeys.v1.ListApiKeysResponse',
    apiKeys: page.rows.map(apiKeyMessage),
    nextPageToken: page.nextPageToken,
  };
}
