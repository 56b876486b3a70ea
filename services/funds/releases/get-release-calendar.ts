import type {
  GetReleaseCalendarRequest,
  GetReleaseCalendarResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { ACCOUNT_TIME_ZONE, addDays, civilDateAt, isCivilDate } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { invalidArgument } from '../../platform/errors.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { calendarDayMessage, holidayMessage } from '../funds.message.ts';
import { selectCalendar } from '../funds.queries.ts';
import { bankHolidays } from './business-days.ts';

/** The days of a month that have a release, and its bank holidays. */
export async function getReleaseCalendar(
  database: Database,
  request: GetReleaseCalendarRequest,
): Promise<GetReleaseCalendarResponse> {
  const month = request.month ?? civilDateAt(new Date()).slice(0, 7);
  const first = `${month}-01`;
  if (!isCivilDate(first)) {
    throw invalidArgument('INVALID_ARGUMENT', 'month: is not a calendar month', { field: 'month' });
  }
  const rows = await database.read(
    selectCalendar({ ...tenantOf(request), from: first, to: lastOfMonth(first) }),
  );
  return {
    $typeName: 'payments.funds.v1.GetReleaseCalendarResponse',
    days: rows.map(calendarDayMessage),
    month,
    timezone: ACCOUNT_TIME_ZONE,
    holidays: bankHolidays(Number(month.slice(0, 4)))
      .filter(({ date }) => date.startsWith(month))
      .map(holidayMessage),
  };
}

function lastOfMonth(first: string): string {
  const month = first.slice(0, 7);
  return ['31', '30', '29'].map((day) => `${month}-${day}`).find(isCivilDate) ?? addDays(first, 27);
}
