import type { ServiceImpl } from '@connectrpc/connect';
import {
  type ListServiceTokensRequest,
  type ListServiceTokensResponse,
  type ServiceTokenService,
  ServiceTokenState,
} from '../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { CrossTenantDatabase } from '../database/cross-tenant-database.ts';
import type { Database } from '../database/database.ts';
import { enumName } from '../enum-name.ts';
import type { Pagination } from '../reads/pagination.ts';
import { issueServiceToken } from './issue-service-token.ts';
import { revokeServiceToken } from './revoke-service-token.ts';
import { rotateServiceToken } from './rotate-service-token.ts';
import {
  readServiceToken,
  selectServiceTokens,
  serviceTokenMessage,
  serviceTokenOrder,
} from './service-token.queries.ts';

/** The RPCs of ServiceTokenService, which every services process serves. */
export function serviceTokenService(
  database: Database,
  pagination: Pagination,
): ServiceImpl<typeof ServiceTokenService> {
  const db = new CrossTenantDatabase(database);
  const read = (id: string) => readServiceToken(database, id);
  return {
    issueServiceToken: async (request, context) => {
      const id = await issueServiceToken(db, request, context);
      return { serviceToken: await read(id) };
    },
    rotateServiceToken: async (request, context) => {
      const id = await rotateServiceToken(db, request, context);
      return { serviceToken: await read(id), rotated: await read(request.serviceTokenId) };
    },
    revokeServiceToken: async (request, context) => {
      await revokeServiceToken(db, request, context);
      return { serviceToken: await read(request.serviceTokenId) };
    },
    listServiceTokens: (request) => listServiceTokens(pagination, request),
  };
}

/** Lists service tokens, of one caller and in one state if they are given, newest first by (created_at, id). */
async function listServiceTokens(
  pagination: Pagination,
  request: ListServiceTokensRequest,
): Promise<ListServiceTokensResponse> {
  const filters = { name: request.name, state: enumName(ServiceTokenState, request.state) };
  const scope = { list: 'service-tokens', filters, order: serviceTokenOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectServiceTokens({ ...filters, ...range }),
  );
  return {
    $typeName: 'payments.servicetokens.v1.ListServiceTokensResponse',
    serviceTokens: page.rows.map(serviceTokenMessage),
    nextPageToken: page.nextPageToken,
  };
}
