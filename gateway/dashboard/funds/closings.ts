import { BankHoliday, type ReleaseCalendarHoliday } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { CivilDate } from '../../../services/platform/civil-date.ts';
import { enumName } from '../../../services/platform/enum-name.ts';
import { type PlainView, textsFor } from '../shell/view.ts';
import { closingTexts } from './closings.texts.ts';
import { isWeekend } from './months.ts';

/** Why banks are closed on a date: its holidays, else the weekend; empty on a business day. */
export function closingOf(
  view: PlainView,
  date: CivilDate,
  holidays: readonly ReleaseCalendarHoliday[],
): string {
  const t = textsFor(view, closingTexts);
  const names = holidays
    .filter((each) => each.date === date)
    .map(({ holiday }) => t.holidays[enumName(BankHoliday, holiday)]);
  if (names.length > 0) return names.join(', ');
  return isWeekend(date) ? t.weekend : '';
}
