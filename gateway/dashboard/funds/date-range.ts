import { addDays, civilDateAt, isCivilDate } from '../../../services/platform/civil-date.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { field } from '../shell/components.ts';
import { Failure } from '../shell/failures.ts';
import { type Html, html } from '../shell/html.ts';
import { filterParameter } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { monthOf, monthShifted } from './months.ts';
import { salesTexts } from './sales.texts.ts';

/** A range of dates as it was entered; empty for no bound. */
export interface DateRange {
  readonly from: string;
  readonly to: string;
}

/** The query parameters of a range. */
export const dateRangeParameters = { from: filterParameter, to: filterParameter };

/** The query parameters of a download for a range. */
export const fileParameters = { ...dateRangeParameters, format: formatParameter };

/** The range of a query; without one, the current month. */
export function rangeOf({ from = '', to = '' }: Partial<DateRange>): DateRange {
  if (from !== '' || to !== '') return { from: from.trim(), to: to.trim() };
  const month = monthOf(civilDateAt(new Date()));
  return { from: `${month}-01`, to: addDays(`${monthShifted(month, 1)}-01`, -1) };
}

/** Why the bounds of a range are not valid. */
export interface DateRangeFaults {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The faults of a range. */
export function dateRangeFaults(view: View, { from, to }: DateRange): DateRangeFaults {
  const t = textsFor(view, salesTexts);
  const isWrong = (date: string) => date !== '' && !isCivilDate(date);
  if (isWrong(from) || isWrong(to)) {
    return { from: isWrong(from) ? t.notADate : undefined, to: isWrong(to) ? t.notADate : undefined };
  }
  return { from: from !== '' && to !== '' && from > to ? t.reversed : undefined, to: undefined };
}

/** Whether a range has a fault. */
export const isFaulty = ({ from, to }: DateRangeFaults): boolean => from !== undefined || to !== undefined;

/**
 * The range of a request for a file.
 * @throws Failure 400 if it has a fault
 */
export function requireValidRange(view: View, { from = '', to = '' }: Partial<DateRange>): DateRange {
  const range = { from, to };
  if (isFaulty(dateRangeFaults(view, range))) throw Failure.of(400, 'badRequest');
  return range;
}

/** The fields of a request that limit it to a range. */
export const dateRangeOf = ({ from, to }: DateRange) => ({
  ...(from && { fromDate: from }),
  ...(to && { toDate: to }),
});

/** The file name of a download for a range. */
export const fileName = (list: string, { from, to }: DateRange): string =>
  `${[list, from, to].filter((part) => part !== '').join('-')}.csv`;

/** A date field for each bound. */
export function dateRangeFields(
  range: DateRange,
  faults: DateRangeFaults,
  labels: { readonly from: string; readonly to: string },
): Html {
  return html`${(['from', 'to'] as const).map((name) =>
    field({ name, label: labels[name], fault: faults[name] }, (attributes) => {
      return html`<input type="date" ${attributes} value="${range[name]}">`;
    }),
  )}`;
}
