import type { ServiceImpl } from '@connectrpc/connect';
import type { ApiKeyService } from '../../proto/gen/payments/apikeys/v1/apikeys_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { authenticateApiKey } from './authenticate-api-key.ts';
import { issueApiKey } from './issue-api-key.ts';
import { LastUse } from './last-use.ts';
import { listApiKeys } from './list-api-keys.ts';
import { revokeApiKey } from './revoke-api-key.ts';
import { rotateApiKey } from './rotate-api-key.ts';

export function apiKeyService({
  config,
  database,
  logger,
  pagination,
  writes,
}: AreaDependencies): ServiceImpl<typeof ApiKeyService> {
  const peppers = config.API_KEY_PEPPERS;
  const lastUse = new LastUse(database, logger);
  return {
    issueApiKey: (request, context) => issueApiKey(writes, peppers, request, context),
    rotateApiKey: (request, context) => rotateApiKey(writes, peppers, request, context),
    revokeApiKey: (request, context) => revokeApiKey(writes, request, context),
    listApiKeys: (request) => listApiKeys(pagination, request),
    authenticateApiKey: (request) => authenticateApiKey(database, peppers, lastUse, request),
  };
}
