import type { HandlerContext } from '@connectrpc/connect';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Environment, RecordPosition } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { invalidArgument } from '../errors.ts';
import { optionalTenant } from '../rpc/optional-tenant.ts';
import { type EnvironmentName, environmentEnum, tenantOf } from '../tenant.ts';
import { type MerchantFilter, matchingMerchant } from './merchant-filter.ts';
import type { ReadParameters } from './prepared-read.ts';

/** The positions of a page; a page has more records when several share the last position. */
const PAGE_SIZE = 500;

/** The records of one tenant, or of all, after a position; or those of one id. */
export interface RecordScan extends MerchantFilter {
  readonly afterMerchantId: string | undefined;
  readonly afterEnvironment: EnvironmentName | undefined;
  readonly afterId: string | undefined;
  readonly id: string | undefined;
}

interface ScanRequest {
  merchantId?: string;
  environment: Environment;
  after?: RecordPosition;
  id?: string;
}

/**
 * The range of a validated request. PERMISSION_DENIED (GRANT_MISSING) for all merchants without the grant operations;
 * INVALID_ARGUMENT for an id without its merchant.
 */
export function recordScanOf(request: ScanRequest, context: HandlerContext): RecordScan {
  const tenant = optionalTenant(request, context);
  if (request.id !== undefined && !tenant) {
    throw invalidArgument('INVALID_ARGUMENT', 'id: requires merchant_id', { field: 'id' });
  }
  const after = request.after && tenantOf(request.after);
  return {
    merchantId: tenant?.merchantId,
    environment: tenant?.environment,
    afterMerchantId: after?.merchantId,
    afterEnvironment: after?.environment,
    afterId: request.after?.id.toLowerCase(),
    id: request.id?.toLowerCase(),
  };
}

/** Restricts a read to a page, ascending by merchant, environment and `idColumn`. */
export function inScanOrder<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  idColumn: string,
  parameters: ReadParameters<RecordScan>,
): SelectQueryBuilder<DB, TB, Row> {
  const columns = ['merchant_id', 'environment', idColumn].map((column) => sql.ref(column));
  let page = matchingMerchant(query, parameters);
  if (parameters.has('id')) page = page.where(sql<boolean>`${sql.ref(idColumn)} = ${parameters('id')}`);
  if (parameters.has('afterId')) {
    const position = (['afterMerchantId', 'afterEnvironment', 'afterId'] as const).map((name) =>
      parameters(name),
    );
    page = page.where(sql<boolean>`(${sql.join(columns)}) > (${sql.join(position)})`);
  }
  for (const column of columns) page = page.orderBy(column);
  return page.fetch(PAGE_SIZE, 'with ties');
}

/** Where the next page continues; undefined after the last page. */
export function nextPosition<Row extends { merchant_id: string; environment: EnvironmentName }>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
): RecordPosition | undefined {
  const last = rows.length < PAGE_SIZE ? undefined : rows.at(-1);
  return (
    last && {
      $typeName: 'payments.merchant.v1.RecordPosition',
      merchantId: last.merchant_id,
      environment: environmentEnum(last.environment),
      id: idOf(last),
    }
  );
}
