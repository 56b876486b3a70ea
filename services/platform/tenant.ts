import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { invalidArgument } from './errors.ts';

/** A merchant's environment, as named in the database and the JSON API. */
export const ENVIRONMENTS = ['live', 'test'] as const;

export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** The owner of a row. It leads every primary key, index and statement. */
export interface Tenant {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
}

/** Identifies one record of a tenant. */
export interface RecordKey extends Tenant {
  readonly id: string;
}

/** The fields with which a request names its tenant. */
export interface TenantFields {
  readonly merchantId: string;
  readonly environment: Environment;
}

/** The tenant of a validated request; the merchant id in lower case. */
export function tenantOf({ merchantId, environment }: TenantFields): Tenant {
  return { merchantId: merchantId.toLowerCase(), environment: environmentName(environment) };
}

export function tenantFields({ merchantId, environment }: Tenant): TenantFields {
  return { merchantId, environment: environmentEnum(environment) };
}

/** The tenant of a row of a statement over all merchants. */
export function tenantOfRow(row: { merchant_id: string; environment: EnvironmentName }): Tenant {
  return { merchantId: row.merchant_id, environment: row.environment };
}

/** INVALID_ARGUMENT: a request names a merchant without an environment. */
export const environmentRequired = () =>
  invalidArgument('INVALID_ARGUMENT', 'environment: is required with merchant_id', { field: 'environment' });

/** Converts the protobuf enum to 'live' or 'test'. */
export function environmentName(environment: Environment): EnvironmentName {
  switch (environment) {
    case Environment.LIVE:
      return 'live';
    case Environment.TEST:
      return 'test';
    case Environment.UNSPECIFIED:
      throw new TypeError('a validated request names its environment');
    default:
      return environment satisfies never;
  }
}

/** Converts 'live' or 'test' to the protobuf enum. */
export function environmentEnum(environment: EnvironmentName): Environment {
  return environment === 'live' ? Environment.LIVE : Environment.TEST;
}
