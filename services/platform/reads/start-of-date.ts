import { sql } from 'kysely';
import { ACCOUNT_TIME_ZONE } from '../civil-date.ts';

/** The first instant of a date, or of the day after it, in the account's time zone. */
export const startOf = (date: unknown, daysLater: 0 | 1) =>
  sql<never>`(${date}::date + ${sql.lit(daysLater)})::timestamp at time zone ${sql.lit(ACCOUNT_TIME_ZONE)}`;
