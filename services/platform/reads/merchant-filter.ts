import { type SelectQueryBuilder, sql } from 'kysely';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type EnvironmentName, environmentName, environmentRequired } from '../tenant.ts';
import { inFront } from './list-order.ts';
import type { ReadParameters } from './prepared-read.ts';

/** Restricts a read across merchants; undefined filters are ignored. */
export interface MerchantFilter {
  readonly merchantId: string | undefined;
  readonly environment: EnvironmentName | undefined;
}

/** The filter of a validated request. INVALID_ARGUMENT for a merchant without an environment. */
export function merchantFilterOf(request: { merchantId?: string; environment: Environment }): MerchantFilter {
  const { merchantId, environment } = request;
  if (environment !== Environment.UNSPECIFIED) {
    return { merchantId: merchantId?.toLowerCase(), environment: environmentName(environment) };
  }
  if (merchantId === undefined) return { merchantId, environment: undefined };
  throw environmentRequired();
}

/** Restricts a read to the rows that a filter selects. `table` names the rows' table when others are joined. */
export function matchingMerchant<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  parameters: ReadParameters<MerchantFilter>,
  table?: string,
): SelectQueryBuilder<DB, TB, Row> {
  const column = (name: string) => sql.ref(table ? `${table}.${name}` : name);
  let matching = query;
  if (parameters.has('merchantId')) {
    matching = matching.where(sql<boolean>`${column('merchant_id')} = ${parameters('merchantId')}`);
  }
  if (parameters.has('environment')) {
    matching = matching.where(sql<boolean>`${column('environment')} = ${parameters('environment')}`);
  }
  return matching;
}

/**
 * Like `matchingMerchant`, for a list that has an index by merchant and environment beside the one across merchants: the rows of
 * one merchant are also ordered by environment, so that only the former fits; see `inFront`. Call it before `inOrder`.
 */
export function alongMerchant<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  parameters: ReadParameters<MerchantFilter>,
  table?: string,
): SelectQueryBuilder<DB, TB, Row> {
  if (!parameters.has('merchantId')) return matchingMerchant(query, parameters, table);
  const [merchant, environment] = ['merchant_id', 'environment'].map((name) =>
    table ? `${table}.${name}` : name,
  );
  return query
    .where(sql<boolean>`${sql.ref(merchant!)} = ${parameters('merchantId')}`)
    .where(inFront(environment!, 'text', parameters('environment')))
    .orderBy(sql.ref(environment!));
}
