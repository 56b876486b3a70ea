import { p } from '@mikro-orm/postgresql';
import type { EnvironmentName } from '../tenant.ts';

/** The columns that lead every table's primary key. */
export const tenantColumns = {
  merchantId: p.uuid().primary(),
  environment: p.string().$type<EnvironmentName>().primary(),
} as const;

/** A timestamp with millisecond precision, because lists are ordered by it. */
export const timestampColumn = () => p.datetime(3);

/** An amount in minor units. */
export const amountColumn = () => p.bigint('bigint');
