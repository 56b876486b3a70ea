import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  ListApiKeysRequest,
  ListApiKeysResponse,
} from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { Database } from '../platform/database.ts';
import type { Pagination } from '../platform/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { apiKeyMessage } from './api-key.message.ts';
import { selectApiKeys } from './api-key.queries.ts';

/** A page of keys, newest first by (created_at, id). */
export async function listApiKeys(
  database: Database,
  pagination: Pagination,
  request: ListApiKeysRequest,
): Promise<ListApiKeysResponse> {
  const tenant = tenantOf(request);
  const scope = { tenant, list: 'api-keys', filters: {} };
  const position = pagination.position(scope, request.pageToken, 2);
  const after = position && { createdAt: new Date(Number(position[0])), id: position[1]! };
  const fetched = await database.read(selectApiKeys(tenant, after, pagination.fetchSize(request.pageSize)));
  const page = pagination.cut(scope, request.pageSize, fetched, (row) => [
    String(timestampMs(row.created_at)),
    row.id,
  ]);
  return {
    $typeName: 'payments.apikeys.v1.ListApiKeysResponse',
    apiKeys: page.rows.map(apiKeyMessage),
    nextPageToken: page.nextPageToken,
  };
}
