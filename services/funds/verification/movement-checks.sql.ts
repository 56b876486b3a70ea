import { ACCOUNT_TIME_ZONE } from '../../platform/civil-date.ts';
import { compare, subject } from './difference.sql.ts';

const SUMS = `
  coalesce(sum(available_minor), 0) as available_minor, coalesce(sum(scheduled_minor), 0) as scheduled_minor,
  coalesce(sum(blocked_minor), 0) as blocked_minor`;

const compareBalances = (expected: string, found: string) =>
  compare({
    available_minor: [`'MOVEMENT'`, `${expected}.available_minor`, `${found}.available_minor`],
    scheduled_minor: [`'MOVEMENT'`, `${expected}.scheduled_minor`, `${found}.scheduled_minor`],
    blocked_minor: [`'MOVEMENT'`, `${expected}.blocked_minor`, `${found}.blocked_minor`],
  });

const sumOf = (status: string) =>
  `coalesce((select sum(remaining_minor) from release where status = '${status}'), 0)`;

/** All movements add up to the balances. */
const BALANCES = `
select ${subject({})}, figure.* from (
  select ${sumOf('RELEASED')} - coalesce((select sum(open_debt_minor) from deduction), 0) as available_minor,
         ${sumOf('SCHEDULED')} as scheduled_minor, ${sumOf('BLOCKED')} as blocked_minor
) as balance cross join (select ${SUMS} from movement) as moved
${compareBalances('balance', 'moved')}`;

/** The sums of a day are those of its movements. */
const DAYS = `
select ${subject({ date: 'date' })}, figure.* from balance_day full join (
  select (occurred_at at time zone '${ACCOUNT_TIME_ZONE}')::date as date, ${SUMS} from movement group by 1
) as moved using (date)
${compareBalances('moved', 'balance_day')}`;

/** The checks of the statement. */
export const MOVEMENT_CHECKS = [BALANCES, DAYS];
