import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';

/** The two worlds of a merchant, as the database and the JSON API name them. */
export type EnvironmentName = 'live' | 'test';

/** Whose data a statement is about. It leads every key, index and statement. */
export interface Tenant {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
}

/** The tenant that a validated request names; UUIDs are written in lower case. */
export function tenantOf(request: { merchantId: string; environment: Environment }): Tenant {
  return {
    merchantId: request.merchantId.toLowerCase(),
    environment: environmentName(request.environment),
  };
}

/** 'live' or 'test' of the wire's enum. */
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

/** The wire's enum of 'live' or 'test'. */
export function environmentEnum(environment: EnvironmentName): Environment {
  return environment === 'live' ? Environment.LIVE : Environment.TEST;
}
