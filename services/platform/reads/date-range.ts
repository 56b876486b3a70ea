import { type CivilDate, isCivilDate } from '../civil-date.ts';
import { type FieldFault, invalidArgument } from '../errors.ts';
import { requireNoFaults } from '../request-faults.ts';

const NO_DATE = 'is not a calendar date';

/** The inclusive range of dates that a list is limited to. INVALID_ARGUMENT for an invalid date or a reversed range. */
export function dateRangeOf({ fromDate, toDate }: { fromDate?: string; toDate?: string }): {
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
} {
  const faults: FieldFault[] = [];
  if (fromDate !== undefined && !isCivilDate(fromDate)) faults.push({ field: 'from_date', must: NO_DATE });
  if (toDate !== undefined && !isCivilDate(toDate)) faults.push({ field: 'to_date', must: NO_DATE });
  if (fromDate !== undefined && toDate !== undefined && fromDate > toDate) {
    faults.push({ field: 'from_date', must: 'must not be later than to_date' });
  }
  requireNoFaults(faults);
  return { from: fromDate, to: toDate };
}

/** Requires a date of the calendar. INVALID_ARGUMENT with the field. */
export function requireDate(field: string, date: string): void {
  if (isCivilDate(date)) return;
  throw invalidArgument('INVALID_ARGUMENT', `${field}: ${NO_DATE}`, { field });
}
